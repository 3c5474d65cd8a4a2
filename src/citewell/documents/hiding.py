"""Whether a visitor sees an HTML element hidden, struck out or raised: the common ways, no style engine.

In: the attributes of elements, and the page's own style sheets. Out: yes or no. A rule counts when
its selector is one class or one id; linked sheets are not fetched. Text that no visitor sees is how
instructions to a reader that is a program are smuggled in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from citewell.documents.scripts import Script

_END = r"\s*(?:;|$|!)"
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|"
    rf"opacity\s*:\s*0(?:\.0+)?{_END}|"
    rf"font-size\s*:\s*(?:0+(?:\.0+)?(?:px|pt|r?em|%)?|1px|0?\.[01]\d*(?:px|pt|r?em)){_END}|"
    r"(?:left|top|text-indent|margin-left)\s*:\s*-\d{3,}|"
    r"clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%",
    re.I,
)
_COLLAPSED = re.compile(rf"(?:^|[;\s])(?:max-)?(?:height|width)\s*:\s*0(?:px)?{_END}", re.I)
_CLIPPED = re.compile(r"overflow\s*:\s*hidden", re.I)
_INVISIBLE_INK = re.compile(
    r"(?:^|[;\s])color\s*:\s*(?:white|#fff(?:fff)?|transparent|rgba\([^)]*,\s*0\))\s*(?:;|$|!)", re.I
)
_BACKGROUND = re.compile(r"background", re.I)
_STRIKING = re.compile(r"text-decoration(?:-line)?\s*:[^;]{0,80}?line-through", re.I)
# Filings raise a footnote's number by moving it up ("position:relative;top:-3.5pt").
_RAISING = re.compile(
    r"vertical-align\s*:\s*(?:super|text-top)|position\s*:\s*relative.{0,200}?\btop\s*:\s*-", re.I
)
_LOWERING = re.compile(r"vertical-align\s*:\s*sub\b", re.I)
_SIMPLE_SELECTOR = re.compile(r"^[.#][\w-]+$")
_LONGEST_SHEET = 200_000


class Hiding:
    """What the page's own style sheets hide, learned as they are read."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def learn(self, sheet: str) -> None:
        """Reads the rules of a style sheet that hide one class or one id."""
        for rule in sheet[:_LONGEST_SHEET].split("}"):
            selectors, brace, body = rule.rpartition("{")
            if brace and _hides(body.strip()):
                names = (name.strip() for name in selectors.rpartition("{")[2].split(","))
                self._names.update(name for name in names if _SIMPLE_SELECTOR.match(name))

    def hides(self, attributes: Mapping[str, str]) -> bool:
        """By attribute, by inline style, or by a learned rule."""
        style = attributes.get("style", "")
        names = {f".{name}" for name in attributes.get("class", "").split()} | {
            f"#{attributes.get('id', '')}"
        }
        return (
            "hidden" in attributes
            or _hides(style)
            or bool(_INVISIBLE_INK.search(style) and not _BACKGROUND.search(style))
            or not self._names.isdisjoint(names)
        )


def strikes(attributes: Mapping[str, str]) -> bool:
    """By inline style."""
    return bool(_STRIKING.search(attributes.get("style", "")))


def script_of(attributes: Mapping[str, str]) -> Script | None:
    """Where an inline style puts the type; None when it says nothing."""
    style = attributes.get("style", "")
    if _RAISING.search(style):
        return Script.RAISED
    return Script.LOWERED if _LOWERING.search(style) else None


def _hides(style: str) -> bool:
    return bool(_HIDING.search(style) or (_COLLAPSED.search(style) and _CLIPPED.search(style)))

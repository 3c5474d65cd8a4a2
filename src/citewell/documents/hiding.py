"""What in an HTML page is not content (hidden, struck out, site navigation and the like), and what is raised.

In: the attributes of elements, their ancestors, and the page's own style sheets. Out: yes or no, or what it
is. There is no style engine: a rule counts if its selector is a single class or id; linked sheets are not
fetched. Text that no visitor sees is a way to smuggle in instructions to a program that reads the page.
The frame of a page is recognised by elements, ARIA roles and class names made for it; a name alone counts
only if it can mean nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from citewell.core.errors import LimitError
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
_INK = re.compile(r"(?:^|[;\s])color\s*:\s*([^;!]+)", re.I)
_GROUND = re.compile(r"(?:^|[;\s])background(?:-color|-image)?\s*:\s*([^;!]+)", re.I)
_NEAR_WHITE = 0.94  # of full brightness, in every channel: unreadable on white
_PALE_NAMES = frozenset(
    ("white", "snow", "ivory", "azure", "mintcream", "ghostwhite", "floralwhite", "whitesmoke", "transparent")
)
_HEX = re.compile(r"#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", re.I)
_FUNCTION = re.compile(r"(rgb|hsl)a?\(([^()]{1,80})\)", re.I)
_UNPAINTED = frozenset(("none", "inherit", "initial", "unset", "transparent"))
_STRIKING = re.compile(r"text-decoration(?:-line)?\s*:[^;]{0,80}?line-through", re.I)
# Filings raise a footnote's number by moving it up ("position:relative;top:-3.5pt").
_RAISING = re.compile(
    r"vertical-align\s*:\s*(?:super|text-top)|position\s*:\s*relative.{0,200}?\btop\s*:\s*-", re.I
)
_LOWERING = re.compile(r"vertical-align\s*:\s*sub\b", re.I)
_PART = re.compile(r"[.#]?[\w-]+")
_SIMPLE_SELECTOR = re.compile(r"^[.#][\w-]+$")
_LONGEST_SHEET = 200_000
_WORD = re.compile(r"\w+")
VOID = frozenset(_WORD.findall("area base br col embed hr img input link meta param source track wbr"))


class Hiding:
    """What the page's own style sheets hide, collected as they are read."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._grounds: set[str] = set()

    def learn(self, sheet: str) -> None:
        """Collects the rules of a style sheet that hide a single class or id, and all that paint a background
        darker than white, whatever the selector. White text set by a rule stays visible: only a style engine
        knows which rule wins, and on what background."""
        for rule in sheet[:_LONGEST_SHEET].split("}"):
            selectors, brace, body = rule.rpartition("{")
            body = body.strip()
            names = {name.strip() for name in selectors.rpartition("{")[2].split(",")} if brace else set()
            simple = {name for name in names if _SIMPLE_SELECTOR.match(name)}
            if _hides(body):
                self._names |= simple
            if _ground(body):
                self._grounds |= {part for name in names if name for part in _PART.findall(name.split()[-1])}

    def hides(self, tag: str, attributes: Mapping[str, str], ground: bool | None = None) -> bool:
        """Whether the element is hidden by attribute, inline style or a collected rule; ``ground``: its
        background is not white, so white text is visible."""
        style = attributes.get("style", "")
        names = _names(tag, attributes)
        inks = [*_INK.findall(style)[-1:], *([attributes.get("color", "")] if tag == "font" else ())]
        white, named = not ground and any(map(is_pale, inks)), not self._names.isdisjoint(names)
        return "hidden" in attributes or _hides(style) or white or named

    def ground(self, tag: str, attributes: Mapping[str, str]) -> bool | None:
        """Whether the element's background is other than white; None if it has none."""
        if (own := _ground(attributes.get("style", ""))) is not None:
            return own
        if "bgcolor" in attributes:
            return not is_pale(attributes["bgcolor"])
        return None if self._grounds.isdisjoint(_names(tag, attributes)) else True


def is_pale(colour: str) -> bool:
    """Whether a colour, as written in CSS, HTML or Word, is nearly white or fully transparent."""
    colour = colour.strip().lower()
    if match := _HEX.fullmatch(colour):
        digits = match[1] if len(match[1]) > 4 else "".join(digit * 2 for digit in match[1])
        channels = [int(digits[at : at + 2], 16) / 255 for at in range(0, len(digits), 2)]
    elif match := _FUNCTION.fullmatch(colour):
        parts = re.findall(r"([\d.]+)(%?)", match[2])
        full = [(255, 255, 255, 1), (360, 100, 100, 1)][match[1] == "hsl"]
        try:
            channels = [
                float(value) / (100 if per else most) for (value, per), most in zip(parts, full, strict=False)
            ]
        except ValueError:
            return False
        channels = channels if match[1] == "rgb" else channels[2:3] * 3 + channels[3:]
    else:
        return colour in _PALE_NAMES
    return len(channels) >= 3 and (min(channels[:3]) >= _NEAR_WHITE or channels[3:] == [0])


def _ground(style: str) -> bool | None:
    values = [value.strip().lower() for value in _GROUND.findall(style)]
    painted = [value for value in values if value not in _UNPAINTED]
    return any(not is_pale(value) for value in painted) if painted else None


def _names(tag: str, attributes: Mapping[str, str]) -> set[str]:
    """The simple selectors that an element matches."""
    classes = {f".{name}" for name in attributes.get("class", "").split()}
    return classes | {f"#{attributes.get('id', '')}", tag}


def nested_too_deep(most: int) -> LimitError:
    """The error for a page whose elements are nested more than ``most`` deep."""
    hint = "this is unusual; if you trust the page, raise documents.max_nesting"
    return LimitError(f"its elements are nested more than {most} deep", hint=hint)


def strikes(attributes: Mapping[str, str]) -> bool:
    """Whether the inline style strikes the text out."""
    return bool(_STRIKING.search(attributes.get("style", "")))


def script_of(attributes: Mapping[str, str]) -> Script | None:
    """The position that an inline style gives the type; None if it gives none."""
    style = attributes.get("style", "")
    if _RAISING.search(style):
        return Script.RAISED
    return Script.LOWERED if _LOWERING.search(style) else None


def _hides(style: str) -> bool:
    return bool(_HIDING.search(style) or (_COLLAPSED.search(style) and _CLIPPED.search(style)))


NAVIGATION, FOOTERS, COOKIES = "navigation", "page footers", "cookie notices"
_ROLES = {"navigation": NAVIGATION, "menubar": NAVIGATION, "doc-pagelist": NAVIGATION, "contentinfo": FOOTERS}
_OWN_FOOTER = frozenset(("article", "section", "main", "blockquote", "figure", "aside", "dialog", "td", "li"))
"""A footer inside one of these is theirs, not the page's."""
_NAMES = {
    NAVIGATION: re.compile(
        r"(?:wiki)?(?:bread)?crumbs?|(?:top|side|main|site|page|global|local|sub|primary|secondary)[-_]?"
        r"nav(?:igation|bar)?|navbar|nav[-_]?(?:menu|links|bar)|skip[-_]?(?:links?|nav|to[-_]content)|"
        r"pagination|pager|rellinks|mw-navigation|mw-editsection|sphinxsidebar|prev[-_]next"
    ),
    FOOTERS: re.compile(r"(?:site|page|global|main)[-_]?footer|footer[-_](?:links|nav|bottom)|colophon"),
}
_COOKIE_WORDS = ("cookie", "consent", "gdpr", "onetrust", "cmplz")
_BOX_WORDS = ("banner", "bar", "notice", "popup", "modal", "dialog", "overlay", "prompt", "sdk", "window")


def frame(tag: str, attributes: Mapping[str, str], inside: Iterable[str]) -> str:
    """NAVIGATION, FOOTERS or COOKIES; "" for content. ``inside`` are the elements around it."""
    if tag in ("html", "body", "main", "article"):
        return ""
    if tag == "nav":
        return NAVIGATION
    if tag == "footer":
        return "" if _OWN_FOOTER.intersection(inside) else FOOTERS
    if reason := _ROLES.get(attributes.get("role", "").strip().lower()):
        return reason
    names = (*attributes.get("class", "").split(), attributes.get("id", ""), attributes.get("aria-label", ""))
    for name in map(str.lower, names):
        if any(word in name for word in _COOKIE_WORDS) and any(word in name for word in _BOX_WORDS):
            return COOKIES
        for reason, pattern in _NAMES.items():
            if pattern.fullmatch(name):
                return reason
    return ""

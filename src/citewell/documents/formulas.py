"""Formulas of Word -> one line of text: 25/2, m², √(a+b), x_1.

In: an ``m:oMath`` element. Out: its text, with the signs that a formula on one line needs: "25/2" must not
become 252. Knows nothing about documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from citewell.documents.scripts import Script, written

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# Each structure as its parts in order, with the sign before each; other structures are read through.
_SIGNS = {
    "f": (("num", ""), ("den", "/")),
    "rad": (("deg", ""), ("e", "√")),
    "sSup": (("e", ""), ("sup", "^")),
    "sSub": (("e", ""), ("sub", "_")),
    "sSubSup": (("e", ""), ("sub", "_"), ("sup", "^")),
    "sPre": (("sub", "_"), ("sup", "^"), ("e", "")),
    "limLow": (("e", ""), ("lim", "_")),
    "limUpp": (("e", ""), ("lim", "^")),
}
_BETWEEN = {"eqArr": "; ", "m": "; ", "mr": " ", "func": " "}
_WHOLE = re.compile(r"[^\W_]*|\d+(?:[.,]\d+)*|\([^()]*\)")
_FIGURES = re.compile(r"[-+−]?\d+")


def linear(element: Any, left_out: Callable[[Any], bool]) -> str:
    """The formula on one line, without the elements that are ``left_out``."""
    name = str(element.tag).removeprefix(_M)
    if element.tag in (f"{_M}t", f"{_W}t"):
        return element.text or ""
    inside = [(str(child.tag).removeprefix(_M), child) for child in element if not left_out(child)]
    if signs := _SIGNS.get(name):
        parts = {part: linear(child, left_out) for part, child in inside}
        return "".join(_signed(sign, parts[part]) for part, sign in signs if parts.get(part))
    texts = [linear(child, left_out) for part, child in inside if not part.endswith("Pr")]
    if name == "d":
        return (
            _said(element, "begChr", "(")
            + _said(element, "sepChr", "|").join(texts)
            + _said(element, "endChr", ")")
        )
    if name == "nary":
        return _said(element, "chr", "∫") + " ".join(filter(None, texts))
    return _BETWEEN.get(name, "").join(texts)


def _signed(sign: str, text: str) -> str:
    if sign in ("^", "_") and _FIGURES.fullmatch(text):
        return written(text, Script.RAISED if sign == "^" else Script.LOWERED)
    return sign + (text if _WHOLE.fullmatch(text) else f"({text})")


def _said(element: Any, name: str, usual: str) -> str:
    found = element.find(f"{_M}{str(element.tag).removeprefix(_M)}Pr/{_M}{name}")
    return usual if found is None else found.get(f"{_M}val", "")

"""What Word prints besides plain letters: formulas on one line (25/2, m², √(a+b)), symbols by number.

In: an ``m:oMath`` element, or a font's name and a number. Out: text; U+FFFD if the printed character is
unknown. "25/2" must not become 252. The Symbol font is as published by Adobe; of Wingdings, only the marks
used for lists, boxes and steps. Knows nothing about documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from citewell.documents.scripts import Script, to_script

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# Each structure's parts in order, with the sign before each; for other structures the contents are read.
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
    """The formula on one line, without elements that are ``left_out``."""
    name = str(element.tag).removeprefix(_M)
    if element.tag in (f"{_M}t", f"{_W}t"):
        return element.text or ""
    inside = [(str(child.tag).removeprefix(_M), child) for child in element if not left_out(child)]
    if signs := _SIGNS.get(name):
        parts = {part: linear(child, left_out) for part, child in inside}
        return "".join(_signed(sign, parts[part]) for part, sign in signs if parts.get(part))
    texts = [linear(child, left_out) for part, child in inside if not part.endswith("Pr")]
    if name == "d":
        inner = _said(element, "sepChr", "|").join(texts)
        return _said(element, "begChr", "(") + inner + _said(element, "endChr", ")")
    if name == "nary":
        return _said(element, "chr", "∫") + " ".join(filter(None, texts))
    return _BETWEEN.get(name, "").join(texts)


def _signed(sign: str, text: str) -> str:
    if sign in ("^", "_") and _FIGURES.fullmatch(text):
        return to_script(text, Script.RAISED if sign == "^" else Script.LOWERED)
    return sign + (text if _WHOLE.fullmatch(text) else f"({text})")


def _said(element: Any, name: str, usual: str) -> str:
    found = element.find(f"{_M}{str(element.tag).removeprefix(_M)}Pr/{_M}{name}")
    return usual if found is None else found.get(f"{_M}val", "")


UNKNOWN = "\ufffd"
_PRIVATE = range(0xE000, 0xF900)
_SHIFTED = 0xF000  # Windows shifts such fonts: F0A3 is their A3

_GREEK = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_�αβχδεφγηιϕκλµνοπθρστυϖωξψζ{|}∼"
_MATHEMATICS = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…��↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓⋄⟨®©™∑�����������⟩∫⌠�⌡����������"
)
_CIRCLED = "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿"
_MARKS = bytes.fromhex("28 2A 46 4A 4C 6C 6E 6F 71 72 75 76 78 9F A7 A8 AB D8 DF E0 E1 E2 E8 F0 FB FC FD FE")
_FONTS: dict[str, dict[int, str]] = {
    "symbol": dict(enumerate(_GREEK, 0x20)) | dict(enumerate(_MATHEMATICS, 0xA0)),
    "wingdings": dict(enumerate(_CIRCLED, 0x80))
    | dict(zip(_MARKS, "☎✉☞☺☹●■□❑❒◆❖☒•▪□★➢←→↑↓➔⇨✗✓☒☑", strict=True)),
    "wingdings 2": {0x4F: "✗", 0x50: "✓", 0x52: "☑", 0x54: "☒", 0xA3: "□"},
    "wingdings 3": {},
    "webdings": {},
    "mt extra": {},
}


def symbol(font: str, number: str) -> str:
    """The character that ``font`` prints for ``number``, hexadecimal; the code point in other fonts."""
    try:
        code = int(number, 16)
    except ValueError:
        return UNKNOWN
    known = _FONTS.get(font.strip().casefold())
    if known is not None and code & ~0xFF in (0, _SHIFTED):
        return known.get(code & 0xFF, UNKNOWN)
    return UNKNOWN if code in _PRIVATE or not 0x20 <= code <= 0x10FFFF else chr(code)

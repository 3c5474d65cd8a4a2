"""Characters of the fonts that number pictures instead of letters -> the Unicode characters they print.

In: a font's name and a number, as Word writes a symbol that was inserted. Out: the character, or U+FFFD
if the printed character is unknown. The Symbol font is as Adobe published it; of Wingdings only what
documents mark lists, boxes and steps with. Knows nothing about files.
"""

from __future__ import annotations

UNKNOWN = "\ufffd"
_PRIVATE = range(0xE000, 0xF900)
_SHIFTED = 0xF000  # where Windows keeps such fonts: F0A3 is their A3

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
    """The character that ``font`` prints for ``number``, hexadecimal; other fonts number as Unicode does."""
    try:
        code = int(number, 16)
    except ValueError:
        return UNKNOWN
    known = _FONTS.get(font.strip().casefold())
    if known is not None and code & ~0xFF in (0, _SHIFTED):
        return known.get(code & 0xFF, UNKNOWN)
    return UNKNOWN if code in _PRIVATE or not 0x20 <= code <= 0x10FFFF else chr(code)

"""Superscripts and subscripts -> plain text in which they cannot be mistaken for part of the adjacent text.

In: pieces of a line, each with its position. Out: the line. "5,120" with a raised 2 is "5,120²", never
5,1202. What Unicode cannot raise or lower is set off by a space where it would otherwise continue a word or a
figure. NFC keeps these characters (NFKC would not). Knows nothing about file formats.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from itertools import groupby


class Script(Enum):
    """The position of type: on the line, above it or below it."""

    PLAIN = ""
    RAISED = "superscript"
    LOWERED = "subscript"


_SIGNS = "0123456789+-−=()"
_FIGURES = {
    Script.RAISED: str.maketrans(_SIGNS, "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾"),
    Script.LOWERED: str.maketrans(_SIGNS, "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎"),
}
_LETTERS = {Script.RAISED: str.maketrans("ni", "ⁿⁱ"), Script.LOWERED: str.maketrans("ni", "ₙᵢ")}
_LONGEST = 20  # characters: more is a passage in small type, not a mark
_ORDINALS = frozenset(("st", "nd", "rd", "th", "er", "re", "ème"))


def to_script(text: str, script: Script) -> str:
    """``text`` in Unicode's characters for this position; those that have none stay as they are."""
    if script is Script.PLAIN or len(text.strip()) > _LONGEST:
        return text
    text = text.translate(_FIGURES[script])
    if all(ord(char) in _LETTERS[script] for char in text if char.isalpha()):
        text = text.translate(_LETTERS[script])  # "ⁿ⁻¹", but never "mⁱⁿ"
    return text


def join_scripts(pieces: Iterable[tuple[str, Script]]) -> str:
    """The text of a line, from its pieces in order."""
    parts: list[str] = []
    last = Script.PLAIN
    for script, group in groupby((piece for piece in pieces if piece[0]), key=lambda piece: piece[1]):
        text = to_script("".join(text for text, _ in group), script)
        if parts and _goes_on(parts[-1][-1], text[0]) and not _usual(parts[-1], last, text, script):
            parts.append(" ")
        parts.append(text)
        last = script
    return "".join(parts)


def _goes_on(left: str, right: str) -> bool:
    """Whether the two would read as one word or figure; superscript digits are part of neither."""
    return all(char.isdecimal() or (char.isalpha() and char not in "ⁿⁱₙᵢ") for char in (left, right))


def _usual(before: str, last: Script, text: str, script: Script) -> bool:
    """Whether it is also usual without raised or lowered letters, as "20th" and "NOx" are."""
    if script is Script.RAISED:
        return before[-1].isdecimal() and text.strip() in _ORDINALS
    return Script.LOWERED in (script, last) and before[-1].isalpha() and text[0].isalpha()

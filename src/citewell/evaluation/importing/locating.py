"""Somebody else's words of a document, found in our text of it.

In: evidence as another reader extracted it, and the canonical text. Out: the exact words of the text. Letters
and digits have to agree one by one; spaces, dot leaders, currency signs on lines of their own do not. Knows
nothing about formats.
"""

from __future__ import annotations

from itertools import pairwise

LEAST = 24
"""Letters and digits a line needs to be looked for: fewer could stand anywhere."""


class Places:
    """The letters and digits of one text, with where each stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._at = [index for index, character in enumerate(text) if character.isalnum()]
        self._letters = "".join(_folded(text[index]) for index in self._at)

    def find(self, words: str) -> str:
        """The text's own words, or "" where they stand nowhere or in more than one place."""
        wanted = "".join(_folded(character) for character in words if character.isalnum())
        start = self._letters.find(wanted) if len(wanted) >= LEAST else -1
        if start < 0 or self._letters.find(wanted, start + 1) >= 0:
            return ""
        return self.text[self._at[start] : self._at[start + len(wanted) - 1] + 1]


def located(evidence: str, places: Places, most: int = 8) -> tuple[str, ...]:
    """Quotes of the text: the evidence whole, else its lines, each with the next when it is short alone."""
    whole = places.find(evidence)
    if whole:
        return (whole,)
    lines = [line for line in evidence.split("\n") if line.strip()]
    found: dict[str, None] = {}
    for line, following in pairwise([*lines, ""]):
        quote = places.find(line) or places.find(f"{line} {following}")
        if quote:
            found[quote] = None
    return tuple(sorted(found, key=len, reverse=True)[:most])


def _folded(character: str) -> str:
    """One character for one, so that places hold."""
    small = character.lower()
    return small if len(small) == 1 else character

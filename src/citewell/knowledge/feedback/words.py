"""The words of a question that say what it is about, folded so that forms of one word are equal.

In: a text. Out: its words, and the stems of those that are neither question words nor glue. English endings;
in other languages words are compared as they stand. Knows nothing about signals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_DULL = frozenset(
    re.findall(
        r"\w+",
        "a an the of in on at to for and or by with from as is are was were be been am it its this that these"
        " those i we you my our me us do does did can could should would may will there if have has had so"
        " than then into per about get please tell"
        " what which who whom whose when where why how much many",
    )
)
_ENDINGS = ("ings", "ing", "ies", "ied", "es", "ed", "s", "e")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?")


def words(text: str) -> list[str]:
    """In order, lower case, without possessives; numbers without their commas."""
    lowered = text.casefold().replace("\u2019", "'").replace("'s", "")
    return [word.replace(",", "") for word in _WORD.findall(lowered)]


def content(of: Iterable[str]) -> dict[str, str]:
    """Stems of the words that matter, in order, each with the word it was first seen as."""
    found: dict[str, str] = {}
    for word in of:
        if word not in _DULL:
            found.setdefault(_stem(word), word)
    return found


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word

"""A drafted question, before anybody chose it.

In: nothing. Out: the value, and how words of a document read inside a question. Knows no rules.
"""

from __future__ import annotations

import re

from citewell.core.records import Record

MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"


class Draft(Record, frozen=True, kw_only=True):
    """``[start, end)`` of the document's text holds the answer; ``subject`` is what is asked about, as it
    reads in the question. ``template`` is the question with ``{}`` where another subject or year could stand;
    ``aside`` asks something else of the same fact, which the document might not say."""

    question: str
    expected: str
    start: int
    end: int
    recipe: str
    subject: str
    plural: bool = False
    template: str = ""
    aside: tuple[str, ...] = ()


def inside(words: str, text: str, *, plural: bool = False) -> str:
    """As ``words`` read inside a sentence: a capital is lowered that only began the line."""
    first, _, others = words.partition(" ")
    small = re.escape(first.lower().removesuffix("s"))
    if first in {"The", "A", "An"}:
        common = True
    elif not first[:1].isupper() or re.search(rf"(?<=[a-z,] ){re.escape(first)}\b", text):
        common = False
    else:
        common = bool(re.search(rf"\b{small}", text)) or (
            first.isalpha() and (plural or others[:1].islower())
        )
    return f"{first.lower()} {others}".strip() if common else words

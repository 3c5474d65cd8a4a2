"""A question in the words that documents use.

In: a question. Out: what is embedded of it (without how the answer should be written) and what BM25
looks for (with the names that statements give to what is asked). Tables and rules of our own; knows
nothing about any document.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from citewell.core.records import Record
from citewell.questions.line_items import ITEMS, STATEMENTS
from citewell.questions.parsing import ParsedQuestion, operands, read_question

_LABELS = 2
_TITLES = 2

# How to write the answer, and whom to play: nothing a document says.
_INSTRUCTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\(?\b(?:in|use|using)\s+(?:usd|us dollars?|eur|gbp|units? of|percents?|percentages?)\b[^.?;)]*\)?",
        r"\b(?:please\s+)?round(?:ed)?\b[^.?;]{0,120}\bdecimals?(?:\s+places?)?\b",
        r"\banswer\s+in\b[^.?;]*",
        r"\bif\s[^.?]{0,160}?\bnot\b[^.?]{0,160}\b(?:state|say|explain)\b[^.?]*",
        r"\b(?:you are|imagine you are|act as)\b[^.?,:]*[.,:]?",
        r"\bassum(?:e|ing) the (?:role|perspective|standpoint) of\b[^.?,:]*[.,:]?",
        r"\b(?:here(?:'|’)s|here is)\s+the\s+question\s*:?",
        r"\bplease\s+(?:answer|help|state|explain|then)\b[^.?:]*:?",
        r"\bto the best of your abilities\b",
        r"\bdefined? as\s*:",
    )
)


class Wording(Record, frozen=True, kw_only=True):
    """``dense`` is embedded; ``words`` are what BM25 looks for everywhere: names, years and what is
    asked, once each; ``inside`` what it looks for in documents already found by name: the whole
    question, and what statements and reports call the things in it."""

    dense: str
    words: str
    inside: str
    wanted: ParsedQuestion


@lru_cache(maxsize=256)
def word(question: str) -> Wording:
    """Deterministic; a question that none of the tables know is left as it is."""
    wanted = read_question(question)
    plain = question
    for pattern in _INSTRUCTIONS:
        plain = pattern.sub(" ", plain)
    plain = " ".join(plain.split()).strip(" ,;:") or question
    years = sorted({str(period.year) for period in wanted.periods})
    return Wording(
        dense=plain,
        words=" ".join([*wanted.names, *years, *wanted.terms]) or plain,
        inside=" ".join([plain, *_synonyms(question), *_printed(wanted)]),
        wanted=wanted,
    )


def reword(wording: Wording) -> Wording:
    """The same question in more words, for a second try: everything that reports may call it."""
    more = [*_synonyms(wording.wanted.question), *_printed(wording.wanted)]
    return Wording(
        dense=wording.inside,
        words=" ".join([wording.words, *more]),
        inside=wording.inside,
        wanted=wording.wanted,
    )


def _printed(wanted: ParsedQuestion) -> list[str]:
    """Line items and statements asked for, as statements print them."""
    labels = [label for name in operands(wanted) for label in ITEMS[name].labels[:_LABELS]]
    titles = [title for name in wanted.statements for title in STATEMENTS[name][:_TITLES]]
    return list(dict.fromkeys([*labels, *titles]))


def _synonyms(question: str) -> list[str]:
    low = f" {' '.join(re.findall(r'[a-z0-9&]+', question.lower()))} "
    found = []
    for group in _groups():
        if any(f" {phrase} " in low for phrase in group):
            found += [phrase for phrase in group if f" {phrase} " not in low]
    return found


@lru_cache(maxsize=1)
def _groups() -> tuple[tuple[str, ...], ...]:
    lines = (Path(__file__).parent / "synonyms.txt").read_text(encoding="utf-8").splitlines()
    return tuple(
        tuple(phrase.strip() for phrase in line.split("="))
        for line in lines
        if line.strip() and not line.startswith("#")
    )

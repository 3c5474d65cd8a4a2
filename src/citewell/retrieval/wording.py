"""A question in the words documents use, the documents it names, and access filters.

In: a question, the accessible documents. Out: the text to embed (without instructions about the form of the
answer) and the words for BM25 (with the names that statements use for what is asked); the documents that it
names, each with a weight in (0, 1]: a name carried by few documents says more than a common one, and a
question about 2018 is best answered by the 2018 report, then by the next, which reprints its figures. Our
own tables and rules; independent of the content of documents.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from citewell.core.errors import UsageError
from citewell.core.ports import ListedDocument
from citewell.core.records import Record
from citewell.questions.calculator import calculator
from citewell.questions.parsing import ParsedQuestion, name_occurs, read_question, without_instructions
from citewell.questions.periods import Period, periods_in


class Wording(Record, frozen=True, kw_only=True):
    """``dense`` is embedded; ``words`` is the BM25 query for all documents: names, years and the other terms,
    once each; ``inside`` is the BM25 query for documents found by name: the whole question, and the terms
    that statements and reports use."""

    dense: str
    words: str
    inside: str
    wanted: ParsedQuestion


@lru_cache(maxsize=256)
def word(question: str) -> Wording:
    """The wording of ``question``; deterministic, and unchanged if no table covers it."""
    wanted = read_question(question)
    plain = " ".join(without_instructions(question)) or question
    years = sorted({str(period.year) for period in wanted.periods})
    return Wording(
        dense=plain,
        words=" ".join([*wanted.names, *years, *wanted.terms]) or plain,
        inside=" ".join([plain, *_more_words(wanted)]),
        wanted=wanted,
    )


def reword(wording: Wording) -> Wording:
    """The same question in more words, for a second try: with all terms that reports may use."""
    words = " ".join([wording.words, *_more_words(wording.wanted)])
    return msgspec.structs.replace(wording, dense=wording.inside, words=words)


def _more_words(wanted: ParsedQuestion) -> list[str]:
    """Synonyms of phrases in the question, and printed names of line items and statements."""
    low = f" {' '.join(re.findall(r'[a-z0-9&]+', wanted.question.lower()))} "
    found = []
    for group in _groups():
        if any(f" {phrase} " in low for phrase in group):
            found += [phrase for phrase in group if f" {phrase} " not in low]
    return [*found, *calculator().printed(wanted)]


@lru_cache(maxsize=1)
def _groups() -> tuple[tuple[str, ...], ...]:
    lines = (Path(__file__).parent / "synonyms.txt").read_text(encoding="utf-8").splitlines()
    return tuple(
        tuple(phrase.strip() for phrase in line.split("="))
        for line in lines
        if line.strip() and not line.startswith("#")
    )


# --- named documents ------------------------------------------------------------------------------

# How well a document's own period matches the one asked for.
SAME, SAME_YEAR, NEXT_YEAR, UNKNOWN, OTHER = 1.0, 0.7, 0.5, 0.4, 0.1
_NAMED_SHARE = 0.5
# A name carried by more than this share of the documents identifies none of them.
_COMMON = 0.5
_SMALL = 3


def named_documents(wanted: ParsedQuestion, documents: Sequence[ListedDocument]) -> dict[str, float]:
    """Document id -> weight. Empty if the question names no document by title, file name or quarter."""
    if not documents:
        return {}
    texts = {listed.document_id: _own_name(listed) for listed in documents}
    scores: dict[str, float] = dict.fromkeys(texts, 0.0)
    for name in _names(wanted, documents):
        holders = [document_id for document_id, text in texts.items() if name_occurs(name, text)]
        if not holders or (len(holders) > _COMMON * len(texts) and len(texts) > _SMALL):
            continue
        rarity = math.log(1 + len(texts) / len(holders))
        for document_id in holders:
            scores[document_id] += rarity
    best = max(scores.values())
    if best <= 0:
        return _of_the_quarter(wanted, texts)
    return {
        document_id: scores[document_id] / best * period_fit(wanted.periods, texts[document_id])
        for document_id in texts
        if scores[document_id] >= _NAMED_SHARE * best
    }


def _of_the_quarter(wanted: ParsedQuestion, texts: Mapping[str, str]) -> dict[str, float]:
    """Without a name: the documents of the quarter asked for, if they are few."""
    asked = {(period.year, period.quarter) for period in wanted.periods if period.quarter}
    held = [
        document_id
        for document_id, text in texts.items()
        if any((period.year, period.quarter) in asked for period in _periods(text))
    ]
    return dict.fromkeys(held, SAME) if len(held) <= _SMALL else {}


def best_named(named: Mapping[str, float]) -> list[str]:
    """The documents to search first, best first: those with at least SAME_YEAR of the best weight."""
    best = max(named.values(), default=0.0)
    within = [name for name, weight in named.items() if weight >= SAME_YEAR * best]
    return sorted(within, key=lambda name: (-named[name], name))


def period_fit(asked: Iterable[Period], own_name: str) -> float:
    """How well the period in a document's name matches the last one asked for; 1 if none is asked for."""
    asked = list(asked)
    if not asked:
        return SAME
    own = _periods(own_name)
    if not own:
        return UNKNOWN
    last = max(asked, key=lambda period: (period.year, period.quarter or 0))
    fits = []
    for period in own:
        if period.year == last.year:
            fits.append(SAME if period.quarter == last.quarter else SAME_YEAR)
        elif period.year == last.year + 1:
            fits.append(NEXT_YEAR)
        else:
            fits.append(OTHER)
    return max(fits)


def _names(wanted: ParsedQuestion, documents: Sequence[ListedDocument]) -> tuple[str, ...]:
    if wanted.names:
        return wanted.names
    # Without capitalised names: words of the question, or pairs of them, that occur in file names.
    stems = {word for listed in documents for word in re.findall(r"[a-z]{3,}", _stem(listed).lower())}
    words = re.findall(r"[a-z&]{2,}", wanted.question.lower())
    pairs = [f"{one} {two}" for one, two in itertools.pairwise(words)]
    return tuple(dict.fromkeys(found for found in [*words, *pairs] if found.replace(" ", "") in stems))


def _stem(listed: ListedDocument) -> str:
    return listed.document_id.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _own_name(listed: ListedDocument) -> str:
    return f"{_stem(listed)}\n{listed.title}"


@lru_cache(maxsize=8192)
def _periods(text: str) -> tuple[Period, ...]:
    return periods_in(text)


# --- what may be searched --------------------------------------------------------------------------


class Filters(Record, frozen=True, kw_only=True):
    """Empty ``groups`` sees documents without an access list, None sees everything; every other field, if
    set, narrows the search.

    ``since`` is an ISO date: only documents published on or after it; those without a date are left out.
    """

    groups: tuple[str, ...] | None = ()
    document_id: str | None = None
    since: str | None = None
    tag: str | None = None

    def where(self) -> dict[str, Any]:
        """Arguments for :meth:`citewell.documents.index.snapshot.Snapshot.search`."""
        return msgspec.structs.asdict(self)


def refuse_filters(filters: Filters) -> None:
    """Raises UsageError for an invalid date, or a document id or tag that is not text."""
    for name in ("document_id", "tag"):
        given = getattr(filters, name)
        if given is not None and not isinstance(given, str):
            raise UsageError(f"{name} must not be {given!r}", hint="pass some text")
    since = filters.since
    if since is not None and not is_day(since):
        raise UsageError(f"since must not be {since!r}", hint="write a date such as 2026-11-21")


def is_day(given: object) -> bool:
    # Dates are compared as text, so no other form of ISO 8601 will do.
    if not isinstance(given, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", given):
        return False
    try:
        date.fromisoformat(given)
    except ValueError:
        return False
    return True

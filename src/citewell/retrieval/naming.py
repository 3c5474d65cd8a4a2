"""Which documents a question names: by the names in it, then by its period.

In: a question and the documents that may be seen. Out: the documents it names, each with a weight
in (0, 1]; none when it names none. A name that few documents carry tells more than a common one; a
question of 2018 is best answered by the report of 2018, then by the next one, which prints it again.
Knows nothing about what stands inside documents.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from citewell.core.ports import Listed
from citewell.questions.parsing import ParsedQuestion, name_occurs
from citewell.questions.periods import Period, periods_in

# How well a document's own period meets the asked one.
SAME, SAME_YEAR, NEXT_YEAR, UNKNOWN, OTHER = 1.0, 0.7, 0.5, 0.4, 0.1
_NAMED_SHARE = 0.5
# A name that more than this share of the documents carry names none of them.
_COMMON = 0.5
_SMALL = 3


def named_documents(wanted: ParsedQuestion, documents: Sequence[Listed]) -> dict[str, float]:
    """document id -> weight. Empty when no name of the question belongs to a document's title or id."""
    if not documents:
        return {}
    texts = {listed.document_id: _own_name(listed) for listed in documents}
    scores: dict[str, float] = dict.fromkeys(texts, 0.0)
    for name in _names(wanted, documents):
        holders = [document_id for document_id, text in texts.items() if _occurs(name, text)]
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
    """No name at all: the documents of the asked quarter, when they are few."""
    asked = {(period.year, period.quarter) for period in wanted.periods if period.quarter}
    held = [
        document_id
        for document_id, text in texts.items()
        if any((period.year, period.quarter) in asked for period in _periods(text))
    ]
    return dict.fromkeys(held, SAME) if len(held) <= _SMALL else {}


def best_named(named: Mapping[str, float]) -> list[str]:
    """The documents to look into first, best first: those within reach of the best weight."""
    best = max(named.values(), default=0.0)
    within = [name for name, weight in named.items() if weight >= SAME_YEAR * best]
    return sorted(within, key=lambda name: (-named[name], name))


def period_fit(asked: Iterable[Period], own_name: str) -> float:
    """How well the period in a document's name meets the last one asked; 1 when none is asked."""
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


def _names(wanted: ParsedQuestion, documents: Sequence[Listed]) -> tuple[str, ...]:
    if wanted.names:
        return wanted.names
    # Nothing is capitalised: words of the question, one or two together, that stand in file names.
    stems = {word for listed in documents for word in re.findall(r"[a-z]{3,}", _stem(listed).lower())}
    words = re.findall(r"[a-z&]{2,}", wanted.question.lower())
    pairs = [f"{one} {two}" for one, two in itertools.pairwise(words)]
    return tuple(dict.fromkeys(found for found in [*words, *pairs] if found.replace(" ", "") in stems))


def _stem(listed: Listed) -> str:
    return listed.document_id.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _own_name(listed: Listed) -> str:
    return f"{_stem(listed)}\n{listed.title}"


@lru_cache(maxsize=65536)
def _occurs(name: str, text: str) -> bool:
    return name_occurs(name, text)


@lru_cache(maxsize=8192)
def _periods(text: str) -> tuple[Period, ...]:
    return periods_in(text.replace("_", " "))

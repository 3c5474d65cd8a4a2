"""A ranker without trained weights: what a passage shares with a question, weighed by rarity.

In: a question and passages. Out: a relevance in [0, 1] for each. Exact features (words, names,
periods, line items, statements) summed with weights of our own through a logistic curve: monotone in
each of them, but a probability only as far as its card was calibrated. Knows nothing about indexes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from citewell.identity import hash_value
from citewell.matching.line_items import ITEMS, label_score, label_words, statements_in
from citewell.matching.periods import periods_in
from citewell.matching.questions import Wanted, name_occurs, operands, read_question
from citewell.ports import Embedder
from citewell.records import Maker

WEIGHTS = {
    "bias": -3.0,
    "overlap": 3.0,
    "names": 1.2,
    "period": 1.0,
    "items": 2.0,
    "statement": 1.2,
    "cosine": 4.0,
}
_LABEL_LINE = re.compile(r"^([^\t\n]+)\t", re.M)
_GOOD_LABEL = 0.6


class LexicalRanker:
    """Behind :class:`citewell.ports.Ranker`; ``embedder`` adds the cosine, None leaves it out."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        made_of = {"weights": WEIGHTS, "embedder": embedder.maker.hash if embedder else ""}
        self.maker = Maker(name="citewell/lexical-ranker", hash=hash_value(made_of))

    def rank(self, question: str, passages: Sequence[str]) -> list[float]:
        """Relevance of each passage; an empty list for no passages."""
        if not passages:
            return []
        rows = features(question, passages)
        if self._embedder is not None:
            vectors = self._embedder.embed([question, *passages])
            for row, cosine in zip(rows, vectors[1:] @ vectors[0], strict=True):
                row["cosine"] = float(cosine)
        return [
            _logistic(WEIGHTS["bias"] + math.fsum(WEIGHTS[name] * value for name, value in row.items()))
            for row in rows
        ]


def features(question: str, passages: Sequence[str]) -> list[dict[str, float]]:
    """For each passage, features in [0, 1] by name."""
    wanted = read_question(question)
    words = [Counter(label_words(passage)) for passage in passages]
    rarity = {
        term: math.log(1 + len(passages) / (1 + sum(term in bag for bag in words))) for term in wanted.terms
    }
    return [
        {
            "overlap": _share(rarity, bag),
            "names": _names(wanted, passage),
            "period": _period(wanted, passage),
            "items": _items(wanted, passage),
            "statement": _statement(wanted, passage),
        }
        for passage, bag in zip(passages, words, strict=True)
    ]


def _share(rarity: dict[str, float], bag: Counter[str]) -> float:
    whole = math.fsum(rarity.values())
    return math.fsum(weight for term, weight in rarity.items() if term in bag) / whole if whole else 0.0


def _names(wanted: Wanted, passage: str) -> float:
    if not wanted.names:
        return 0.0
    head = passage.split("\n", 1)[0]
    return sum(name_occurs(name, head) for name in wanted.names) / len(wanted.names)


def _period(wanted: Wanted, passage: str) -> float:
    if not wanted.periods:
        return 0.0
    years = {period.year for period in periods_in(passage)}
    asked = {period.year for period in wanted.periods}
    return len(years & asked) / len(asked)


def _items(wanted: Wanted, passage: str) -> float:
    names = operands(wanted)
    if not names:
        return 0.0
    labels = list(dict.fromkeys(_LABEL_LINE.findall(passage)))
    best = [max((label_score(label, ITEMS[name]) for label in labels), default=0.0) for name in names]
    return sum(score for score in best if score >= _GOOD_LABEL) / len(names)


def _statement(wanted: Wanted, passage: str) -> float:
    if not wanted.statements:
        return 0.0
    head = passage.split("\n\n", 1)[0][:600]
    return float(any(name in wanted.statements for name in statements_in(head)))


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))

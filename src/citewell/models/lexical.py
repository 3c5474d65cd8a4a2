"""A ranker without trained weights: what a passage shares with a question, weighed by rarity.

In: a question and passages (a chunk's context lines above its text). Out: a relevance in [0, 1] for
each: exact features through a logistic curve whose weights ``training/lexical_ranker.py`` fits at
equal priors. Rarity is counted within the passages that are ranked together, so a relevance depends on
them; the order of equal passages does not. Knows nothing about vectors or indexes.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

from citewell.identity import hash_value
from citewell.matching.line_items import ITEMS, label_score, label_words, statements_in
from citewell.matching.periods import periods_in
from citewell.matching.questions import Wanted, name_occurs, operands, read_question
from citewell.records import Maker
from citewell.sentences import sentence_spans

WEIGHTS = {
    "sentence": 4.0,
    "pairs": 2.5,
    "names": 2.0,
    "period": 1.0,
    "items": 2.0,
    "statement": 1.0,
}
BIAS = -1.2

_WORD = re.compile(r"[A-Za-z][\w&’']*|\d[\d,.]*\d|\d")
_LABEL_LINE = re.compile(r"^([^\t\n]+)\t", re.M)
_GOOD_LABEL = 0.6


class LexicalRanker:
    """Behind :class:`citewell.ports.Ranker`. Instant, deterministic, and blind to paraphrase."""

    def __init__(self) -> None:
        self.maker = Maker(
            name="citewell/lexical-ranker", hash=hash_value({"weights": WEIGHTS, "bias": BIAS})
        )

    def rank(self, question: str, passages: Sequence[str]) -> list[float]:
        """Relevance of each passage; an empty list for no passages."""
        return [
            _logistic(BIAS + math.fsum(WEIGHTS[name] * value for name, value in row.items()))
            for row in features(question, passages)
        ]


def features(question: str, passages: Sequence[str]) -> list[dict[str, float]]:
    """For each passage, features in [-1, 1] by name: below 0 where something asked is missing, 0 where
    the question asks for nothing of the kind."""
    wanted = read_question(question)
    words = [_stems(passage) for passage in passages]
    bags = [frozenset(found) for found in words]
    rarity = {
        term: math.log(1 + (1 + len(bags)) / (1 + sum(term in bag for bag in bags))) for term in wanted.terms
    }
    return [
        {
            "sentence": _sentence(rarity, passage),
            "pairs": _pairs(wanted, found),
            "names": _names(wanted, passage),
            "period": _period(wanted, passage),
            "items": _items(wanted, passage),
            "statement": _statement(wanted, passage),
        }
        for passage, found in zip(passages, words, strict=True)
    ]


def _stems(text: str) -> list[str]:
    return [stem for word in _WORD.findall(text) for stem in label_words(word)]


def _share(rarity: dict[str, float], bag: frozenset[str]) -> float:
    whole = math.fsum(rarity.values())
    return math.fsum(weight for term, weight in rarity.items() if term in bag) / whole if whole else 0.0


def _sentence(rarity: dict[str, float], passage: str) -> float:
    """The most that one sentence or row says of it."""
    sentences = (passage[start:end] for start, end in sentence_spans(passage))
    return max((_share(rarity, frozenset(_stems(sentence))) for sentence in sentences), default=0.0)


def _pairs(wanted: Wanted, words: Sequence[str]) -> float:
    asked = set(itertools.pairwise(wanted.terms))
    if not asked:
        return 0.0
    return len(asked & set(itertools.pairwise(words))) / len(asked)


def _names(wanted: Wanted, passage: str) -> float:
    if not wanted.names:
        return 0.0
    head, _, body = passage.partition("\n")
    held = [1.0 if name_occurs(name, head) else 0.5 * (name.lower() in body.lower()) for name in wanted.names]
    return sum(held) / len(held) - 1.0


def _period(wanted: Wanted, passage: str) -> float:
    if not wanted.periods:
        return 0.0
    years = {period.year for period in periods_in(passage)}
    asked = {period.year for period in wanted.periods}
    return len(years & asked) / len(asked) - 1.0


def _items(wanted: Wanted, passage: str) -> float:
    names = operands(wanted)
    if not names:
        return 0.0
    labels = list(dict.fromkeys(_LABEL_LINE.findall(passage)))
    best = [max((label_score(label, ITEMS[name]) for label in labels), default=0.0) for name in names]
    return 2.0 * math.fsum(score for score in best if score >= _GOOD_LABEL) / len(names) - 1.0


def _statement(wanted: Wanted, passage: str) -> float:
    if not wanted.statements:
        return 0.0
    head = "\n".join(passage.split("\n", 3)[:3])
    return 1.0 if any(name in wanted.statements for name in statements_in(head)) else -1.0


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))

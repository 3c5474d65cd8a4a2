"""An extractor without weights: sentences scored by how the question's words lie in them.

In: a question and passages. Out: a :class:`Reading` a passage: its likeliest answer sentences and the
probability that its best one is not the answer. Both are logistic in a few lexical features; the coefficients
were fitted by ``training/lexical_reader.py`` (docs/measurements/lexical_reader.md). It reads words,
not meaning: where the trained reader's weights are at hand, that one is used.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from functools import lru_cache

from citewell.identity import hash_value
from citewell.matching.line_items import label_words
from citewell.matching.questions import STOP, Ask, Wanted, read_question
from citewell.ports import Extraction, Reading
from citewell.records import Maker
from citewell.sentences import sentence_spans

FEATURES = tuple(
    "bias share share_near share_passage relative bigrams names kind extra length lead".split()  # noqa: SIM905
)
# Fitted on public question answering sets; see the module's first lines.
SENTENCE_WEIGHTS = (-5.606, 0.732, 2.432, -0.922, 2.949, 0.167, 0.289, 1.446, -0.396, 0.719, 0.602)
PASSAGE_WEIGHTS = (-5.124, 3.349, 0.987, -1.363, 2.93, -0.316, 0.422, 0.948, -0.435, 0.873, 0.209)
MAX_CANDIDATES = 5
MAX_HEAD_LINES = 3

_WORD = re.compile(r"[A-Za-z][\w&]*|\d[\d,.]*\d|\d")
_KINDS: dict[Ask, re.Pattern[str]] = {
    Ask.NUMBER: re.compile(
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred|million|half|twice)\b", re.I
    ),
    Ask.WHEN: re.compile(
        r"\b(?:1\d|20)\d\d\b|\b(?:day|week|month|year|century)s?\b|"
        r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
    ),
    Ask.WHO: re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+"),
    Ask.WHY: re.compile(
        r"\b(?:because|due to|caused?|result|driven|drove|reflect|attributable|since|therefore|primarily|"
        r"partially offset|in order to|so that)\b",
        re.I,
    ),
}


class LexicalReader:
    """An Extractor port. ``no_answer`` and ``probability`` are fitted, on other text than yours."""

    def __init__(self) -> None:
        fitted = {"features": FEATURES, "sentence": SENTENCE_WEIGHTS, "passage": PASSAGE_WEIGHTS}
        self.maker = Maker(name="citewell-lexical-reader/1", hash=hash_value(fitted))

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """One reading a passage, in order; a passage without sentences has no answer for certain."""
        wanted = read_question(question)
        return [read_passage(wanted, passage) for passage in passages]


def read_passage(wanted: Wanted, passage: str) -> Reading:
    """Its best sentences with their probability, and ``no_answer`` of the best one's features."""
    spans = sentence_spans(passage)
    if not spans:
        return Reading(candidates=(), no_answer=1.0)
    rows = sentence_features(wanted, passage)
    body = _body(passage)
    under = [at for at, (start, _) in enumerate(spans) if start >= body] or list(range(len(spans)))
    scored = sorted(((_logistic(rows[at], SENTENCE_WEIGHTS), -at) for at in under), reverse=True)
    candidates = tuple(
        Extraction(start=spans[-at][0], end=spans[-at][1], probability=probability)
        for probability, at in scored[:MAX_CANDIDATES]
    )
    return Reading(candidates=candidates, no_answer=1.0 - _logistic(rows[-scored[0][1]], PASSAGE_WEIGHTS))


def _body(passage: str) -> int:
    """Where the text under the heading lines begins: headings are read, never answers."""
    at = 0
    for line in passage.split("\n")[:MAX_HEAD_LINES]:
        if line.rstrip().endswith((".", "!", "?", ";")):
            break
        at += len(line) + 1
    return at


def sentence_features(wanted: Wanted, passage: str) -> list[tuple[float, ...]]:
    """One row of FEATURES a sentence, each in [0, 1]."""
    spans = sentence_spans(passage)
    asked = _asked(wanted.question)
    bags = [_stems(passage[start:end]) for start, end in spans]
    whole = frozenset().union(*map(frozenset, bags)) if bags else frozenset()
    # A word that stands in every sentence of the passage tells sentences apart no better than "the".
    weights = {
        word: 1.0 / (1.0 + math.log1p(sum(word in bag for bag in bags))) for word in dict.fromkeys(asked)
    }
    total = sum(weights.values()) or 1.0
    shares = [sum(weight for word, weight in weights.items() if word in bag) / total for bag in bags]
    best = max(shares, default=0.0) or 1.0
    passage_share = sum(weight for word, weight in weights.items() if word in whole) / total
    pairs = set(itertools.pairwise(asked))
    kind = _KINDS.get(wanted.ask)
    rows: list[tuple[float, ...]] = []
    for at, ((start, end), bag) in enumerate(zip(spans, bags, strict=True)):
        text = passage[start:end]
        near = set(bag).union(*(bags[i] for i in (at - 1, at + 1) if 0 <= i < len(bags)))
        near_share = sum(weight for word, weight in weights.items() if word in near) / total
        names = [all(word in near for word in _stems(name)) for name in wanted.names]
        rows.append(
            (
                1.0,
                shares[at],
                near_share,
                passage_share,
                shares[at] / best,
                len(pairs.intersection(itertools.pairwise(bag))) / max(1, len(pairs)),
                sum(names) / len(names) if names else 0.5,
                0.5 if kind is None else float(bool(kind.search(text))),
                min(1.0, len(set(bag).difference(weights)) / 8),
                min(1.0, len(bag) / 40),
                float(at == 0),
            )
        )
    return rows


@lru_cache(maxsize=512)
def _asked(question: str) -> tuple[str, ...]:
    return _stems(question)


@lru_cache(maxsize=8192)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(
        stem
        for match in _WORD.finditer(text)
        if match.group().lower() not in STOP
        for stem in label_words(match.group())
    )


def _logistic(row: Sequence[float], weights: Sequence[float]) -> float:
    return 1.0 / (1.0 + math.exp(-sum(x * w for x, w in zip(row, weights, strict=True))))

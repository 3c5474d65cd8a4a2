"""Where in a passage does the answer to a question stand: the embedded reader.

In: a question and passages. Out: for each the likeliest answer spans, best first, as offsets into the
passage, and the probability that it holds no answer. The rule: spans of all windows compete as log odds
against "no answer here"; no-answer comes from the best span's odds and the best window's relevance through
a logistic curve in the card, fitted on data held out from training; a span's probability is its share among
the spans, times that of an answer. Knows nothing about what is done with a span.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from citewell.core.ports import Extraction, Reading
from citewell.models.onnx.reading import ReadingModel, Reads, Window

CANDIDATES = 5
CONSIDERED = 60  # spans looked at, best first, to find candidates that do not overlap


class OnnxReader:
    """The default extractor; needs no hub, no key and no torch."""

    def __init__(self, model: Reads | None = None) -> None:
        self._model = model or ReadingModel.shared()
        self.maker = self._model.session.maker
        self._curve: dict[str, float] = self._model.card["no_answer"]

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """One reading a passage, in order. Raises UsageError for a question or passage without words."""
        return [self.reading(windows) for windows in self._model.read(question, passages)]

    def reading(self, windows: Sequence[Window]) -> Reading:
        """From windows that are already read, so that one run can serve ranker and reader."""
        spans, total = _spans(windows)
        best, relevance = spans[0][0], max(window.relevance for window in windows)
        logit = self._curve["odds"] * best + self._curve["relevance"] * relevance + self._curve["bias"]
        answer = 1.0 / (1.0 + math.exp(-logit))
        found: list[Extraction] = []
        for odds, start, end in spans:
            if len(found) < CANDIDATES and not any(e.start < end and start < e.end for e in found):
                share = math.exp(odds - total)
                found.append(Extraction(start=start, end=end, probability=answer * share))
        return Reading(candidates=tuple(found), no_answer=1.0 - answer)


def _spans(windows: Sequence[Window]) -> tuple[list[tuple[float, int, int]], float]:
    """The best spans of all windows as (log odds, start, end), and the logarithm of all spans' summed odds.
    A span that two windows hold counts once, as likely as its better reading."""
    spans: dict[tuple[int, int], float] = {}
    for window in windows:
        flat = window.odds.ravel()
        top = np.argpartition(-flat, min(CONSIDERED, flat.size - 1))[:CONSIDERED]
        places = window.offsets.tolist()
        width = len(places)
        for index in top.tolist():
            odds = float(flat[index])
            if odds > -math.inf:
                place = (places[index // width][0], places[index % width][1])
                spans[place] = max(odds, spans.get(place, -math.inf))
    ordered = sorted(
        ((odds, start, end) for (start, end), odds in spans.items()), key=lambda s: (-s[0], s[1:])
    )
    largest = ordered[0][0]
    rest = sum(math.exp(odds - largest) for odds, _, _ in ordered)
    return ordered, largest + math.log(rest)

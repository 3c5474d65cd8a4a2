"""Does a passage answer a question: the embedded ranker.

In: a question and passages (a chunk's context lines above its text). Out: for each the calibrated
probability that it answers, not merely that it is about the matter. The rule: a passage counts as its best
window; the window's logit goes through a logistic curve whose coefficients stand in the card, fitted at
equal priors on data held out from training. Knows nothing about indexes or thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from citewell.models.onnx.reading import ReadingModel, Reads, Window


class OnnxRanker:
    """The default ranker; needs no hub, no key and no torch."""

    def __init__(self, model: Reads | None = None) -> None:
        self._model = model or ReadingModel.shared()
        self.maker = self._model.session.maker
        self.card = self._model.card
        self._curve: dict[str, float] = self.card["relevance"]

    def rank(self, question: str, passages: Sequence[str]) -> list[float]:
        """Probabilities in the passages' order. Raises UsageError for a question or passage without words."""
        return [self.probability(windows) for windows in self._model.read(question, passages)]

    def probability(self, windows: Sequence[Window]) -> float:
        """From windows that are already read, so that one run can serve ranker and reader."""
        best = max(window.relevance for window in windows)
        return 1.0 / (1.0 + math.exp(-(self._curve["slope"] * best + self._curve["bias"])))

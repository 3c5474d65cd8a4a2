"""Does one claim say what another said? For claims of two runs of one writer.

In: two claims. Out: yes or no. Exact code on words, numbers, names and negation; an entailer, if there is
one, where words alone do not decide. Knows nothing about sources.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.ports import Entailer
from citewell.evaluation.probes.counterfactuals import parity
from citewell.verification.entities import missing_names
from citewell.verification.numbers import missing_numbers
from citewell.verification.words import overlap

ALIKE, ENTAILED = 0.6, 0.5
"""A claim is restated by one that holds so much of its words, its numbers, its names and its negation; or, by
the entailer, that entails it with this probability."""


class Alike:
    """Whether one claim restates another. With an entailer a paraphrase does too; its word is only asked
    where words do not decide."""

    def __init__(self, entailer: Entailer | None = None) -> None:
        self.entailer = entailer

    def __call__(self, claim: str, other: str) -> bool:
        if parity(claim) != parity(other) or missing_numbers(claim, other):
            return False
        if overlap(claim, other) >= ALIKE and not missing_names(claim, other):
            return True
        return bool(self.entailing(claim, [other]))

    def entailing(self, claim: str, texts: Sequence[str]) -> list[str]:
        """Those of ``texts`` that entail ``claim``; none without an entailer."""
        if self.entailer is None or not texts:
            return []
        found = self.entailer.entail([(text, claim) for text in texts])
        return [
            text
            for text, one in zip(texts, found, strict=True)
            if one.entailment is not None and one.entailment >= ENTAILED
        ]

"""Do probabilities come true? Reliability, expected calibration error and Brier score.

In: judged answers with a probability and a label: the answer's confidence against whether it was right, and
the verifier's probability of support against a person's word (recorded answers with ``supported``). Out:
measures and bins. ECE with ten bins of equal width (Naeini, Cooper and Hauskrecht 2015); Brier (1950).
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.evaluation.bootstrap import Point
from citewell.evaluation.measures.measure import NOT_ASKED, Measure, one
from citewell.evaluation.observed import Judged
from citewell.evaluation.results import Bin, Score

BINS = 10


def confidence(judged: Judged) -> Score:
    """A point is (confidence, whether the answer was right)."""
    if not judged.observed.answered:
        return NOT_ASKED
    if judged.observed.overall is None:
        return one(None, "the answer came without a confidence")
    if judged.right is None:
        return one(None, judged.why)
    return Score(points=((judged.observed.overall, float(judged.right)),))


def support(judged: Judged) -> Score:
    """A point is (probability that all is supported, whether a person said so)."""
    if judged.observed.supported is None:
        return NOT_ASKED
    if judged.observed.support is None:
        return one(None, "the verifier could not judge")
    return Score(points=((judged.observed.support, float(judged.observed.supported)),))


def bins(points: Sequence[Point]) -> tuple[Bin, ...]:
    """Of equal width over [0, 1]; 1 itself is in the last. Empty ones are there, with None."""
    inside: list[list[Point]] = [[] for _ in range(BINS)]
    for point in points:
        inside[min(int(point[0] * BINS), BINS - 1)].append(point)
    return tuple(
        Bin(
            low=number / BINS,
            high=(number + 1) / BINS,
            n=len(found),
            predicted=sum(p for p, _ in found) / len(found) if found else None,
            observed=sum(label for _, label in found) / len(found) if found else None,
        )
        for number, found in enumerate(inside)
    )


def expected_calibration_error(points: Sequence[Point]) -> float | None:
    if not points:
        return None
    return sum(
        found.n / len(points) * abs(found.predicted - found.observed)
        for found in bins(points)
        if found.predicted is not None and found.observed is not None
    )


def brier(points: Sequence[Point]) -> float | None:
    return sum((p - label) ** 2 for p, label in points) / len(points) if points else None


CONFIDENCE = Measure(name="ece_confidence", of=confidence, better=-1, over=expected_calibration_error)
SUPPORT = Measure(name="ece_support", of=support, better=-1, over=expected_calibration_error)
MEASURES: tuple[Measure, ...] = (
    CONFIDENCE,
    Measure(name="brier_confidence", of=confidence, better=-1, over=brier),
    SUPPORT,
    Measure(name="brier_support", of=support, better=-1, over=brier),
)

"""Measures of answering only what has an answer, and of calibrated confidence.

Neither refusing nor answering everything wins. AURC as Geifman, Uziel and El-Yaniv (2019), "Bias-Reduced
Uncertainty Estimation for Deep Neural Classifiers": the mean, over every coverage, of the share of wrong
outcomes among the most confident cases. Answers are ordered by confidence; refusals come last and cost
nothing where there is no answer, so refusing everything has an AURC equal to the share of answerable
questions. An answer without a confidence cannot be ordered, so then AURC is not measured. ECE with ten bins
of equal width (Naeini, Cooper and Hauskrecht 2015); Brier (1950).
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.evaluation.intervals import Point
from citewell.evaluation.judging import JudgedCase
from citewell.evaluation.measures.measure import NOT_ASKED, CaseMeasure, single_score
from citewell.evaluation.results import Score

REFUSED = -1.0
"""Pseudo-confidence of refusals, below that of any answer."""
UNKNOWN = -2.0
"""Pseudo-confidence of answers without one."""
_UNLABELLED = "the case does not say whether there is an answer"


def wrongly_answered(judged: JudgedCase) -> Score:
    if judged.answerable is None:
        return single_score(None, _UNLABELLED)
    return NOT_ASKED if judged.answerable else single_score(judged.observed.answered)


def wrongly_abstained(judged: JudgedCase) -> Score:
    if judged.answerable is None:
        return single_score(None, _UNLABELLED)
    return single_score(not judged.observed.answered) if judged.answerable else NOT_ASKED


def balanced(judged: JudgedCase) -> Score:
    """A point is (whether there is an answer, whether one was given)."""
    if judged.answerable is None:
        return single_score(None, _UNLABELLED)
    return Score(points=((float(judged.answerable), float(judged.observed.answered)),))


def balance(points: Sequence[Point]) -> float | None:
    """Balanced accuracy: the mean share of right decisions on both sides; None if one side is empty."""
    could = [answered for answerable, answered in points if answerable]
    could_not = [1.0 - answered for answerable, answered in points if not answerable]
    if not could or not could_not:
        return None
    return (sum(could) / len(could) + sum(could_not) / len(could_not)) / 2


def coverage(judged: JudgedCase) -> Score:
    return single_score(judged.observed.answered)


def right_outcome(judged: JudgedCase) -> Score:
    return single_score(judged.right, judged.why)


def right_when_answered(judged: JudgedCase) -> Score:
    return single_score(judged.right, judged.why) if judged.observed.answered else NOT_ASKED


def risk(judged: JudgedCase) -> Score:
    """A point is (confidence, whether the outcome is wrong)."""
    if judged.right is None:
        return single_score(None, judged.why)
    wrong = float(not judged.right)
    if not judged.observed.answered:
        return Score(points=((REFUSED, wrong),))
    if judged.observed.overall is None:
        return Score(points=((UNKNOWN, wrong),), reason="the answer has no confidence")
    return Score(points=((judged.observed.overall, wrong),))


def aurc(points: Sequence[Point]) -> float | None:
    """Points of equal confidence enter together, each with their mean loss. None if any confidence is
    unknown."""
    if any(confidence == UNKNOWN for confidence, _ in points):
        return None
    risks = _risks(points)
    return sum(risks) / len(risks) if risks else None


def _risks(points: Sequence[Point]) -> list[float]:
    """The risk at each coverage 1/n, 2/n, ..., 1."""
    groups: dict[float, list[float]] = {}
    for confidence, loss in points:
        groups.setdefault(confidence, []).append(loss)
    risks, taken, wrong = [], 0, 0.0
    for confidence in sorted(groups, reverse=True):
        losses = groups[confidence]
        share = sum(losses) / len(losses)
        for _ in losses:
            taken += 1
            wrong += share
            risks.append(wrong / taken)
    return risks


def _gate(judged: JudgedCase, *, answerable: bool) -> Score:
    if judged.answerable is None:
        return single_score(None, _UNLABELLED)
    if judged.answerable is not answerable:
        return NOT_ASKED
    passed = judged.observed.gate_passed
    return single_score(None if passed is None else passed is not answerable, "the answer has no gate result")


def gate_wrongly_closed(judged: JudgedCase) -> Score:
    return _gate(judged, answerable=True)


def gate_wrongly_open(judged: JudgedCase) -> Score:
    return _gate(judged, answerable=False)


ABSTENTION: tuple[CaseMeasure, ...] = (
    CaseMeasure(name="coverage", of=coverage, better=0, bounded=True),
    CaseMeasure(name="wrongly_answered", of=wrongly_answered, better=-1, bounded=True),
    CaseMeasure(name="wrongly_abstained", of=wrongly_abstained, better=-1, bounded=True),
    CaseMeasure(name="abstention_balance", of=balanced, over=balance),
    CaseMeasure(name="right_outcome", of=right_outcome, bounded=True),
    CaseMeasure(name="right_when_answered", of=right_when_answered, bounded=True),
    CaseMeasure(name="aurc", of=risk, better=-1, over=aurc),
    CaseMeasure(name="gate_wrongly_closed", of=gate_wrongly_closed, better=-1, bounded=True),
    CaseMeasure(name="gate_wrongly_open", of=gate_wrongly_open, better=-1, bounded=True),
)


BINS = 10


def confidence(judged: JudgedCase) -> Score:
    """A point is (confidence, whether the answer was right)."""
    if not judged.observed.answered:
        return NOT_ASKED
    if judged.observed.overall is None:
        return single_score(None, "the answer has no confidence")
    if judged.right is None:
        return single_score(None, judged.why)
    return Score(points=((judged.observed.overall, float(judged.right)),))


def expected_calibration_error(points: Sequence[Point]) -> float | None:
    """ECE over ten bins of equal width; 1 itself is in the last."""
    inside: dict[int, list[Point]] = {}
    for point in points:
        inside.setdefault(min(int(point[0] * BINS), BINS - 1), []).append(point)
    gaps = [abs(sum(p for p, _ in found) - sum(label for _, label in found)) for found in inside.values()]
    return sum(gaps) / len(points) if points else None


def brier(points: Sequence[Point]) -> float | None:
    return sum((p - label) ** 2 for p, label in points) / len(points) if points else None


CALIBRATION: tuple[CaseMeasure, ...] = (
    CaseMeasure(name="ece_confidence", of=confidence, better=-1, over=expected_calibration_error),
    CaseMeasure(name="brier_confidence", of=confidence, better=-1, over=brier),
)

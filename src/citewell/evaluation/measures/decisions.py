"""Measures of answering only what has an answer, and of calibrated confidence.

Neither refusing nor answering everything wins. AURC as Geifman, Uziel and El-Yaniv (2019), "Bias-Reduced
Uncertainty Estimation for Deep Neural Classifiers": the mean, over every coverage, of the share of wrong
outcomes among the most confident cases. Answers are ordered by confidence; refusals come last and cost
nothing where there is no answer, so refusing everything has an AURC equal to the share of answerable
questions. An answer without a confidence cannot be ordered, so then AURC is not measured. ECE with ten bins
of equal width (Naeini, Cooper and Hauskrecht 2015); Brier (1950).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from citewell.evaluation.intervals import Point
from citewell.evaluation.judging import JudgedCase
from citewell.evaluation.measures.measure import NOT_ASKED, CaseMeasure, single_score
from citewell.evaluation.results import Score

REFUSED = -1.0
"""Pseudo-confidence of refusals, below that of any answer."""
UNKNOWN = -2.0
"""Pseudo-confidence of answers without one."""
_UNLABELLED = "the case does not say whether there is an answer"


def _where(
    answerable: bool, of: Callable[[JudgedCase], bool | None], reason: str = ""
) -> Callable[[JudgedCase], Score]:
    """Scores the cases that have an answer, or those that have none; ``reason``: why ``of`` is None."""

    def score(judged: JudgedCase) -> Score:
        if judged.answerable is None:
            return single_score(None, _UNLABELLED)
        return single_score(of(judged), reason) if judged.answerable is answerable else NOT_ASKED

    return score


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


def _gate_passed(judged: JudgedCase) -> bool | None:
    return judged.observed.gate_passed


def _gate_closed(judged: JudgedCase) -> bool | None:
    passed = judged.observed.gate_passed
    return None if passed is None else not passed


_NO_GATE = "the answer has no gate result"
_error_rate = partial(CaseMeasure, better=-1, bounded=True)
ABSTENTION: tuple[CaseMeasure, ...] = (
    CaseMeasure(name="coverage", of=coverage, better=0, bounded=True),
    _error_rate(name="wrongly_answered", of=_where(False, lambda judged: judged.observed.answered)),
    _error_rate(name="wrongly_abstained", of=_where(True, lambda judged: not judged.observed.answered)),
    CaseMeasure(name="abstention_balance", of=balanced, over=balance),
    CaseMeasure(name="right_outcome", of=right_outcome, bounded=True),
    CaseMeasure(name="right_when_answered", of=right_when_answered, bounded=True),
    CaseMeasure(name="aurc", of=risk, better=-1, over=aurc),
    _error_rate(name="gate_wrongly_closed", of=_where(True, _gate_closed, _NO_GATE)),
    _error_rate(name="gate_wrongly_open", of=_where(False, _gate_passed, _NO_GATE)),
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

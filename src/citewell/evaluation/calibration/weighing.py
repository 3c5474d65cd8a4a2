"""Chooses the four weights of the confidence so that right answers rank above wrong ones.

In: rehearsed answers, each right or wrong, and the configured weights. Out: weights with how they were
chosen, and the answers not used to choose them. A grid search over the measured components on one half of the
answers; the result replaces the configured weights only if it ranks the *other* half significantly better
(95 % paired bootstrap). Knows nothing about thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from citewell.core.identity import hash_text
from citewell.core.records import AuditRecord, Decision, Measure, Record
from citewell.verification.confidence.cards import PromiseOutcome, Weighing

COMPONENTS = ("retrieval", "coverage", "entailment", "consistency")
STEPS = 10
LEAST = 20
"""Minimum number of right and of wrong answers in each half."""
_SEED, _DRAWS = 20260101, 1_000

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class RehearsedAnswer(Record, frozen=True, kw_only=True):
    """A rehearsed answer; ``right`` is None where unknown."""

    key: str
    record: AuditRecord
    right: bool | None = None

    @property
    def shown(self) -> bool:
        return self.record.response_decision in (Decision.ANSWER.value, Decision.PARTIAL.value)

    @property
    def components(self) -> dict[str, float]:
        report = self.record.confidence_report
        found: dict[str, Measure] = (
            {name: getattr(report, f"{name}_score") for name in COMPONENTS} if report else {}
        )
        return {name: measure.value for name, measure in found.items() if measure.value is not None}

    def overall(self, weights: Mapping[str, float]) -> float:
        """Confidence under ``weights``, renormalised over the measured components; 0 when there are none."""
        measured = self.components
        total = sum(weights[name] for name in measured)
        return sum(weights[name] * value for name, value in measured.items()) / total if total else 0.0


def weigh(
    answers: Sequence[RehearsedAnswer], configured: Mapping[str, float]
) -> tuple[Weighing, list[RehearsedAnswer]]:
    """(weights to use, answers not used to choose them: all when the configured weights stay)."""
    halves: tuple[list[RehearsedAnswer], list[RehearsedAnswer]] = ([], [])
    for one in answers:
        halves[int(hash_text(one.key)[-1], 16) % 2].append(one)
    right = sum(bool(one.right) for one in answers)
    nothing = Weighing(
        weights=dict(configured),
        n=len(answers),
        right=right,
        configured=None,
        found=None,
        outcome=PromiseOutcome.TOO_SMALL if answers else PromiseOutcome.NOT_MEASURED,
        note=f"{LEAST} right and {LEAST} wrong answers are needed in each half",
    )
    if any(min(sum(bool(o.right) for o in half), sum(not o.right for o in half)) < LEAST for half in halves):
        return nothing, list(answers)
    choosing, testing = halves
    truth = np.array([bool(one.right) for one in choosing])
    best = max(
        _candidates(choosing, configured),
        key=lambda weights: (_auroc(_scores(choosing, weights), truth), -_distance(weights, configured)),
    )
    truth = np.array([bool(one.right) for one in testing])
    old, new = _scores(testing, configured), _scores(testing, best)
    places = np.random.default_rng(_SEED).integers(0, len(truth), (_DRAWS, len(truth)))
    gains = [
        _auroc(new[p], truth[p]) - _auroc(old[p], truth[p])
        for p in places
        if truth[p].any() and not truth[p].all()
    ]
    better = float(np.percentile(gains, 2.5)) > 0
    made = Weighing(
        weights=best if better else dict(configured),
        n=len(answers),
        right=right,
        configured=_auroc(old, truth),
        found=_auroc(new, truth),
        outcome=PromiseOutcome.HOLDS if better else PromiseOutcome.DOES_NOT_SEPARATE,
        note="" if better else "no other weights order the answers better by more than chance",
    )
    return made, testing if better else list(answers)


def _candidates(
    answers: Sequence[RehearsedAnswer], configured: Mapping[str, float]
) -> Iterator[dict[str, float]]:
    """Every division in tenths among the measured components; the others keep their weights."""
    measured = [name for name in COMPONENTS if any(name in one.components for one in answers)]
    kept = {name: weight for name, weight in configured.items() if name not in measured}
    left = 1.0 - sum(kept.values())
    for parts in product(range(STEPS + 1), repeat=len(measured)):
        if sum(parts) == STEPS or not measured:
            shares = zip(measured, parts, strict=True)
            yield kept | {name: round(left * part / STEPS, 6) for name, part in shares}


def _scores(answers: Sequence[RehearsedAnswer], weights: Mapping[str, float]) -> Floats:
    return np.array([one.overall(weights) for one in answers])


def _distance(weights: Mapping[str, float], configured: Mapping[str, float]) -> float:
    return sum(abs(weights[name] - configured[name]) for name in configured)


def _auroc(scores: Floats, right: Bools) -> float:
    """The probability that a right answer scores above a wrong one; ties count half."""
    above, below = scores[right][:, None], scores[~right][None, :]
    return float((above > below).mean() + (above == below).mean() / 2)

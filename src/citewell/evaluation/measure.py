"""What a measure is, and the measures of effort: agreement of drafts, tokens, cost, time.

In: a :class:`JudgedCase` ; then the points of all. Out: a :class:`Score`; a value, or None without points. A
measure prints as its name (``precision@5``). Knows nothing about intervals or files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from citewell.evaluation.intervals import Point, Statistic, mean
from citewell.evaluation.judging import JudgedCase
from citewell.evaluation.results import CaseTiming, Score

NOT_ASKED = Score()
"""The measure does not apply to the case: neither scored nor unscored."""


class Judge(StrEnum):
    """Who decides a point: exact code alone; the verifier, run again by the evaluation; or the pipeline's own
    verifier, as the answer reports it."""

    CODE = "code"
    VERIFIER = "verifier"
    PASS = "pass"  # noqa: S105 - no password


@dataclass(frozen=True, repr=False, kw_only=True)
class CaseMeasure:
    """``of`` scores one case, ``over`` aggregates all points (by default their mean).

    ``counts``: what ``n`` counts; ``better``: 1 if higher is better, -1 if lower, 0 for neither;
    ``bounded``: it is a mean of values in [0, 1].
    """

    name: str
    of: Callable[[JudgedCase], Score]
    over: Statistic = mean
    counts: str = "cases"
    judge: Judge = Judge.CODE
    better: int = 1
    bounded: bool = False

    def __repr__(self) -> str:
        return self.name


def single_score(value: float | bool | None, reason: str = "") -> Score:
    """The score of a case with one value, or None for unscored."""
    return Score(unscored=1, reason=reason) if value is None else Score(points=((float(value),),))


def many(values: Iterable[bool | float | None], reason: str = "") -> Score:
    """The score of a case with a value for each of its parts, None for unscored ones."""
    listed = list(values)
    points: tuple[Point, ...] = tuple((float(value),) for value in listed if value is not None)
    unscored = len(listed) - len(points)
    return Score(points=points, unscored=unscored, reason=reason if unscored else "")


TOTAL = "total"


def consistency(judged: JudgedCase) -> Score:
    """Unscored if any comparison is missing, as the mean of the rest would cover fewer drafts."""
    report = judged.observed.confidence
    if report is None or not report.consistency_score.maker:  # no comparison was made
        return NOT_ASKED
    made = report.consistency_score
    return single_score(None if made.note else made.value, made.note)


def _tokens(kind: str) -> Callable[[JudgedCase], Score]:
    def score(judged: JudgedCase) -> Score:
        usage = judged.observed.usage
        return NOT_ASKED if usage is None else single_score(float(getattr(usage, kind)))

    return score


def cost(judged: JudgedCase) -> Score:
    return NOT_ASKED if judged.observed.cost is None else single_score(judged.observed.cost)


def percentile(share: float) -> Statistic:
    """The smallest value that at least ``share`` of all do not exceed (nearest rank)."""

    def value(points: Sequence[Point]) -> float | None:
        ordered = sorted(point[0] for point in points)
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None

    return value


@dataclass(frozen=True, repr=False)
class Latency:
    """Milliseconds that ``rank`` in 100 answers took at most in one stage, over the cases in which it ran.

    ``total`` is wall time. Identical runs may differ in it, so it is not a :class:`CaseMeasure`.
    """

    rank: int
    stage: str = TOTAL
    counts = "cases"
    bounded = False
    better = -1

    @property
    def name(self) -> str:
        return f"latency_ms_p{self.rank}@{self.stage.replace(' ', '_')}"

    def __repr__(self) -> str:
        return self.name

    def of(self, timing: CaseTiming) -> Score:
        if self.stage == TOTAL:
            return NOT_ASKED if timing.total_ms is None else single_score(timing.total_ms)
        took = [stage.latency_ms for stage in timing.stages if stage.name == self.stage]
        return single_score(sum(took)) if took else NOT_ASKED

    @property
    def over(self) -> Statistic:
        return percentile(self.rank / 100)


def latencies(stages: Iterable[str]) -> list[Latency]:
    """The total first, then each stage."""
    return [Latency(rank, stage) for stage in (TOTAL, *stages) for rank in (50, 95)]


EFFORT: tuple[CaseMeasure, ...] = (
    CaseMeasure(name="consistency", of=consistency, judge=Judge.PASS, bounded=True),
    *(
        CaseMeasure(name=f"tokens_{kind}", of=_tokens(kind), better=-1)
        for kind in ("prompt", "completion", "total")
    ),
    CaseMeasure(name="cost", of=cost, better=-1),
)

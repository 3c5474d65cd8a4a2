"""What a measure is, and the measures of effort: agreement of drafts, tokens, cost, time.

In: a :class:`JudgedCase` ; then the points of all. Out: a :class:`Score`; a value, or None without points. A
measure prints as its name (``precision@5``). Knows nothing about intervals or files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

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
    """``of`` scores one :class:`JudgedCase`, ``over`` aggregates all points (by default their mean).

    ``counts``: what ``n`` counts; ``better``: 1 if higher is better, -1 if lower, 0 for neither;
    ``bounded``: it is a mean of values in [0, 1].
    """

    name: str
    of: Callable[[Any], Score]
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


def latency(rank: int, stage: str = TOTAL) -> CaseMeasure:
    """Milliseconds that ``rank`` in 100 answers took at most in one stage, over the cases in which it ran;
    ``total`` is wall time. It scores a :class:`CaseTiming`, as identical runs may differ in it."""

    def score(timing: CaseTiming) -> Score:
        if stage == TOTAL:
            return NOT_ASKED if timing.total_ms is None else single_score(timing.total_ms)
        took = [one.latency_ms for one in timing.stages if one.name == stage]
        return single_score(sum(took)) if took else NOT_ASKED

    name = f"latency_ms_p{rank}@{stage.replace(' ', '_')}"
    return CaseMeasure(name=name, of=score, over=percentile(rank / 100), better=-1)


def latencies(stages: Iterable[str]) -> list[CaseMeasure]:
    """The total first, then each stage."""
    return [latency(rank, stage) for stage in (TOTAL, *stages) for rank in (50, 95)]


EFFORT: tuple[CaseMeasure, ...] = (
    CaseMeasure(name="consistency", of=consistency, judge=Judge.PASS, bounded=True),
    *(
        CaseMeasure(name=f"tokens_{kind}", of=_tokens(kind), better=-1)
        for kind in ("prompt", "completion", "total")
    ),
    CaseMeasure(name="cost", of=cost, better=-1),
)

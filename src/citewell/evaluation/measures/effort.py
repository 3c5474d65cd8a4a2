"""Whether several drafts agree, and what an answer takes: tokens, money, time.

In: judged answers. Out: measures, a point a case; nothing is measured where nobody counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from citewell.evaluation.bootstrap import Point, Statistic
from citewell.evaluation.measures.measure import NOT_ASKED, Judge, Measure, one
from citewell.evaluation.observed import Judged
from citewell.evaluation.results import Score

TOTAL = "total"


def consistency(judged: Judged) -> Score:
    report = judged.observed.confidence
    if report is None or report.consistency_score.value is None:
        return NOT_ASKED
    return one(report.consistency_score.value)


def _tokens(kind: str) -> Callable[[Judged], Score]:
    def score(judged: Judged) -> Score:
        usage = judged.observed.usage
        return NOT_ASKED if usage is None else one(float(getattr(usage, kind)))

    return score


def cost(judged: Judged) -> Score:
    return NOT_ASKED if judged.observed.cost is None else one(judged.observed.cost)


def percentile(share: float) -> Statistic:
    """The least value that at least ``share`` of all do not exceed (nearest rank)."""

    def value(points: Sequence[Point]) -> float | None:
        ordered = sorted(point[0] for point in points)
        return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None

    return value


def latency(stage: str) -> tuple[Measure, ...]:
    """p50 and p95 of one stage in milliseconds, over the cases in which it ran; ``total`` is wall time."""

    def score(judged: Judged) -> Score:
        timing = judged.observed.timing
        if stage == TOTAL:
            return NOT_ASKED if timing.total_ms is None else one(timing.total_ms)
        took = [one.latency_ms for one in timing.stages if one.name == stage]
        return one(sum(took)) if took else NOT_ASKED

    name = stage.replace(" ", "_")
    return tuple(
        Measure(
            name=f"latency_ms_p{rank}@{name}", of=score, better=-1, timed=True, over=percentile(rank / 100)
        )
        for rank in (50, 95)
    )


MEASURES: tuple[Measure, ...] = (
    Measure(name="consistency", of=consistency, judge=Judge.PASS),
    *(
        Measure(name=f"tokens_{kind}", of=_tokens(kind), better=-1)
        for kind in ("prompt", "completion", "total")
    ),
    Measure(name="cost", of=cost, better=-1),
    *latency(TOTAL),
)

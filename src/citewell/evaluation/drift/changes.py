"""Change points in a series: where what came after is not what came before.

In: series of periods, each with its single values (0 and 1 for shares). Out: :class:`Change` values. At every
border between two periods the values before and behind are compared (Mann and Whitney 1947, by the normal
approximation with ties; on zeros and ones it is the test of two proportions). The clearest border counts when
its p value, times the number of borders looked at in all series (Bonferroni), is under ``LEVEL``; then both
sides are searched again. Knows nothing about what is measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from citewell.core.records import Record

LEVEL = 0.01
LEAST = 20
"""Values on either side; with fewer there is no test."""

Key = tuple[str, str]
Series = Sequence[tuple[str, Sequence[float]]]
Floats = NDArray[np.float64]


class Change(Record, frozen=True, kw_only=True):
    """From ``period`` on. ``before`` and ``after`` are means of the stretches between this change and its
    neighbours; ``p`` is corrected for every border that was looked at."""

    measure: str
    group: str
    period: str
    before: float
    after: float
    p: float


def change_points(series: Mapping[Key, Series]) -> tuple[Change, ...]:
    """By time; ``series`` by measure and group, their periods in order."""
    looked_at = sum(max(0, len(one) - 1) for one in series.values())
    found: list[Change] = []
    for (measure, group), one in series.items():
        periods = [(period, np.asarray(values, dtype=np.float64)) for period, values in one if len(values)]
        borders = sorted(_borders(periods, 0, len(periods), looked_at))
        ends = [0, *(place for place, _ in borders), len(periods)]
        means = [
            float(np.concatenate([v for _, v in periods[a:b]]).mean()) for a, b in pairwise(ends) if a < b
        ]
        found += [
            Change(
                measure=measure,
                group=group,
                period=periods[place][0],
                before=means[number],
                after=means[number + 1],
                p=p,
            )
            for number, (place, p) in enumerate(borders)
        ]
    return tuple(sorted(found, key=lambda change: (change.period, change.measure, change.group)))


def _borders(
    periods: Sequence[tuple[str, Floats]], start: int, end: int, looked_at: int
) -> list[tuple[int, float]]:
    tests = [
        (_p_value([v for _, v in periods[start:place]], [v for _, v in periods[place:end]]), place)
        for place in range(start + 1, end)
    ]
    if not tests:
        return []
    p, place = min(tests)
    corrected = min(1.0, p * looked_at)
    if corrected >= LEVEL:
        return []
    return [
        *_borders(periods, start, place, looked_at),
        (place, corrected),
        *_borders(periods, place, end, looked_at),
    ]


def _p_value(before: Sequence[Floats], after: Sequence[Floats]) -> float:
    """Two-sided; 1 where there are too few values, or where all are alike."""
    first, second = np.concatenate(before), np.concatenate(after)
    n, m = len(first), len(second)
    if min(n, m) < LEAST:
        return 1.0
    _, inverse, counts = np.unique(np.concatenate([first, second]), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    total = n + m
    tied = float((counts.astype(np.float64) ** 3 - counts).sum()) / (total * (total - 1))
    variance = n * m / 12 * (total + 1 - tied)
    if variance <= 0:
        return 1.0
    away = abs(float(ranks[:n].sum()) - n * (total + 1) / 2)
    return math.erfc(away / math.sqrt(2 * variance))

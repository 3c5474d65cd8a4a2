"""How far a figure may be off: percentile bootstrap over cases (Efron 1979), the same every time.

In: what each case brings, and the statistic. Out: the bounds of the 95 % interval. Whole cases are drawn,
with all their citations and claims, because those of one answer are not independent. Where drawing again
changes nothing it says nothing either: a mean of zeros, or of ones, then has the exact bounds of Clopper and
Pearson over the cases, and anything else has none. Knows nothing about measures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from citewell.evaluation.intervals import clopper_pearson

Point = tuple[float, ...]
Statistic = Callable[[Sequence[Point]], float | None]
Bounds = tuple[float | None, float | None]

SEED, DRAWS = 20261121, 1000
_ENDS = (2.5, 97.5)
_NOTHING = 1e-12  # a difference that rounding alone makes


def mean(points: Sequence[Point]) -> float | None:
    """Of the points' first values; None when there are none."""
    return float(np.mean([point[0] for point in points])) if points else None


def interval(
    cases: Sequence[Sequence[Point]],
    statistic: Statistic = mean,
    *,
    bounded: bool = False,
) -> Bounds:
    """``cases``: the points of each case that has any. (None, None) where nothing can be said: fewer than
    two of them, or none that differs. ``bounded``: the statistic is a mean of values in [0, 1]."""
    cases = [points for points in cases if points]
    if len(cases) < 2:
        return None, None
    said = {point[0] for points in cases for point in points} if bounded else set()
    if said in ({0.0}, {1.0}):
        return clopper_pearson(len(cases) if said == {1.0} else 0, len(cases))
    return _ends(_means(cases) if statistic is mean else _drawn(cases, statistic))


def paired(
    before: Sequence[Sequence[Point]],
    after: Sequence[Sequence[Point]],
    statistic: Statistic = mean,
) -> Bounds:
    """Of the statistic's difference, after less before; the same cases are drawn on both sides. (None, None)
    for fewer than two cases, and where every draw gives the same difference."""
    if len(before) < 2:
        return None, None
    if statistic is mean:
        return _ends(_means(after) - _means(before))
    first, second = _drawn(before, statistic), _drawn(after, statistic)
    return _ends(second - first)


def _means(cases: Sequence[Sequence[Point]]) -> NDArray[np.float64]:
    sums = np.array([sum(point[0] for point in points) for points in cases], dtype=np.float64)
    sizes = np.array([len(points) for points in cases], dtype=np.float64)
    drawn = _draws(len(cases))
    means: NDArray[np.float64] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return means


def _drawn(cases: Sequence[Sequence[Point]], statistic: Statistic) -> NDArray[np.float64]:
    """NaN where a draw has no value, such as one without any case of one side."""
    found = (statistic([point for index in row for point in cases[index]]) for row in _draws(len(cases)))
    return np.array([np.nan if value is None else value for value in found])


def _draws(cases: int) -> NDArray[np.int64]:
    return np.random.default_rng(SEED).integers(0, cases, (DRAWS, cases))


def _ends(values: NDArray[np.float64]) -> Bounds:
    known = values[~np.isnan(values)]
    if not known.size:
        return None, None
    low, high = np.percentile(known, _ENDS)
    return (None, None) if high - low < _NOTHING else (float(low), float(high))

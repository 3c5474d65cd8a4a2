"""Confidence intervals: exact ones for shares, and a deterministic bootstrap.

In: outcomes (True, False, or None if unscored), or each case's points and a statistic. Out: a
:class:`MeasureResult`, or the bounds of the 95 % interval. Clopper and Pearson (1934) is exact, so a share of
0 or 1 gets a sound interval too. The percentile bootstrap (Efron 1979) draws whole cases with all their
claims, which are not independent. Knows nothing about what was counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from citewell.evaluation.results import MeasureResult

_HALVINGS = 60


def clopper_pearson(hits: int, n: int) -> tuple[float, float]:
    """The two-sided 95 % interval of a share; (0, 1) for n = 0."""
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is not a proportion")
    return 1 - upper_bound(n - hits, n, 0.975), upper_bound(hits, n, 0.975)


def kept(errors: int, n: int, alpha: float = 0.05, confidence: float = 0.95) -> bool:
    """True if the upper bound is at most ``alpha``: P(so few errors at rate alpha) <= 1 - confidence."""
    logs = (
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        + k * math.log(alpha) + (n - k) * math.log1p(-alpha)
        for k in range(errors + 1)
    )  # fmt: skip
    return math.fsum(math.exp(log) for log in logs) <= 1 - confidence


def upper_bound(errors: int, n: int, confidence: float = 0.95) -> float:
    """Clopper-Pearson one-sided upper bound of a share: the least ``alpha`` that is kept. 1 for n = 0."""
    if errors >= n:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if kept(errors, n, middle, confidence) else (middle, high)
    return high


def rate(name: str, outcomes: Sequence[bool | None], maker: str = "") -> MeasureResult:
    """The share of True among scored outcomes, each an independent unit."""
    scored = [outcome for outcome in outcomes if outcome is not None]
    hits, n = sum(scored), len(scored)
    low, high = clopper_pearson(hits, n) if n else (None, None)
    return MeasureResult(
        name=name,
        value=hits / n if n else None,
        n=n,
        unscored=len(outcomes) - n,
        low=low,
        high=high,
        maker=maker,
    )


def clustered(name: str, groups: Sequence[Sequence[bool | None]], maker: str = "") -> MeasureResult:
    """As :func:`rate`, for outcomes in groups (citations of one answer), which are not independent: at each
    end, the wider of the exact interval and a seeded bootstrap over groups."""
    plain = rate(name, [outcome for group in groups for outcome in group], maker)
    low, high = interval([[(float(o),) for o in group if o is not None] for group in groups])
    if plain.low is None or plain.high is None or low is None or high is None:
        return plain
    return msgspec.structs.replace(plain, low=min(low, plain.low), high=max(high, plain.high))


Point = tuple[float, ...]
Statistic = Callable[[Sequence[Point]], float | None]
Bounds = tuple[float | None, float | None]

SEED, DRAWS = 20261121, 1000
_ENDS = (2.5, 97.5)
_NOTHING = 1e-12  # differences due to rounding


def mean(points: Sequence[Point]) -> float | None:
    """Mean of the points' first values; None without points."""
    return float(np.mean([point[0] for point in points])) if points else None


def interval(
    cases: Sequence[Sequence[Point]],
    statistic: Statistic = mean,
    *,
    bounded: bool = False,
) -> Bounds:
    """95 % interval of a statistic over ``cases``, each a sequence of points. (None, None) for fewer than two
    cases with points, or no variation. ``bounded``: the statistic is a mean of values in [0, 1]."""
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
    """95 % interval of the difference, after minus before, drawing the same cases on both sides. (None, None)
    for fewer than two cases, or if every draw gives the same difference."""
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
    """The statistic of each draw; NaN where it has no value, as when one side has no case."""
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

"""How far a figure may be off: exact intervals of shares, and a bootstrap that is the same every time.

In: outcomes (True, False, or None for what could not be scored), or what each case brings and a statistic.
Out: a :class:`Result`, or the bounds of the 95 % interval. Clopper and Pearson (1934) is exact, so that a
share of 0 or 1 has an honest interval too. The percentile bootstrap (Efron 1979) draws whole cases with all
their claims, which are not independent. Knows nothing about what was counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from citewell.evaluation.results import Result

_HALVINGS = 60


def clopper_pearson(hits: int, n: int) -> tuple[float, float]:
    """The two-sided 95 % interval of a share; (0, 1) when nothing was counted."""
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is not a proportion")
    return 1 - upper_bound(n - hits, n, 0.975), upper_bound(hits, n, 0.975)


def kept(errors: int, n: int, alpha: float = 0.05, confidence: float = 0.95) -> bool:
    """Whether the bound is at most ``alpha``: so few errors would be that unlikely if more were in error."""
    logs = (
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        + k * math.log(alpha) + (n - k) * math.log1p(-alpha)
        for k in range(errors + 1)
    )  # fmt: skip
    return math.fsum(math.exp(log) for log in logs) <= 1 - confidence


def upper_bound(errors: int, n: int, confidence: float = 0.95) -> float:
    """Clopper and Pearson's one-sided upper bound of a share: the least that would be kept. 1 when n is 0."""
    if errors >= n:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if kept(errors, n, middle, confidence) else (middle, high)
    return high


def rate(name: str, outcomes: Sequence[bool | None], maker: str = "") -> Result:
    """The share of True among what was scored; each outcome counts as one unit."""
    scored = [outcome for outcome in outcomes if outcome is not None]
    unscored = len(outcomes) - len(scored)
    if not scored:
        return Result(name=name, value=None, n=0, unscored=unscored, maker=maker)
    hits = sum(scored)
    low, high = clopper_pearson(hits, len(scored))
    return Result(
        name=name,
        value=hits / len(scored),
        n=len(scored),
        unscored=unscored,
        low=low,
        high=high,
        maker=maker,
    )


def clustered(name: str, groups: Sequence[Sequence[bool | None]], maker: str = "") -> Result:
    """As :func:`rate` for outcomes that come in groups (citations of one answer) and so are not independent:
    the wider, at each end, of the exact interval and a seeded bootstrap over groups."""
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

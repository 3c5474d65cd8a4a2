"""Shares of what was counted, with their intervals.

In: outcomes, True, False, or None for what could not be scored. Out: a :class:`Rate`. Clopper and Pearson
(1934): exact, so that a share of 0 or 1 has an honest interval too. Knows nothing about what was counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from citewell.core.records import Record

_SEED, _DRAWS, _STEPS = 20260101, 2_000, 60


class Rate(Record, frozen=True, kw_only=True):
    """A share with how many it was made from; ``value`` is None when nothing could be scored.

    ``low`` and ``high``: 95 % interval. ``maker``: who judged.
    """

    name: str
    value: float | None
    n: int
    unscored: int = 0
    low: float | None = None
    high: float | None = None
    maker: str = ""


def clopper_pearson(hits: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """The two-sided interval of a share at ``level``; (0, 1) when nothing was counted."""
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no share")
    if n == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else _where(lambda p: _at_least(hits, n, p) < tail)
    high = 1.0 if hits == n else _where(lambda p: _at_least(hits + 1, n, p) < 1 - tail)
    return low, high


def rate(name: str, outcomes: Sequence[bool | None], maker: str = "") -> Rate:
    """The share of True among what was scored; each outcome counts as one unit."""
    scored = [outcome for outcome in outcomes if outcome is not None]
    unscored = len(outcomes) - len(scored)
    if not scored:
        return Rate(name=name, value=None, n=0, unscored=unscored, maker=maker)
    hits = sum(scored)
    low, high = clopper_pearson(hits, len(scored))
    return Rate(
        name=name,
        value=hits / len(scored),
        n=len(scored),
        unscored=unscored,
        low=low,
        high=high,
        maker=maker,
    )


def clustered(name: str, groups: Sequence[Sequence[bool | None]], maker: str = "") -> Rate:
    """As :func:`rate` for outcomes that come in groups (citations of one answer) and so are not independent:
    the wider, at each end, of the exact interval and a seeded bootstrap over groups."""
    plain = rate(name, [outcome for group in groups for outcome in group], maker)
    counted = [[o for o in group if o is not None] for group in groups]
    counted = [group for group in counted if group]
    if plain.value is None or plain.low is None or plain.high is None or len(counted) < 2:
        return plain
    hits, sizes = np.array([sum(group) for group in counted]), np.array([len(group) for group in counted])
    drawn = np.random.default_rng(_SEED).integers(0, len(counted), (_DRAWS, len(counted)))
    shares = hits[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = (float(end) for end in np.percentile(shares, [2.5, 97.5]))
    return Rate(
        name=name,
        value=plain.value,
        n=plain.n,
        unscored=plain.unscored,
        low=min(low, plain.low),
        high=max(high, plain.high),
        maker=maker,
    )


def _at_least(hits: int, n: int, p: float) -> float:
    """The chance of ``hits`` or more in ``n`` draws of chance ``p``."""
    if p <= 0.0 or p >= 1.0:
        return float(p >= 1.0 or hits <= 0)
    logs = [
        math.lgamma(n + 1)
        - math.lgamma(k + 1)
        - math.lgamma(n - k + 1)
        + k * math.log(p)
        + (n - k) * math.log1p(-p)
        for k in range(hits, n + 1)
    ]
    return min(1.0, math.fsum(math.exp(log) for log in logs))


def _where(below: Callable[[float], bool]) -> float:
    """Where a condition that holds from 0 on stops to hold, by halving."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2

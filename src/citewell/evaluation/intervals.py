"""Shares of what was counted, with their intervals.

In: outcomes, True, False, or None for what could not be scored. Out: a :class:`Result`. Clopper and Pearson
(1934): exact, so that a share of 0 or 1 has an honest interval too. Knows nothing about what was counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from citewell.evaluation.results import Result

_SEED, _DRAWS, _HALVINGS = 20260101, 2_000, 60


def clopper_pearson(hits: int, n: int) -> tuple[float, float]:
    """The two-sided 95 % interval of a share; (0, 1) when nothing was counted."""
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is no share")
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
    counted = [[o for o in group if o is not None] for group in groups]
    counted = [group for group in counted if group]
    if plain.value is None or plain.low is None or plain.high is None or len(counted) < 2:
        return plain
    hits, sizes = np.array([sum(group) for group in counted]), np.array([len(group) for group in counted])
    drawn = np.random.default_rng(_SEED).integers(0, len(counted), (_DRAWS, len(counted)))
    shares = hits[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = (float(end) for end in np.percentile(shares, [2.5, 97.5]))
    return Result(
        name=name,
        value=plain.value,
        n=plain.n,
        unscored=plain.unscored,
        low=min(low, plain.low),
        high=max(high, plain.high),
        maker=maker,
    )

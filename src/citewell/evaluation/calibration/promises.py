"""Thresholds with a certificate: Learn then Test (Angelopoulos et al. 2021) with Clopper and Pearson's bound.

In: units with scores and labels, a grid, the share of errors that is allowed. Out: a :class:`Promise`. From
the strictest threshold down, "more than alpha of what is shown is in error" is tested at each one as long as
it can be rejected (fixed-sequence testing: no correction for the size of the grid); the last one rejected is
used. A threshold that shows too few units for any promise, or less than a quarter of what the loosest shows,
is passed over before the sequence starts: see decision 060. Knows nothing about what a unit is.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence

from citewell.core.records import Record
from citewell.evaluation.intervals import kept, upper_bound
from citewell.verification.confidence.cards import Outcome, Promise

GRID = tuple(
    sorted((*(k / 100 for k in range(50, 90, 2)), *(k / 200 for k in range(180, 200))), reverse=True)
)
"""Thresholds, strictest first: by .02 from .50, by .005 from .90."""
START = 4
"""The sequence starts where one in so many is shown of the units that the loosest threshold shows."""


class Unit(Record, frozen=True, kw_only=True):
    """One answer's part in a promise: the score of each thing it may show, and whether that is right.

    It is shown at a threshold that one of its scores reaches, and in error when anything it then shows is
    wrong.
    """

    scores: tuple[float, ...]
    right: tuple[bool, ...]

    @property
    def highest(self) -> float:
        """It is shown up to this threshold."""
        return max(self.scores)

    @property
    def highest_wrong(self) -> float:
        """It is in error up to this threshold; -1 when nothing in it is wrong."""
        return max((s for s, right in zip(self.scores, self.right, strict=True) if not right), default=-1.0)

    @property
    def highest_right(self) -> float:
        """Up to this threshold it shows something right; -1 when it holds nothing right."""
        return max((s for s, right in zip(self.scores, self.right, strict=True) if right), default=-1.0)


def unit(score: float, right: bool) -> Unit:
    """One thing that is shown or not."""
    return Unit(scores=(score,), right=(right,))


def units_needed(errors: int, alpha: float = 0.05, confidence: float = 0.95) -> int:
    """The fewest units with so many errors among them whose bound is at most ``alpha``."""
    low, high = errors, errors + 1
    while not kept(errors, high, alpha, confidence):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if kept(errors, middle, alpha, confidence) else (middle, high)
    return high


def shown_promise(
    name: str,
    says: str,
    unit_says: str,
    units: Sequence[Unit],
    *,
    fallback: float,
    alpha: float = 0.05,
    confidence: float = 0.95,
    grid: Sequence[float] = GRID,
    unscored: int = 0,
) -> Promise:
    """At most ``alpha`` of what is *shown* is in error. ``coverage``: of the units with something right in
    them, the share of which something right is shown."""
    shown, wrong = sorted(u.highest for u in units), sorted(u.highest_wrong for u in units)
    reached = sorted(u.highest_right for u in units)
    good = _from(reached, 0.0)
    return _promise(
        name, says, unit_says, len(units), lambda t: (_from(shown, t), _from(wrong, t)),
        lambda t: _from(reached, t) / good if good else None,
        fallback=fallback, alpha=alpha, confidence=confidence, grid=grid, unscored=unscored,
        least=math.ceil(_from(shown, min(grid)) / START),
    )  # fmt: skip


def passed_promise(
    name: str,
    says: str,
    unit_says: str,
    wrong: Sequence[float],
    right: Sequence[float],
    *,
    fallback: float,
    alpha: float = 0.05,
    confidence: float = 0.95,
    unscored: int = 0,
) -> Promise:
    """At most ``alpha`` of what should *not* be let through (its scores: ``wrong``) is. ``coverage``: the
    share of ``right`` that is."""
    bad, good = sorted(wrong), sorted(right)
    return _promise(
        name, says, unit_says, len(bad), lambda t: (len(bad), _from(bad, t)),
        lambda t: _from(good, t) / len(good) if good else None,
        fallback=fallback, alpha=alpha, confidence=confidence, grid=GRID, unscored=unscored, least=0,
    )  # fmt: skip


def _promise(
    name: str,
    says: str,
    unit_says: str,
    n: int,
    counted: Callable[[float], tuple[int, int]],
    coverage: Callable[[float], float | None],
    *,
    fallback: float,
    alpha: float,
    confidence: float,
    grid: Sequence[float],
    unscored: int,
    least: int,
) -> Promise:
    """The lowest threshold of ``grid`` (strictest first) that keeps the promise; ``fallback`` is the one in
    use where none does: its rate and bound are then told, and promise nothing."""
    needed = units_needed(0, alpha, confidence)
    counts = {threshold: counted(threshold) for threshold in grid}
    tested = [t for t in grid if counts[t][0] >= max(needed, least)]
    kept_at = []
    for threshold in tested:
        shown, errors = counts[threshold]
        if not kept(errors, shown, alpha, confidence):
            break
        kept_at.append(threshold)
    used = kept_at[-1] if kept_at else fallback
    outcome, note = Outcome.HOLDS, ""
    if not n:
        outcome, note = Outcome.NOT_MEASURED, "nothing was labelled"
    elif not tested:
        most = max(shown for shown, _ in counts.values())
        outcome = Outcome.TOO_SMALL
        note = f"{most} units at most; {needed} without an error are needed"
    elif not kept_at:
        outcome, note = _failed(tested[0], *counts[tested[0]], alpha, confidence)
    shown, errors = counted(used)
    return Promise(
        name=name,
        says=says,
        unit=unit_says,
        threshold=used,
        alpha=alpha,
        n=n,
        shown=shown,
        errors=errors,
        rate=errors / shown if shown else None,
        bound=upper_bound(errors, shown, confidence) if shown else None,
        coverage=coverage(used),
        outcome=outcome,
        unscored=unscored,
        note=note,
    )


def _failed(
    threshold: float, shown: int, errors: int, alpha: float, confidence: float
) -> tuple[Outcome, str]:
    """Too few to tell where the errors seen are within what is allowed, else the scores do not separate."""
    told = f"at {threshold:.3g}, the strictest that was tested, {errors} of {shown} are in error"
    if errors / shown <= alpha:
        wanted = units_needed(errors, alpha, confidence)
        return Outcome.TOO_SMALL, f"{told}; {wanted} are needed for so many errors"
    return Outcome.DOES_NOT_SEPARATE, told


def _from(ordered: Sequence[float], threshold: float) -> int:
    """How many of them reach the threshold."""
    return len(ordered) - bisect_left(ordered, threshold)

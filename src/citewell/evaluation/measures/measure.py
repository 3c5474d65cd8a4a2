"""What a measure is: a name, what one case brings to it, and how the points of all cases become one value.

In: a :class:`Judged` case; later the points of all. Out: a :class:`Score`; a value, or None without points.
A measure prints as its name (``precision@5``). Knows nothing about intervals or files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from citewell.evaluation.bootstrap import Point, Statistic, mean
from citewell.evaluation.observed import Judged
from citewell.evaluation.results import Score

NOT_ASKED = Score()
"""The case has nothing to do with the measure: neither scored nor missing."""


class Judge(StrEnum):
    """Who decides a point: exact code alone; the verifier, asked again by the evaluation; or the pass's own
    verifier, as the answer reports it."""

    CODE = "code"
    VERIFIER = "verifier"
    PASS = "pass"  # noqa: S105 - no password


@dataclass(frozen=True, repr=False, kw_only=True)
class Measure:
    """``of`` gives what one case brings, ``over`` the value of all points (their mean unless it says).

    ``counts`` says of what ``n`` is a number; ``better`` which way is up: 1, -1, or 0 for neither;
    ``bounded``: it is a mean of values in [0, 1].
    """

    name: str
    of: Callable[[Judged], Score]
    over: Statistic = mean
    counts: str = "cases"
    judge: Judge = Judge.CODE
    better: int = 1
    bounded: bool = False

    def __repr__(self) -> str:
        return self.name


def one(value: float | bool | None, reason: str = "") -> Score:
    """The score of a case that brings one value, or could not be scored."""
    return Score(unscored=1, reason=reason) if value is None else Score(points=((float(value),),))


def many(values: Iterable[bool | float | None], reason: str = "") -> Score:
    """The score of a case that brings a value for each of its parts."""
    listed = list(values)
    points: tuple[Point, ...] = tuple((float(value),) for value in listed if value is not None)
    unscored = len(listed) - len(points)
    return Score(points=points, unscored=unscored, reason=reason if unscored else "")

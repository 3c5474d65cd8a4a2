"""The calculations that are asked for by name, over an item in periods: growth, a mean, a difference.

In: items (line items or row labels) and periods. Out: trees whose leaves are "item, FY2022", and which
years a question means. Knows nothing about documents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.questions.calculation.expressions import MINUS, OVER, PLUS, POWER, Leaf, Node, Tree, leaves
from citewell.questions.periods import Period

MOST_YEARS = 10
_RANGE = re.compile(
    r"\d\s*(?:[-–—]|to|through|until)\s*(?:FY?|fiscal(?: year)?|Q\d)?\s*\d"
    r"|\b(?:\d|two|three|four|five)[- ]years?\b",
    re.I,
)


def leaf(item: str, period: Period) -> Leaf:
    """The value of ``item`` in ``period``."""
    return Leaf(text=f"{item}, {period.name}")


def leaf_of(text: str) -> tuple[str, str]:
    """(item, period name) of a leaf; ("", "") of a plain number."""
    item, _, period = text.rpartition(", ")
    # "May 31, 2018" has the comma inside.
    if period.isdigit() and len(period) == 4 and ", " in item:
        item, _, day = item.rpartition(", ")
        period = f"{day}, {period}"
    return (item, period) if item else ("", "")


def named_leaves(tree: Tree) -> list[str]:
    """The leaves of ``tree`` that are items in periods, once each, from the left."""
    return list(dict.fromkeys(one.text for one in leaves(tree) if leaf_of(one.text)[0]))


def node(sign: str, left: Tree, right: Tree) -> Tree:
    return Node(sign=sign, left=left, right=right)


def number(value: int) -> Leaf:
    return Leaf(text=str(value))


def change(item: str, first: Period, last: Period) -> Tree:
    """The later value less the earlier."""
    return node(MINUS, leaf(item, last), leaf(item, first))


def growth(item: str, first: Period, last: Period) -> Tree:
    """The change as a share of the earlier value."""
    return node(OVER, change(item, first, last), leaf(item, first))


def yearly_growth(item: str, first: Period, last: Period) -> Tree:
    """The compound rate a year; the periods lie at least a year apart."""
    grown = node(OVER, leaf(item, last), leaf(item, first))
    root = node(OVER, number(1), number(last.year - first.year))
    return node(MINUS, node(POWER, grown, root), number(1))


def mean(trees: Sequence[Tree]) -> Tree:
    """Their sum over their number."""
    return node(OVER, total(trees), number(len(trees)))


def total(trees: Sequence[Tree]) -> Tree:
    """Their sum, from the left."""
    whole = trees[0]
    for tree in trees[1:]:
        whole = node(PLUS, whole, tree)
    return whole


def ordered(periods: Sequence[Period]) -> list[Period]:
    """The earliest first."""
    return sorted(periods, key=lambda p: (p.year, p.quarter or 0, p.month or 0, p.day or 0))


def year_before(period: Period) -> Period:
    """The same quarter or day one year earlier."""
    return Period(
        year=period.year - 1, quarter=period.quarter, month=period.month, day=period.day, months=period.months
    )


def with_year_before(periods: Sequence[Period]) -> list[Period]:
    """Two periods to compare, the earlier first, where one or two are named."""
    return [year_before(periods[0]), periods[0]] if len(periods) == 1 else ordered(periods)


def years_meant(asked: str, periods: Sequence[Period]) -> list[Period]:
    """ "FY2015 - FY2017" and "3 year average" take the years between; "2015 and 2017" does not."""
    years = ordered(periods)
    first, last = years[0], years[-1]
    plain = all(p.quarter is None and p.month is None for p in years)
    if len(years) != 2 or not plain or last.year - first.year > MOST_YEARS or not _RANGE.search(asked):
        return years
    return [Period(year=year) for year in range(first.year, last.year + 1)]

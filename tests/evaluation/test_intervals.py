"""Proportions and their intervals, against tabulated values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.evaluation.intervals import clopper_pearson, clustered, rate


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.3085), (10, 10, 0.6915, 1.0), (5, 10, 0.1871, 0.8129), (1, 20, 0.0013, 0.2487)],
)
def test_the_interval_is_the_tabled_one(hits: int, n: int, low: float, high: float) -> None:
    assert clopper_pearson(hits, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 60), st.integers(1, 60))
def test_the_interval_holds_the_share(hits: int, n: int) -> None:
    hits = min(hits, n)
    low, high = clopper_pearson(hits, n)
    assert 0.0 <= low <= hits / n <= high <= 1.0


def test_what_could_not_be_scored_is_not_a_no() -> None:
    found = rate("kept", [True, None, False])
    assert (found.value, found.n, found.unscored) == (0.5, 2, 1)
    assert rate("kept", [None]).value is None
    assert rate("kept", []).low is None


def test_groups_that_agree_inside_widen_the_interval() -> None:
    groups = [[True] * 20, [False] * 20, [True] * 20, [False] * 20]
    flat = rate("kept", [outcome for group in groups for outcome in group])
    grouped = clustered("kept", groups)
    assert grouped.value == flat.value
    assert grouped.low is not None
    assert flat.low is not None
    assert grouped.low < flat.low

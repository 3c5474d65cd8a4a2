"""Intervals: reproducible, honest at the edges, over cases rather than their parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from citewell.evaluation.intervals import clopper_pearson, interval, mean, paired

cases = st.lists(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=4), min_size=2)


@given(cases)
def test_an_interval_holds_the_range_and_repeats(found: list[list[tuple[float]]]) -> None:
    low, high = interval(found)
    assert (low, high) == interval(found)
    if low is None or high is None:
        assert len({mean(points) for points in found}) == 1
    else:
        assert 0.0 <= low < high <= 1.0


def test_one_case_says_nothing_about_the_next() -> None:
    assert interval([[(1.0,), (0.0,)]]) == (None, None)
    assert interval([[], []]) == (None, None)
    assert paired([[(1.0,)]], [[(0.0,)]]) == (None, None)


def test_unanimous_cases_have_the_exact_bounds() -> None:
    assert interval([[(1.0,)]] * 10, bounded=True) == clopper_pearson(10, 10)
    assert interval([[(0.0,), (0.0,)]] * 10, bounded=True) == clopper_pearson(0, 10)
    assert interval([[(3.0,)]] * 10) == (None, None)
    assert interval([[(0.2,)]] * 10, bounded=True) == (None, None)


def test_parts_of_one_case_are_no_evidence_of_their_own() -> None:
    """Ten cases of thirty identical citations are not three hundred citations."""
    once = [[(float(i % 2),)] for i in range(10)]
    often = [[(float(i % 2),)] * 30 for i in range(10)]
    assert interval(once) == interval(often)


def test_the_fast_way_is_the_plain_way() -> None:
    found = [[(0.25,), (0.5,)], [(1.0,)], [(0.0,), (0.125,), (1.0,)]]
    assert interval(found) == interval(found, lambda points: mean(points))


def test_where_drawing_again_changes_nothing_a_difference_has_no_interval_either() -> None:
    before = [[(0.0,)], [(1.0,)], [(0.5,)]]
    assert paired(before, before) == (None, None)
    assert paired(before, [[(point[0][0] + 1,)] for point in before]) == (None, None)
    assert paired(before, before, lambda points: max(point[0] for point in points)) == (None, None)
    low, high = paired(before, before[::-1])
    assert low is not None
    assert high is not None
    assert low < 0.0 < high

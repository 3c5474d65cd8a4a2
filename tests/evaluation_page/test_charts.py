"""Charts show what was measured, say what was not, and let no label become markup."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html
from markupsafe import Markup

from citewell.evaluation import charts
from citewell.evaluation.charts import ChartPoint, ChartShare

ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def plots(label: str) -> list[Markup]:
    point = ChartPoint(label, 0.4, 0.3, 0.5, 10)
    return [
        charts.line(label, {label: [point, point]}, unit="ms"),
        charts.shares(label, [label, "VERIFIED"], [ChartShare(label, (3, 1))]),
    ]


def test_no_label_becomes_markup() -> None:
    for plot in plots(ATTACK):
        tree = html.fragment_fromstring(plot)
        assert not tree.xpath("//script | //img | //*[@onerror]")
        assert ATTACK in tree.text_content()


def test_a_strict_content_policy_has_nothing_to_refuse() -> None:
    for plot in plots("x"):
        assert not re.search(r"<script|<style|\sstyle=|\son\w+=|\sid=|javascript:|url\(", plot)


@pytest.mark.parametrize(
    "empty",
    [
        lambda: charts.line("t", {}),
        lambda: charts.line("t", {"a": [ChartPoint("x", None, n=0)]}),
        lambda: charts.shares("t", ["a"], []),
    ],
)
def test_nothing_measured_is_said_and_not_drawn(empty: Callable[[], Markup]) -> None:
    assert "Nothing measured yet." in empty()
    assert "<svg" not in empty()


def test_what_was_not_measured_is_a_gap_and_a_word_never_zero() -> None:
    gap = [
        ChartPoint("1", 0.5),
        ChartPoint("2", 0.5),
        ChartPoint("3", None),
        ChartPoint("4", 0.5),
        ChartPoint("5", 0.5),
    ]
    plot = charts.line("t", {"a": gap})
    assert plot.count("<polyline") == 2
    assert "not measured" in plot
    assert "not measured" in charts.shares("t", ["a"], [ChartShare("none", (0,))])


def test_the_intervals_of_many_series_do_not_hide_their_lines() -> None:
    points = [ChartPoint(label, 0.5, 0.0, 1.0, 1) for label in "12"]
    drawn = {names: charts.line("t", dict.fromkeys(names, points)) for names in ("a", "ab")}
    assert [drawn["a"].count("<polygon"), drawn["ab"].count("<polygon")] == [1, 0]
    assert "0.00 to 1.00" in drawn["ab"]  # with the numbers


def test_a_value_stands_at_its_place() -> None:
    plot = charts.line("t", {"a": [ChartPoint("1", 0.0), ChartPoint("2", 1.0)]})
    # The plot frame: x from 46 to 428, y from 210 (nothing) up to 10 (all).
    assert 'points="46.0,210.0 428.0,10.0"' in plot
    parts = html.fragment_fromstring(charts.shares("t", ["a", "b"], [ChartShare("x", (1, 3))])).xpath(
        "//td//rect"
    )
    assert [(part.get("x"), part.get("width")) for part in parts] == [("0.0", "59.0"), ("60.0", "179.0")]


def test_the_numbers_of_a_plot_stand_in_a_table() -> None:
    plot = charts.line("t", {"a": [ChartPoint("week 1", 1234.5, 1000.0, 1500.0, 7)]}, unit="ms")
    for said in ("week 1", "1,234 ms", "1,000 ms to 1,500 ms", ">7<"):
        assert said in plot


def test_every_drawing_says_what_it_shows_to_those_who_do_not_see_it() -> None:
    for plot in plots("Precision"):
        for svg in html.fragment_fromstring(plot).iter("svg"):
            hidden = svg.get("aria-hidden") == "true"
            assert hidden or (svg.get("role") == "img" and svg.findtext("title") and svg.findtext("desc"))


numbers = st.one_of(st.none(), st.floats(-1e9, 1e9))


@settings(deadline=None)
@given(st.lists(st.builds(ChartPoint, st.text(), numbers, numbers, numbers, st.integers(0, 99)), max_size=9))
def test_any_numbers_can_be_drawn_and_twice_alike(points: list[ChartPoint]) -> None:
    for unit in ("", "ms"):
        drawn = charts.line("t", {"a": points, "b": points[:3]}, unit=unit)
        assert "nan" not in drawn
        assert drawn == charts.line("t", {"a": points, "b": points[:3]}, unit=unit)

"""Periods are read from questions and column heads, and matched under a company's own fiscal calendar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.questions.periods import Calendar, calendar_of, head_covers, periods_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("FY2018", ["FY2018"]),
        ("between FY20 and FY21", ["FY2020", "FY2021"]),
        ("Q2 of FY2024 and FY 2023", ["Q2 FY2024", "FY2023"]),
        ("Q2'2023", ["Q2 FY2023"]),
        ("ACME_2024Q2_10Q", ["Q2 FY2024"]),
        ("the second quarter of fiscal 2022", ["Q2 FY2022"]),
        ("Year Ended May 31, 2018", ["May 31, 2018"]),
        ("31 December 2020", ["December 31, 2020"]),
        ("$2,018 million, 1,999 units and 2018.5", []),
    ],
)
def test_periods_are_read(text: str, names: list[str]) -> None:
    assert [period.name for period in periods_in(text)] == names


@pytest.mark.parametrize(
    ("head", "asked", "fits"),
    [
        ("Year Ended December 31, 2018", "FY2018", True),
        ("2018", "FY2018", True),
        ("Three Months Ended December 31, 2018", "FY2018", False),
        ("Nine Months Ended September 30, 2018", "FY2018", False),
        ("% Change 2018 vs. 2017", "FY2018", False),
        ("2018 to 2022", "FY2018", False),
        ("As of December 31, 2017", "FY2018", False),
        ("Three Months Ended June 30, 2023", "Q2 2023", True),
        ("June 30, 2023", "Q2 2023", True),
        ("Six Months Ended June 30, 2023", "Q2 2023", False),
        ("Q2 2023", "Q2 2023", True),
    ],
)
def test_a_head_covers_the_asked_period_or_not(head: str, asked: str, fits: bool) -> None:
    assert (head_covers(head, periods_in(asked)[0], Calendar()) >= 0.5) is fits


def test_a_fiscal_year_that_ends_in_january_is_read_from_the_documents_own_name() -> None:
    heads = ["July 29, 2023", "January 28, 2023", "July 30, 2022"]
    calendar = calendar_of(["shop/ACME_2024Q2_10Q.pdf"], heads)
    assert calendar == Calendar(end_month=1)
    second_quarter, year = periods_in("Q2 FY2024 and FY2023")
    assert [head_covers(head, second_quarter, calendar) > 0.9 for head in heads] == [True, False, False]
    assert [head_covers(head, year, calendar) > 0.9 for head in heads] == [False, True, False]


@given(st.text(max_size=200))
def test_periods_lie_in_order_inside_the_text(text: str) -> None:
    found = periods_in(text)
    borders = [border for period in found for border in (period.start, period.end)]
    assert borders == sorted(borders)
    assert all(0 <= period.start < period.end <= len(text) for period in found)

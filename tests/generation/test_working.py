"""Only cells that are beyond doubt the named item in the named period are used to compute."""

from __future__ import annotations

import pytest

from citewell.core.records import Draft, Passage

YEARS = ["Year Ended December 31, 2022", "Year Ended December 31, 2021"]


def results(draft: Draft) -> list[str]:
    return [claim.text for claim in draft.claims if claim.reasoning]


MARGIN = "What is the FY2022 net profit margin of Acme?"
INCOME = "Consolidated Statements of Income"


def income(pages, *rows: tuple[str, list[str]], heads: list[str] = YEARS, **more: str) -> Passage:
    return pages.table(list(rows), heads, **{"table": INCOME, **more})


def test_a_plain_case_is_worked_out(ask, pages) -> None:
    table = income(pages, ("Total revenues", ["1,000", "900"]), ("Net income", ["(525)", "90"]))
    assert results(ask(MARGIN, table)) == ["net profit margin, FY2022: −525 ÷ 1,000 = −52.50%"]


def test_a_currency_that_only_the_first_row_prints_is_that_of_all(ask, pages) -> None:
    table = income(pages, ("Total revenues", ["€1,000", "€900"]), ("Net income", ["525", "90"]), units="")
    assert results(ask(MARGIN, table)) == ["net profit margin, FY2022: 525 ÷ 1,000 = 52.50%"]


@pytest.mark.parametrize(
    ("revenue", "profit", "heads", "more"),
    [
        ("Total revenues", ("Net loss", "525"), YEARS, {}),  # a loss without a minus
        ("Total revenues ($ thousands)", ("Net income", "525"), YEARS, {}),
        ("Total revenues", ("Net income per share", "5.25"), YEARS, {}),
        ("Total revenues", ("Net income", "see Note 4"), YEARS, {}),
        ("Total revenues", ("Net income", "€525"), YEARS, {"units": ""}),
        ("Total revenues", ("Net income", "525"), ["2022 Budget", "2021"], {}),
        ("Total revenues", ("Net income", "525"), ["September 30, 2022", "September 30, 2021"], {}),
        (
            "Total revenues",
            ("Net income", "525"),
            ["2022", "2021"],
            {"table": f"{INCOME} for the three months ended March 31"},
        ),
    ],
)
def test_what_is_in_doubt_is_no_operand(ask, pages, revenue, profit, heads, more) -> None:
    label, value = profit
    first = "€1,000" if value.startswith("€") else "1,000"
    table = income(pages, (revenue, [first, "900"]), (label, [value, "90"]), heads=heads, **more)
    if value.startswith("€"):
        table = income(pages, (revenue, ["$1,000", "900"]), (label, [value, "90"]), heads=heads, **more)
    assert results(ask(MARGIN, table)) == []


@pytest.mark.parametrize(
    "question",
    [
        "What is the FY2022 net profit margin of Acme excluding restructuring?",
        "What is the target net profit margin of Acme for FY2022?",
        "What is the FY2022 net profit margin of the cloud segment of Acme?",
    ],
)
def test_words_beside_a_ratio_make_another_thing_of_it(ask, pages, question: str) -> None:
    table = income(pages, ("Total revenues", ["1,000", "900"]), ("Net income", ["525", "90"]))
    assert results(ask(question, table)) == []


def test_two_ratios_are_two_results_and_their_difference_is_left_open(ask, pages) -> None:
    table = income(
        pages,
        ("Total revenues", ["1,000", "900"]),
        ("Operating income", ["300", "250"]),
        ("Net income", ["200", "90"]),
    )
    both = ask("What are the operating margin and the net profit margin of Acme in FY2022?", table)
    assert len(results(both)) == 2
    assert both.missing == ()
    change = ask("What was the change in the operating margin of Acme in FY2022?", table)
    assert len(results(change)) == 2
    assert change.missing


def test_growth_from_a_loss_is_no_percentage(ask, pages) -> None:
    table = income(pages, ("Net income (loss)", ["210", "(525)"]))
    assert results(ask("What was the growth of Acme's net income from FY2021 to FY2022, in %?", table)) == []


def test_a_cash_flow_statement_gives_changes_not_balances(ask, pages) -> None:
    flows = pages.table(
        [("Net income", ["1", "2"]), ("Inventories", ["(50)", "20"]), ("Deferred revenue", ["150", "120"])],
        YEARS,
    )
    assert results(ask("What was the increase in Acme's inventories in FY2022?", flows)) == []
    assert results(ask("What is the change in deferred revenue from 2021 to 2022?", flows)) == []


def test_a_row_for_the_change_itself_is_quoted(ask, pages) -> None:
    table = pages.table(
        [("Change in fair value", ["9", "8"]), ("Fair value", ["50", "40"])],
        ["2022", "2021"],
        table="Fair values",
    )
    assert results(ask("What is the change in fair value from 2021 to 2022?", table)) == []


def test_a_year_is_not_two_quarters(ask, pages) -> None:
    table = pages.table([("Widgets sold", ["3", "2"])], ["2022", "2021"], table="Units")
    assert results(ask("What is the change in widgets sold from Q1 2022 to Q2 2022?", table)) == []


def test_each_of_two_periods_keeps_its_own_row(ask, pages) -> None:
    table = pages.table([("Vans", ["120", "100"]), ("Cars", ["70", "50"])], ["2019", "2018"], table="Fleet")
    assert results(ask("What is the difference between vans in 2019 and cars in 2018?", table)) == []
    assert results(ask("What is the weighted average vans for 2018 and 2019?", table)) == []
    assert results(ask("What is the projected increase in vans from 2018 to 2019?", table)) == []


def test_a_mean_of_percentages_is_no_percentage_of_them(ask, pages) -> None:
    table = pages.table([("Percentage of vans", ["45.2", "44.0"])], ["2019", "2018"], table="Shares")
    (told,) = results(ask("What is the average percentage of vans for 2018 and 2019?", table))
    assert told.endswith(" = 44.60")


def test_two_rows_of_one_name_in_two_parts_of_a_table_are_in_doubt(ask, pages) -> None:
    table = income(
        pages,
        ("Europe", []),
        ("Revenue", ["100", "90"]),
        ("Net income", ["10", "9"]),
        ("Asia", []),
        ("Revenue", ["900", "800"]),
        ("Net income", ["90", "80"]),
    )
    assert results(ask(MARGIN, table)) == []


def test_hostile_questions_end(ask, pages) -> None:
    table = income(pages, ("Total revenues", ["1,000", "900"]))
    many = " ".join(
        f"{a}b is defined as {' + '.join([b + 'b'] * 9)}." for a, b in zip("ABCDEF", "BCDEFG", strict=True)
    )
    power = " * ".join(["revenue"] * 12)
    for question in (
        f"{many} Gb is defined as revenue. What is Ab of Acme in FY2022?",
        f"Bigness is defined as {power}. What is the bigness of Acme in FY2022?",
        "What was the increase in population in 1900?",
    ):
        assert results(ask(question, table)) == []

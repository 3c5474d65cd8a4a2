"""The calculation asked for is read from the question, completely or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.questions.calculation.arithmetic import MAX_LEAVES, format_tree, leaves
from citewell.questions.calculation.formulae import workings
from citewell.questions.calculation.items import ITEMS, RATIOS

RATIO = "Round your answer to two decimal places."


def told(question: str) -> list[tuple[str, str]]:
    return [(working.what, format_tree(working.tree)) for working in workings(question)]


@pytest.mark.parametrize(
    ("question", "what", "calculation"),
    [
        (
            "What is the FY2022 current ratio of Acme?",
            "current ratio, FY2022",
            "total current assets, FY2022 ÷ total current liabilities, FY2022",
        ),
        (
            "What was Acme's revenue growth rate from FY2019 to FY2020, in percent?",
            "growth of revenue, FY2019 to FY2020",
            "(revenue, FY2020 − revenue, FY2019) ÷ revenue, FY2019",
        ),
        (
            "What is the revenue CAGR of Acme from FY2018 to FY2021?",
            "yearly growth of revenue, FY2018 to FY2021",
            "(revenue, FY2021 ÷ revenue, FY2018) ^ (1 ÷ 3) − 1",
        ),
        (
            "What are Acme's FY2020 capital expenditures as a percentage of revenue?",
            "capital expenditures as a share of revenue, FY2020",
            "capital expenditures, FY2020 ÷ revenue, FY2020",
        ),
        (
            "What is the FY2019 - FY2021 3 year average of revenue of Acme?",
            "average revenue, FY2019 to FY2021",
            "(revenue, FY2019 + revenue, FY2020 + revenue, FY2021) ÷ 3",
        ),
        (
            "What is the FY2021 leverage of Acme? Leverage is defined as: (total liabilities - cash and cash "
            "equivalents) / average shareholders' equity between FY2020 and FY2021. " + RATIO,
            "leverage, FY2021",
            "(total liabilities, FY2021 − cash and cash equivalents, FY2021) ÷ "
            "((shareholders' equity, FY2020 + shareholders' equity, FY2021) ÷ 2)",
        ),
        (
            "What is the FY2021 DSO of Acme? Define DSO as 365 times accounts receivable divided by revenue.",
            "dso, FY2021",
            "365 × accounts receivable, FY2021 ÷ revenue, FY2021",
        ),
    ],
)
def test_the_calculation(question: str, what: str, calculation: str) -> None:
    assert told(question) == [(what, calculation)]


def test_a_formula_may_name_another_that_the_question_defines() -> None:
    question = (
        "What is the FY2019 cash conversion cycle (CCC) for Acme? CCC is defined as: DIO + DSO - DPO. "
        "DIO is defined as: 365 * inventories / COGS. DPO is defined as: 365 * accounts payable / COGS. "
        "DSO is defined as: 365 * accounts receivable / revenue."
    )
    assert told(question) == [
        (
            "ccc, FY2019",
            "365 × inventories, FY2019 ÷ cost of revenue, FY2019 + 365 × accounts receivable, FY2019 ÷ "
            "revenue, FY2019 − 365 × accounts payable, FY2019 ÷ cost of revenue, FY2019",
        )
    ]


def test_a_word_that_is_not_understood_leaves_all_undone() -> None:
    question = (
        "What is the FY2021 current ratio of Acme? Current ratio is defined as: total current assets "
        "adjusted for seasonality / total current liabilities."
    )
    assert told(question) == []


@pytest.mark.parametrize(
    "question",
    [
        "What was Acme's revenue in FY2022?",
        "What is a quick ratio?",
        "Why did the gross margin of Acme fall in FY2022?",
        "What is the adjusted EBITDA margin of Acme in FY2022?",
    ],
)
def test_nothing_is_worked_out_where_nothing_is_asked_to_be(question: str) -> None:
    assert told(question) == []


def test_how_the_result_is_asked_for() -> None:
    (plain,) = workings("What is the FY2022 net profit margin of Acme?")
    assert (plain.percent, plain.places) == (True, None)
    (rounded,) = workings(f"What is the FY2022 return on assets of Acme? {RATIO}")
    assert (rounded.percent, rounded.places) == (False, 2)


@pytest.mark.parametrize("name", sorted(name for name, ratio in RATIOS.items() if ratio.forms))
def test_every_ratio_of_the_table_can_be_read(name: str) -> None:
    found = workings(f"What is the FY2022 {name} of Acme?")
    items = {leaf.item for working in found for leaf in leaves(working.tree)} - {""}
    assert items
    assert items <= set(ITEMS)


@given(st.text(max_size=200))
def test_any_question_is_read_without_harm(text: str) -> None:
    assert workings(text) == workings(text)
    workings(f"What is the FY2022 ratio of Acme? Ratio is defined as: {text}")


def test_deep_brackets_and_long_questions_are_left_alone() -> None:
    deep = "(" * 500 + "revenue" + ")" * 500
    assert told(f"What is the FY2019 x of Acme? X is defined as: {deep}.") == []
    assert told("What is the FY2022 current ratio of Acme? " + "Be brief. " * 400) == []
    long = " + ".join(["revenue"] * (MAX_LEAVES + 1))
    assert told(f"What is the FY2019 x of Acme? X is defined as: {long}.") == []

"""A question becomes self-contained aspects; unless it is clearly several questions, it stays whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.questions.aspects import MAX_ASPECTS, split_aspects


@pytest.mark.parametrize(
    "question",
    [
        "How do I restart the server and check its logs?",
        "What is research and development expense?",
        "What is the year end FY2019 total amount of inventories for Best Buy?",
        "Who is responsible for health and safety at Acme?",
        "Is the warranty void if I open the case and remove the label?",
        "What drove the increase in merchandise inventories at the end of FY2023?",
        "Which segment had the highest revenue in Q2 2023?",
        "What is a quick ratio?",
        "What was Acme's adjusted non-GAAP EBITDA for FY2023?",
    ],
)
def test_one_question_stays_whole(question: str) -> None:
    assert split_aspects(question) == (question,)


def test_a_list_typed_into_a_search_box_is_as_many_questions_as_it_has_members() -> None:
    assert split_aspects("Warranty, weight and price of the AR-7?") == (
        "Warranty of the AR-7?",
        "weight of the AR-7?",
        "price of the AR-7?",
    )
    # A sentence with names before its verb is not such a list.
    named = "Did Alice, Bob and Carol of Acme sign?"
    assert split_aspects(named) == (named,)


def test_two_questions_are_two_aspects_and_a_pronoun_becomes_the_name() -> None:
    assert split_aspects("Who founded Acme and when was it sold?") == (
        "Who founded Acme?",
        "when was Acme sold?",
    )


def test_who_is_asked_for_is_not_a_name_of_the_question() -> None:
    assert split_aspects("Who is the chief executive of Amazon and how old is he?") == (
        "Who is the chief executive of Amazon?",
        "how old is the chief executive of Amazon?",
    )
    question = "Who founded Acme, and where was she born?"
    assert split_aspects(question) == (question,)


@pytest.mark.parametrize(
    ("question", "later"),
    [
        (
            "Who is the CEO of Acme and when did they open the Leeds store?",
            "when did they open the Leeds store?",
        ),
        ("Who is the CEO of Acme and when did they open?", "when did Acme open?"),
        ("Who are the founders of Acme and where did they meet?", "where did the founders of Acme meet?"),
        ("Who is the CEO in 2022 and how old was he in 2020?", "how old was the CEO in 2020?"),
        (
            "Who was the CEO at the end of 2021 and 2022 and what was his pay in 2020?",
            "what was the CEO's pay in 2020?",
        ),
        ("Who was the CEO in 2022 and how old was he?", "how old was the CEO? (FY2022)"),
        (
            "Who is the CEO of Acme and how old was he when he joined?",
            "how old was the CEO of Acme when he joined?",
        ),
        (
            "At work I read about Acme. Who is the CEO and how old was he when he joined?",
            "how old was the CEO when he joined? (Acme)",
        ),
    ],
)
def test_a_role_is_put_where_its_holder_is_meant(question: str, later: str) -> None:
    assert split_aspects(question)[-1] == later


@pytest.mark.parametrize(
    "question",
    [
        "Who is the CEO of Acme and why did he fire her?",
        "Who is the CEO of Acme and when did he say they would open?",
        "Who is the CEO of Acme and how old is he and where does she live?",
        "Who founded Acme and where did they meet?",
    ],
)
def test_a_pronoun_that_may_be_somebody_else_keeps_the_question_whole(question: str) -> None:
    assert split_aspects(question) == (question,)


def test_company_and_period_are_carried_over() -> None:
    aspects = split_aspects("What was the dividend of Acme in FY2020? Who was the auditor?")
    assert aspects[1] == "Who was the auditor? (Acme, FY2020)"


def test_a_list_of_things_is_asked_for_one_by_one() -> None:
    assert split_aspects("What are the price, the weight and the colour of the X1?") == (
        "What is the price of the X1?",
        "What is the weight of the X1?",
        "What is the colour of the X1?",
    )


def test_items_and_years_are_asked_for_one_by_one() -> None:
    assert split_aspects("What were the revenue and net income of Acme for 2018 and 2019?") == (
        "revenue of Acme, FY2018",
        "revenue of Acme, FY2019",
        "net income of Acme, FY2018",
        "net income of Acme, FY2019",
    )


def test_a_ratio_asks_for_its_operands() -> None:
    assert split_aspects("What is the FY2021 net working capital of Acme?") == (
        "total current assets of Acme, FY2021",
        "total current liabilities of Acme, FY2021",
    )


def test_a_formula_in_the_question_is_taken_at_its_word() -> None:
    question = (
        "What is the FY2018 fixed asset turnover of Acme? Fixed asset turnover is defined as: FY2018 "
        "revenue / (average PP&E between FY2017 and FY2018). Round your answer to two decimal places."
    )
    assert split_aspects(question) == (
        "revenue of Acme, FY2018",
        "property, plant and equipment of Acme, FY2017",
        "property, plant and equipment of Acme, FY2018",
    )


def test_an_average_over_years_asks_for_each_year() -> None:
    aspects = split_aspects("What is the FY2015 - FY2017 3 year average net profit margin of Acme?")
    assert [aspect.rpartition(", ")[2] for aspect in aspects] == ["FY2015", "FY2016", "FY2017"] * 2


def test_a_change_without_a_second_period_asks_for_the_year_before() -> None:
    assert split_aspects("Did the operating margin of Acme improve in FY2022?") == (
        "operating income of Acme, FY2021",
        "operating income of Acme, FY2022",
        "revenue of Acme, FY2021",
        "revenue of Acme, FY2022",
    )


def test_instructions_about_the_form_of_the_answer_are_no_aspect() -> None:
    question = "What is the FY2019 inventory of Acme? Answer in USD millions. Round to one decimal place."
    assert split_aspects(question) == ("What is the FY2019 inventory of Acme?",)


@given(st.text(max_size=300))
def test_any_text_gives_at_least_one_aspect_and_not_too_many(question: str) -> None:
    aspects = split_aspects(question)
    assert 1 <= len(aspects) <= MAX_ASPECTS
    assert len(set(aspects)) == len(aspects)
    assert split_aspects(question) == aspects

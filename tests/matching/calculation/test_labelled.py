"""Rows that a question names: extracted from it by fixed patterns, found word for word or not at all."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.ports import GenerationRequest
from citewell.core.records import Passage
from citewell.generation import ExtractiveGenerator
from citewell.models.onnx.reading import OnnxReader
from citewell.questions.aspects import split_aspects
from citewell.questions.calculation.arithmetic import format_tree
from citewell.questions.calculation.formulae import labelled_workings


@pytest.mark.parametrize(
    ("question", "calculation"),
    [
        ("What is the change in Widgets in 2019 from 2018?", "Widgets, FY2019 − Widgets, FY2018"),
        (
            "What was the percentage increase / (decrease) in the number of vans between 2018 and 2019?",
            "(number of vans, FY2019 − number of vans, FY2018) ÷ number of vans, FY2018",
        ),
        ("How much did van rentals increase from 2018 to 2020?", "van rentals, FY2020 − van rentals, FY2018"),
        ("What is the average rent for 2017 to 2019?", "(rent, FY2017 + rent, FY2018 + rent, FY2019) ÷ 3"),
        ("What is the ratio of vans to drivers in 2019?", "vans, FY2019 ÷ drivers, FY2019"),
        (
            "What percentage of total trips were night trips in 2019?",
            "night trips, FY2019 ÷ total trips, FY2019",
        ),
        ("What is the difference between vans and cars in 2019?", "vans, FY2019 − cars, FY2019"),
    ],
)
def test_the_calculation(question: str, calculation: str) -> None:
    (working,) = labelled_workings(question)
    assert format_tree(working.tree) == calculation


@pytest.mark.parametrize(
    "question",
    [
        "What is the change in Widgets?",
        "Why did rents change in 2019?",
        "What changed between 2018 and 2019?",
    ],
)
def test_nothing_where_no_pattern_or_no_period_is(question: str) -> None:
    assert labelled_workings(question) == ()


@given(st.text(max_size=120))
def test_any_words_in_the_place_of_a_label_are_read_without_harm(words: str) -> None:
    labelled_workings(f"What is the change in {words} from 2018 to 2019?")


@pytest.fixture
def fleet(pages) -> Passage:
    return pages.table(
        [
            ("Vans", ["120", "100"]),
            ("Other vans", ["7", "9"]),
            ("Total", ["127", "109"]),
            ("Total", ["3", "4"]),
        ],
        ["2019", "2018"],
        table="Fleet",
        units="",
    )


@pytest.fixture(scope="module")
def writer() -> ExtractiveGenerator:
    return ExtractiveGenerator(OnnxReader())


def results(writer: ExtractiveGenerator, question: str, passage: Passage) -> list[str]:
    aspects = split_aspects(question)
    draft = writer.generate(GenerationRequest(question=question, aspects=aspects, passages=(passage,)))
    return [claim.text for claim in draft.claims if claim.reasoning]


def test_a_named_row_is_worked_out(writer, fleet) -> None:
    question = "What is the percentage change in vans from 2018 to 2019?"
    assert split_aspects(question) == (question,)
    assert results(writer, question, fleet) == [
        "growth of vans, FY2018 to FY2019: (120 − 100) ÷ 100 = 20.00%"
    ]


@pytest.mark.parametrize("row", ["total", "drivers", "the other"])
def test_two_rows_of_one_name_or_none_give_no_result(writer, fleet, row: str) -> None:
    assert results(writer, f"What is the change in {row} from 2018 to 2019?", fleet) == []


def test_many_words_before_a_period_are_read_at_once() -> None:
    question = "What is the change in " + "in the " * 180 + "from 2018 to 2019?"
    begun = time.process_time()
    labelled_workings(question)
    assert time.process_time() - begun < 2.0

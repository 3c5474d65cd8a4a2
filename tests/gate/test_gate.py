"""The gate: "about it" is not "answers it", and nothing overrules an exact check."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from citewell.core.config import Gate
from citewell.core.ports import Extraction, Reading
from citewell.core.records import Maker, Passage
from citewell.models.onnx.reading import OnnxReader
from citewell.questions.aspects import split_aspects
from citewell.retrieval.gate import GateResult, check_gate

YEARS = ["Year Ended December 31, 2022", "Year Ended December 31, 2021"]


class Sure:
    """An extractor that is certain of the whole passage."""

    maker = Maker(name="sure")

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        return [
            Reading(candidates=(Extraction(start=0, end=len(text), probability=1.0),), no_answer=0.0)
            for text in passages
        ]


class Broken:
    """An extractor that fails."""

    maker = Maker(name="broken")

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        raise RuntimeError("out of order")


@pytest.fixture
def cash_flows(pages) -> Passage:
    return pages.table([("Capital expenditures", ["(577)", "(520)"])], YEARS)


def gate(question: str, *passages: Passage, extractor=None) -> GateResult:
    return check_gate(question, split_aspects(question), passages, extractor or OnnxReader(), Gate())


def test_the_asked_row_and_column_pass(cash_flows) -> None:
    result = gate("What is the FY2021 capex of Acme?", cash_flows)
    assert result.passed
    assert result.missing == ()


def test_another_year_fails_however_sure_the_extractor_is(cash_flows) -> None:
    question = "What is the FY2017 capex of Acme?"
    result = gate(question, cash_flows, extractor=Sure())
    assert not result.passed
    assert "no passage has FY2017" in result.reason
    assert result.missing == (question,)


def test_a_sentence_about_another_year_fails_however_sure_the_extractor_is(pages) -> None:
    text = pages.text("Acme closed four shops in fiscal 2021 because rents had doubled.", title="Acme")
    assert gate("Why did Acme close shops in fiscal 2021?", text, extractor=Sure()).passed
    result = gate("Why did Acme close shops in fiscal 2017?", text, extractor=Sure())
    assert not result.passed
    assert "no passage has FY2017" in result.reason


def test_another_company_fails_however_sure_the_extractor_is(cash_flows) -> None:
    result = gate("What is the FY2021 capex of Globex?", cash_flows, extractor=Sure())
    assert not result.passed
    assert "no passage names Globex" in result.reason


def test_about_it_is_not_an_answer(pages) -> None:
    about = pages.text(
        "The X1 has a battery. Batteries are an important part of any device and users like them.", title="X1"
    )
    result = gate("How many hours does the battery of the X1 last?", about)
    assert not result.passed
    assert "none answers it" in result.reason


def test_a_sentence_that_answers_passes(pages) -> None:
    text = pages.text("The battery of the X1 lasts 14 hours when the screen is off.", title="X1")
    assert gate("How many hours does the battery of the X1 last?", text).passed


def test_a_part_that_is_missing_is_named_and_the_rest_passes(cash_flows) -> None:
    result = gate("What were the capex and inventories of Acme in FY2022?", cash_flows)
    assert result.passed
    assert result.missing == ("inventories of Acme, FY2022",)
    assert len(result.notes) == 2


def test_no_passage_at_all_is_a_normal_result() -> None:
    result = gate("Who founded Acme?")
    assert not result.passed
    assert result.reason == "no passage was found"


def test_passages_under_the_threshold_fail_in_words(cash_flows) -> None:
    result = gate("What is the FY2021 capex of Acme?", msgspec.structs.replace(cash_flows, relevant=False))
    assert not result.passed
    assert result.reason == "none of the 1 passages found is relevant enough"


def test_a_poisoned_passage_cannot_open_the_gate(cash_flows) -> None:
    aside = msgspec.structs.replace(cash_flows, set_aside="dictates the answer")
    result = gate("What is the FY2021 capex of Acme?", aside)
    assert not result.passed
    assert "set aside" in result.reason


def test_an_extractor_that_fails_is_an_error_and_not_a_pass(pages) -> None:
    with pytest.raises(RuntimeError, match="out of order"):
        gate("Who founded Acme?", pages.text("Acme was founded by Jane Roe."), extractor=Broken())

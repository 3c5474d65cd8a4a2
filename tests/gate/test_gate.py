"""The gate: "about it" is not "answers it", and nothing overrules an exact check."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from citewell.core.config import Gate
from citewell.core.ports import Candidate, Extraction, Reading
from citewell.core.records import Maker, Passage
from citewell.generation.extractive import ExtractiveGenerator
from citewell.models.onnx.reading import OnnxReader
from citewell.questions.aspects import split_aspects
from citewell.questions.evidence import find_evidence, find_stretches
from citewell.questions.parsing import read_question
from citewell.questions.rows import CellAnswer, text_of
from citewell.retrieval.gate import GateResult, check_gate, score_answers

YEARS = ["Year Ended December 31, 2022", "Year Ended December 31, 2021"]


class Sure:
    """An extractor that is certain of the whole passage."""

    maker = Maker(name="sure")

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        return [
            Reading(candidates=(Extraction(start=0, end=len(text), probability=1.0),), no_answer=0.0)
            for text in passages
        ]


class Knows:
    """A check that is certain of any text with ``words``, and of nothing else."""

    maker = Maker(name="knows")
    border = least = 0.5

    def __init__(self, words: str) -> None:
        self.words = words
        self.asked: list[Candidate] = []

    def answers(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [0.9 if self.words in text else 0.1 for text, _ in pairs]

    def weigh(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        self.asked += candidates
        return self.answers([(candidate.text, question) for candidate in candidates])

    def says(self, question: str, text: str) -> str:
        return ""


class Points:
    """An extractor that is certain of ``words`` wherever they stand."""

    maker = Maker(name="points")

    def __init__(self, words: str) -> None:
        self.words = words

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        places = [text.find(self.words) for text in passages]
        return [
            Reading(
                candidates=(Extraction(start=at, end=at + len(self.words), probability=1.0),)
                if at >= 0
                else (),
                no_answer=float(at < 0),
            )
            for at in places
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


QUESTION = "When does the library open?"
OPENING = "The library opens at nine in the morning."


def read(pages, text: str, *, relevant: bool) -> Passage:
    return msgspec.structs.replace(pages.text(text), relevance=0.4, relevant=relevant)


def test_what_the_ranker_doubts_is_relevant_where_the_check_finds_the_answer(pages) -> None:
    passages = [
        read(pages, OPENING, relevant=False),
        read(pages, "The library has a garden.", relevant=False),
    ]
    assert not gate(QUESTION, *passages, extractor=Sure()).passed
    found = score_answers([QUESTION], passages, Sure(), Gate(), Knows("opens at nine"))
    assert [passage.relevant for passage in found] == [True, False]


def test_what_was_quarantined_stays_out_whatever_the_check_says(pages) -> None:
    poisoned = msgspec.structs.replace(read(pages, OPENING, relevant=False), set_aside="it gives orders")
    (kept,) = score_answers([QUESTION], [poisoned], Sure(), Gate(), Knows("opens at nine"))
    assert not kept.relevant


def test_the_check_has_the_last_word_on_what_answers(pages) -> None:
    passage = read(pages, OPENING, relevant=True)
    check = Knows("closes at")
    result = check_gate(QUESTION, (), [passage], Sure(), Gate(), None, check)
    assert not result.passed
    assert "none answers it" in result.reason
    assert find_evidence(
        read_question(QUESTION), [passage], Sure(), max_no_answer=0.4, check=Knows("opens at")
    )


def test_the_check_reads_a_sentence_under_its_title_and_headings(pages) -> None:
    passage = read(pages, OPENING, relevant=True)
    chunk = msgspec.structs.replace(passage.chunk, title="Visitors", section_path=("Visitors", "Hours"))
    check = Knows("opens")
    find_evidence(
        read_question(QUESTION),
        [msgspec.structs.replace(passage, chunk=chunk)],
        Sure(),
        max_no_answer=0.4,
        check=check,
    )
    assert [candidate.text for candidate in check.asked] == [f"Visitors\nHours\n{OPENING}"]


def test_the_check_reads_a_sentence_under_the_heading_that_stands_above_it(pages) -> None:
    passage = read(pages, f"Garden\nIt is closed in winter.\nHours\n{OPENING}", relevant=True)
    check = Knows("opens")
    find_evidence(read_question(QUESTION), [passage], Sure(), max_no_answer=0.4, check=check)
    assert any(candidate.text.endswith(f"Hours\n{OPENING}") for candidate in check.asked)
    assert not any("Hours" in c.text and "closed in winter" in c.text for c in check.asked)


@pytest.mark.parametrize(
    ("question", "knows", "cell"),
    [
        ("How long does neutering a dog take?", "Minutes: 45", "45"),
        ("What does neutering cost?", "GBP", "185"),
        ("What does neutering a cat cost?", "GBP", "95"),
        ("What does neutering a dog weigh?", "Dog (GBP): 185; Cat (GBP): 95; Minutes: 45", ""),
    ],
    ids=[
        "another cell answers",
        "the extractor has the last word on equals",
        "the one that is named",
        "only the whole row answers",
    ],
)
def test_the_check_chooses_the_cell_where_the_extractor_points_at_a_neighbour(
    pages, question: str, knows: str, cell: str
) -> None:
    prices = pages.table([("Neutering", ["185", "95", "45"])], ["Dog (GBP)", "Cat (GBP)", "Minutes"])
    found = find_stretches(
        read_question(question), [prices], Points("185"), max_no_answer=0.4, check=Knows(knows)
    )
    (best,) = [one for one in found if isinstance(one, CellAnswer)]
    assert (text_of(prices, best.cell.start, best.cell.end) if best.cell else "") == cell


def test_the_writer_names_the_check_that_chose_for_it_and_its_border() -> None:
    alone, checked = ExtractiveGenerator(Sure()), ExtractiveGenerator(Sure(), check=Knows("opens"))
    assert alone.maker.threshold == Gate().max_no_answer
    assert checked.maker.threshold == Knows.least
    assert checked.maker.name == f"{alone.maker.name} + knows"

"""The embedded reader: spans are offsets, no answer is a probability, one run serves ranker and reader."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from citewell.core.errors import UsageError
from citewell.models.onnx.reading import (
    CANDIDATES,
    OnnxRanker,
    OnnxReader,
    ReadingModel,
    RememberingReading,
    Window,
)

QUESTION = "Who founded the observatory?"
PASSAGE = (
    "The observatory stands on a hill. It was founded by Maria Lindqvist in 1871 and rebuilt after a fire."
)
FILLER = "The town has two libraries and a market hall that is open on Saturdays. "


@pytest.fixture(scope="module")
def reader() -> OnnxReader:
    return OnnxReader()


def test_the_best_span_is_the_answer(reader: OnnxReader) -> None:
    reading = reader.extract(QUESTION, [PASSAGE])[0]
    best = reading.candidates[0]
    assert PASSAGE[best.start : best.end] == "Maria Lindqvist"
    assert reading.no_answer < 0.5


def test_a_passage_that_does_not_say_holds_no_answer(reader: OnnxReader) -> None:
    assert reader.extract(QUESTION, [FILLER])[0].no_answer > 0.5


def test_probabilities_are_ordered_and_sum_to_at_most_an_answer(reader: OnnxReader) -> None:
    for reading in reader.extract(QUESTION, [PASSAGE, FILLER * 40 + PASSAGE, "one"]):
        chances = [candidate.probability for candidate in reading.candidates]
        assert chances == sorted(chances, reverse=True)
        assert 1 <= len(chances) <= CANDIDATES
        assert sum(chances) <= 1.0 - reading.no_answer + 1e-9


def test_candidates_do_not_overlap(reader: OnnxReader) -> None:
    places = sorted((c.start, c.end) for c in reader.extract(QUESTION, [PASSAGE])[0].candidates)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(places))


def test_offsets_are_code_points_far_into_a_long_passage(reader: OnnxReader) -> None:
    passage = "Überblick › Straße 𝔘\n" + FILLER * 50 + PASSAGE
    best = reader.extract(QUESTION, [passage])[0].candidates[0]
    assert passage[best.start : best.end] == "Maria Lindqvist"


def test_alone_and_among_others_give_the_same_bits(reader: OnnxReader) -> None:
    passages = [PASSAGE, FILLER * 60, "one"]
    together = reader.extract(QUESTION, passages)
    assert [reader.extract(QUESTION, [passage])[0] for passage in passages] == together


@pytest.mark.parametrize(("question", "passage"), [("", "text"), (QUESTION, " ")])
def test_empty_input_is_refused(reader: OnnxReader, question: str, passage: str) -> None:
    with pytest.raises(UsageError, match="no words"):
        reader.extract(question, [passage])


def test_a_memory_reads_each_pair_once_and_changes_nothing() -> None:
    model = ReadingModel.shared()
    asked: list[tuple[str, ...]] = []

    class Counting(ReadingModel):
        def __init__(self) -> None:
            self.session, self.card = model.session, model.card

        def read(self, question: str, passages: Sequence[str]) -> list[list[Window]]:
            asked.append(tuple(passages))
            return model.read(question, passages)

    remembering = RememberingReading(Counting(), limit=2)
    reader, plain = OnnxReader(remembering), OnnxReader(model)
    assert reader.extract(QUESTION, [PASSAGE, FILLER, PASSAGE]) == plain.extract(
        QUESTION, [PASSAGE, FILLER, PASSAGE]
    )
    assert OnnxRanker(remembering).rank(QUESTION, [FILLER]) == OnnxRanker(model).rank(QUESTION, [FILLER])
    reader.extract(QUESTION, ["one more"])  # evicts the oldest
    reader.extract(QUESTION, [FILLER, PASSAGE])
    assert asked == [(PASSAGE, FILLER), ("one more",), (PASSAGE,)]

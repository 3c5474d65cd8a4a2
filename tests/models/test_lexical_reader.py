"""The reader without weights: sentences with offsets, probabilities, and a memory that changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from citewell.models.lexical_reader import LexicalReader
from citewell.models.remembering import RememberingExtractor
from citewell.ports import Reading

PASSAGE = (
    "The museum stands on a hill above the harbour. It was opened in 1931 by the mayor, Ada Stone. "
    "Tickets cost 12 euros. Children under six enter without a ticket."
)


def best(question: str) -> str:
    (reading,) = LexicalReader().extract(question, [PASSAGE])
    first = reading.candidates[0]
    return PASSAGE[first.start : first.end]


def test_the_sentence_that_answers_comes_first() -> None:
    assert best("How much do tickets cost?") == "Tickets cost 12 euros."
    assert best("When was the museum opened by the mayor?").startswith("It was opened in 1931")


def test_a_passage_about_something_else_is_likelier_to_hold_no_answer() -> None:
    on, off = LexicalReader().extract(
        "How much do tickets of the museum cost?", [PASSAGE, "Steel is an alloy of iron and carbon."]
    )
    assert on.no_answer < 0.5 < off.no_answer


def test_a_passage_without_sentences_holds_no_answer() -> None:
    assert LexicalReader().extract("Who?", [" \n"]) == [Reading(candidates=(), no_answer=1.0)]


@given(st.text(max_size=80), st.lists(st.text(max_size=200), max_size=4))
def test_readings_are_probabilities_inside_the_passage_and_never_change(
    question: str, passages: list[str]
) -> None:
    reader = LexicalReader()
    readings = reader.extract(question, passages)
    assert len(readings) == len(passages)
    for reading, passage in zip(readings, passages, strict=True):
        assert 0.0 <= reading.no_answer <= 1.0
        for found in reading.candidates:
            assert 0 <= found.start < found.end <= len(passage)
            assert 0.0 <= found.probability <= 1.0
    # Alone or among others, and from memory: the same.
    remembering = RememberingExtractor(reader)
    assert [remembering.extract(question, [passage])[0] for passage in passages] == readings
    assert remembering.extract(question, passages) == readings


class Counting:
    """Counts what it is asked."""

    def __init__(self) -> None:
        self.maker = LexicalReader().maker
        self.read: list[str] = []

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        self.read += passages
        return LexicalReader().extract(question, passages)


def test_what_was_read_is_not_read_again_until_it_is_forgotten() -> None:
    counting = Counting()
    remembering = RememberingExtractor(counting, limit=2)
    remembering.extract("q", ["a", "b", "a"])
    remembering.extract("q", ["b", "a"])
    assert counting.read == ["a", "b"]
    remembering.extract("q", ["c"])
    remembering.extract("q", ["a"])
    assert counting.read == ["a", "b", "c", "a"]
    assert remembering.maker == counting.maker

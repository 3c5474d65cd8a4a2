"""Edits: everywhere or not at all, and rows move with their text."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from citewell.evaluation.probes.editing import (
    Edit,
    edited,
    repeats,
    sentences_of,
    swap_for,
)


def test_a_fact_is_exchanged_in_every_passage_and_in_titles(pages: Any) -> None:
    passages = [
        pages.text("Sales were 120 in May. They were 1,120 before.", title="The 120 report"),
        pages.text("Of 120 units."),
    ]
    first, second = edited(passages, Edit(old="120", new="347"))
    assert first.chunk.content == "Sales were 347 in May. They were 1,120 before."
    assert first.chunk.title == "The 347 report"
    assert second.chunk.content == "Of 347 units."


def test_a_removed_sentence_goes_from_every_passage_that_repeats_it(pages: Any) -> None:
    one = pages.text("The office opened in Lisbon in 2014. It is large.")
    two = pages.text("The office opened in Lisbon in 2014.")
    three = pages.text("As we said, the office opened in Lisbon in 2014, and it is large.")
    left = edited([one, two, three], Edit(removed=("The office opened in Lisbon in 2014.",)))
    assert [passage.chunk.content.strip() for passage in left] == ["It is large."]


def test_only_what_is_kept_is_left(pages: Any) -> None:
    left = edited(
        [pages.text("It rains. The office opened in 2014."), pages.text("It snows.")],
        Edit(kept=("It rains.",)),
    )
    assert [passage.chunk.content.strip() for passage in left] == ["It rains."]


def test_table_rows_move_with_their_text(pages: Any) -> None:
    table = pages.table(
        [("Capital expenditure", ("758", "695")), ("Revenue", ("46,710", "44,538"))],
        ("2022", "2021"),
        base=100,
    )
    (without,) = edited([table], Edit(removed=("Capital expenditure\t758\t695",)))
    (row,) = without.chunk.rows
    base, text = without.chunk.start_offset, without.chunk.content
    assert [text[cell.start - base : cell.end - base] for cell in row.cells] == ["46,710", "44,538"]
    (changed,) = edited([table], Edit(old="758", new="1,758"))
    base, text = changed.chunk.start_offset, changed.chunk.content
    cells = [text[c.start - base : c.end - base] for row in changed.chunk.rows for c in row.cells]
    assert cells == ["1,758", "695", "46,710", "44,538"]


def test_other_digits_are_no_repeat() -> None:
    assert repeats("The plant in Ohio made 120 cars last year.", "Last year the plant in Ohio made 120 cars.")
    assert not repeats(
        "The plant in Ohio made 120 cars last year.", "The plant in Ohio made 130 cars last year."
    )


def test_a_sentence_is_reworded_wherever_it_stands(pages: Any) -> None:
    (left,) = edited(
        [pages.text("It was sold. Fine.")], Edit(sentence="It was sold.", instead="It was not sold.")
    )
    assert left.chunk.content == "It was not sold. Fine."


@given(st.text(max_size=200), st.integers(0, 3))
def test_removing_and_keeping_share_the_sentences(text: str, which: int) -> None:
    from tests.conftest import Pages

    sentences = sentences_of(text)
    if not sentences:
        return
    chosen = sentences[min(which, len(sentences) - 1)]
    passage = Pages().text(text)
    without, only = edited([passage], Edit(removed=(chosen,))), edited([passage], Edit(kept=(chosen,)))
    for left in (*without, *only):
        assert set(left.chunk.content) <= set(text)
    assert chosen not in [s for left in without for s in sentences_of(left.chunk.content)]


def test_a_swap_takes_a_fact_that_the_question_does_not_name() -> None:
    claim = sentence = "Acme sold 1,200 cars to Fjordland in 2019."
    context = [sentence, "Others sold 900."]
    found = swap_for(claim, sentence, question="How many cars did Acme sell in 2019?", context=context)
    assert found is not None
    assert (found.kind, found.old) == ("number", "1,200")
    assert found.new != "1,200"
    assert found.new not in "".join(context)
    assert found.claim == claim.replace("1,200", found.new)
    named = swap_for(
        "Acme sold cars to Fjordland.",
        "Acme sold cars to Fjordland.",
        question="To whom did Acme sell?",
        context=[],
    )
    assert named is not None
    assert (named.kind, named.old) == ("entity", "Fjordland")


def test_what_has_no_fact_is_negated_and_what_has_no_verb_is_left() -> None:
    found = swap_for("The lid is open.", "The lid is open.", question="Is it?", context=[])
    assert found is not None
    assert (found.kind, found.new) == ("negation", "The lid is not open.")
    assert swap_for("open lid", "open lid", question="Is it?", context=[]) is None

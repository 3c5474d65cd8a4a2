"""Sentence boundaries: every word is in exactly one sentence, and a table row is one sentence."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from citewell.core.sentences import sentence_spans


@given(st.text(alphabet="aB1 .?!\n\t\"'(é…,-", max_size=200))
def test_sentences_cover_every_word_once_and_in_order(text: str) -> None:
    spans = sentence_spans(text)
    assert all(left[1] <= right[0] for left, right in itertools.pairwise(spans))
    covered = "".join(text[a:b] for a, b in spans)
    assert "".join(covered.split()) == "".join(text.split())
    assert all(text[a:b] == text[a:b].strip() != "" for a, b in spans)


def test_abbreviations_do_not_end_a_sentence() -> None:
    text = "Nike, Inc. paid $1.5 billion in the U.S. in 2018. Mr. Smith agreed."
    assert [text[a:b] for a, b in sentence_spans(text)] == [
        "Nike, Inc. paid $1.5 billion in the U.S. in 2018.",
        "Mr. Smith agreed.",
    ]


def test_a_row_is_one_sentence_and_a_line_break_ends_one() -> None:
    text = "Capital expenditures. Net\t1,577\t1,373\nno full stop here\nNext."
    assert [text[a:b] for a, b in sentence_spans(text)] == [
        "Capital expenditures. Net\t1,577\t1,373",
        "no full stop here",
        "Next.",
    ]


def test_a_sentence_without_end_is_cut_at_white_space() -> None:
    text = "word " * 2000
    spans = sentence_spans(text)
    assert max(b - a for a, b in spans) <= 2000
    assert sum(len(text[a:b].split()) for a, b in spans) == 2000

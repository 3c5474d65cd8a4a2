"""Claims made for training have the right label; which copies may still be wrong."""

from __future__ import annotations

import random

import pytest
from training.copying import copied_claims
from training.edits import names_in
from training.passages import Passage
from training.statements import yes_no_statement

SENTENCES = (
    "The brother of Maria Cortez was arrested in Toledo on Friday.",
    "He was released after two days in the county jail.",
    "Officials believed that the bridge in Dayton would open again before the winter.",
    "The Ohio River Bank was founded in 1905 by a group of farmers and traders.",
    "It was closed in 1931 because of a lack of money and trust.",
)


@pytest.fixture
def passage() -> Passage:
    text = " ".join(SENTENCES)
    return Passage(text, SENTENCES, tuple(names_in(text)), ())


def test_both_labels_are_made_in_equal_number_or_fewer_right_ones(passage: Passage) -> None:
    for seed in range(20):
        labels = [label for _, _, label in copied_claims(passage, random.Random(seed))]
        wrong = labels.count("not_entailment")
        assert 0 < wrong <= 3
        assert labels.count("entailment") <= wrong


def test_a_wrong_claim_is_no_sentence_of_the_text(passage: Passage) -> None:
    for seed in range(20):
        for _, claim, label in copied_claims(passage, random.Random(seed)):
            if label == "not_entailment":
                assert claim not in SENTENCES


def test_owner_report_and_pronoun(passage: Passage) -> None:
    made = {
        claim: label for seed in range(60) for _, claim, label in copied_claims(passage, random.Random(seed))
    }
    assert made["Maria Cortez was arrested in Toledo on Friday."] == "not_entailment"
    assert made["The bridge in Dayton would open again before the winter."] == "not_entailment"
    assert (
        made["The Ohio River Bank was closed in 1931 because of a lack of money and trust."] == "entailment"
    )


@pytest.mark.parametrize(
    ("question", "made"),
    [
        ("is the ohio river bank still open", "The ohio river bank is still open."),
        ("was maria cortez arrested", "Maria cortez was arrested."),
        ("is there a bridge", None),  # its opening words are not in the text
        ("who founded the bank", None),
    ],
)
def test_questions_as_statements(question: str, made: str | None) -> None:
    assert yes_no_statement(question, " ".join(SENTENCES)) == made

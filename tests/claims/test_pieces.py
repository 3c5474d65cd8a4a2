"""What states nothing and needs no check, and what only sounds like it."""

from __future__ import annotations

import time

import pytest

from citewell.answering.verifying import verify
from citewell.core.records import Status
from citewell.models.fake import FakeEntailer, HashEmbedder
from citewell.verification.claims import PieceKind
from citewell.verification.claims.pieces import ABSTENTIONS, piece_kind
from citewell.verification.claims.statements import makes_statement

FACTS = [
    "Here is the answer, Paris.",
    "Here is the answer - Paris.",
    "I hope this helps, Paris",
    "The following list shows Paris and Rome.",
    "Let's look at Acme, a convicted fraudster.",
    "I don't know the number, but revenue was $5 billion in 2021.",
    "We cannot confirm that, but Acme owes $4 million to Beta.",
    "No data were lost in the 2019 breach.",
    "There was no evidence of fraud at Acme in 2019.",
    "There is no evidence of fraud.",
    "It is not possible to terminate the contract before 2027.",
    "The director is not included in the filing.",
    "The sources do not say, but revenue was $5 billion.",
    "The sources do not mention sales and Acme owes $4 million.",
    "The sources do not mention the $5 billion that Acme owes.",
    "The documents provide no answer; the plant closed.",
    "The documents do not mention the plant (it closed in May).",
    "The report does not include the Leeds plant.",
    "No report mentions that the plant closed.",
    "I cannot answer this, the plant closed.",
    "There is no mention in the sources of the plant, which closed in May.",
    "Revenue of $5 billion is not mentioned in the sources.",
    "The contract that ended in May is not mentioned in the provided documents.",
    "No information was given to the shareholders of Acme.",
    "No information about customers leaked.",
    "No data leaked from the documents.",
    "No information was found in the wreck.",
    "The information does not include the names of customers.",
    "These documents do not have legal force.",
    "We do not answer questions of the press.",
    "We start production in May 2025 in Leeds.",
    "We will list on the exchange.",
    "I will start work in May.",
    "If you have a fever above 39, take 500 mg of aspirin every hour.",
    "If you need more relief, let me know and take another pill.",
    "As an AI company, Acme earned $3 billion in 2023.",
    "These are the largest losses in the history of Acme.",
    "Here is the answer: Acme owes $4 million.",
    "The following is true of Acme.",
    "I hope this helps Acme pay its $5 million debt.",
    "Let me know if Acme pays the $5 million.",
    "Thank you, Acme lost $5 million.",
    "Did you know that Acme lost its licence?",
    "Did you know Acme bribed officials?",
    "Isn't it true that the plant closed?",
    "Acme lost its licence, didn't it?",
    "The drug is safe, right?",
    "Would you believe Acme lost $5 billion?",
    "I'll explain how the drug cures cancer in children.",
    "Here is a summary of how Acme bribed officials in Brazil.",
    "Let me explain why Acme was convicted.",
]
NO_FACTS = [
    *((sentence, PieceKind.ABSTENTION) for sentence in ABSTENTIONS),
    ("I don't know.", PieceKind.ABSTENTION),
    ("I cannot say.", PieceKind.ABSTENTION),
    ("We do not know the answer.", PieceKind.ABSTENTION),
    ("The documents do not have enough information to answer.", PieceKind.ABSTENTION),
    ("I do not know the answer.", PieceKind.ABSTENTION),
    ("Sorry, but I could not find that information in the provided documents.", PieceKind.ABSTENTION),
    ("I'm sorry, I cannot determine this from the context.", PieceKind.ABSTENTION),
    ("Unfortunately, the provided context does not mention Nike's revenue in 2018.", PieceKind.ABSTENTION),
    ("The sources do not say whether the plant closed.", PieceKind.ABSTENTION),
    ("The sources do not say.", PieceKind.ABSTENTION),
    ("There is no information about capital expenditure in the documents.", PieceKind.ABSTENTION),
    ("No information about capital expenditure was found in the sources.", PieceKind.ABSTENTION),
    ("I cannot answer this, as the sources do not mention the CEO's salary.", PieceKind.ABSTENTION),
    ("There is not enough information to answer the question.", PieceKind.ABSTENTION),
    ("It is not possible to answer this from the provided sources.", PieceKind.ABSTENTION),
    ("The CEO's salary is not mentioned in the provided documents.", PieceKind.ABSTENTION),
    ("None of the sources mention capital expenditure.", PieceKind.ABSTENTION),
    ("Not enough information.", PieceKind.ABSTENTION),
    ("Unknown.", PieceKind.ABSTENTION),
    ("Sure!!", PieceKind.META),
    ("Thank you .", PieceKind.META),
    ("I hope this helps!", PieceKind.META),
    ("Thank you for your question.", PieceKind.META),
    ("If you have any other questions, please let me know.", PieceKind.META),
    ("If you need anything else, feel free to ask!", PieceKind.META),
    ("Feel free to ask for more details.", PieceKind.META),
    ("Here is a summary of the key points.", PieceKind.META),
    ("Here's the answer:", PieceKind.META),
    ("The following table lists revenue by segment.", PieceKind.META),
    ("As an AI language model, I cannot give legal advice.", PieceKind.META),
    ("Let's break this down.", PieceKind.META),
    ("I'll summarize the main points below.", PieceKind.META),
    ("Let me walk you through the figures.", PieceKind.META),
    ("In summary:", PieceKind.META),
    ("Based on the provided documents:", PieceKind.META),
    ("I'll explain how it works.", PieceKind.META),
    ("Let me walk you through how to install it.", PieceKind.META),
    ("Would you like to know more?", PieceKind.QUESTION),
    ("Do you know which year you mean?", PieceKind.QUESTION),
    ("What was revenue in 2018?", PieceKind.QUESTION),
    ("Shall I list the top 5 risks?", PieceKind.QUESTION),
]


@pytest.mark.parametrize("sentence", FACTS)
def test_what_states_a_fact_is_a_claim(sentence: str) -> None:
    assert piece_kind(sentence) is None


@pytest.mark.parametrize(("sentence", "kind"), NO_FACTS)
def test_what_states_nothing_is_named(sentence: str, kind: PieceKind) -> None:
    assert piece_kind(sentence) is kind


def test_no_fact_passes_unread_beside_a_verified_claim() -> None:
    found = verify(
        "Revenue was 5 billion in 2021 [1]. No data were lost in the 2019 breach.",
        ["Revenue was 5 billion in 2021."],
        entailer=FakeEntailer(),
        embedder=HashEmbedder(),
    )
    assert [claim.text for claim in found.claims] == [
        "Revenue was 5 billion in 2021.",
        "No data were lost in the 2019 breach.",
    ]
    assert found.status is not Status.VERIFIED


@pytest.mark.parametrize(
    "words", ["the ", "the provided ", "I cannot answer, ", "is not found in the ", "thanks "]
)
def test_a_hostile_sentence_is_read_at_once(words: str) -> None:
    assert piece_kind("No source" + words * 3_000) is None


@pytest.mark.parametrize("text", ["x" + " " * 20_000 + "x", "sorry, but" + " " * 20_000 + "x"])
def test_white_space_without_end_takes_no_time(text: str) -> None:
    began = time.process_time()
    piece_kind(text)
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "sentence",
    [
        "I hope this helps clarify things.",
        "I hope this helps, good luck!",
        "I'll explain below.",
        "Here is a breakdown by segment.",
        "Here is the information requested.",
        "Here is a detailed explanation below.",
        "Let us look at revenue.",
        "The following table shows revenue.",
    ],
)
def test_common_talk_is_no_claim(sentence: str) -> None:
    assert piece_kind(sentence) is PieceKind.META


def test_a_verb_in_capitals_is_a_verb() -> None:
    assert piece_kind("There is no information on Acme and ACME IS BANKRUPT.") is None


@pytest.mark.parametrize(
    ("title", "stating"),
    [
        ("Overview: Nike", False),
        ("Conclusion: Key points", False),
        ("CEO: jailed for fraud", True),
        ("Price: $5", True),
        ("Notice period: 90 days", True),
        ("Revenue of 51,217", True),
    ],
)
def test_a_title_states_something_where_a_fact_stands_in_it(title: str, stating: bool) -> None:
    assert makes_statement(title) is stating


@pytest.mark.parametrize(
    "title",
    [
        "Penalty: imprisonment",
        "Owner: the board",
        "Deadline: never",
        "Total headcount 15000",
        "Max dose 500mg",
        "Output of 20MW",
        "names and more names " * 40 + "at $5",
    ],
)
def test_a_fact_in_the_form_of_a_title_is_no_heading(title: str) -> None:
    assert makes_statement(title)

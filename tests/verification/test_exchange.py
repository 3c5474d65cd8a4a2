"""Swapped names are detected, and paraphrases pass."""

from __future__ import annotations

import pytest

from citewell.verification.subjects import exchanged_names, substituted_name


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        ("Dee sued Lee in Paris.", "Lee sued Dee in Paris, and nobody knew."),
        (
            "The offer by Acme was refused in Boston by Borealis.",
            "The offer by Borealis was refused in Boston by Acme.",
        ),
        ("Acme is a wholly owned subsidiary of Beta.", "Beta is a wholly owned subsidiary of Acme."),
    ],
)
def test_exchanged(claim: str, premise: str) -> None:
    assert exchanged_names(claim, premise)


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        ("Lee sued Dee.", "Lee sued Dee in Paris, and nobody knew."),
        ("Dee was sued by Lee in Paris.", "Lee sued Dee in Paris."),
        ("Acme owns 100% of Beta.", "Beta is a wholly owned subsidiary of Acme."),
        ("Lee and Dee met in Paris.", "Lee and Dee met in Paris."),
        ("The chairman likes to sail.", "Lee sued Dee in Paris."),
    ],
)
def test_not_exchanged(claim: str, premise: str) -> None:
    assert exchanged_names(claim, premise) is None


def test_a_name_in_the_place_of_another() -> None:
    premise = "The plant was opened by the mayor of Dayton in 2019."
    assert substituted_name("The plant was opened by the mayor of Toledo in 2019.", premise) == "Toledo"
    assert substituted_name("The plant was opened by the mayor of Dayton.", premise) is None


def test_a_name_for_a_pronoun_is_no_substitution() -> None:
    assert substituted_name("Smith opened the new plant in 2019.", "He opened the new plant in 2019.") is None


def test_a_name_among_few_words_is_compared_by_its_place() -> None:
    premise = "It was written and sung by Maria Cortez. It sold well."
    assert substituted_name("It was written and sung by Acme Records.", premise) == "Acme Records"
    assert substituted_name("It was written and sung by Cortez.", premise) is None
    assert substituted_name("It was written and sung by M. Cortez.", premise) is None


def test_an_acronym_or_a_title_in_the_place_of_a_name_is_none() -> None:
    premise = "The World Trade Bureau opened an office in Geneva, and its President spoke there."
    assert substituted_name("The WTB opened an office in Geneva.", premise) is None
    assert substituted_name("However, the World Trade Bureau opened an office.", f"Yet, {premise}") is None


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("Adidas", "Nike"), ("Paracetamol", "Ibuprofen"), ("Maria", "Anna"), ("Zinc", "Copper")],
)
def test_a_name_that_opens_a_sentence_still_is_one(ours: str, theirs: str) -> None:
    rest = "reduced the cost of the trial by 12%."
    assert substituted_name(f"{ours} {rest}", f"{theirs} {rest}") == ours


def test_what_is_spoken_of_as_one_is_a_name_though_it_ends_as_a_plural() -> None:
    signed = "signed the contract in March."
    assert (
        substituted_name(f"Jones {signed}", f"Reuters {signed} Jones was abroad. Reuters was not.") == "Jones"
    )


def test_long_names_that_crossed_over() -> None:
    premise = "Matthew Broderick provided the speaking voice of Adult Simba in the film."
    claim = "Adult Simba provided the speaking voice of Matthew Broderick in the film."
    assert exchanged_names(claim, premise)

"""A claim that refers to a named thing, and texts that say the same of another."""

from __future__ import annotations

import pytest

from citewell.verification.subjects import find_other_subject

ACME = "Acme Inc. was founded in 1990."
HELD = [
    ("Its founders were Ann Lee and Bob Day.", "Beta's founders were Ann Lee and Bob Day.", "Beta"),
    ("Its founder was Ann Lee.", "The founder of Beta Corp. was Ann Lee.", "Beta Corp"),
    ("Its founders were Ann Lee and Bob Day.", "Ann Lee and Bob Day founded Beta in Leeds.", "Beta"),
    ("Its founders were Ann Lee.", "Beta Corp. is small. It grew. Its founders were Ann Lee.", "Beta Corp"),
    ("The company sells shoes.", "In 2003, Beta Corp. sold shoes.", "Beta Corp"),
    ("It sells shoes.", "Beta sells shoes. Many like Beta.", "Beta"),
    ("It sells shoes.", "Acme Inc. sells hats. Beta Corp. sells shoes.", "Beta Corp"),
    ("He sells shoes.", "Carl Hill sells shoes.", "Carl Hill"),
]  # fmt: skip
LEFT = [
    ("Its founders were Ann Lee and Bob Day.", "Acme's founders were Ann Lee and Bob Day."),
    ("Its founders were Ann Lee and Bob Day.", "The founders were Ann Lee and Bob Day."),
    ("Its founders were Ann Lee and Bob Day.", "Ann Lee and Bob Day founded the firm in Leeds."),
    ("Its founders were Ann Lee.", "Acme Inc. is in Leeds. It grew. Its founders were Ann Lee."),
    ("The company sells shoes.", "We sell shoes in Leeds."),
    ("The company sells shoes.", "In Leeds, the company sells shoes."),
    ("His father was a judge.", "His father, Carl Hill, was a judge."),
    ("It sells shoes.", "Beta Corp. sells shoes. Acme sells shoes too."),
    ("It sells shoes.", "Shoes are sold in Leeds by the firm."),
    ("Its sales rose.", "Revenue rose by a tenth."),
    ("Its sales rose.", "Nothing of this kind."),
    ("He sells shoes.", "Carl Hill is the head of Acme. Carl Hill sells shoes."),
    ("Beta sells shoes.", "Gamma Corp. sells shoes."),
    ("This drug is safe.", "Gamma Corp. is safe."),
    ("Its revenue was $5.", "Beta Corp\t2018\nRevenue\t$5\nCosts\t$4"),
]


@pytest.mark.parametrize(("claim", "premise", "other"), HELD)
def test_a_text_about_another_thing_is_found(claim: str, premise: str, other: str) -> None:
    found = find_other_subject(claim, ACME, premise)
    assert found is not None
    assert found[0] == other
    assert found[1].startswith("Acme")


@pytest.mark.parametrize(("claim", "premise"), LEFT)
def test_a_text_that_may_speak_of_it_is_left_alone(claim: str, premise: str) -> None:
    assert find_other_subject(claim, ACME, premise) is None


@pytest.mark.parametrize(
    "antecedent",
    [
        "",
        "The plant opened in May.",
        "The iPhone maker grew.",
        "It was founded by Carl Hill.",
        "Acme sold it to Beta Corp.",
        "Beta Corp. grew.",
    ],
)
def test_without_another_name_before_it_nothing_is_held(antecedent: str) -> None:
    assert (
        find_other_subject("Its founders were Ann Lee.", antecedent, "Beta Corp. founders were Ann Lee.")
        is None
    )


def test_somebody_of_the_titled_thing_may_be_meant() -> None:
    assert find_other_subject("He resigned in May.", ACME, "Carl Hill resigned in May.", "Acme Inc.") is None

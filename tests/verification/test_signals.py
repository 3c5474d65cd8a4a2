"""Signs that a claim turns what a sentence says."""

from __future__ import annotations

import pytest

from citewell.verification.signals import (
    cut_off,
    denied_by,
    hedge_mismatch,
    negation_mismatch,
    opposite_mismatch,
    order_mismatch,
    quantifier_mismatch,
    signals,
)


@pytest.mark.parametrize(
    ("check", "claim", "evidence"),
    [
        (negation_mismatch, "The drug is not safe.", "The drug is safe."),
        (negation_mismatch, "The drug is safe.", "The drug isn't safe."),
        (hedge_mismatch, "Coffee causes cancer.", "Coffee may cause cancer."),
        (quantifier_mismatch, "All users like it.", "Some users like it."),
        (opposite_mismatch, "Revenue increased in May.", "Revenue decreased in May."),
        (opposite_mismatch, "It sold more units.", "It sold fewer units."),
        (order_mismatch, "Google bought Apple.", "Apple bought Google."),
    ],
)
def test_the_sign_is_seen(check, claim: str, evidence: str) -> None:  # type: ignore[no-untyped-def]
    assert check(claim, evidence)
    assert not check(evidence, evidence)


def test_the_same_sentence_has_no_signs() -> None:
    assert signals("Apple bought Google in 2018.", "Apple bought Google in 2018.") == ()


def test_the_month_of_may_is_no_hedge() -> None:
    assert not hedge_mismatch("Dividends were paid in spring.", "Dividends were paid in May to all.")


def test_an_unrelated_sentence_has_no_signs() -> None:
    assert signals("Revenue increased.", "The cat may not sleep.") == ()


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("The company denied that ", "", "negation"),
        ("Critics said ", "", "attribution"),
        ("", ", according to critics", "attribution"),
        ("If sales fall, ", "", "condition"),
        ("", " unless rates rise", "condition"),
        ("It is possible that ", "", ""),
        ("In 2018, ", "", ""),
    ],
)
def test_what_the_words_around_a_span_do_to_it(before: str, after: str, kind: str) -> None:
    assert cut_off(before, after).startswith(kind)


def test_a_plain_denial_is_named_and_an_affirmation_elsewhere_lifts_it() -> None:
    denial = "The company denied that it had closed stores in Oregon."
    assert denied_by("The company closed stores in Oregon.", denial) == "denied that"
    assert (
        denied_by("The company closed stores in Oregon.", f"{denial} The company closed stores in Oregon.")
        == ""
    )
    assert denied_by("The company denied that it closed stores in Oregon.", denial) == ""

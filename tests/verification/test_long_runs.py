"""A long run of digits is not a quantity and does not stall the process. Numbers of any size are compared."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest

from citewell.core.records import Status
from citewell.models.fake import FakeEntailer
from citewell.questions.calculation.arithmetic import parse, worked
from citewell.verification.numbers import check_numbers
from citewell.verification.quantities import extract_quantities
from citewell.verification.verifier import Verifier


def test_a_run_of_more_than_forty_digits_is_no_number() -> None:
    assert extract_quantities(f"Sales were {'9' * 41}.") == ()
    assert extract_quantities(f"Sales were {'9' * 40}.")[0].value == int("9" * 40)


def test_a_claim_with_a_longer_number_is_unchecked_unless_its_source_says_it_word_for_word() -> None:
    verifier, last = Verifier(FakeEntailer()), "9" * 40
    claim = f"The toll is {last}1 cents in the month of May."
    told = verifier.verify(claim, [f"In May, the toll is {last}2 cents."])
    assert told.status is Status.UNCHECKED
    assert "longer than 40 digits" in told.reason
    assert verifier.verify("Yes.", ["Yes."], asked=f"Is it {last}1?").status is Status.UNCHECKED
    assert verifier.verify(claim, [claim]).status is Status.VERIFIED


def test_three_hundred_thousand_digits_are_passed_over_at_once() -> None:
    started = time.process_time()
    assert extract_quantities("1" * 300_000) == ()
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "huge",
    ["9" * 38, "5 × 10⁹⁹", f"{'9' * 29}k", "5" + " million" * 200_000, "five" + " million" * 4_000],
    ids=lambda text: text[:12],
)
def test_a_number_of_any_size_is_compared(huge: str) -> None:
    """One such number in one document would otherwise break every answer that reads it."""
    (check,) = check_numbers("The toll is 5.5 cents.", f"The toll is {huge} cents.")
    assert not check.holds
    for one in ("The toll is 5.5 cents.", f"The toll is {huge} cents."):
        check_numbers(f"The toll is {huge} cents.", one)


def test_a_result_with_more_digits_than_are_exact_is_none() -> None:
    """It would be written with zeros that were never computed."""
    tree = parse(f"{'9' * 30} + 1")
    with pytest.raises(ArithmeticError):
        worked(tree, lambda leaf: Decimal(leaf.text))

"""Numbers in a claim against the evidence: one row per case, so that a failing case names itself."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.questions.quantity import QuantityForm
from citewell.verification.numbers import Match, check_numbers, missing_numbers
from citewell.verification.quantities import extract_quantities

HELD = [
    ("$1.577 billion", "1,577 million", ""),
    ("1,577 million", "$1.577 billion", ""),
    ("$1,577", "Purchases\t(1,577)", ""),
    ("$1,577 million", "Purchases of property\t(1,577)\t(1,105)", "(In millions)"),
    ("1577", "Revenue\t1,577", "Dollars in millions, except per share data"),
    ("$1.58 billion", "1,577", "in millions"),
    ("about 1.6 billion", "1,577 million", ""),
    ("1.6 billion", "1,577 million", ""),
    ("just under half of them", "47% of them", ""),
    ("44%", "43.8%", ""),
    ("15 percent", "15 %", ""),
    ("15 per cent", "15%", ""),
    ("fifteen percent", "15%", ""),
    ("50 basis points", "0.5 percentage points", ""),
    ("between 10 and 15 percent", "10% to 15%", ""),
    ("$3 million to $5 million", "$3-5 million", ""),
    ("half of users", "50% of users", ""),
    ("two-thirds", "66.7%", ""),
    ("a quarter of sales", "25% of sales", ""),
    ("twenty-five stores", "25 stores", ""),
    ("two million people", "2,000,000 people", ""),
    ("a dozen eggs", "12 eggs", ""),
    ("24 hours", "1 day", ""),
    ("1 kg", "1000 g", ""),
    ("27-year-old", "aged 27", ""),
    ("May 2018", "May 31, 2018", ""),
    ("31 May 2018", "2018-05-31", ""),
    ("5/31/2018", "May 31st, 2018", ""),
    ("2018", "fiscal 2018", ""),
    ("2018", "FY18", ""),
    ("Q2 2018", "second quarter of 2018", ""),
    ("second", "2nd", ""),
    ("5 p.m.", "17:00", ""),
    ("net loss of $5 million", "net loss\t(5)", "in millions"),
    ("decreased by 5%", "fell 5%", ""),
    ("decreased 5%", "change\t(5)%", ""),
    ("declined 5%", "growth was -5%", ""),
    ("a net loss of $5 million", "a net loss of $(5) million", ""),
    ("$10,000", "$ 10,000", ""),
    ("EUR 5 million", "€5m", ""),
    ("8.4 percent", "8.4 pct", ""),
    ("0.5 mg", "500 ug", ""),
    ("Q4 2021", "the three months ended December 31, 2021", ""),
    ("$5 million", "$5¹ million", ""),
    ("5 million cells", "5 × 10⁶ cells", ""),
]
NOT_HELD = [
    ("1.5 billion", "1,577 million", ""),
    ("$1,577", "$1,577 million", ""),
    ("12 stores", "11.6", ""),
    ("2 billion", "1,577 million", ""),
    ("2000 people", "1,977 people", ""),
    ("15 percent", "15 percentage points", ""),
    ("15 percentage points", "15 percent", ""),
    ("15%", "15 stores", ""),
    ("2,018 stores", "in 2018", ""),
    ("in 2018", "2,018 stores", ""),
    ("5 mg", "5 kg", ""),
    ("$5", "€5", ""),
    ("May 31, 2018", "2018", ""),
    ("May 31, 2018", "May 30, 2018", ""),
    ("June 2018", "July 2018", ""),
    ("1,577", "1,757", ""),
    ("18th century", "13th century", ""),
    ("second quarter", "third quarter", ""),
    ("5 p.m.", "5 a.m.", ""),
    ("more than 500", "450", ""),
    ("phase 3 trials", "Phase II trials", ""),
    ("2 tablets daily", "one tablet, taken twice daily", ""),
    ("Take 3 pills", "Take it in phase III", ""),
    ("season 1 of the show", "one of the shows", ""),
    ("season 1", "it was once a show", ""),
    ("30% of patients", "one in five patients", ""),
    ("0.25%", "5 in 2020", ""),
    ("21.5%", "Earnings per share\t21.5", ""),
    ("decreased 100%", "doubled", ""),
    ("nearly 90% of patients", "46% of patients", ""),
    ("almost $5 million", "$2.6 million", ""),
    ("just short of 1,000 people", "700 people", ""),
    ("three", "COVID-19 and Form 10-K", ""),
    ("the 1990s", "in 1984", ""),
    ("80%", "0.8%", ""),
    ("10 cells", "10⁶ cells", ""),
    ("5 cells", "5 × 10⁶ cells", ""),
]


@pytest.mark.parametrize(("claim", "evidence", "context"), HELD, ids=lambda value: value[:30])
def test_the_evidence_holds_it(claim: str, evidence: str, context: str) -> None:
    assert missing_numbers(claim, evidence, context) == ()


@pytest.mark.parametrize(("claim", "evidence", "context"), NOT_HELD, ids=lambda value: value[:30])
def test_the_evidence_does_not_hold_it(claim: str, evidence: str, context: str) -> None:
    assert missing_numbers(claim, evidence, context)


def test_a_missing_number_is_named_as_the_claim_writes_it() -> None:
    assert missing_numbers("Revenue was $6 billion in 2018.", "Revenue was $5 billion in 2018.") == (
        "$6 billion",
    )


def test_another_count_of_the_same_thing_denies_and_an_uncounted_one_does_not() -> None:
    (denied,) = check_numbers("It has six stores.", "It has five stores.")
    (counted,) = check_numbers("It has three parts.", "It has a lid, a body and 2 handles.")
    assert denied.match is Match.OTHER
    assert counted.match is Match.ABSENT


@pytest.mark.parametrize(
    ("claim", "evidence", "match"),
    [
        ("It has more than 5,000 employees.", "It has 12,400 employees.", Match.OPEN),
        ("Fewer than 500 people came.", "Some 40 people came.", Match.OPEN),
        ("It was significant (p < 0.05).", "It was significant (p = 0.001).", Match.OPEN),
        ("It has 512 MB.", "The memory is 0.5 GB.", Match.OPEN),
        ("It is 8 km away.", "It is 5 miles away.", Match.OPEN),
        ("It has 5,000 employees.", "It has 12,400 employees.", Match.OTHER),
    ],
)
def test_a_hedged_number_and_a_converted_measure_are_neither_held_nor_denied(
    claim: str, evidence: str, match: Match
) -> None:
    (check,) = check_numbers(claim, evidence)
    assert check.match is match


@pytest.mark.parametrize(
    "text", ["COVID-19", "Form 10-K", "B12", "401(k)", "MP3", "A4 paper", "one of the dogs"]
)
def test_digits_of_a_name_are_no_quantity(text: str) -> None:
    assert extract_quantities(text) == ()


@pytest.mark.parametrize(
    ("text", "value", "form"),
    [
        ("$1,577 million", Decimal(1_577_000_000), QuantityForm.MONEY),
        ("twenty-five thousand three hundred and one", Decimal(25_301), QuantityForm.NUMBER),
        ("−5.2%", Decimal("-5.2"), QuantityForm.PERCENT),
        ("3rd", Decimal(3), QuantityForm.ORDINAL),
        ("in 2018", Decimal(2018), QuantityForm.DATE),
        ("2,018", Decimal(2018), QuantityForm.NUMBER),
        ("50 bps", Decimal("0.5"), QuantityForm.POINTS),
        ("10⁶", Decimal(1_000_000), QuantityForm.NUMBER),
        ("2.5 × 10⁻³", Decimal("0.0025"), QuantityForm.NUMBER),
        ("$5¹ million", Decimal(5_000_000), QuantityForm.MONEY),
        ("$(5) million", Decimal(5_000_000), QuantityForm.MONEY),
        ("12.3²%", Decimal("12.3"), QuantityForm.PERCENT),
        ("5,120²", Decimal(5_120), QuantityForm.NUMBER),
    ],
)
def test_what_a_quantity_is_worth(text: str, value: Decimal, form: QuantityForm) -> None:
    (quantity,) = extract_quantities(text)
    assert (quantity.value, quantity.form) == (value, form)


@given(st.text(alphabet="0123456789.,-$€%() \t\nMay18kmbnthousandmillion/–'st", max_size=60))
def test_quantities_lie_in_the_text_in_order_without_overlap(text: str) -> None:
    end = 0
    for quantity in extract_quantities(text):
        assert end <= quantity.start < quantity.end <= len(text)
        assert quantity.text == text[quantity.start : quantity.end]
        end = quantity.end


@given(st.decimals(min_value=1, max_value=10**9, places=1), st.text(alphabet="abc de.\n12", max_size=40))
def test_more_evidence_never_loses_a_number(value: Decimal, more: str) -> None:
    claim = f"It cost ${value:,} in all."
    assert missing_numbers(claim, f"The price was ${value:,}. {more}") == ()


@given(st.integers(21, 10**7), st.integers(1, 9))
def test_a_swapped_digit_is_caught(value: int, shift: int) -> None:
    digits = str(value)
    swapped = str((int(digits[0]) - 1 + shift) % 9 + 1) + digits[1:]
    if swapped != digits:
        assert missing_numbers(f"It sold {int(swapped):,} units.", f"It sold {value:,} units.")


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Revenue rose 30% in 2021.", "Revenue rose 12% in 2021 and it closed 3 of 10 stores."),
        ("Revenue rose 30%.", "Revenue rose 12%. See page 3 of 10."),
        ("Revenue rose 100%.", "Revenue rose 12% while headcount doubled."),
    ],
)
def test_a_share_of_something_else_holds_no_percentage(claim: str, evidence: str) -> None:
    assert missing_numbers(claim, evidence)

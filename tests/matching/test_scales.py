"""The scale of a table, in the spellings that reports use."""

from __future__ import annotations

import pytest

from citewell.questions.scales import context_scales, declared_units, excepted, unread_scales


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("(In millions, except per share data)", 10**6),
        ("(dollars in thousands)", 10**3),
        ("In thousands of U.S. dollars", 10**3),
        ("(in 000s)", 10**3),
        ("($000)", 10**3),
        ("(k)", 10**3),
        ("Results in $ million", 10**6),
        ("Results (£ million)", 10**6),
        ("(EUR million)", 10**6),
        ("(million dollars)", 10**6),
        ("Revenue, million euros", 10**6),
        ("Millions of dollars\t2023\t2022", 10**6),
        ("in $m", 10**6),
        ("(in US$m)", 10**6),
        ("(in $MM)", 10**6),
        ("$bn", 10**9),
        ("€ bn", 10**9),
        ("(in EUR bn)", 10**9),
        ("£'000", 10**3),
        ("2023 £’000", 10**3),
        ("(£000's)", 10**3),
        ("EUR '000", 10**3),
        ("in '000", 10**3),
        ("2023 £m", 10**6),
        ("CHF m", 10**6),
        ("CHF million", 10**6),
        ("HK$ million", 10**6),
        ("in million USD", 10**6),
        ("in Mio. EUR", 10**6),
        ("(in k€)", 10**3),
        ("(in m€)", 10**6),
        ("in lakhs", 10**5),
        ("(₹ in crore)", 10**7),
        ("(Rs. in lakhs)", 10**5),
        ("₹ crores", 10**7),
        ("(₹ cr)", 10**7),
        ("(US dollars in billions)", 10**9),
    ],
)
def test_a_scale_is_read_in_its_common_spellings(text: str, scale: int) -> None:
    assert context_scales(text) == {1, scale}
    assert declared_units(text)
    assert not unread_scales(text)


@pytest.mark.parametrize(
    "text",
    [
        "Revenue was $900 million in 2023.",
        "It paid 5 million dollars, and EUR 900 million later.",
        "In 2023, 900 million euros",
        "1,000 people and 10 000 dogs in 2000",
        "She lives in the B wing and paid $5 m.",
        "$1,000,000",
    ],
)
def test_the_scale_of_a_number_is_not_declared_for_others(text: str) -> None:
    assert context_scales(text) == {1}
    assert not unread_scales(text)


@pytest.mark.parametrize("text", ["Mrd. EUR", "TEUR", "several million", "$t", "in Tsd. CHF", "million"])
def test_what_looks_like_a_scale_and_is_not_understood_is_told(text: str) -> None:
    assert context_scales(text) == {1}
    assert unread_scales(text)


def test_what_a_scale_does_not_hold_for_is_told() -> None:
    text = "Staff, except in Peru\nAmounts in millions, except employees (note 1)\n($m, unless stated)"
    assert [what.strip() for what in excepted(text)] == ["employees (note 1", "stated"]

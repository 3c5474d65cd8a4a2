"""The rule by which a benchmark calls an answer correct: handmade cases, strict ones first."""

from __future__ import annotations

import pytest
from benchmarks.answer_rule import is_numeric, judge


@pytest.mark.parametrize(
    ("gold", "shown"),
    [
        ("$1577.00", "Purchases of property, plant and equipment … (1,577)"),
        ("$1577.00", "Purchases of property … 1,577,000"),
        ("$382.00", "Net cash provided by operating activities … 381,603"),
        ("1.5 billion", "Capital spending was $1,500 million."),
        ("30.8%", "Net sales grew by 30.8 percent, or 30.8%."),
        ("0.66", "The ratio was 0.66."),
    ],
)
def test_equal_numbers_are_correct_at_the_humans_precision_and_any_scale(gold: str, shown: str) -> None:
    assert is_numeric(gold)
    assert judge(gold, shown).correct


@pytest.mark.parametrize(
    ("gold", "shown"),
    [
        ("$1577.00", "Purchases of property … 1,578"),
        ("$1577.00", ""),
        ("0.66", "Sales rose by 66%."),
        ("30.8%", "Net sales … 308"),
        ("$1577.00", "In 2022 there were 15,770 stores."),
    ],
)
def test_other_numbers_are_not(gold: str, shown: str) -> None:
    assert not judge(gold, shown).correct


def test_words_need_half_of_the_content_and_the_names() -> None:
    gold = "Yes, the gain on completion of the Consumer Healthcare transaction."
    said = "In 2019, the gain on completion of the Consumer Healthcare transaction was large."
    assert judge(gold, said).correct
    assert not judge(gold, "The gain on completion of a transaction was large in that year.").correct
    assert not judge(gold, "").correct

"""Arithmetic is read as written, shown as read, and bounded in effort."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.questions.calculation.arithmetic import (
    MAX_EXPONENT,
    Node,
    NotArithmetic,
    NumberLeaf,
    Tree,
    currency,
    format_tree,
    leaves,
    parse,
    printed_amount,
    worked,
)

LEAVES = st.sampled_from(
    ["revenue, FY2022", "property, plant and equipment, FY2018", "365", "1,577", "−40.5"]
)
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.builds(NumberLeaf, text=LEAVES),
    lambda inner: st.builds(Node, sign=st.sampled_from("+−×÷^"), left=inner, right=inner),
    max_leaves=12,
)


def value(text: str) -> Decimal:
    return worked(parse(text), lambda leaf: Decimal(leaf.text))


@given(TREES)
def test_what_is_shown_is_read_again_as_the_same(tree: Tree) -> None:
    assert parse(format_tree(tree)) == tree


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 + 3 × 4", 14),
        ("(2 + 3) × 4", 20),
        ("10 − 4 − 3", 3),
        ("100 ÷ 5 ÷ 2", 10),
        ("(9 ÷ 4) ^ (1 ÷ 2) − 1", "0.5"),
    ],
)
def test_ranks_and_brackets(text: str, expected: object) -> None:
    assert value(text) == pytest.approx(Decimal(str(expected)))


def test_a_hyphen_and_a_slash_inside_a_name_are_the_name() -> None:
    tree = parse("long-term debt, FY2020 ÷ cash/equivalents, FY2020")
    assert [leaf.text for leaf in leaves(tree)] == ["long-term debt, FY2020", "cash/equivalents, FY2020"]


@pytest.mark.parametrize("text", ["", "1 +", "+ 1", "(1 + 2", "1 + 2)", "()", "1 ÷ ÷ 2", "(1) (2)"])
def test_what_does_not_fit_together_is_refused(text: str) -> None:
    with pytest.raises(NotArithmetic):
        parse(text)


def test_hostile_powers_are_refused() -> None:
    with pytest.raises(ArithmeticError):
        value(f"9 ^ {MAX_EXPONENT + 1}")
    with pytest.raises(ArithmeticError):
        value("1 ÷ (2 − 2)")


@pytest.mark.parametrize(
    ("text", "item", "expected"),
    [
        ("$ 1,577", "revenue", "1577"),
        ("(577)", "capital expenditures", "577"),
        ("(853)", "net income", "-853"),
        ("$(853)", "net income", "-853"),
        ("−12.5", "operating income", "-12.5"),
        ("20%", "effective tax rate", None),
        ("—", "revenue", None),
        ("12 13", "revenue", None),
        ("see Note 4", "revenue", None),
        ("1.2 billion", "revenue", None),
        ("1,2341", "revenue", None),
        ("12,5", "revenue", None),
        ("25 bps", "revenue", None),
        ("<1", "revenue", None),
        ("(US$1,234)", "net income", "-1234"),
        ("1,234 (a)", "revenue", "1234"),
        ("1,234*", "revenue", "1234"),
    ],
)
def test_what_a_cell_is_worth(text: str, item: str, expected: str | None) -> None:
    assert printed_amount(text, item) == (None if expected is None else Decimal(expected))


def test_the_currency_that_a_cell_prints() -> None:
    assert currency("$400") == currency("US$ 400") == "$"
    assert currency("€400") == "€"
    assert currency("400") == ""

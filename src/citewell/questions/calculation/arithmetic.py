"""Arithmetic expressions: build, parse, format and evaluate.

In: "(6,098 − 473) ÷ 17,606", or items in periods and the calculation to perform. Out: a tree, its text, its
value; a printed amount as a decimal. The operators are − + × ÷ ^ with a space on both sides, so
that a hyphen or slash inside a name is part of the name. Only :func:`format_number` rounds. Independent of
questions, cells and scales: operands of one calculation must share a scale.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import reduce

from citewell.core.records import Record
from citewell.questions.periods import Period

MAX_LEAVES = 64
PRECISION, PLACES = 28, 6
"""Exact digits, and how many of them are decimals."""
MAX_EXPONENT = 100
PLUS, MINUS, TIMES, OVER, POWER = "+", "−", "×", "÷", "^"
_RANK = {PLUS: 1, MINUS: 1, TIMES: 2, OVER: 2, POWER: 3}
_SIGN = re.compile(r"((?<![^\s()])[+−×÷^](?![^\s()])|[()])")


class NumberLeaf(Record, frozen=True, kw_only=True):
    """A number as written, or ``item`` in ``period``."""

    text: str
    item: str = ""
    period: Period | None = None


class Node(Record, frozen=True, kw_only=True):
    sign: str
    left: Tree
    right: Tree


Tree = NumberLeaf | Node


class NotArithmetic(ValueError):
    """The text is not an expression: unbalanced, an operand missing, or not understood."""


def parse(text: str) -> Tree:
    """The tree of ``text``; raises :class:`NotArithmetic`."""
    parts = filter(None, map(str.strip, _SIGN.split(text)))
    return built(part if part in _RANK or part in "()" else NumberLeaf(text=part) for part in parts)


def built(parts: Iterable[Tree | str]) -> Tree:
    """The tree of operands, operators and brackets in order; left-associative. Raises
    :class:`NotArithmetic`."""
    outputs: list[Tree] = []
    waiting: list[str] = []
    operand = True  # whether an operand must come next
    for part in parts:
        if not isinstance(part, str):
            need(operand)
            outputs.append(part)
            operand = False
        elif part == "(":
            need(operand)
            waiting.append(part)
        elif part == ")":
            need(not operand)
            while waiting and waiting[-1] != "(":
                _join(outputs, waiting.pop())
            need(bool(waiting))
            waiting.pop()
        else:
            need(not operand)
            while waiting and waiting[-1] != "(" and _RANK[waiting[-1]] >= _RANK[part]:
                _join(outputs, waiting.pop())
            waiting.append(part)
            operand = True
    need(not operand)
    while waiting:
        need(waiting[-1] != "(")
        _join(outputs, waiting.pop())
    return outputs[0]


def leaves(tree: Tree) -> Iterator[NumberLeaf]:
    """From left to right."""
    if isinstance(tree, NumberLeaf):
        yield tree
    else:
        yield from leaves(tree.left)
        yield from leaves(tree.right)


def mapped(tree: Tree, change: Callable[[NumberLeaf], Tree]) -> Tree:
    """The tree with every leaf changed."""
    if isinstance(tree, NumberLeaf):
        return change(tree)
    return Node(sign=tree.sign, left=mapped(tree.left, change), right=mapped(tree.right, change))


def format_tree(tree: Tree) -> str:
    """The text of ``tree``, with only the brackets needed: ``parse(shown(tree)) == tree``."""
    if isinstance(tree, NumberLeaf):
        return tree.text
    left, right = format_tree(tree.left), format_tree(tree.right)
    if isinstance(tree.left, Node) and _RANK[tree.left.sign] < _RANK[tree.sign]:
        left = f"({left})"
    if isinstance(tree.right, Node) and _RANK[tree.right.sign] <= _RANK[tree.sign]:
        right = f"({right})"
    return f"{left} {tree.sign} {right}"


def worked(tree: Tree, worth: Callable[[NumberLeaf], Decimal]) -> Decimal:
    """The value of ``tree``; raises ArithmeticError for division by zero and the like, or a value with
    more integer digits than are exact."""
    with localcontext() as context:
        context.prec = PRECISION
        value = _worked(tree, worth)
    if value.adjusted() >= PRECISION - PLACES:
        raise ArithmeticError(f"a value of {value.adjusted() + 1} digits")
    return value


def _worked(tree: Tree, worth: Callable[[NumberLeaf], Decimal]) -> Decimal:
    if isinstance(tree, NumberLeaf):
        return worth(tree)
    left, right = _worked(tree.left, worth), _worked(tree.right, worth)
    if tree.sign == PLUS:
        return left + right
    if tree.sign == MINUS:
        return left - right
    if tree.sign == TIMES:
        return left * right
    if tree.sign == OVER:
        return left / right
    if abs(right) > MAX_EXPONENT:
        raise ArithmeticError(f"an exponent over {MAX_EXPONENT}")
    value: Decimal = left**right
    return value


def _join(outputs: list[Tree], sign: str) -> None:
    right, left = outputs.pop(), outputs.pop()
    outputs.append(Node(sign=sign, left=left, right=right))


def need(holds: bool) -> None:
    """Raises :class:`NotArithmetic` unless ``holds``."""
    if not holds:
        raise NotArithmetic("operators, operands and brackets do not fit together")


# --- calculations by name -------------------------------------------------------------------------


def leaf(item: str, period: Period) -> NumberLeaf:
    """A leaf for ``item`` in ``period``, without the period's position in a text."""
    months = 3 if period.quarter else None
    bare = Period(year=period.year, quarter=period.quarter, month=period.month, day=period.day, months=months)
    return NumberLeaf(text=f"{item}, {period.name}", item=item, period=bare)


def named_leaves(tree: Tree) -> list[NumberLeaf]:
    """The leaves of ``tree`` that are items in periods, once each, from left to right."""
    return list(dict.fromkeys(one for one in leaves(tree) if one.item))


def filled(form: str, **operands: Tree) -> Tree:
    """The tree of a formula such as "(b − a) ÷ a" with its names replaced by ``operands``."""
    return mapped(parse(form), lambda one: operands.get(one.text, one))


def mean(trees: Sequence[Tree]) -> Tree:
    """The arithmetic mean of ``trees``."""
    whole = reduce(lambda left, right: Node(sign=PLUS, left=left, right=right), trees)
    return Node(sign=OVER, left=whole, right=NumberLeaf(text=str(len(trees))))


# --- printed amounts ------------------------------------------------------------------------------

PAID_OUT = frozenset(
    (
        "capital expenditures", "dividends paid", "share repurchases", "cost of revenue", "interest expense",
        "research and development", "selling, general and administrative", "depreciation and amortization",
    )
)  # fmt: skip
"""Items printed in brackets in some filings and not in others: read as absolute values."""
_MONEY = r"(?:(?:US|HK|C|A|NZ|S)?[$€£¥₹]|USD|EUR|GBP|CHF)"
_CELL = re.compile(
    rf"\s*+(?P<first>{_MONEY})?\s*+(?P<minus>[(−–-])?\s*+(?P<then>{_MONEY})?\s*+"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)\s*+\)?\s*+(?:\([a-z]\)|\*+)?\s*+"
)


def printed_amount(text: str, item: str) -> Decimal | None:
    """The number in ``text``, with at most a currency and a footnote mark; None for anything else:
    words, a percentage, several numbers, wrongly grouped digits. Brackets or a minus make it negative.
    """
    match = _CELL.fullmatch(text)
    if match is None:
        return None
    value = Decimal(match["digits"].replace(",", ""))
    return -value if match["minus"] and item not in PAID_OUT else value


def currency(text: str) -> str:
    """The currency printed in a cell, or "": statements print it only in the first and last row."""
    match = _CELL.fullmatch(text)
    mark = (match["first"] or match["then"] or "") if match else ""
    return "$" if mark in ("US$", "USD") else mark


def format_number(value: Decimal, *, percent: bool = False, places: int | None = None) -> str:
    """``value`` with thousands separators, a true minus and ``places`` decimals (None: as many as it has)."""
    shown = value * 100 if percent else value
    if places is not None:
        shown = shown.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    text = f"{abs(shown):,f}"
    return ("−" if shown < 0 else "") + text + ("%" if percent else "")

"""Arithmetic as it is written down: read, shown and worked out, over leaves of any wording.

In: "(6,098 − 473) ÷ 17,606", or "operating income, FY2022 ÷ revenue, FY2022". Out: a tree, its text, its
value. The operators are − + × ÷ ^ with a blank on both sides, so that a hyphen or a slash inside a name is a
part of the name. What a leaf is worth is the caller's to say; nothing is rounded here. Knows nothing about
questions, cells or units.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext

from citewell.core.records import Record

MAX_LENGTH, MAX_LEAVES = 4_000, 64
MAX_EXPONENT = 100
PLUS, MINUS, TIMES, OVER, POWER = "+", "−", "×", "÷", "^"
_RANK = {PLUS: 1, MINUS: 1, TIMES: 2, OVER: 2, POWER: 3}
_SIGN = re.compile(r"(?P<sign>(?<![^\s()])[+−×÷^](?![^\s()]))|(?P<paren>[()])")


class Leaf(Record, frozen=True, kw_only=True):
    text: str


class Node(Record, frozen=True, kw_only=True):
    sign: str
    left: Tree
    right: Tree


Tree = Leaf | Node


class NotArithmetic(ValueError):
    """The text is no expression: unbalanced, empty between operators, or too long."""


def parse(text: str) -> Tree:
    """The tree of ``text``; raises :class:`NotArithmetic`. Equal ranks bind from the left."""
    if len(text) > MAX_LENGTH:
        raise NotArithmetic(f"longer than {MAX_LENGTH} characters")
    parts = _parts(text)
    if sum(part not in _RANK and part not in "()" for part in parts) > MAX_LEAVES:
        raise NotArithmetic(f"more than {MAX_LEAVES} operands")
    outputs: list[Tree] = []
    waiting: list[str] = []
    operand = True  # whether an operand must come next
    for part in parts:
        if part == "(":
            _need(operand)
            waiting.append(part)
        elif part == ")":
            _need(not operand)
            while waiting and waiting[-1] != "(":
                _join(outputs, waiting.pop())
            _need(bool(waiting))
            waiting.pop()
        elif part in _RANK:
            _need(not operand)
            while waiting and waiting[-1] != "(" and _RANK[waiting[-1]] >= _RANK[part]:
                _join(outputs, waiting.pop())
            waiting.append(part)
            operand = True
        else:
            _need(operand)
            outputs.append(Leaf(text=part))
            operand = False
    _need(not operand)
    while waiting:
        _need(waiting[-1] != "(")
        _join(outputs, waiting.pop())
    return outputs[0]


def leaves(tree: Tree) -> Iterator[Leaf]:
    """From left to right."""
    if isinstance(tree, Leaf):
        yield tree
    else:
        yield from leaves(tree.left)
        yield from leaves(tree.right)


def mapped(tree: Tree, change: Callable[[Leaf], Tree]) -> Tree:
    """The tree with every leaf changed."""
    if isinstance(tree, Leaf):
        return change(tree)
    return Node(sign=tree.sign, left=mapped(tree.left, change), right=mapped(tree.right, change))


def shape(tree: Tree) -> Tree:
    """The tree without the words of its leaves: what two forms of one calculation have in common."""
    return mapped(tree, lambda _: Leaf(text=""))


def shown(tree: Tree) -> str:
    """The text of ``tree``, with the brackets that it needs: ``parse(shown(tree)) == tree``."""
    if isinstance(tree, Leaf):
        return tree.text
    left, right = shown(tree.left), shown(tree.right)
    if isinstance(tree.left, Node) and _RANK[tree.left.sign] < _RANK[tree.sign]:
        left = f"({left})"
    if isinstance(tree.right, Node) and _RANK[tree.right.sign] <= _RANK[tree.sign]:
        right = f"({right})"
    return f"{left} {tree.sign} {right}"


def worked(tree: Tree, worth: Callable[[Leaf], Decimal]) -> Decimal:
    """The value of ``tree``; raises ArithmeticError for a division by zero and the like."""
    with localcontext() as context:
        context.prec = 28
        return _worked(tree, worth)


def _worked(tree: Tree, worth: Callable[[Leaf], Decimal]) -> Decimal:
    if isinstance(tree, Leaf):
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


def _parts(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    for match in _SIGN.finditer(text):
        found += [text[at : match.start()].strip(), match.group()]
        at = match.end()
    found.append(text[at:].strip())
    return [part for part in found if part]


def _join(outputs: list[Tree], sign: str) -> None:
    right, left = outputs.pop(), outputs.pop()
    outputs.append(Node(sign=sign, left=left, right=right))


def _need(holds: bool) -> None:
    if not holds:
        raise NotArithmetic("operators, operands and brackets do not fit together")

"""What no source says but follows from cited cells: a ratio, a growth, a mean, worked out in the open.

In: a question and the cells that were found for its operands. Out: :class:`Worked` values: the calculation
in words and in the numbers as printed, with its result, and the cells it stands on. Nothing is worked out
when an operand is missing, is printed at another scale than the rest, or stands in another document. Whether
it is right is checked elsewhere, from the claim and its quotes alone (:mod:`citewell.checking.computing`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from citewell.matching.amounts import amount, written
from citewell.matching.calculations import leaf_of
from citewell.matching.cells import CellAnswer, text_of
from citewell.matching.expressions import MINUS, PLUS, Leaf, Tree, leaves, mapped, shown, worked
from citewell.matching.formulae import Working, labelled_workings, workings
from citewell.prompts.loading import load_prompt
from citewell.records import Record
from citewell.verification.numbers import context_scales

WORKING = load_prompt("frame_working", ("what", "working", "result"))
PERCENT_PLACES, RATIO_PLACES = 2, 2


class Worked(Record, frozen=True, kw_only=True):
    """``text`` is the claim, ``reasoning`` the same calculation in words."""

    text: str
    reasoning: str
    cells: tuple[CellAnswer, ...]


def work_out(question: str, found: Sequence[CellAnswer]) -> tuple[Worked, ...]:
    """What ``question`` asks to be worked out, as far as all operands are among ``found``."""
    by_leaf: dict[str, CellAnswer] = {}
    for answer in found:
        if answer.cell is not None and answer.item and answer.period:
            by_leaf.setdefault(f"{answer.item}, {answer.period}", answer)
    made: dict[str, Worked] = {}
    for working in workings(question) or labelled_workings(question):
        if working.what not in made and (one := _worked(working, by_leaf)):
            made[working.what] = one
    return tuple(made.values())


def _worked(working: Working, by_leaf: Mapping[str, CellAnswer]) -> Worked | None:
    named = dict.fromkeys(leaf.text for leaf in leaves(working.tree) if leaf_of(leaf.text)[0])
    if not named or any(name not in by_leaf for name in named):
        return None
    cells = [by_leaf[name] for name in named]
    if len({(c.passage.chunk.document_id, context_scales(c.passage.chunk.context)) for c in cells}) > 1:
        return None
    values = {name: _value(by_leaf[name]) for name in named}
    if any(value is None for value in values.values()):
        return None
    known = {name: value for name, value in values.items() if value is not None}
    numbers = mapped(
        working.tree, lambda leaf: Leaf(text=written(known[leaf.text])) if leaf.text in known else leaf
    )
    try:
        result = worked(
            working.tree, lambda leaf: known[leaf.text] if leaf.text in known else Decimal(leaf.text)
        )
    except ArithmeticError:
        return None
    return Worked(
        text=WORKING.fill(what=working.what, working=shown(numbers), result=_result(working, result)).rstrip(
            "\n"
        ),
        reasoning=shown(working.tree),
        cells=tuple(cells),
    )


def _value(answer: CellAnswer) -> Decimal | None:
    assert answer.cell is not None  # noqa: S101 - chosen so
    return amount(text_of(answer.passage, answer.cell.start, answer.cell.end), answer.item)


def _result(working: Working, value: Decimal) -> str:
    if _is_amount(working.tree):
        return written(value, places=working.places)
    default = PERCENT_PLACES if working.percent else RATIO_PLACES
    return written(
        value, percent=working.percent, places=default if working.places is None else working.places
    )


def _is_amount(tree: Tree) -> bool:
    """Sums and differences stay in the unit of their operands."""
    if isinstance(tree, Leaf):
        return True
    return tree.sign in (PLUS, MINUS) and _is_amount(tree.left) and _is_amount(tree.right)

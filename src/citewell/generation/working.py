"""What no source says but follows from cited cells: a ratio, a growth, a mean, worked out in the open.

In: a question and the cells that were found for its operands. Out: :class:`Worked` values: the calculation
in words and in the numbers as printed, with its result, and the cells it stands on. Nothing is worked out
when an operand is missing, is printed at another scale than the rest, or stands in another document. Whether
it is right is checked elsewhere, from question, claim and quotes alone
(:mod:`citewell.verification.checking.computing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from citewell.core.prompts.loading import load_prompt
from citewell.core.records import Passage, Record
from citewell.questions.calculation.expressions import Leaf, mapped, shown, worked
from citewell.questions.calculation.formulae import Working, all_workings
from citewell.questions.calculation.named import leaf_of, named_leaves
from citewell.questions.calculation.operands import Operand, operands_of, result_of, unfit
from citewell.questions.cells import CellAnswer
from citewell.questions.naming import of_the_named
from citewell.questions.parsing import read_question

WORKING = load_prompt("frame_working", ("what", "working", "result"))


class Worked(Record, frozen=True, kw_only=True):
    """``text`` is the claim, ``reasoning`` the same calculation in words."""

    text: str
    reasoning: str
    cells: tuple[CellAnswer, ...]


def work_out(question: str, found: Sequence[CellAnswer], passages: Sequence[Passage]) -> tuple[Worked, ...]:
    """What ``question`` asks to be worked out, as far as all operands are among ``found``, the quoted."""
    quoted = {answer.key for answer in found}
    named = of_the_named(read_question(question), passages)
    made: dict[str, Worked] = {}
    for working in all_workings(question):
        if working.what in made:
            continue
        names = named_leaves(working.tree)
        operands: dict[str, Operand] = {}
        for name in names:
            held = [o for o in operands_of(*leaf_of(name), named) if o.answer.key in quoted]
            if held:
                operands[name] = held[0]
        if names and len(operands) == len(names) and not unfit(working.tree, operands):
            one = _worked(working, operands)
            made |= {working.what: one} if one else {}
    return tuple(made.values())


def _worked(working: Working, operands: dict[str, Operand]) -> Worked | None:
    """None where the calculation has no value."""
    try:
        value = worked(
            working.tree,
            lambda leaf: operands[leaf.text].value if leaf.text in operands else Decimal(leaf.text),
        )
    except ArithmeticError:
        return None
    numbers = mapped(
        working.tree,
        lambda leaf: Leaf(text=operands[leaf.text].printed) if leaf.text in operands else leaf,
    )
    result = result_of(working, value)
    said = WORKING.fill(what=working.what, working=shown(numbers), result=result).rstrip("\n")
    cells = tuple(operand.answer for operand in operands.values())
    return Worked(text=said, reasoning=shown(working.tree), cells=cells) if result else None

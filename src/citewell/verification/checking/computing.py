"""A conclusion by arithmetic, checked by doing it again from the cited cells.

In: a claim "what: 6,098 ÷ 17,606 = 34.6%" whose reasoning says the same in line items and periods, with
its located quotes. Out: a verdict with the proof ``computed``: every operand is the value of a cited cell
whose row is the item by name and whose column is the period, all are printed at one scale in one document,
and the result is what they give; and the calculation, with its name, is one that the question asks for as
``matching`` reads it, so that no words can be told under a number's proof. None where the claim is not of
this form. Knows nothing about who wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from citewell.core.records import DraftClaim, Kind, Label, Passage, Proof, Status, Verdict
from citewell.questions.calculation.amounts import read
from citewell.questions.calculation.expressions import NotArithmetic, leaves, parse, shape, shown, worked
from citewell.questions.calculation.formulae import all_workings
from citewell.questions.calculation.named import leaf_of
from citewell.questions.calculation.operands import Operand, operands_of, result_of, unfit
from citewell.verification.checking.citations import MAKER, Cited

LEAST_OPERANDS = 2
MOST_CONSTANT = 366


def computed(claim: DraftClaim, cited: Sequence[Cited], question: str) -> Verdict | None:
    """VERIFIED, or UNSUPPORTED with what does not fit; None where it is no calculation over named items."""
    if claim.kind is not Kind.INFERENCE or not claim.reasoning:
        return None
    said, _, result = claim.text.strip().rpartition(" = ")
    what, _, said = said.rpartition(": ")
    asked = all_workings(question)
    working = next((w for w in asked if (w.what, shown(w.tree)) == (what, claim.reasoning)), None)
    if working is None:
        return None
    try:
        numbers = parse(said)
    except NotArithmetic:
        return None
    names = [leaf.text for leaf in leaves(working.tree)]
    items = sum(bool(leaf_of(name)[0]) for name in names)
    if items < LEAST_OPERANDS or shape(working.tree) != shape(numbers):
        return None
    operands: dict[str, Operand] = {}
    values: list[Decimal] = []
    for name, printed in zip(names, (leaf.text for leaf in leaves(numbers)), strict=True):
        value = read(printed)
        operand = _cited_operand(name, value, cited)
        if value is None or (operand is None and not _constant(name, printed, value)):
            return _refused(f"no cited cell contains {printed} as \u201c{name}\u201d")
        values.append(value)
        if operand is not None:
            operands[name] = operand
    if reason := unfit(working.tree, operands):
        return _refused(reason)
    given = iter(values)
    try:
        value = worked(numbers, lambda _: next(given))
    except ArithmeticError:
        return _refused("the calculation has no result, for example because of a division by zero")
    again = result_of(working, value)
    if not again or again != result.strip():
        return _refused(f"the calculation gives {again or 'no number'}, not {result}")
    return Verdict(
        status=Status.VERIFIED,
        reason=f"recalculated from the cited cells: {claim.reasoning}",
        maker=MAKER,
        label=Label.ENTAILMENT,
        proof=Proof.COMPUTED,
        support=1.0,
    )


def _cited_operand(name: str, value: Decimal | None, cited: Sequence[Cited]) -> Operand | None:
    """The cited cell that is ``name`` and holds ``value``."""
    item, period = leaf_of(name)
    if not item:
        return None
    for passage, spans in _places(cited):
        for operand in operands_of(item, period, [passage]):
            cell = operand.answer.cell
            inside = cell and any(start <= cell.start and cell.end <= end for start, end in spans)
            if inside and operand.value == value:
                return operand
    return None


def _constant(name: str, printed: str, value: Decimal) -> bool:
    """A plain number of the formula itself."""
    whole = value == value.to_integral_value()
    return not leaf_of(name)[0] and name == printed and whole and 0 < value <= MOST_CONSTANT


def _places(cited: Sequence[Cited]) -> list[tuple[Passage, list[tuple[int, int]]]]:
    found: dict[str, tuple[Passage, list[tuple[int, int]]]] = {}
    for one in cited:
        if one.passage is not None and not one.broken:
            found.setdefault(one.passage.chunk.chunk_id, (one.passage, []))[1].extend(one.spans)
    return list(found.values())


def _refused(reason: str) -> Verdict:
    return Verdict(status=Status.UNSUPPORTED, reason=reason, maker=MAKER, label=Label.NEUTRAL, support=0.0)

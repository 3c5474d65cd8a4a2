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

from citewell.checking.citations import MAKER, Cited
from citewell.matching.amounts import amount, read, written
from citewell.matching.calculations import leaf_of
from citewell.matching.cells import operand_cells, text_of
from citewell.matching.expressions import NotArithmetic, leaves, parse, shape, shown, worked
from citewell.matching.formulae import labelled_workings, workings
from citewell.matching.periods import periods_in
from citewell.records import DraftClaim, Kind, Label, Passage, Proof, Record, Status, Verdict
from citewell.verification.numbers import context_scales

LEAST_OPERANDS = 2
MOST_CONSTANT = 366


class _Operand(Record, frozen=True, kw_only=True):
    value: Decimal
    document: str = ""
    scales: frozenset[Decimal] = frozenset()


def computed(claim: DraftClaim, cited: Sequence[Cited], question: str) -> Verdict | None:
    """VERIFIED, or UNSUPPORTED with what does not fit; None where it is no calculation over named items."""
    if claim.kind is not Kind.INFERENCE or not claim.reasoning:
        return None
    said, _, result_text = claim.text.strip().rpartition(" = ")
    what, _, said = said.rpartition(": ")
    if not any(
        working.what == what and shown(working.tree) == claim.reasoning
        for working in workings(question) or labelled_workings(question)
    ):
        return None
    try:
        named = parse(claim.reasoning)
        numbers = parse(said)
    except NotArithmetic:
        return None
    names = [leaf.text for leaf in leaves(named)]
    if sum(bool(leaf_of(name)[0]) for name in names) < LEAST_OPERANDS or shape(named) != shape(numbers):
        return None
    result = read(result_text)
    printed = [leaf.text for leaf in leaves(numbers)]
    operands = [_operand(name, text, cited) for name, text in zip(names, printed, strict=True)]
    for name, text, operand in zip(names, printed, operands, strict=True):
        if operand is None:
            return _refused(f"no cited cell holds {text} as \u201c{name}\u201d")
    found = [operand for operand in operands if operand is not None and operand.document]
    if len({(operand.document, operand.scales) for operand in found}) > 1:
        return _refused("the operands stand in different documents or at different scales")
    values = iter([operand.value for operand in operands if operand is not None])
    try:
        value = worked(numbers, lambda _: next(values))
    except ArithmeticError:
        return _refused("the calculation has no value: a division by zero or the like")
    places = len(result_text.rstrip("%").partition(".")[2])
    again = written(value, percent=result_text.endswith("%"), places=places)
    if result is None or again != result_text.strip():
        return _refused(f"the calculation gives {again}, not {result_text}")
    return Verdict(
        status=Status.VERIFIED,
        reason=f"worked out again from the cited cells: {claim.reasoning}",
        maker=MAKER,
        label=Label.ENTAILMENT,
        proof=Proof.COMPUTED,
        support=1.0,
    )


def _operand(name: str, printed: str, cited: Sequence[Cited]) -> _Operand | None:
    """The cited cell that is ``name`` and holds ``printed``, or a plain number of the formula itself."""
    item, period = leaf_of(name)
    value = read(printed)
    if value is None:
        return None
    if not item:
        plain = name == printed and value == value.to_integral_value() and 0 < value <= MOST_CONSTANT
        return _Operand(value=value) if plain else None
    asked = next(iter(periods_in(period)), None)
    if asked is None:
        return None
    for passage, spans in _places(cited):
        for answer in operand_cells(item, asked, [passage]):
            cell = answer.cell
            if cell is None or not any(start <= cell.start and cell.end <= end for start, end in spans):
                continue
            if amount(text_of(passage, cell.start, cell.end), item) == value:
                chunk = passage.chunk
                return _Operand(
                    value=value, document=chunk.document_version, scales=context_scales(chunk.context)
                )
    return None


def _places(cited: Sequence[Cited]) -> list[tuple[Passage, list[tuple[int, int]]]]:
    found: dict[str, tuple[Passage, list[tuple[int, int]]]] = {}
    for one in cited:
        if one.passage is not None and not one.broken:
            found.setdefault(one.passage.chunk.chunk_id, (one.passage, []))[1].extend(one.spans)
    return list(found.values())


def _refused(reason: str) -> Verdict:
    return Verdict(status=Status.UNSUPPORTED, reason=reason, maker=MAKER, label=Label.NEUTRAL, support=0.0)

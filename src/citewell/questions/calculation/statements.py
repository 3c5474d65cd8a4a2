"""The financial statement calculator: valid operands, the result, and its verification.

In: an item (a line item or a row label) in a period, passages. Out: :class:`Operand` values, cells of the
named item in the named period; whether several can be combined in one calculation; and results with the full
calculation shown. The writer selects by these rules, and the checker enforces them from question, claim and
quotes alone. Doubtful operands are rejected: a missing result costs an answer, a wrong one costs trust.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from citewell.core.records import DraftClaim, Passage, Record
from citewell.questions.calculation.arithmetic import (
    MINUS,
    OVER,
    PLUS,
    Node,
    NumberLeaf,
    Tree,
    currency,
    format_number,
    format_tree,
    leaves,
    mapped,
    named_leaves,
    printed_amount,
    worked,
)
from citewell.questions.calculation.comparing import compared, recompared
from citewell.questions.calculation.formulae import (
    Working,
    all_workings,
    is_answer,
    labelled_workings,
    operand_aspects,
)
from citewell.questions.calculation.items import (
    BALANCE,
    CASH,
    ITEMS,
    compared_cells,
    find_item,
    item_cells,
    labelled_cells,
    named_in,
    same_label,
    statement_cells,
    statements_of,
)
from citewell.questions.calculation.items import (
    printed as printed_names,
)
from citewell.questions.calculator import CalculationResult, Calculator, Cited, Named
from citewell.questions.naming import of_the_named, own_periods
from citewell.questions.parsing import ParsedQuestion, QuestionKind, read_question
from citewell.questions.periods import Period, periods_in
from citewell.questions.rows import CellAnswer, column_fit, text_of
from citewell.questions.scales import context_scales

LEAST_OPERANDS = 2
LEAST_FIT = 0.6  # the column has the period explicitly or by its table, not just by convention
PERCENT_PLACES, RATIO_PLACES = 2, 2

_PART_YEAR = re.compile(r"\b(?:three|six|nine|3|6|9|13|26|39) (?:months|weeks)|\bquarter", re.I)
_WHOLE_YEAR = re.compile(r"\b(?:twelve|12) months|\b(?:52|53) weeks|\b(?:fiscal )?years?\b|\bfy", re.I)
_PLANNED = re.compile(r"\b(?:budget|plan|planned|forecast|guidance|target|outlook|expected|pro ?forma)", re.I)
_TURNED = re.compile(r"\b(?:loss|losses|used|deficit|benefit)\b", re.I)
_BOTH = re.compile(r"\b(?:income|earnings|profit|provided|from)\b", re.I)
_PARENTHESIS = re.compile(r"\([^()]*\)")
_EACH = re.compile(r"\bper (?:\w+ )?(?:share|unit|employee|store|ads)\b", re.I)
_PERCENT = re.compile(r"%|\bpercent", re.I)
_END_OF_YEAR = "cash and cash equivalents"


class Operand(Record, frozen=True, kw_only=True):
    """``unit`` is what all operands of a calculation must share: scales, per share, percent. Printed values
    of ``currency`` must be equal too; most rows print none."""

    answer: CellAnswer
    value: Decimal
    unit: tuple[object, ...]
    currency: str

    @property
    def printed(self) -> str:
        return format_number(self.value)


def operands_of(of: NumberLeaf, passages: Sequence[Passage]) -> list[Operand]:
    """The best cells for a leaf's item in its period; none if their values disagree."""
    item, period = of.item, of.period
    if period is None:
        return []
    if item in ITEMS:
        wanted = read_question(f"{item}, {period.name}")
        found = find_item(wanted, ITEMS[item], period, passages)
    else:
        found = labelled_cells(item, period, passages)
    fitting = [answer for answer in found if _fits(answer, item, period)]
    top = max((answer.score for answer in fitting), default=0.0)
    best = [answer for answer in fitting if answer.score >= top - 1e-9]
    operands = [_operand(answer, item) for answer in best]
    known = [operand for operand in operands if operand is not None]
    agree = len(known) == len(best) and len({(o.value, o.unit) for o in known}) == 1
    return known if agree else []


def unfit(tree: Tree, operands: Mapping[NumberLeaf, Operand]) -> str:
    """Why the operands cannot be combined, in words; "" if they can."""
    found = list(operands.values())
    if len({operand.answer.passage.chunk.document_version for operand in found}) > 1:
        return "the operands are in different documents"
    if len({operand.unit for operand in found}) > 1 or len({o.currency for o in found} - {""}) > 1:
        return "the operands are printed at different scales or in different units"
    if len({operand.answer.key for operand in found}) < len(operands):
        return "one cell is used for two operands"
    base = _grown_from(tree)
    if base is not None and operands[base].value <= 0:
        return "growth from zero or from a loss is not a percentage"
    changed = _changed(tree)
    if any(one in changed and _is_change(operand, one.item) for one, operand in operands.items()):
        return "a cash flow statement already gives changes"
    return ""


def result_of(working: Working, value: Decimal) -> str:
    """``value`` in the format the question asks for, or its natural one; "" if it cannot be written."""
    places = working.places
    try:
        if _is_amount(working.tree):
            exact = value if places is not None or _is_sum(working.tree) else round(value, RATIO_PLACES)
            return format_number(exact, places=places)
        default = PERCENT_PLACES if working.percent else RATIO_PLACES
        return format_number(value, percent=working.percent, places=default if places is None else places)
    except ArithmeticError:
        return ""


def _fits(answer: CellAnswer, item: str, period: Period) -> bool:
    """Whether the column is certainly for the period, and the row is the item and not its change."""
    cell, chunk = answer.cell, answer.passage.chunk
    if cell is None or _PLANNED.search(cell.head):
        return False
    if period.quarter is None and period.month is None and not _WHOLE_YEAR.search(cell.head):
        of_quarter = any(found.quarter for found in own_periods(chunk))
        if of_quarter or _PART_YEAR.search(f"{cell.head} {chunk.context.partition(chr(10))[2]}"):
            return False
    if item in ITEMS and ITEMS[item].statement == BALANCE and item != _END_OF_YEAR:
        named = statements_of(answer.passage)
        if CASH in named and BALANCE not in named:
            return False
    return (
        column_fit(answer.passage, cell, period) >= LEAST_FIT
        or not cell.head.strip()
        or (item not in ITEMS and _only_of_its_year(answer, period))
    )


def _only_of_its_year(answer: CellAnswer, period: Period) -> bool:
    """Whether the cell is in its table's only column for that year, whatever its closing date."""
    of_year = [cell for cell in answer.row.cells if any(p.year == period.year for p in periods_in(cell.head))]
    return period.quarter is None and period.month is None and of_year == [answer.cell]


def _operand(answer: CellAnswer, item: str) -> Operand | None:
    cell, passage = answer.cell, answer.passage
    assert cell is not None  # noqa: S101 - fits
    text = text_of(passage, cell.start, cell.end)
    value = printed_amount(text, item)
    if value is None or (value > 0 and _turned(answer.row.label, item)):
        return None
    beside = f"{answer.row.label} {cell.head}"
    heads = " ".join(other.head for other in answer.row.cells)
    unit = (
        context_scales(f"{passage.chunk.context}\n{heads}"),
        context_scales(answer.row.label),
        bool(_EACH.search(beside)),
        bool(_PERCENT.search(f"{beside} {passage.chunk.context.partition(chr(10))[2]}")),
    )
    return Operand(answer=answer, value=value, unit=unit, currency=currency(text))


def _turned(label: str, item: str) -> bool:
    """Whether the row label says "loss" or "used" and the item does not, so a positive value is negative."""
    bare = _PARENTHESIS.sub(" ", label)
    return bool(_TURNED.search(bare)) and not _TURNED.search(item) and not _BOTH.search(bare)


def _is_change(operand: Operand, item: str) -> bool:
    own = item in ITEMS and ITEMS[item].statement == CASH
    known = own or item in ("net income", "depreciation and amortization")
    return not known and CASH in statements_of(operand.answer.passage)


def _changed(tree: Tree) -> set[NumberLeaf]:
    """Leaves that are subtracted from each other as two periods of one item."""
    if isinstance(tree, NumberLeaf):
        return set()
    left, right = tree.left, tree.right
    inner = _changed(left) | _changed(right)
    if tree.sign == MINUS and isinstance(left, NumberLeaf) and isinstance(right, NumberLeaf):
        return inner | ({left, right} if left.item == right.item != "" else set())
    return inner


def _grown_from(tree: Tree) -> NumberLeaf | None:
    """The base of a growth calculation, "(b − a) ÷ a" or "(b ÷ a) ^ ..."; None for anything else."""
    match tree:
        case Node(sign="−", left=Node(sign="^", left=Node(right=NumberLeaf() as base))):
            return base
        case Node(sign="÷", left=Node(sign="−", right=first), right=NumberLeaf() as base) if first == base:
            return base
    return None


def _is_sum(tree: Tree) -> bool:
    if isinstance(tree, NumberLeaf):
        return bool(tree.item)
    return tree.sign in (PLUS, MINUS) and _is_sum(tree.left) and _is_sum(tree.right)


def _is_amount(tree: Tree) -> bool:
    """Whether the result is in the unit of its operands: a sum, difference or mean."""
    if isinstance(tree, Node) and tree.sign == OVER and isinstance(tree.right, NumberLeaf):
        return not tree.right.item and _is_sum(tree.left)
    return _is_sum(tree)


# --- the calculator -------------------------------------------------------------------------------


class StatementCalculator(Calculator):
    """Line items of financial statements, rows by label, calculations over them, and rows compared."""

    def named_in(self, text: str) -> Named:
        return named_in(text)

    def parts(self, question: str) -> tuple[str, ...]:
        return operand_aspects(question)

    def printed(self, wanted: ParsedQuestion) -> list[str]:
        return printed_names(wanted)

    def cells(
        self, wanted: ParsedQuestion, passages: Sequence[Passage]
    ) -> list[tuple[str, Period | None, list[CellAnswer]]]:
        return item_cells(wanted, passages)

    def compared(self, question: str, passages: Sequence[Passage]) -> tuple[CellAnswer, ...]:
        comparison = compared(question, passages)
        return comparison.cells if comparison else ()

    def evidence(self, wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[CellAnswer]:
        if comparison := compared(wanted.question, passages):
            return list(comparison.shown)
        if operands := labelled_operands(wanted, passages):
            return operands
        if wanted.by_cell and (cells := statement_cells(wanted, passages)):
            return cells
        return compared_cells(wanted, passages) if wanted.ask is QuestionKind.WHICH else []

    def is_answer(self, question: str, results: Sequence[CalculationResult]) -> bool:
        return any(not one.result for one in results) or is_answer(question, len(results))

    def results(
        self, question: str, found: Sequence[CellAnswer], passages: Sequence[Passage]
    ) -> tuple[CalculationResult, ...]:
        quoted = {answer.key for answer in found}
        comparison = compared(question, passages)
        if comparison and quoted.issuperset(answer.key for answer in comparison.shown):
            return (comparison,)
        named = of_the_named(read_question(question), passages)

        def find(name: NumberLeaf) -> list[Operand]:
            return [operand for operand in operands_of(name, named) if operand.answer.key in quoted]

        made: dict[str, CalculationResult] = {}
        for result in _made(all_workings(question), find):
            made.setdefault(result.what, result)
        return tuple(made.values())

    def recalculated(self, claim: DraftClaim, question: str, cited: Cited) -> str | None:
        """The claim must state, word for word, the calculation that the question asks for, made again from
        the cited cells alone: every operand is the value of a cited cell whose row is the named item and
        whose column is the period, all at one scale in one document."""
        if (wrong := recompared(claim, question, cited)) is not None:
            return wrong
        asked = (
            working
            for working in all_workings(question)
            if claim.text.startswith(f"{working.what}: ") and format_tree(working.tree) == claim.reasoning
        )
        working = next(asked, None)
        if working is None or sum(bool(one.item) for one in leaves(working.tree)) < LEAST_OPERANDS:
            return None
        names = named_leaves(working.tree)
        operands = {name: found for name in names if (found := _cited_operand(name, cited))}
        if lacking := [name.text for name in names if name not in operands]:
            return f"no cited cell contains \u201c{lacking[0]}\u201d"
        if reason := unfit(working.tree, operands):
            return reason
        result = _result_from(working, operands)
        if result is None:
            return "the calculation has no result, for example because of a division by zero"
        told = f"{result.what}: {result.working} = {result.result}"
        return "" if claim.text.strip() == told else f"the cited cells give \u201c{told}\u201d"


def labelled_operands(wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[CellAnswer]:
    """The operand cells of a calculation over named rows; [] unless all are found, or if the table has a
    row for the change itself."""
    named = of_the_named(wanted, passages)

    def find(name: NumberLeaf) -> list[Operand]:
        return [] if _change_is_printed(name.item, named) else operands_of(name, named)

    found = next(_made(labelled_workings(wanted.question), find), None)
    return list(found.cells) if found else []


def _made(
    workings: Iterable[Working], find: Callable[[NumberLeaf], Sequence[Operand]]
) -> Iterator[CalculationResult]:
    """The results of the calculations whose operands are all found."""
    for working in workings:
        found = {name: find(name) for name in named_leaves(working.tree)}
        if found and all(found.values()):
            result = _result_from(working, {name: operands[0] for name, operands in found.items()})
            yield from [result] if result else []


def _change_is_printed(label: str, passages: Sequence[Passage]) -> bool:
    rows = (row for passage in passages for row in passage.chunk.rows)
    asked = [f"{how} in {label}" for how in ("change", "increase", "decrease")]
    return any(same_label(row.label, name) for row in rows for name in asked)


def _result_from(working: Working, operands: Mapping[NumberLeaf, Operand]) -> CalculationResult | None:
    """None if the operands cannot be combined, or yield no value."""
    value = "" if unfit(working.tree, operands) else _worth(working, operands)
    if not value:
        return None
    printed = mapped(
        working.tree, lambda one: NumberLeaf(text=operands[one].printed) if one in operands else one
    )
    return CalculationResult(
        what=working.what,
        working=format_tree(printed),
        result=value,
        reasoning=format_tree(working.tree),
        cells=tuple(operand.answer for operand in operands.values()),
    )


def _worth(working: Working, operands: Mapping[NumberLeaf, Operand]) -> str:
    """The result in the format the question asks for; "" if the calculation has no value."""
    try:
        value = worked(
            working.tree, lambda one: operands[one].value if one in operands else Decimal(one.text)
        )
    except ArithmeticError:
        return ""
    return result_of(working, value)


def _cited_operand(name: NumberLeaf, cited: Cited) -> Operand | None:
    """The cited cell that matches ``name``, or None."""
    for passage, spans in cited:
        for operand in operands_of(name, [passage]):
            cell = operand.answer.cell
            if cell and any(start <= cell.start and cell.end <= end for start, end in spans):
                return operand
    return None

"""What a calculation may stand on: cells that are the named item in the named period, and go together.

In: an item (a line item or a row's label), a period, passages. Out: :class:`Operand` values; and whether
several fit into one calculation. The writer chooses by these rules and the checker holds it to them. When in
doubt an operand is none: a missing result costs an answer, a wrong one costs trust.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from citewell.core.records import Passage, Record
from citewell.questions.calculation.amounts import currency, printed_amount, written
from citewell.questions.calculation.expressions import MINUS, OVER, PLUS, POWER, Leaf, Node, Tree
from citewell.questions.calculation.formulae import Working
from citewell.questions.calculation.named import leaf_of
from citewell.questions.cells import CellAnswer, find_item, labelled_cells, quarter_by_table, text_of
from citewell.questions.line_items import BALANCE, CASH, ITEMS, statements_in
from citewell.questions.naming import calendar, head_fit
from citewell.questions.parsing import read_question
from citewell.questions.periods import Period, periods_in
from citewell.questions.scales import context_scales

LEAST_FIT = 0.6  # a column that is the period, or is so by its table; not one that may be by custom
PERCENT_PLACES, RATIO_PLACES, MOST_PLACES = 2, 2, 10

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
    """``unit`` is all that must be the same in one calculation: scales, per share, percent. Of ``currency``
    what is printed must be; most rows print none."""

    answer: CellAnswer
    value: Decimal
    unit: tuple[object, ...]
    currency: str

    @property
    def printed(self) -> str:
        return written(self.value)


def operands_of(item: str, period_name: str, passages: Sequence[Passage]) -> list[Operand]:
    """The cells that ``item`` in the period is read from, best first; none when they disagree."""
    period = next(iter(periods_in(period_name)), None)
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


def unfit(tree: Tree, operands: Mapping[str, Operand]) -> str:
    """Why these cannot be put together, in words; "" when they can."""
    found = list(operands.values())
    if len({operand.answer.passage.chunk.document_version for operand in found}) > 1:
        return "the operands stand in different documents"
    if len({operand.unit for operand in found}) > 1 or len({o.currency for o in found} - {""}) > 1:
        return "the operands are printed at different scales or in different units"
    if len({operand.answer.key for operand in found}) < len(operands):
        return "one cell stands for two operands"
    base = _grown_from(tree)
    if base and operands[base].value <= 0:
        return "growth from nothing or from a loss is no percentage"
    changed = _changed(tree)
    if any(name in changed and _is_change(operand, name) for name, operand in operands.items()):
        return "a cash flow statement gives changes already"
    return ""


def result_of(working: Working, value: Decimal) -> str:
    """``value`` as the question asks for it, or as it is by nature; "" when it cannot be written."""
    places = working.places
    if places is not None and places > MOST_PLACES:
        return ""
    try:
        if _is_amount(working.tree):
            exact = value if places is not None or _is_sum(working.tree) else round(value, RATIO_PLACES)
            return written(exact, places=places)
        default = PERCENT_PLACES if working.percent else RATIO_PLACES
        return written(value, percent=working.percent, places=default if places is None else places)
    except ArithmeticError:
        return ""


def _fits(answer: CellAnswer, item: str, period: Period) -> bool:
    """Whether the column is the period beyond doubt, and the row the item and not its change."""
    cell, chunk = answer.cell, answer.passage.chunk
    if cell is None or _PLANNED.search(cell.head):
        return False
    if period.quarter is None and period.month is None and not _WHOLE_YEAR.search(cell.head):
        of_quarter = any(found.quarter for found in periods_in(f"{chunk.document_id} {chunk.title}"))
        if of_quarter or _PART_YEAR.search(f"{cell.head} {chunk.context.partition(chr(10))[2]}"):
            return False
    if item in ITEMS and ITEMS[item].statement == BALANCE and item != _END_OF_YEAR:
        named = _statements(answer.passage)
        if CASH in named and BALANCE not in named:
            return False
    fit = max(head_fit(cell.head, period, calendar(chunk)), quarter_by_table(answer.passage, cell, period))
    return (
        fit >= LEAST_FIT or not cell.head.strip() or (item not in ITEMS and _only_of_its_year(answer, period))
    )


def _only_of_its_year(answer: CellAnswer, period: Period) -> bool:
    """ "2019" of a table that has one column of that year, whatever day it ends on."""
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
    """A row that says loss or used, where the item does not, with a value that shows no minus."""
    bare = _PARENTHESIS.sub(" ", label)
    return bool(_TURNED.search(bare)) and not _TURNED.search(item) and not _BOTH.search(bare)


def _statements(passage: Passage) -> tuple[str, ...]:
    return statements_in(f"{passage.chunk.context}\n{' › '.join(passage.chunk.section_path)}")


def _is_change(operand: Operand, name: str) -> bool:
    item = leaf_of(name)[0]
    own = item in ITEMS and ITEMS[item].statement == CASH
    return not own and item not in ("net income", "depreciation and amortization") and (
        CASH in _statements(operand.answer.passage)
    )  # fmt: skip


def _changed(tree: Tree) -> set[str]:
    """Leaves of differences between two periods of one item."""
    if isinstance(tree, Leaf):
        return set()
    inner = _changed(tree.left) | _changed(tree.right)
    left, right = tree.left, tree.right
    if tree.sign == MINUS and isinstance(left, Leaf) and isinstance(right, Leaf):
        same = leaf_of(left.text)[0] == leaf_of(right.text)[0] != ""
        return inner | ({left.text, right.text} if same else set())
    return inner


def _grown_from(tree: Tree) -> str:
    """The leaf that growth is measured against, "(b − a) ÷ a" or "(b ÷ a) ^ ..."; "" for anything else."""
    if isinstance(tree, Node) and tree.sign == MINUS and isinstance(tree.left, Node):
        power = tree.left
        if power.sign == POWER and isinstance(power.left, Node) and isinstance(power.left.right, Leaf):
            return power.left.right.text
    if isinstance(tree, Node) and tree.sign == OVER and isinstance(tree.right, Leaf):
        top = tree.left
        if isinstance(top, Node) and top.sign == MINUS and top.right == tree.right:
            return tree.right.text
    return ""


def _is_sum(tree: Tree) -> bool:
    if isinstance(tree, Leaf):
        return bool(leaf_of(tree.text)[0])
    return tree.sign in (PLUS, MINUS) and _is_sum(tree.left) and _is_sum(tree.right)


def _is_amount(tree: Tree) -> bool:
    """Sums, differences and means stay in the unit of their operands."""
    if isinstance(tree, Node) and tree.sign == OVER and isinstance(tree.right, Leaf):
        return not leaf_of(tree.right.text)[0] and _is_sum(tree.left)
    return _is_sum(tree)

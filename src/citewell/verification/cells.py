"""Is a number in the claim in the cell that the claim refers to? Exact code over table rows.

In: a claim and rows with their column heads. Out: one :class:`Placement` for each number found in a cell,
either in the right place or only in another row or under another year (a true number in a false claim);
and, more strictly, the single cell that proves a whole claim. A number found in no cell gets no placement:
:mod:`citewell.verification.numbers` handles it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from citewell.core.records import Record
from citewell.questions.quantity import CURRENCIES, UNITS, Quantity, QuantityForm
from citewell.questions.scales import context_scales, declared_units
from citewell.verification.cell_values import cell_states_value, declares_unit, with_scale
from citewell.verification.evidence import EvidenceText, TableLine
from citewell.verification.lexicon import ASIDES
from citewell.verification.numbers import check_numbers
from citewell.verification.quantities import extract_quantities
from citewell.verification.words import content_words, distinguishing_words, overlap, words_of

_NO_VALUES = frozenset({QuantityForm.DATE, QuantityForm.YEAR, QuantityForm.ORDINAL, QuantityForm.TIME})
_LABEL_HELD = 0.5  # minimum share of a label's words in a claim about its row


class Placement(Record, frozen=True, kw_only=True):
    """``misplaced`` explains why the number's cell is not the one meant; "" if it is."""

    quantity: Quantity
    label: str
    head: str
    cell: str
    misplaced: str = ""


def place_numbers(claim: str, lines: Sequence[TableLine], context: str = "") -> tuple[Placement, ...]:
    """For each value in ``claim`` that a cell contains: where, and whether that is the place meant."""
    years = _years(claim)
    placements = []
    for quantity in extract_quantities(claim):
        if quantity.form in _NO_VALUES:
            continue
        holders = [
            (line, cell, head)
            for line in lines
            for cell, head in line.cells
            if any(ch.isdigit() for ch in cell) and _holds(claim, quantity, cell, f"{context}\n{head}")
        ]
        if holders:
            placements.append(_placement(claim, quantity, holders, lines, years))
    return tuple(placements)


def proven_by_cells(claim: str, evidence: EvidenceText) -> Placement | None:
    """The cell that proves ``claim`` without a model, or None.

    The claim states one value, the cell's, and names the row, the column and the headings over them, each
    in full, and nothing else; no other cell has that place. Anything less certain is left to the entailer.
    """
    if _NO_STATEMENT.search(claim):
        return None
    around = _around(evidence)
    for line in evidence.lines:
        said = claim
        for aside in _ASIDE.finditer(line.label):
            said = said.replace(aside.group(), _kept(aside))
        values = [q for q in extract_quantities(said) if q.form not in _NO_VALUES]
        if len(values) != 1:
            continue
        (value,) = values
        bare = f"{said[: value.start]} {said[value.end :]}"
        brackets = {"(", ")"} & {cell.strip() for cell, _ in line.cells}  # minus of an adjacent cell
        if brackets or not _names(line.label, bare, value):
            continue
        for cell, head in line.cells:
            if (
                (not _place_words(head) or _names(head, bare, value))
                and cell_states_value(cell, f"{line.label}\n{head}", around, value)
                and _alone(line, head, cell, evidence.lines)
                and _says_as_much(bare, line, head, evidence)
            ):
                return Placement(quantity=value, label=line.label, head=head, cell=cell)
    return None


def missing_scale(claim: str, evidence: EvidenceText, asked: str = "") -> str:
    """A message if an amount in the claim omits the table's single scale, else "". ``asked`` is the question
    the claim answers, which may name the scale ("in thousands"). Skipped if the text has several tables or
    states the amount elsewhere."""
    tables = [part for part in re.split(r"\n[ \t]*\n", evidence.text) if "\t" in part]
    if len(tables) > 1 or len(context_scales(f"{claim}\n{asked}")) > 1:
        return ""
    prose = "\n".join(line for line in evidence.text.split("\n") if "\t" not in line)
    around = _around(evidence)
    for value in extract_quantities(claim):
        if value.form is not QuantityForm.MONEY or value.scaled or _holds(claim, value, prose, ""):
            continue
        holding = [
            (line.label, with_scale(cell, f"{line.label}\n{head}", around, value))
            for line in evidence.lines
            for cell, head in line.cells
            if any(map(str.isdigit, cell)) and _holds(claim, value, cell, head)
        ]
        if holding and all(written for _, written in holding):
            label, written = holding[0]
            return f"{value.text} is in the row \u201c{label}\u201d as {written}"
    return ""


# A claim that depends on the previous sentence may be about something other than the table.
_NO_STATEMENT = re.compile(
    r"\b(?:not|no|never|will|would|can|could|(?-i:may)|might|shall|should|must|to be)\b|n['\u2019]t\b|\?|"
    r"\b(?:its?|he|his|she|her|they|their|this|that|these|those)\b",
    re.IGNORECASE,
)
_LINKING = re.compile(
    r"\b(?:(?:amounted|came|equal) to|stood at|totall?ed|equals|equall?ed|reported|recorded|for)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"[(\[](?P<inside>[^()\[\]]*)[)\]]|, (?P<tail>[\w%/]+)$|[\u00b9\u00b2\u00b3\u2070-\u2079*\u2020\u2021]"
)
_NOTE = re.compile(r"\bnotes? \d+", re.IGNORECASE)
_YEAR_WORDS = re.compile(
    r"\b(?:(?:for the )?(?:fiscal |calendar )?years? (?:end(?:ed|ing) (?:[a-z]+\.? \d{1,2},? )?)?|fiscal )"
    r"(?=(?:19|20)\d\d\b)",
    re.IGNORECASE,
)


def _around(evidence: EvidenceText) -> str:
    """Text that may declare a currency or scale for all rows, excluding heads that declare only their own."""
    labels = {line.label for line in evidence.lines}
    prose = [row for row in evidence.text.split("\n") if row.partition("\t")[0].strip() not in labels]
    cells = [cell for line in evidence.lines for cell, _ in line.cells]
    around = "\n".join([evidence.context, *prose])
    heads = {head for line in evidence.lines for _, head in line.cells if declares_unit(head)}
    for head in sorted(heads, key=len, reverse=True):
        around = around.replace(head, " ").replace(" ".join(head.split()), " ")
    return "\n".join([around, *cells])


def _kept(aside: re.Match[str]) -> str:
    known = ASIDES if aside["tail"] is None else frozenset()
    words = words_of(_NOTE.sub("", aside["inside"] or aside["tail"] or "").replace("US$", "$"))
    told = [word for word in words if not (word in known or word in UNITS or word in CURRENCIES)]
    return aside.group() if told else " "


def _place_words(name: str) -> list[str]:
    for units in declared_units(name).split("\n"):
        name = name.replace(units, " ") if units else name
    return distinguishing_words(_YEAR_WORDS.sub("", " ".join(_ASIDE.sub(_kept, name).split())))


def _names(name: str, bare: str, value: Quantity) -> bool:
    """The claim contains a whole label or head as one run, or as the unit of its value ("72 hours")."""
    wanted, said = _place_words(name), distinguishing_words(bare)
    if not wanted:
        return False
    runs = (said[place : place + len(wanted)] for place in range(len(said)))
    return wanted in runs or set(wanted) <= set(distinguishing_words(value.text))


def _alone(line: TableLine, head: str, cell: str, lines: Sequence[TableLine]) -> bool:
    place = (_place_words(line.label), _place_words(head))
    return not any(
        other != cell
        and any(map(str.isdigit, other))
        and (_place_words(another.label), _place_words(over)) == place
        for another in lines
        for other, over in another.cells
    )


def _says_as_much(bare: str, line: TableLine, head: str, evidence: EvidenceText) -> bool:
    """The claim contains every word of the headings over the row and its table ("Budget"), and no other
    words except those of its row and column."""
    heads = {" | ".join(over for _, over in line.cells), *(over for _, over in line.cells)}
    context = evidence.context
    for told in sorted(heads, key=len, reverse=True):
        context = context.replace(told, " ") if told else context
    over = {word for name in (line.group, line.title, context) for word in _place_words(name)}
    said = set(distinguishing_words(_LINKING.sub(" ", bare)))
    own = " \n ".join(_ASIDE.sub(_kept, name) for name in (line.group, line.label, head))
    return over <= said <= over.union(distinguishing_words(own))


def _placement(
    claim: str,
    quantity: Quantity,
    holders: Sequence[tuple[TableLine, str, str]],
    lines: Sequence[TableLine],
    years: frozenset[int],
) -> Placement:
    def fit(holder: tuple[TableLine, str, str]) -> tuple[bool, float]:
        line, _, head = holder
        heads = _years(head)
        return not years or not heads or bool(years & heads), overlap(line.label, claim)

    line, cell, head = max(holders, key=fit)
    year_fits, label_fit = fit((line, cell, head))
    misplaced = ""
    if not year_fits and any(years & _years(other) for row in lines for _, other in row.cells):
        misplaced = f"{quantity.text} is under \u201c{' '.join(head.split())}\u201d"
    elif label_fit < _LABEL_HELD and line.label:
        better = max(lines, key=lambda row: overlap(row.label, claim))
        above = set(content_words(better.label)) <= set(content_words(head))  # the column head states it
        if (
            overlap(better.label, claim) >= max(2 * label_fit, 0.6)
            and better.label != line.label
            and not above
        ):
            misplaced = _in_row(quantity, line.label, better.label)
    elif meant := _named_beside(claim, quantity, line, holders, lines):
        misplaced = _in_row(quantity, line.label, meant)
    return Placement(quantity=quantity, label=line.label, head=head, cell=cell, misplaced=misplaced)


def _in_row(quantity: Quantity, label: str, meant: str) -> str:
    return f"{quantity.text} is in the row \u201c{label}\u201d, not \u201c{meant}\u201d"


def _named_beside(
    claim: str,
    quantity: Quantity,
    line: TableLine,
    holders: Sequence[tuple[TableLine, str, str]],
    lines: Sequence[TableLine],
) -> str:
    """Label of another row that the claim names in full while sharing only part of this row's label
    ("cost of sales" for the row "net sales"), else "". Rows that contain the value do not count as others."""
    bare = f"{claim[: quantity.start]} {claim[quantity.end :]}"
    if not line.label or _names(line.label, bare, quantity):
        return ""
    said = set(distinguishing_words(bare))
    shared = said & set(_place_words(line.label))
    having = {held.label for held, _, _ in holders}
    return next(
        (
            row.label
            for row in lines
            if row.label not in having
            and shared < set(_place_words(row.label))
            and _names(row.label, bare, quantity)
            and any(any(map(str.isdigit, cell)) for cell, _ in row.cells)
        ),
        "",
    )


def _holds(claim: str, quantity: Quantity, cell: str, context: str) -> bool:
    return quantity.start in _held(claim, cell, context)


@lru_cache(maxsize=4096)
def _held(claim: str, cell: str, context: str) -> frozenset[int]:
    """Where the quantities of ``claim`` begin that ``cell`` holds."""
    return frozenset(check.quantity.start for check in check_numbers(claim, cell, context) if check.holds)


def _years(text: str) -> frozenset[int]:
    found = set()
    for quantity in extract_quantities(text):
        if quantity.moment is not None:
            found |= {reading[0] for reading in quantity.moment.readings if reading[0] is not None}
        elif quantity.form is QuantityForm.YEAR:
            found.add(int(quantity.value))
    return frozenset(found)

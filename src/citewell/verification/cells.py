"""Is a number of the claim in the cell that the claim speaks of? Exact code over table rows.

In: a claim and rows with their column heads. Out: one :class:`Placement` for each number that stands in
a cell: at its place, or only in another row or under another year, which is how a true number makes a false
claim. A number that stands in no cell gets none: that is :mod:`citewell.verification.numbers`' business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.records import Record
from citewell.verification.evidence import TableLine
from citewell.verification.numbers import check_numbers
from citewell.verification.quantities import Form, Quantity, extract_quantities
from citewell.verification.signals import content_words, overlap

_NO_VALUES = frozenset({Form.DATE, Form.YEAR, Form.ORDINAL, Form.TIME})
_LABEL_HELD = 0.5  # share of a label's words that a claim about its row must use


class Placement(Record, frozen=True, kw_only=True):
    """``misplaced`` says in words why the number's cell is not the one meant; "" when it is."""

    quantity: Quantity
    label: str
    head: str
    cell: str
    misplaced: str = ""


def place_numbers(claim: str, lines: Sequence[TableLine], context: str = "") -> tuple[Placement, ...]:
    """For each value of ``claim`` that a cell holds: where, and whether that is the place meant."""
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


def proven_by_cells(claim: str, lines: Sequence[TableLine], context: str = "") -> Placement | None:
    """The cell that proves ``claim`` without any model, or None.

    Every number is at its place, in one row, and every other content word of the claim stands in that row's
    label, the cell's head or the context: nothing is left that could be untrue.
    """
    quantities = [q for q in extract_quantities(claim) if q.form not in _NO_VALUES]
    placements = place_numbers(claim, lines, context)
    if not quantities or len(placements) != len(quantities) or any(p.misplaced for p in placements):
        return None
    first = placements[0]
    if any(p.label != first.label for p in placements) or re.search(r"\b(?:not|no|never)\b|n't", claim, re.I):
        return None
    bare = claim
    for quantity in sorted(quantities, key=lambda q: -q.start):
        bare = bare[: quantity.start] + " " + bare[quantity.end :]
    around = " ".join([first.label, context, *(f"{p.head} {p.cell}" for p in placements)])
    return first if set(content_words(bare)) - _LINKING <= set(content_words(around)) else None


_LINKING = frozenset(
    content_words("amounted totaled totalled stood came equal equals reported recorded value usd dollars")
)


def _placement(
    claim: str,
    quantity: Quantity,
    holders: Sequence[tuple[TableLine, str, str]],
    lines: Sequence[TableLine],
    years: frozenset[int],
) -> Placement:
    def fit(holder: tuple[TableLine, str, str]) -> tuple[bool, float]:
        line, _, head = holder
        return _year_fits(years, head), overlap(line.label, claim)

    line, cell, head = max(holders, key=fit)
    year_fits, label_fit = fit((line, cell, head))
    misplaced = ""
    if not year_fits and any(years & _years(other) for row in lines for _, other in row.cells):
        misplaced = f"{quantity.text} stands under \u201c{' '.join(head.split())}\u201d"
    elif label_fit < _LABEL_HELD and line.label:
        better = max(lines, key=lambda row: overlap(row.label, claim))
        above = set(content_words(better.label)) <= set(content_words(head))  # the column says it
        if (
            overlap(better.label, claim) >= max(2 * label_fit, 0.6)
            and better.label != line.label
            and not above
        ):
            misplaced = (
                f"{quantity.text} stands in the row \u201c{line.label}\u201d, not \u201c{better.label}\u201d"
            )
    return Placement(quantity=quantity, label=line.label, head=head, cell=cell, misplaced=misplaced)


def _holds(claim: str, quantity: Quantity, cell: str, context: str) -> bool:
    return any(
        check.holds for check in check_numbers(claim, cell, context) if check.quantity.start == quantity.start
    )


def _years(text: str) -> frozenset[int]:
    found = set()
    for quantity in extract_quantities(text):
        if quantity.moment is not None:
            found |= {reading[0] for reading in quantity.moment.readings if reading[0] is not None}
        elif quantity.form is Form.YEAR:
            found.add(int(quantity.value))
    return frozenset(found)


def _year_fits(years: frozenset[int], head: str) -> bool:
    heads = _years(head)
    return not years or not heads or bool(years & heads)

"""A quote of a table row that leaves cells out: the label and the cells it names, each whole and in order.

In: a quote and the passage it names. Out: one span for the label and each cell, or none. A row is read
across, so people and models quote "Jane Doe, President" of "Jane Doe | 54 | President"; every part is still
the source's own, to the letter, and has its place. Anything else between the parts than separators is not
of the row.
"""

from __future__ import annotations

import re

from citewell.matching.cells import label_span, text_of, whole
from citewell.records import Passage, Row
from citewell.verification.verbatim import fold

LEAST_PARTS = 2
_BETWEEN = re.compile(r"[\s,;:|/…-]*")
_MARKS = " \"'."


def row_spans(quote: str, passage: Passage) -> tuple[tuple[int, int], ...]:
    """Where the parts of ``quote`` stand in the first row of ``passage`` that has them all; () when none
    has."""
    wanted = fold(quote).text.strip(_MARKS)
    rows = (row for row in passage.chunk.rows if row.label and row.cells and whole(passage, row))
    return next((spans for row in rows if (spans := _parts(wanted, passage, row))), ())


def _parts(wanted: str, passage: Passage, row: Row) -> tuple[tuple[int, int], ...]:
    label = label_span(passage, row)
    taken: list[tuple[int, int]] = []
    at = 0
    for start, end in (label, *((cell.start, cell.end) for cell in row.cells)):
        said = fold(text_of(passage, start, end)).text.strip()
        after = at + len(said)
        if said and wanted.startswith(said, at) and not wanted[after : after + 1].isalnum():
            taken.append((start, end))
            between = _BETWEEN.match(wanted, after)
            at = between.end() if between else after
        elif not taken:
            return ()
    return tuple(taken) if at == len(wanted) and len(taken) >= LEAST_PARTS else ()

"""A quote of a table row that leaves cells out: the label and the cells it names, each whole and in order.

In: a quote and the passage it names. Out: one span for the label and each cell, or none. A row is read
across, so people and models quote "Jane Doe, President" of "Jane Doe | 54 | President"; every part is still
the source's own, to the letter, and has its place. Between two parts stands one separator that can be no part
of a number; a cell that turns what stands beside it ("not", a bracket, a sign) is not left out.
"""

from __future__ import annotations

import re

from citewell.core.records import Passage, Row
from citewell.questions.cells import label_span, text_of, whole
from citewell.verification.verbatim import TURNING, fold

LEAST_PARTS = 2
# Folded text: white space is one blank, a dash is "-", an ellipsis three dots.
_BETWEEN = r"(?: ?(?:[,;:]|\.{3}) | ?\| ?| - (?!\W?\d)| )"
_AROUND = ' .,;:()[]"'
_ENDING = " ,;:|"
_MARKS = " \"'."


def row_spans(quote: str, passage: Passage) -> tuple[tuple[int, int], ...]:
    """Where the parts of ``quote`` stand in the first row of ``passage`` that has them all; () when none
    has."""
    wanted = fold(quote).text.strip(_MARKS)
    rows = (row for row in passage.chunk.rows if row.label and row.cells and whole(passage, row))
    return next((spans for row in rows if (spans := _parts(wanted, passage, row))), ())


def _parts(wanted: str, passage: Passage, row: Row) -> tuple[tuple[int, int], ...]:
    label = label_span(passage, row)
    at = _end_of(_said(passage, *label), wanted, 0, "")
    if at is None:
        return ()
    taken = [label]
    for cell in row.cells:
        said = _said(passage, cell.start, cell.end)
        end = _end_of(said, wanted, at, _BETWEEN)
        if end is not None:
            taken.append((cell.start, cell.end))
            at = end
        elif not _may_be_left_out(said):
            return ()
    return tuple(taken) if len(taken) >= LEAST_PARTS and not wanted[at:].strip(_ENDING) else ()


def _said(passage: Passage, start: int, end: int) -> str:
    return fold(text_of(passage, start, end)).text.strip()


def _end_of(said: str, wanted: str, at: int, before: str) -> int | None:
    """Where ``said`` ends when it stands whole at ``at``, behind ``before``."""
    if not said or said not in wanted:
        return None
    found = re.compile(rf"{before}{re.escape(said)}(?![^\W_])").match(wanted, at)
    return found.end() if found else None


def _may_be_left_out(said: str) -> bool:
    """Nothing, or words or a number that stand for themselves."""
    return not said or (any(map(str.isalnum, said)) and said.lower().strip(_AROUND) not in TURNING)

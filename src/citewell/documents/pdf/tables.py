"""Finds the tables among the lines of one stretch of a page.

In: lines in reading order. Out: the same lines as :class:`Block` values: single lines, or :class:`DraftTable`
with rows, columns, heads, title and units. A table is a run of lines whose figures share the same columns;
label lines between them belong to it, prose ends it. Knows nothing about documents or offsets.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from citewell.documents.pdf.cells import BULLET, YEAR, LineCell, pieces_of, units_in
from citewell.documents.pdf.headings import STATEMENT
from citewell.documents.pdf.heads import (
    Block,
    Column,
    DraftRow,
    DraftTable,
    column_heads,
    is_head_line,
    stands_over,
    stub_prefix,
)
from citewell.documents.pdf.layout import VisualLine

_CONNECTIVE = re.compile(
    r"(?:\b(?:and|or|of|the|to|for|in|on|from|by|with|at|a|an|as|net|than|per|not|that|its|including|excluding|"
    r"certain|other|under|less)|[,\-–—/&])$",
    re.I,
)
_ASIDE = re.compile(r"\([^\W\d_]{1,10}\)")
_MAX_BETWEEN, _MOST_HEADS = 5, 7
_MARGIN = 2.5
_HEAD_REACH = 60.0
MAX_COLUMNS = 60
"""A line with more figures is not a row of a readable table."""


class _Row(NamedTuple):
    line: VisualLine
    pieces: list[LineCell]
    data: bool

    @property
    def numbers(self) -> list[LineCell]:
        return [piece for piece in self.pieces if piece.number]


def find_tables(lines: list[VisualLine]) -> list[Block]:
    """Blocks in the order of ``lines``; every line is in exactly one of them."""
    rows = [_read(line) for line in lines]
    blocks: list[Block] = []
    at = 0
    for run in _runs(rows):
        if len(run) < 2 and len(rows[run[0]].numbers) < 2:
            continue
        last = _label_end(rows, run[-1])
        if (drafted := _table(rows, run, at, last)) is not None:
            first, table = drafted
            blocks += [row.line for row in rows[at:first]]
            blocks.append(table)
            at = last + 1
    blocks += [row.line for row in rows[at:]]
    return blocks


def _label_end(rows: list[_Row], last: int) -> int:
    """Index of the line where the label of the row at ``last`` ends; it may wrap to lines without figures."""
    for index in range(last + 1, len(rows)):
        row, above = rows[index], rows[index - 1].line
        drop, text = above.base - row.line.base, row.line.text
        near = row.line.column == above.column and 0 < drop < 1.4 * row.line.size
        if row.data or len(row.pieces) != 1 or not near or not (text[0].islower() or _ASIDE.fullmatch(text)):
            return index - 1
    return len(rows) - 1


def _read(line: VisualLine) -> _Row:
    pieces = pieces_of(line)
    numbers = sum(piece.number for piece in pieces)
    label = 0 if not pieces or pieces[0].number else 1
    data = numbers >= 2 or (numbers == 1 and label == 1 and pieces[-1].number)
    if label and BULLET.fullmatch(pieces[0].text) and numbers < 2:
        data = data and len(pieces) > 2
    if (numbers and len(pieces) - numbers > 3 and numbers < 3) or len(pieces) > MAX_COLUMNS:
        data = False
    return _Row(line, pieces, data)


def _runs(rows: list[_Row]) -> Iterator[list[int]]:
    """The indexes of the lines of figures of each table."""
    run: list[int] = []
    columns: list[Column] = []
    pending = 0
    for index, row in enumerate(rows):
        heads = is_head_line(row.pieces)
        if run and (heads or _apart(rows[index - 1].line, row.line)):
            yield run  # new heads: what follows is a separate table
            run = []
        if run and row.data and _fits(row, columns):
            run.append(index)
            columns = _merged([*columns, *_columns([row])])
            pending = 0
            continue
        pending += 1
        if run and (row.data or pending > _MAX_BETWEEN or _is_prose(row, columns)):
            yield run
            run = []
        if not run and row.data and not heads:
            run, columns, pending = [index], _columns([row]), 0
    if run:
        yield run


def _apart(above: VisualLine, below: VisualLine) -> bool:
    drop = above.base - below.base
    return drop > 4.5 * max(below.size, 6) or drop < -1 or below.column != above.column


def _fits(row: _Row, columns: list[Column]) -> bool:
    """Whether half of the row's figures are in columns, or it has two and as many figures as columns."""
    numbers = row.numbers
    hits = sum(any(c.x0 - 3 < p.x1 and p.x0 < c.x1 + 3 for c in columns) for p in numbers)
    if hits * 2 >= len(numbers):
        return True
    return len(numbers) >= 2 and len(numbers) >= len(columns)


def _is_prose(row: _Row, columns: list[Column]) -> bool:
    """Whether it is a line of words that runs into the columns of figures."""
    left = min(column.x0 for column in columns)
    text = row.line.text
    if row.line.x1 < left or len(row.pieces) > 1:
        return False
    return len(text) > 60 or text.endswith((".", ";"))


def _columns(rows: list[_Row]) -> list[Column]:
    """The columns of figures, without the label column even if some labels are figures ("2019", "13)")."""
    firsts = [row.pieces[0] for row in rows]
    figures = [piece for piece in firsts if piece.number]
    years = len(rows) > 1 and all(YEAR.fullmatch(piece.text) for piece in figures)
    if not years and len(figures) == len(rows) > 1:
        # Bare integers in one column are labels; other figures are not.
        aligned = len(_merged([Column(piece.x0, piece.x1) for piece in figures])) == 1
        years = aligned and all(piece.text.isdigit() for piece in figures)
    named = [years or not piece.number for piece in firsts]
    inner = [p for row, name in zip(rows, named, strict=True) for p in row.pieces[name:] if p.number]
    sure = [p for row, name in zip(rows, named, strict=True) if name for p in row.pieces[1:] if p.number]
    if sure and 0.4 * len(rows) <= sum(named) < len(rows):
        edge = min(piece.x0 for piece in sure)
        inner = [piece for piece in inner if piece.x1 > edge]
    return _merged([Column(piece.x0, piece.x1) for piece in inner])


def _merged(found: list[Column]) -> list[Column]:
    merged: list[Column] = []
    for column in sorted(found):
        if merged and column.x0 < merged[-1].x1 + 0.5:
            merged[-1] = Column(merged[-1].x0, max(merged[-1].x1, column.x1))
        else:
            merged.append(column)
    return merged


def _heads_start(rows: list[_Row], start: int, floor: int, columns: list[Column], zone: float) -> int:
    """Index of the first head line above the figures, which begin at ``start``."""
    left = min(rows[start].line.x0, columns[0].x0)
    # Label lines directly above the first figures ("ASSETS", "Current assets:") are rows, not heads.
    for _ in range(min(_MOST_HEADS, start - floor)):
        row, below = rows[start - 1], rows[start].line
        gap = row.line.base - below.base
        if row.line.column != below.column or not 0 <= gap < 3.2 * max(below.size, row.line.size):
            break
        if not _heads_over(row, columns, zone) or _is_title(row, left, columns):
            break
        start -= 1
    return start


def _heads_over(row: _Row, columns: list[Column], zone: float) -> bool:
    right = max(column.x1 for column in columns)
    over = [piece for piece in row.pieces if stands_over(piece, zone) and piece.x0 < right + 20]
    stub = [piece for piece in row.pieces if not stands_over(piece, zone)]
    text = row.line.text
    if STATEMENT.fullmatch(text) and not YEAR.search(text) and not text.endswith(":"):
        return False
    if not over:
        # A single stub line between heads and figures: a parent label, units, or the end of the heads.
        return bool(stub) and len(text) < 90 and not text.endswith(".") and row.line.x1 < zone
    if len(over) == 1 and not stub:
        middle = (over[0].x0 + over[0].x1) / 2
        if over[0].x0 < zone - 15 or len(text) > 70 or (text.endswith((".", ":")) and text.count(" ") > 4):
            return False
        return abs(middle - (zone + right) / 2) < 0.5 * (right - zone) + 10
    return all(piece.x0 >= zone - 25 for piece in over) and all(len(piece.text) < 60 for piece in row.pieces)


def _is_title(row: _Row, left: float, columns: list[Column]) -> bool:
    """Whether the line stands over the middle of the table, its labels included, and not of its figures."""
    middle, right = (row.line.x0 + row.line.x1) / 2, max(column.x1 for column in columns)
    whole, figures = (left + right) / 2, (columns[0].x0 + right) / 2
    return len(row.pieces) == 1 and abs(middle - whole) < 6 and abs(middle - figures) > 12


def _table(rows: list[_Row], run: list[int], floor: int, last: int) -> tuple[int, DraftTable] | None:
    """The table of a run that ends at ``last``, and the index of its first line, at least ``floor``."""
    data = [rows[index] for index in run]
    columns = _columns(data)
    zone = _zone(data, columns)
    top = _heads_start(rows, run[0], floor, columns, zone)
    over = [i for i in range(top, run[0]) if any(stands_over(p, zone) for p in rows[i].pieces)]
    head_lines = [rows[index] for index in over]
    first_head = over[0] if over else _labels_start(rows, run[0], top)
    last_head = over[-1] if over else first_head - 1
    while over and last_head + 1 < run[0] and units_in(rows[last_head + 1].line.text):
        last_head += 1
    named = [row for row in head_lines if not (len(row.pieces) == 1 and units_in(row.pieces[0].text))]
    heads = column_heads([(row.line, row.pieces) for row in named], columns, zone)
    stub = [
        p.text for row in rows[first_head : last_head + 1] for p in row.pieces if not stands_over(p, zone)
    ]
    heads = stub_prefix(stub, heads)
    cut = any(text.count("(") > text.count(")") for text in stub)
    texts = (" ".join(stub), *stub) if cut else stub
    units = next((found for text in texts if (found := units_in(text))), "")
    if not units:
        units = next((found for row in head_lines if (found := units_in(row.line.text))), "")
    body_start = last_head + 1 if head_lines else first_head
    before = tuple(row.line for row in rows[first_head:body_start])
    drafted = _rows(rows[body_start : last + 1], columns)
    if not drafted:
        return None
    return first_head, DraftTable(before, drafted, heads, tuple(columns), units=units)


def _zone(data: list[_Row], columns: list[Column]) -> float:
    """Where heads may begin, as they are often wider than the figures of the first column."""
    first = min(column.x0 for column in columns)
    labels = [row.pieces[0].x1 for row in data if not row.pieces[0].number and row.pieces[0].x1 < first]
    return max([first - _HEAD_REACH, *labels]) if labels else first


def _labels_start(rows: list[_Row], start: int, top: int) -> int:
    """The first line of a table without heads: above its figures, only lines that end with a colon belong."""
    while start > top and rows[start - 1].line.text.endswith(":") and len(rows[start - 1].line.text) < 60:
        start -= 1
    return start


def _rows(rows: list[_Row], columns: list[Column]) -> tuple[DraftRow, ...]:
    """Joins label lines to the row that they wrap into; the others stay rows without figures."""
    drafted: list[DraftRow] = []
    pitches = sorted(a.line.base - b.line.base for a, b in itertools.pairwise(rows) if a.data and b.data)
    pitch = pitches[len(pitches) // 2] if pitches else 0.0
    for row in rows:
        label, cells = _label_and_cells(row, columns)
        x0 = row.line.x0
        labels = ((label, row.line),) if label else ()
        if drafted:
            last = drafted[-1]
            if (
                not last.cells
                and last.labels
                and (labels or cells)
                and _wraps(last, label, row, pitch, columns)
            ):
                drafted[-1] = DraftRow((*last.labels, *labels), cells, row.line, last.x0)
                continue
            if last.cells and last.labels and labels and not cells and _continues(last, label, row, pitch):
                drafted[-1] = DraftRow((*last.labels, *labels), last.cells, last.line, last.x0)
                continue
        drafted.append(DraftRow(labels, cells, row.line, x0))
    return _grouped(drafted)


def _label_and_cells(row: _Row, columns: list[Column]) -> tuple[str, tuple[tuple[LineCell, int], ...]]:
    label: list[str] = []
    cells: list[tuple[LineCell, int]] = []
    for piece in row.pieces:
        where = _column_of(piece, columns)
        if where is None or (not cells and not piece.number and piece.x0 < columns[0].x0 - 5):
            if cells:
                cells.append((piece, cells[-1][1]))
            else:
                label.append(piece.text)
        else:
            cells.append((piece, where))
    return " ".join(label), tuple(cells)


def _column_of(piece: LineCell, columns: list[Column]) -> int | None:
    best, overlap = None, 0.0
    for index, column in enumerate(columns):
        shared = min(piece.x1, column.x1) - max(piece.x0, column.x0)
        if shared > overlap:
            best, overlap = index, shared
    return best


def _wraps(last: DraftRow, label: str, row: _Row, pitch: float, columns: list[Column]) -> bool:
    """``last`` is only a label: does it continue in this line?"""
    above = last.label
    if not label:
        return not above.endswith(":") and (pitch <= 0 or last.line.base - row.line.base < 1.05 * pitch)
    if above.endswith(":"):
        return False
    tight = pitch > 0 and last.line.base - row.line.base < 0.88 * pitch
    if label[0].islower():
        return True
    return bool(_CONNECTIVE.search(above)) or (
        tight
        and last.line.x1 > 0.8 * columns[0].x0
        and last.line.bold == row.line.bold
        and row.line.x0 >= last.x0 - 1
    )


def _continues(last: DraftRow, label: str, row: _Row, pitch: float) -> bool:
    """``last`` already has its figures: is this line the rest of its label?"""
    aside = _ASIDE.fullmatch(label) is not None and not last.label.endswith(")")
    if not (label[0].islower() or aside or _CONNECTIVE.search(last.label)) or label.endswith(":"):
        return False
    return pitch <= 0 or last.line.base - row.line.base < 1.2 * pitch


def _grouped(rows: list[DraftRow]) -> tuple[DraftRow, ...]:
    """A label without figures groups the rows indented under it; one with nothing indented under it
    groups the rows at its own margin until a total, another such label, or a row in the same type."""
    stack: list[tuple[DraftRow, bool]] = []
    grouped = []
    for index, row in enumerate(rows):
        if row.labels:
            stack = [item for item in stack if row.x0 > item[0].x0 + (-_MARGIN if item[1] else 1)]
        if not row.cells:
            following = next((other for other in rows[index + 1 :] if other.cells and other.labels), None)
            flat = following is not None and following.x0 <= row.x0 + _MARGIN
            stack = [item for item in stack if not item[1] and row.x0 > item[0].x0 + 1]
            caption = row.label.endswith(":") or row.label.isupper()
            if row.labels and (not flat or caption or row.labels[0][1].bold):
                stack.append((row, flat))
            grouped.append(row)
            continue
        if row.labels:
            stack = [item for item in stack if not (item[1] and _printed_alike(item[0], row))]
        group = " › ".join(parent.label.rstrip(":") for parent, _ in stack)
        grouped.append(replace(row, group=group))
        if row.label.lower().startswith(("total", "net cash")):
            stack = [item for item in stack if not item[1]]
    return tuple(grouped)


def _printed_alike(parent: DraftRow, row: DraftRow) -> bool:
    if parent.label.isupper():
        return row.label.isupper()
    return parent.labels[0][1].bold and row.labels[0][1].bold and not row.label.lower().startswith("total")

"""Tables of HTML and RTF while they are read: cells with their spans or edges, and the rows they form.

In: cells in reading order. Out: rows with every cell in its column. Knows nothing about elements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from citewell.documents.scripts import Script, join_scripts

_NEAR = 60
"""Twips: edges that are closer are the same."""
_MOST_COLUMNS = 63
"""As in Word; rows that would need more are not aligned."""


@dataclass(slots=True)
class GridCell:
    text: list[tuple[str, Script]] = field(default_factory=list)
    head: bool = False
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class Grid:
    """A table being read; ``layout``: another one opened inside it; ``cell``: the open cell or caption."""

    rows: list[list[GridCell]] = field(default_factory=list)
    in_head: bool = False
    caption: GridCell = field(default_factory=GridCell)
    layout: bool = False
    cell: GridCell | None = None


def expanded(rows: list[list[GridCell]]) -> list[list[str | None]]:
    """Cells in their columns: a head that spans columns is repeated in each, a value is not; None where a
    cell from above extends down."""
    grid: list[list[str | None]] = []
    held: dict[int, int] = {}  # column: the first row not covered by a cell from above
    for number, row in enumerate(rows):
        line: list[str | None] = []
        for cell in row:
            while held.get(len(line), 0) > number:
                line.append(None)
            text = join_scripts(cell.text)
            for column in range(cell.columns):
                held[len(line)] = number + cell.rows
                line.append(text if column == 0 or cell.head else "")
        grid.append(line)
    return grid


def span(value: str | None) -> int:
    """The number of columns or rows in a span attribute, 1 to 100."""
    return max(1, min(100, int(value))) if value and value.isascii() and value.isdigit() else 1


class EdgedRow(NamedTuple):
    """``edges``: of each cell, the right edge in twips and whether it continues the cell above; empty if
    unknown."""

    cells: list[str]
    edges: list[tuple[int, bool]]
    is_head: bool


def aligned(rows: list[EdgedRow]) -> list[list[str | None]]:
    """Cells in their columns, by their edges: "" for each further column that a cell covers, None where a
    cell from above extends down."""
    edges = sorted({edge for row in rows for edge, _ in row.edges})
    columns = dict.fromkeys(edges[:1], 0)
    for left, right in pairwise(edges):
        columns[right] = columns[left] + (right - left > _NEAR)
    if edges and columns[edges[-1]] >= _MOST_COLUMNS:
        columns = dict.fromkeys(edges, -1)
    grid: list[list[str | None]] = []
    for row in rows:
        line: list[str | None] = [] if row.edges else [*row.cells]
        for cell, (edge, continues) in zip(row.cells, row.edges, strict=False):
            line.append(None if continues else cell)
            line += [""] * (columns[edge] + 1 - len(line))
        grid.append(line)
    return grid

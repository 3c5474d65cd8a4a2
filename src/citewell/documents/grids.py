"""HTML tables while they are read: cells with their spans, and the rows they form.

In: cells in reading order. Out: rows with every cell in its column. Knows nothing about elements.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from citewell.documents.scripts import Script, join_scripts


@dataclass(slots=True)
class GridCell:
    text: list[tuple[str, Script]] = field(default_factory=list)
    head: bool = False
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class Grid:
    """A table being read; ``layout`` once another table opens inside it."""

    rows: list[list[GridCell]] = field(default_factory=list)
    heads: int = 0
    in_head: bool = False
    caption: list[tuple[str, Script]] = field(default_factory=list)
    layout: bool = False
    cell: GridCell | None = None
    in_caption: bool = False


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

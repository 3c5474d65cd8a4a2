"""Tables as they are found on a page, before their place in the text is known.

Values only: :mod:`.tables` makes them, :mod:`.writing` puts them into the text.
"""

from __future__ import annotations

from dataclasses import dataclass

from citewell.documents.pdf.cells import Piece
from citewell.documents.pdf.heads import Column
from citewell.documents.pdf.layout import Line


@dataclass(frozen=True)
class DraftRow:
    """``label`` lines are joined by a space in the text; ``cells`` pair a piece with its column."""

    labels: tuple[tuple[str, Line], ...]
    cells: tuple[tuple[Piece, int], ...]
    line: Line
    x0: float
    group: str = ""

    @property
    def label(self) -> str:
        return " ".join(text for text, _ in self.labels)


@dataclass(frozen=True)
class DraftTable:
    """``before`` are head lines, kept as lines of their own; ``heads`` has one text per column."""

    before: tuple[Line, ...]
    rows: tuple[DraftRow, ...]
    heads: tuple[str, ...]
    columns: tuple[Column, ...]
    title: str = ""
    units: str = ""


Block = Line | DraftTable

"""Blocks of all pages -> canonical text with pages, boxes, sections and tables.

In: the lines of each page without running heads and feet. Out: :class:`PdfText`. The text is built once,
piece by piece, so every offset is recorded as its piece is written; nothing is searched for afterwards.
Knows nothing about PDF or metadata.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

import msgspec

from citewell.core.records import Box, Cell, Page, Row, Section, Table
from citewell.documents.canonical import closed_sections
from citewell.documents.pdf.cells import BULLET, pieces_of, units_in
from citewell.documents.pdf.headings import STATEMENT, STYLE_LEVEL, Headings, squeezed
from citewell.documents.pdf.heads import DraftRow, DraftTable
from citewell.documents.pdf.layout import VisualLine
from citewell.documents.pdf.paragraphs import (
    ENDS,
    Paragraph,
    carries_over,
    joins,
    joint,
    right_edges,
    usual_pitch,
    vocabulary,
)
from citewell.documents.pdf.tables import find_tables

_CONTINUED = re.compile(r"(?:(?<![\s,(–—-])[\s,(–—-]+)?\bcont(?:inued|’d|'d|\.)?\)?\.?$", re.I)


class PdfText(NamedTuple):
    text: str
    pages: tuple[Page, ...]
    boxes: tuple[Box, ...]
    sections: tuple[Section, ...]
    tables: tuple[Table, ...]


class PdfWriter:
    """``pages[i]`` are the lines of physical page i + 1."""

    def __init__(self, pages: list[list[VisualLine]], outline: dict[tuple[int, str], int]) -> None:
        self._pages = pages
        self._headings = Headings(pages, outline)
        self._words = vocabulary(pages)
        self._text: list[str] = []
        self._at = 0
        self._boxes: list[Box] = []
        self._starts: list[int] = []
        self._stack: list[tuple[float, str]] = []
        self._marks: list[tuple[tuple[str, ...], int]] = []
        self._tables: list[Table] = []
        self._open: Paragraph | None = None
        self._edges: dict[int, float] = {}  # of the prose on the page, by column
        self._recent: list[str] = []
        self._last_table: DraftTable | None = None

    def run(self, sizes: list[tuple[float, float]]) -> PdfText:
        """The whole text; ``sizes[i]`` are the width and height of page i + 1, in points."""
        for lines in self._pages:
            self._page(lines)
        self._close()
        text = "".join(self._text)
        ends = [*self._starts[1:], len(text)]
        pages = tuple(
            Page(number=number, start=start, end=end, width=round(width, 2), height=round(height, 2))
            for number, (start, end, (width, height)) in enumerate(
                zip(self._starts, ends, sizes, strict=True), 1
            )
        )
        sections = closed_sections(self._marks, len(text))
        return PdfText(text, pages, tuple(self._boxes), sections, tuple(self._tables))

    def _page(self, lines: list[VisualLine]) -> None:
        before, self._edges = self._edges, right_edges(lines)
        pitches = usual_pitch(lines)
        blocks = find_tables(lines)
        first = blocks[0] if blocks else None
        if not (
            self._open and isinstance(first, VisualLine) and self._carries_over(self._open, first, before)
        ):
            self._close()
        self._starts.append(self._at)
        if self._open is not None and isinstance(first, VisualLine):
            self._append(self._open, first, across=True)
            blocks = blocks[1:]
        for block in blocks:
            if isinstance(block, DraftTable):
                self._close()
                self._table(block)
            else:
                self._line(block, pitches)

    def _carries_over(self, paragraph: Paragraph, first: VisualLine, edges: dict[int, float]) -> bool:
        right = edges.get(paragraph.lines[-1].column)
        headed = self._headings.level(_shown(first), first) is not None
        return carries_over(paragraph, first, None if headed else right)

    def _line(self, line: VisualLine, pitches: dict[float, float]) -> None:
        level = self._headings.level(_shown(line), line)
        edges = self._edges
        if self._open is not None:
            pitch = pitches.get(line.size, 1.3 * line.size)
            if self._open.level is not None:
                if level is not None and self._wraps(self._open, line, level, pitch):
                    self._append(self._open, line)
                    return
                if level is None and self._runs_in(self._open, line, edges.get(line.column, 0.0), pitch):
                    self._open.level = None
                    self._append(self._open, line)
                    return
            elif self._goes_on(self._open, line, level, edges.get(line.column, 0.0), pitch):
                self._append(self._open, line)
                return
            self._close()
        self._open = Paragraph([line], level)
        if level is not None:
            # A heading's place in the tree is decided once its last line is known.
            self._heading_start = self._at
        self._put(_shown(line), line)
        self._open.parts.append(_shown(line))

    def _wraps(self, heading: Paragraph, line: VisualLine, level: float, pitch: float) -> bool:
        """Whether a heading wraps onto this line: same type, adjacent, not a filing's standard heading."""
        last = heading.lines[-1]
        alike = last.size == line.size and last.bold == line.bold and last.column == line.column
        drop = last.base - line.base
        centred = abs((last.x0 + last.x1) - (line.x0 + line.x1)) < 6 and last.x0 > 100
        stacked = centred and last.bold and last.text.isupper() == line.text.isupper()
        stacked = stacked and not self._headings.stands_over_many(last)
        full = last.x1 - last.x0 > 300 or last.text.endswith((",", "-", "–", "—", "and", "AND", "OF", "of"))
        return (
            alike
            and 0 < drop < 1.35 * max(pitch, line.size)
            and level >= (heading.level or 0)
            and level > 4
            and (full or stacked)
            and (centred or abs(last.x0 - line.x0) < 30)
        )

    def _goes_on(
        self, paragraph: Paragraph, line: VisualLine, level: float | None, right: float, pitch: float
    ) -> bool:
        """Whether the paragraph continues in ``line``: on the next line, or at the top of the next column."""
        last = paragraph.lines[-1]
        if line.column != last.column:
            return level is None and carries_over(paragraph, line)
        alike = last.page == line.page and last.bold == line.bold and last.italic == line.italic
        alike = alike and (line.bold or (last.size == line.size and not ENDS.search(last.text)))
        return (level is None or alike) and joins(paragraph.lines, line, right, pitch)

    def _runs_in(self, heading: Paragraph, line: VisualLine, right: float, pitch: float) -> bool:
        """Whether the "heading" is only the bold start of a sentence that continues in lower case."""
        by_type = heading.level is not None and heading.level > STYLE_LEVEL
        return by_type and line.text[0].islower() and joins(heading.lines, line, right, pitch)

    def _append(self, paragraph: Paragraph, line: VisualLine, across: bool = False) -> None:
        text = _shown(line)
        last = paragraph.parts[-1]
        kept, between = joint(last, text, self._words)
        if kept != last:
            self._text[-1] = self._text[-1][: len(self._text[-1]) - (len(last) - len(kept))]
            self._at -= len(last) - len(kept)
            box = self._boxes[-1]
            self._boxes[-1] = msgspec.structs.replace(box, end=box.end - (len(last) - len(kept)))
        self._say(between)
        if across:
            self._starts[-1] = self._at
        self._put(text, line)
        paragraph.lines.append(line)
        paragraph.parts.extend((between, text))

    def _close(self) -> None:
        if self._open is None:
            return
        paragraph, self._open = self._open, None
        self._say("\n")
        text = paragraph.text
        if paragraph.level is not None:
            first = text.split("\t", 1)[0]
            self._enter(paragraph.level, first if STATEMENT.fullmatch(first) else text, self._heading_start)
        self._recent.append(text)
        del self._recent[:-4]

    def _enter(self, level: float, text: str, start: int) -> None:
        whole = _CONTINUED.sub("", text)
        if whole != text and any(squeezed(title).startswith(squeezed(whole)) for _, title in self._stack):
            return  # the same section continues
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()
        self._stack.append((level, text))
        self._marks.append((tuple(title for _, title in self._stack), start))

    def _table(self, draft: DraftTable) -> None:
        draft = self._with_heads(draft)
        start = self._at
        for line in draft.before:
            self._put("\t".join(segment.text for segment in line.segments), line)
            self._say("\n")
        rows = tuple(self._row(row, draft.heads) for row in draft.rows)
        title = draft.title or (self._stack[-1][1] if self._stack else "")
        units = draft.units or self._units()
        self._last_table = replace(draft, title=title, units=units)
        self._tables.append(Table(start=start, end=self._at - 1, title=title, units=units, rows=rows))
        self._recent.append("\t")

    def _with_heads(self, draft: DraftTable) -> DraftTable:
        """A table without heads takes over those of the previous table if it has the same columns."""
        last = self._last_table
        if last is None or any(draft.heads) or len(draft.columns) != len(last.columns):
            return draft
        here, there = draft.rows[0].line, last.rows[-1].line
        near = here.page == there.page and there.base - here.base < 60
        near = near or (here.page == there.page + 1 and here.column == 0)
        if not near or not all(
            min(a.x1, b.x1) - max(a.x0, b.x0) > 0 for a, b in zip(draft.columns, last.columns, strict=True)
        ):
            return draft
        title = last.title if here.page != there.page else ""
        return replace(draft, heads=last.heads, units=draft.units or last.units, title=title)

    def _row(self, row: DraftRow, heads: tuple[str, ...]) -> Row:
        start = self._at
        for index, (text, line) in enumerate(row.labels):
            if index:
                self._say(" ")
            self._put(text, line, only_label=bool(row.cells))
        cells = []
        for index, (piece, column) in enumerate(row.cells):
            if index or row.labels:
                self._say("\t")
            at = self._at
            self._say(piece.text)
            cells.append(Cell(start=at, end=self._at, head=heads[column] if heads else ""))
            self._boxes.append(_box(at, self._at, row.line, piece.x0, piece.x1))
        end = self._at
        self._say("\n")
        return Row(start=start, end=end, label=row.label, cells=tuple(cells), group=row.group)

    def _units(self) -> str:
        for text in reversed(self._recent):
            if text == "\t":
                return ""
            if found := units_in(text):
                return found
        return ""

    def _put(self, text: str, line: VisualLine, only_label: bool = False) -> None:
        right = line.segments[0].x1 if only_label else line.x1
        self._boxes.append(_box(self._at, self._at + len(text), line, line.x0, right))
        self._say(text)

    def _say(self, text: str) -> None:
        self._text.append(text)
        self._at += len(text)


def _shown(line: VisualLine) -> str:
    """The line's text; wide gaps are cell borders, except after a bullet or a heading's number."""
    texts = [segment.text for segment in line.segments]
    if len(texts) > 1:
        pieces = pieces_of(line)
        texts = [piece.text for piece in pieces] if any(piece.number for piece in pieces) else texts
    first, *rest = texts
    if rest and (BULLET.fullmatch(first) or first.lower().startswith(("item ", "note ", "part "))):
        first, rest = f"{first} {rest[0]}", rest[1:]
    return "\t".join([first, *rest])


def _box(start: int, end: int, line: VisualLine, x0: float, x1: float) -> Box:
    low, high = line.base - 0.22 * line.size, line.base + 0.78 * line.size
    x0, y0, x1, y1 = (round(edge, 1) for edge in (x0, low, x1, high))
    return Box(start=start, end=end, page=line.page, x0=x0, y0=y0, x1=x1, y1=y1, confidence=line.confidence)

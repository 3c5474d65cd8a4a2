"""Where an offset of a document lies: in which sections, on which page, in which tables and rows.

In: a document and offsets in its text. Out: paths, ranges, rows, and the lines that explain a table's
figures. Knows nothing about where to cut.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from functools import cached_property, reduce
from itertools import pairwise

import msgspec

from citewell.core.records import Document, Row, Section, Table, TableExtent

CROSS_SIBLING, CROSS_PARENT = 2.0, 15.0
"""Costs of a chunk that runs from one section into another."""
_HEADS_OF = 50  # rows of a table whose heads are compared with those of other tables


class Outline:
    """Sections as segments (heading to next heading), each with the extent of everything under it."""

    def __init__(self, document: Document) -> None:
        sections = sorted(document.sections, key=lambda section: (section.start, len(section.path)))
        if not sections or sections[0].start > 0:
            sections.insert(0, Section(path=(), start=0, end=len(document.text)))
        self.paths = [section.path for section in sections]
        self.starts = [section.start for section in sections]
        self.ends = [*self.starts[1:], len(document.text)]
        self._extents = self._measure()

    def _measure(self) -> list[list[list[int]]]:
        """For each segment, the ``[start, end]`` of every section that contains it, outermost first."""
        extents: list[list[list[int]]] = []
        open_: list[list[int]] = []
        previous: tuple[str, ...] = ()
        for path, start, end in zip(self.paths, self.starts, self.ends, strict=True):
            same = len(common(path, previous))
            if same == len(path) and len(path) <= len(previous):
                same = max(0, same - 1)  # a repeated heading opens a new section
            del open_[same:]
            open_ += [[start, end] for _ in path[same:]]
            for extent in open_:
                extent[1] = end
            extents.append(list(open_))
            previous = path
        return extents

    def at(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def crossing(self, left: int, right: int) -> float:
        """Cost of a chunk that runs from segment ``left`` into ``right``."""
        if left == right:
            return 0.0
        p, q = self.paths[left], self.paths[right]
        kin = p[:-1] == q[:-1] or q[:-1] == p or p[:-1] == q
        return CROSS_SIBLING if kin else CROSS_PARENT

    def common_path(self, segments: list[int]) -> tuple[str, ...]:
        return reduce(common, (self.paths[segment] for segment in segments))

    def enclosing(self, first: int, last: int) -> list[tuple[int, int]]:
        """Ranges around segments ``first`` to ``last``: their own, then each enclosing section, outwards."""
        own = (self.starts[first], self.ends[last])
        around = [
            (start, end) for start, end in reversed(self._extents[first]) if start <= own[0] and end >= own[1]
        ]
        return [own, *around, (0, self.ends[-1])]


class Layout:
    """Pages and tables of a document, found by offset."""

    def __init__(self, document: Document) -> None:
        self.pages = sorted(document.pages, key=lambda page: page.start)
        self.page_starts = [page.start for page in self.pages]
        self.tables = sorted(document.tables, key=lambda table: table.start)
        self._text = document.text
        self.table_starts = [table.start for table in self.tables]
        self.rows = sorted((row for table in self.tables for row in table.rows), key=lambda row: row.start)
        self.row_starts = [row.start for row in self.rows]

    def table(self, offset: int) -> Table | None:
        at = bisect_right(self.table_starts, offset) - 1
        return self.tables[at] if at >= 0 and offset < self.tables[at].end else None

    def row(self, start: int) -> Row | None:
        at = bisect_left(self.row_starts, start)
        return self.rows[at] if at < len(self.rows) and self.row_starts[at] == start else None

    def page(self, start: int, end: int) -> int | None:
        """The page that holds most of ``[start, end)``, the first of a tie."""
        most, number = 0, None
        for page in self.pages[max(0, bisect_right(self.page_starts, start) - 1) :]:
            if page.start >= end:
                break
            held = min(end, page.end) - max(start, page.start)
            if held > most:
                most, number = held, page.number
        return number

    def rows_in(self, start: int, end: int) -> tuple[Row, ...]:
        """Rows inside ``[start, end)``; of a row too long for one chunk, the part inside."""
        first = max(0, bisect_right(self.row_starts, start) - 1)
        inside = []
        for row in self.rows[first : bisect_left(self.row_starts, end)]:
            if row.start >= start and row.end <= end:
                inside.append(row)
            elif row.end > start:
                cells = tuple(cell for cell in row.cells if cell.start >= start and cell.end <= end)
                part = {"start": max(row.start, start), "end": min(row.end, end), "cells": cells}
                inside.append(msgspec.structs.replace(row, **part))
        return tuple(inside)

    def extents(self, start: int, end: int) -> tuple[TableExtent, ...]:
        """The tables touched by ``[start, end)``, as a whole."""
        first = max(0, bisect_right(self.table_starts, start) - 1)
        return tuple(
            TableExtent(
                start=table.start,
                end=table.end,
                rows=len(table.rows),
                title=clip(table.title, 200),
                whole=whole,
            )
            for table, whole in zip(
                self.tables[first : bisect_left(self.table_starts, end)], self._whole[first:], strict=False
            )
            if table.end > start
        )

    @cached_property
    def _whole(self) -> list[bool]:
        """For each table: no other shares all of its heads, or its first and another, and none without heads
        is next to it, as the rest of a table on the next page may be; and all lines below the heads are rows.
        """
        heads = [
            frozenset(cell.head for row in table.rows[:_HEADS_OF] for cell in row.cells if cell.head)
            for table in self.tables
        ]
        firsts = [
            self._text[table.start : table.rows[0].start if table.rows else table.start].partition("\t")[0]
            for table in self.tables
        ]
        pairs = [{(first, head) for head in held if first} for first, held in zip(firsts, heads, strict=True)]
        wholes, shared = Counter(heads), Counter(pair for held in pairs for pair in held)
        return [
            wholes[held] == 1
            and all(shared[pair] == 1 for pair in pairs[at])
            and all(heads[max(0, at - 1) : at + 2])
            and not any(self._text[a.end : b.start].strip() for a, b in pairwise(self.tables[at].rows))
            for at, held in enumerate(heads)
        ]

    def table_context(self, start: int, end: int, rows: tuple[Row, ...]) -> list[str]:
        """For each table touched, at most three: "title › group (units): heads". The group is that of the
        first row, if the chunk begins after the row that names it."""
        context: list[str] = []
        for table in self.tables[max(0, bisect_right(self.table_starts, start) - 1) :]:
            if table.start >= end or len(context) == 3:
                break
            if table.end <= start:
                continue
            inside = [row for row in rows if row.start >= table.start and row.end <= table.end]
            heads = dict.fromkeys(cell.head for row in inside for cell in row.cells if cell.head)
            units = f"({table.units})" if table.units else ""
            group = inside[0].group if inside and inside[0].start >= start else ""
            stands = group and any(group.endswith(row.label) for row in inside if row.label and not row.cells)
            title = table.title if not group or stands else " › ".join(filter(None, (table.title, group)))
            line = " ".join(part for part in (clip(title, 200), units) if part)
            columns = clip(" | ".join(heads), 300)
            if line or columns:
                context.append(": ".join(part for part in (line, columns) if part))
        return context


def common(p: tuple[str, ...], q: tuple[str, ...]) -> tuple[str, ...]:
    same = 0
    while same < min(len(p), len(q)) and p[same] == q[same]:
        same += 1
    return p[:same]


def clip(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", 0, limit)
    return text[: cut if cut > 0 else limit] + " …"

"""A range of a document for display: its text as blocks (headings, paragraphs, tables) with spans marked, and
its pages as images with rectangles over the cited text.

In: a Document, a range, spans with the numbers of the claims that cite them. Out: values for a template, all
plain text. Knows nothing about HTML or answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from msgspec.structs import replace

from citewell.core.records import Document, Page, Record, Row, Table
from citewell.core.sentences import sentence_spans
from citewell.documents.detect import PAGED
from citewell.server.pages.rendering import address

AROUND = 260
"""Characters of a long paragraph shown on either side of a span."""
WINDOW = 12_000
"""Characters of an unpaged document shown at a time."""
MOST = 6
"""Maximum page images per document shown next to an answer."""


class ClaimSpan(Record, frozen=True, kw_only=True):
    """``claims`` are the numbers, from 1, of the claims that cite ``[start, end)``."""

    start: int
    end: int
    claims: tuple[int, ...] = ()


class MarkedPiece(Record, frozen=True, kw_only=True):
    """``marked`` if a span covers it; ``first``: the claims whose first marked text this is; ``here``: it is
    the first marked text of all."""

    text: str
    marked: bool = False
    claims: tuple[int, ...] = ()
    first: tuple[int, ...] = ()
    here: bool = False


class MarkedLine(Record, frozen=True, kw_only=True):
    """A line at ``[start, end)``: a paragraph or sentence has one cell, a table row its label and values."""

    cells: tuple[tuple[MarkedPiece, ...], ...]
    start: int
    end: int


class Block(Record, frozen=True, kw_only=True):
    """``kind`` is ``heading``, ``text``, ``table`` or ``gap`` (text omitted). A table has a ``caption`` and
    column ``heads``, as far as known."""

    kind: str
    lines: tuple[MarkedLine, ...] = ()
    caption: str = ""
    heads: tuple[str, ...] = ()

    def is_numeric(self, column: int) -> bool:
        """True if most values of a table's column are mostly digits."""
        cells = (
            "".join(p.text for p in line.cells[column]) for line in self.lines if column < len(line.cells)
        )
        values = [cell for cell in cells if cell.strip()]
        return sum(map(_is_number, values)) * 2 > len(values)


def _is_number(text: str) -> bool:
    letters = sum(one.isalpha() for one in text)
    return letters <= sum(one.isdigit() for one in text) or not letters


def blocks(
    document: Document, start: int, end: int, spans: Sequence[ClaimSpan] = (), *, sentences: bool = False
) -> list[Block]:
    """``document.text[start:end]`` as blocks; with ``sentences``, each paragraph has one line per
    sentence."""
    marker = _Marker(document.text, spans)
    headings = {section.start for section in document.sections}
    rows = {row.start: (table, row) for table in document.tables for row in table.rows}
    made: list[tuple[str, MarkedLine]] = []
    for at, stop in _lines(document.text, start, end):
        kind = "heading" if at in headings else "table" if "\t" in document.text[at:stop] else "text"
        made.append((kind, marker.line(at, stop, cells=kind == "table")))
    found: list[Block] = []
    for kind, group in groupby(made, key=lambda item: item[0]):
        lines = [line for _, line in group]
        if kind == "table":
            found += _tables(lines, rows)
        elif kind == "text" and sentences:
            found += [Block(kind=kind, lines=_by_sentence(line, document.text, marker)) for line in lines]
        else:
            found += [Block(kind=kind, lines=(line,)) for line in lines]
    return found


def _by_sentence(line: MarkedLine, text: str, marker: _Marker) -> tuple[MarkedLine, ...]:
    spans = sentence_spans(text[line.start : line.end]) or [(0, line.end - line.start)]
    return tuple(marker.line(line.start + first, line.start + last, cells=False) for first, last in spans)


def excerpts(document: Document, spans: Sequence[ClaimSpan]) -> list[Block]:
    """The lines containing ``spans``, long ones cut around them, with gaps between distant ones."""
    found: list[Block] = []
    last = -1
    for start, end in _merged(_around(document.text, span) for span in spans):
        if last >= 0 and start > last + 1:
            found.append(Block(kind="gap"))
        found += blocks(document, start, end, spans)
        last = end
    return found


def window(document: Document, at: int) -> tuple[int, int]:
    """The range to show around ``at``: its page, or whole lines of about ``WINDOW`` characters."""
    for page in document.pages:
        if page.start <= at < page.end:
            return page.start, page.end
    text = document.text
    start = max(0, min(at, len(text)) - WINDOW // 3)
    start = text.rfind("\n", 0, start) + 1
    end = text.find("\n", min(len(text), start + WINDOW))
    return start, len(text) if end < 0 else end


def section_at(document: Document, at: int) -> tuple[str, ...]:
    """The path of the innermost section that contains ``at``."""
    holding = [section for section in document.sections if section.start <= at < section.end]
    return max(holding, key=lambda section: section.start).path if holding else ()


class _Marker:
    def __init__(self, text: str, spans: Sequence[ClaimSpan]) -> None:
        self._text = text
        self._spans = [span for span in spans if 0 <= span.start < span.end]
        self._seen: set[int] = set()
        self._marked = False

    def line(self, start: int, end: int, *, cells: bool) -> MarkedLine:
        borders = [start]
        if cells:
            borders += [at + 1 for at in range(start, end) if self._text[at] == "\t"]
        stops = [at - 1 for at in borders[1:]] + [end]
        cut = tuple(self._pieces(*ends) for ends in zip(borders, stops, strict=True))
        return MarkedLine(cells=cut, start=start, end=end)

    def _pieces(self, start: int, end: int) -> tuple[MarkedPiece, ...]:
        near = [span for span in self._spans if span.start < end and span.end > start]
        cuts = sorted({start, end, *(min(max(at, start), end) for s in near for at in (s.start, s.end))})
        return tuple(self._piece(a, b, near) for a, b in pairwise(cuts))

    def _piece(self, start: int, end: int, near: Iterable[ClaimSpan]) -> MarkedPiece:
        over = [span for span in near if span.start <= start and span.end >= end]
        claims = tuple(sorted({number for span in over for number in span.claims}))
        first = tuple(number for number in claims if number not in self._seen)
        self._seen.update(first)
        here = bool(over) and not self._marked
        self._marked = self._marked or here
        return MarkedPiece(
            text=self._text[start:end], marked=bool(over), claims=claims, first=first, here=here
        )


def _tables(lines: Sequence[MarkedLine], rows: dict[int, tuple[Table, Row]]) -> list[Block]:
    """Consecutive rows as blocks, one per table of the document."""
    found: list[Block] = []
    for _, group in groupby(lines, key=lambda line: rows[line.start][0].start if line.start in rows else -1):
        own = tuple(group)
        known = [rows[line.start] for line in own if line.start in rows]
        heads = _heads([row for _, row in known])
        caption = " · ".join(filter(None, (known[0][0].title, known[0][0].units))) if known else ""
        if found and heads and _words(above := found[-1].lines[-1])[1:] == heads[1:]:
            # The heads are also a line above the first row: show them once.
            found[-1:] = [replace(found[-1], lines=found[-1].lines[:-1])] if found[-1].lines[1:] else []
            heads = _words(above)
        found.append(Block(kind="table", lines=own, caption=caption, heads=heads))
    return found


def _words(line: MarkedLine) -> tuple[str, ...]:
    return tuple("".join(piece.text for piece in cell) for cell in line.cells)


def _heads(rows: Sequence[Row]) -> tuple[str, ...]:
    """The column heads that all rows share; none if heads or widths differ."""
    named = [tuple(cell.head for cell in row.cells) for row in rows if any(cell.head for cell in row.cells)]
    widths = {len(row.cells) for row in rows if row.cells}
    return ("", *named[0]) if named and len(set(named)) == 1 and len(widths) == 1 else ()


def _lines(text: str, start: int, end: int) -> Iterable[tuple[int, int]]:
    at = start
    while at < end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        if stop > at:
            yield at, stop
        at = stop + 1


def _around(text: str, span: ClaimSpan) -> tuple[int, int]:
    """The range of a span's lines; a long line is cut at a space within ``AROUND`` characters of the span."""
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    end = len(text) if end < 0 else end
    if "\t" in text[start:end]:
        return start, end
    if span.start - start > AROUND:
        start = text.find(" ", span.start - AROUND, span.start) + 1 or span.start
    if end - span.end > AROUND:
        cut = text.rfind(" ", span.end, span.end + AROUND)
        end = cut if cut >= 0 else span.end
    return start, end


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


# --- pages as printed --------------------------------------------------------------------------------


class Rectangle(NamedTuple):
    """In points from the top left of the page, as in its image; ``claims`` are those citing it."""

    x: float
    y: float
    width: float
    height: float
    claims: tuple[int, ...]


class Paper(NamedTuple):
    """``image`` is the URL of the page image."""

    number: int
    width: float
    height: float
    image: str
    rectangles: tuple[Rectangle, ...]


def paper_of(document: Document, page: Page | None, spans: Sequence[ClaimSpan]) -> Paper | None:
    """The page with its rectangles; None if it cannot be drawn."""
    if page is None or document.media_type not in PAGED:
        return None
    which = {"id": document.document_id, "version": document.version, "number": page.number}
    image = address("/v1/documents/page.png", **which)
    return Paper(page.number, page.width, page.height, image, _rectangles(document, page, spans))


def papers_of(document: Document, spans: Sequence[ClaimSpan]) -> list[Paper]:
    """The first pages that contain a span, in order."""
    held = [page for page in document.pages if any(s.start < page.end and page.start < s.end for s in spans)]
    return [paper for page in held[:MOST] if (paper := paper_of(document, page, spans)) is not None]


def _rectangles(document: Document, page: Page, spans: Sequence[ClaimSpan]) -> tuple[Rectangle, ...]:
    """A rectangle for each printed line or table cell that a span overlaps. In prose it covers the words,
    assuming characters of equal width. A table row known only as a line is covered whole, as its columns
    could be anywhere."""
    found: dict[tuple[float, float, float, float], dict[int, None]] = {}
    for box in document.boxes:
        if box.page != page.number:
            continue
        row = "\t" in document.text[box.start : box.end]
        for span in spans:
            start, end = max(box.start, span.start), min(box.end, span.end)
            if start >= end:
                continue
            step = (box.x1 - box.x0) / (box.end - box.start)
            left = box.x0 if row else box.x0 + (start - box.start) * step
            right = box.x1 if row else box.x0 + (end - box.start) * step
            place = (left, page.height - box.y1, right - left, box.y1 - box.y0)
            found.setdefault(place, {}).update(dict.fromkeys(span.claims))
    return tuple(Rectangle(*place, tuple(claims)) for place, claims in found.items())

"""Document -> chunks of ``min_tokens`` to ``max_tokens``, cut at sentence, row and section borders.

In: a :class:`Document` and the sizes. Out: chunks in reading order that cover all of its text except
white space, once. Cuts are optimised over the whole document: each border has a cost of cutting at it
(inside a paragraph, before an exception, after a heading) and a cost of running across it (another
section, another page), and each size has a cost by its distance from the target. A chunk stays below
the minimum only if joining it to a neighbour would exceed the maximum or leave the parent section.
Knows nothing about models except the tokenizer, and nothing about storage.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from pathlib import PurePosixPath
from typing import Any

import msgspec

from citewell.core.config import Chunking
from citewell.core.identity import chunk_id, section_id
from citewell.core.records import Chunk, Document, Row, Table
from citewell.core.sentences import ITEM, count_tokens_each, list_lead, sentence_spans
from citewell.documents.outline import Layout, Outline, clip

# Costs of cutting at a border; SIZE is the cost of a chunk of twice the target size, or of size zero.
SIZE = 3.0
CUT_SECTION, CUT_PARAGRAPH, CUT_SENTENCE, CUT_ROW = 0.0, 0.5, 1.0, 1.5
CUT_AFTER_COLON, CUT_BEFORE_EXCEPTION, CUT_AFTER_HEADING = 3.0, 6.0, 30.0
CUT_PIECE = 8.0
# Costs of running across a border.
CROSS_TABLE, CROSS_PAGE = 0.3, 0.4
UNDERSIZE = 10.0
PARENT_TOKENS = 2_000
CHARACTERS_PER_TOKEN = 16  # a word of 10,000 letters is one unknown token, but must not count as one

_EXCEPTION = re.compile(
    r"\W*(however|except|unless|notwithstanding|but|nevertheless|nonetheless|otherwise|excluding|provided|"
    r"only if|this (does|do|did|shall|will|is) not|the foregoing|these? exceptions?)\b",
    re.I,
)
_LINE = re.compile(r"[^\n]+")
_TITLE_LIKE = re.compile(r"[A-Z0-9][^\n\t]{2,78}[^\s.,;!?]")
_CUTS = (re.compile(r"\t"), re.compile(r"(?<=[.!?;。！？；])"), re.compile(r"\s"), re.compile(r"(?<=\W)"))


class _Units:
    """Units that are never cut: sentences, short paragraphs, table rows, headings; as parallel lists."""

    def __init__(self, document: Document, layout: Layout, settings: Chunking) -> None:
        self.spans: list[tuple[int, int]] = []
        self.tokens: list[int] = []
        self.cut: list[float] = []  # cost of a border before the unit
        self.headings: list[bool] = []
        text = document.text
        lines = [(m.start(), m.end()) for m in _LINE.finditer(text) if not m.group().isspace()]
        counts = _costs([text[a:b] for a, b in lines])
        heads = _heads(document)
        after = 0.0
        for (start, end), count in zip(lines, counts, strict=True):
            start, end = _trim(text, start, end)
            heading = heads.get(start) == " ".join(text[start:end].split())
            table = layout.table(start)
            before = max(after, self._before(text, start, end, start in heads, table))
            if count <= settings.min_tokens or (table and count <= settings.max_tokens):
                self._add(start, end, count, before, heading)
            else:
                self._split(text, start, end, before, settings.max_tokens)
            after = _after(text, start, end, heading, table, layout.row(start))
        self.starts = [span[0] for span in self.spans]
        self.before = [0, *itertools.accumulate(self.tokens)]

    @staticmethod
    def _before(text: str, start: int, end: int, section: bool, table: Table | None) -> float:
        if section:
            return CUT_SECTION
        if table is not None and start > table.start:
            return CUT_ROW
        if ITEM.match(text, start):
            return CUT_SENTENCE  # the items of a list stay together
        return CUT_BEFORE_EXCEPTION if _EXCEPTION.match(text, start, end) else CUT_PARAGRAPH

    def _add(self, start: int, end: int, count: int, before: float, heading: bool = False) -> None:
        self.spans.append((start, end))
        self.tokens.append(count)
        self.cut.append(before)
        self.headings.append(heading)

    def _split(self, text: str, start: int, end: int, before: float, limit: int) -> None:
        sentences = [(start + a, start + b) for a, b in sentence_spans(text[start:end])]
        for (a, b), count in zip(sentences, _costs([text[a:b] for a, b in sentences]), strict=True):
            if a > start:
                before = CUT_BEFORE_EXCEPTION if _EXCEPTION.match(text, a, b) else CUT_SENTENCE
            for x, y, size in _pieces(text, a, b, count, limit):
                self._add(x, y, size, before if x == a else CUT_PIECE)


def chunk_document(document: Document, settings: Chunking) -> list[Chunk]:
    """Chunks in reading order; empty for a document of white space.

    ``content == document.text[start_offset:end_offset]``; ``page`` is the one that holds most of the
    chunk; ``rows`` are the table rows inside it; ``parent_start`` to ``parent_end`` is the smallest
    section around it that holds more than the chunk itself and fits 2,000 tokens, else its own section.
    """
    outline, layout = Outline(document), Layout(document)
    units = _Units(document, layout, settings)
    if not units.spans:
        return []
    borders = _best_borders(document, outline, units, settings)
    ranges = list(itertools.pairwise(borders))
    spans = [(units.spans[a][0], units.spans[b - 1][1]) for a, b in ranges]
    ids = [chunk_id(document.version, start, end, document.text[start:end]) for start, end in spans]
    naming = _name(document)
    chunks = []
    for position, ((a, b), (start, end)) in enumerate(zip(ranges, spans, strict=True)):
        path, parent_start, parent_end = _parent(outline, units, a, b)
        chunks.append(
            Chunk(
                chunk_id=ids[position],
                document_id=document.document_id,
                document_version=document.version,
                start_offset=start,
                end_offset=end,
                content=document.text[start:end],
                parent_id=section_id(document.version, parent_start, parent_end),
                parent_start=parent_start,
                parent_end=parent_end,
                previous_id=ids[position - 1] if position else "",
                next_id=ids[position + 1] if position + 1 < len(ids) else "",
                **_around(document, layout, naming, path, start, end),
                acl=document.acl,
                tags=document.tags,
                ingested_at=document.ingested_at,
            )
        )
    return chunks


def _around(
    document: Document, layout: Layout, naming: str, path: tuple[str, ...], start: int, end: int
) -> dict[str, Any]:
    """What belongs to the text ``[start, end)`` but comes from elsewhere in the document."""
    rows = layout.rows_in(start, end)
    lead = slice(*(list_lead(document.text, start) or (0, 0)))
    context = layout.table_context(start, end, rows)
    return {
        "context": "\n".join([_heading_line(naming, path, document.text[lead]), *context]),
        "section_path": path,
        "page": layout.page(start, end),
        "rows": rows,
        "tables": layout.extents(start, end),
        "title": document.title.value if document.title else "",
        "author": document.author.value if document.author else "",
        "published_at": document.dated,
    }


class Surroundings:
    """Recomputes what :func:`chunk_document` adds to the words of chunks, for some chunks only: much cheaper
    than cutting the document again."""

    def __init__(self, document: Document, settings: Chunking) -> None:
        self.text = document.text
        self.size = len(document.text) + 100 * sum(len(table.rows) for table in document.tables)
        """About its size in memory, in bytes."""
        # Boxes are most of a PDF, and no chunk needs them.
        self._document = msgspec.structs.replace(document, boxes=())
        self._outline, self._layout = Outline(document), Layout(document)
        self._naming, self._settings, self._heads = _name(document), settings, _heads(document)

    def of(self, chunk: Chunk) -> Chunk:
        """``chunk`` with the context, section, page, rows, title, author and date from the document."""
        start, end = chunk.start_offset, chunk.end_offset
        path = self._outline.common_path(self._segments(start, end))
        around = _around(self._document, self._layout, self._naming, path, start, end)
        return msgspec.structs.replace(chunk, **around)

    def _segments(self, start: int, end: int) -> list[int]:
        """The segments of the lines in ``[start, end)``; bare headings count only if alone."""
        lines = [_trim(self.text, m.start(), m.end()) for m in _LINE.finditer(self.text, start, end)]
        lines = [(a, b) for a, b in lines if a < b]
        bodies = [a for a, b in lines if not self._bare_heading(a, b)]
        return sorted({self._outline.at(a) for a in bodies or [a for a, _ in lines]})

    def _bare_heading(self, start: int, end: int) -> bool:
        line = self.text[start:end]
        if self._heads.get(start) != " ".join(line.split()):
            return False
        most = self._settings.max_tokens if self._layout.table(start) else self._settings.min_tokens
        return _costs([line])[0] <= most


def _heads(document: Document) -> dict[int, str]:
    return {
        section.start: " ".join(section.path[-1].split()) for section in document.sections if section.path
    }


def _best_borders(document: Document, outline: Outline, units: _Units, settings: Chunking) -> list[int]:
    """Unit positions at which chunks begin, and the end: the cheapest path through all borders."""
    across = _crossings(document, outline, units.spans)
    smallest, target, largest = settings.min_tokens, settings.target_tokens, settings.max_tokens
    size_cost = [SIZE * ((t - target) / target) ** 2 for t in range(largest + 1)]
    for t in range(min(smallest, largest + 1)):
        size_cost[t] += UNDERSIZE * (2 - t / smallest)
    total = units.before
    entry = [0.0] * len(total)  # best cost up to here plus this cut, minus the crossings so far
    origin = [0] * len(total)
    for j in range(1, len(total)):
        best, at = float("inf"), j - 1
        for i in range(j - 1, -1, -1):
            size = total[j] - total[i]
            if size > largest and i < j - 1:
                break
            cost = entry[i] + size_cost[min(size, largest)]
            if cost < best:
                best, at = cost, i
        origin[j] = at
        if j < len(units.cut):
            entry[j] = best + across[j - 1] + units.cut[j] - across[j]
    borders = [len(units.spans)]
    while borders[-1]:
        borders.append(origin[borders[-1]])
    return borders[::-1]


def _crossings(document: Document, outline: Outline, spans: list[tuple[int, int]]) -> list[float]:
    """Cumulative costs of running across the border before each unit."""
    pages = [page.start for page in document.pages]
    edges = sorted({edge for table in document.tables for edge in (table.start, table.end)})
    across = [0.0]
    for (left, _), (right, _) in itertools.pairwise(spans):
        cost = outline.crossing(outline.at(left), outline.at(right))
        if bisect_right(pages, left) != bisect_right(pages, right):
            cost += CROSS_PAGE
        if bisect_right(edges, left) != bisect_right(edges, right):
            cost += CROSS_TABLE
        across.append(across[-1] + cost)
    return across


def _after(text: str, start: int, end: int, heading: bool, table: Table | None, row: Row | None) -> float:
    """Cost of cutting after a heading, column heads, an introduction or a title-like line, to which what
    follows belongs."""
    if heading or (table is not None and row is None and table.rows and end <= table.rows[0].start):
        return CUT_AFTER_HEADING
    if text[end - 1] == ":" or (row is not None and not row.cells):
        return CUT_AFTER_COLON
    return CUT_AFTER_COLON if table is None and _TITLE_LIKE.fullmatch(text, start, end) else 0.0


def _parent(outline: Outline, units: _Units, a: int, b: int) -> tuple[tuple[str, ...], int, int]:
    """Section path and parent range of units ``a`` to ``b``; bare headings do not narrow the path."""
    segments = [outline.at(start) for start in units.starts[a:b]]
    bodies = [s for s, heading in zip(segments, units.headings[a:b], strict=True) if not heading]
    path = outline.common_path(sorted(set(bodies or segments)))
    ranges = outline.enclosing(segments[0], segments[-1])
    for low, high in ranges:
        first, last = bisect_left(units.starts, low), bisect_left(units.starts, high)
        if units.before[last] - units.before[first] > PARENT_TOKENS:
            break
        if first < a or last > b:
            return path, low, high
    return path, *ranges[0]


def _name(document: Document) -> str:
    """The title, and the file name if it adds words: filings have company and year there."""
    stem = " ".join(re.split(r"[\s_]+", PurePosixPath(document.document_id).stem)).strip()
    title = " ".join(document.title.value.split()) if document.title else ""
    if not title:
        return stem
    known = set(re.findall(r"\w+", title.casefold()))
    fresh = [word for word in re.findall(r"\w+", stem.casefold()) if word not in known]
    return clip(title, 160) + (f" ({stem})" if fresh and not document.caller_supplied else "")


def _heading_line(naming: str, path: tuple[str, ...], lead: str) -> str:
    """The document's name, the three innermost headings (outer ones say least for their length), and the
    ``lead`` of the list that the chunk continues."""
    return " › ".join([naming, *(clip(name, 80) for name in path[-3:]), *filter(None, (clip(lead, 200),))])


def _costs(texts: list[str]) -> list[int]:
    counts = count_tokens_each(texts)
    return [
        max(1, count, -(-len(text) // CHARACTERS_PER_TOKEN))
        for count, text in zip(counts, texts, strict=True)
    ]


def _pieces(text: str, start: int, end: int, count: int, limit: int) -> list[tuple[int, int, int]]:
    """Halves the text until each piece fits, at the best border near the middle: cell, sentence, word."""
    if count <= limit or end - start < 2:
        return [(start, end, count)]
    low, high = start + (end - start) // 4, start + -(-(end - start) * 3 // 4)
    middle = (start + end) // 2
    at = middle
    for mark in _CUTS:
        found = [m.start() for m in mark.finditer(text, low, high) if start < m.start() < end]
        if found:
            at = min(found, key=lambda place: abs(place - middle))
            break
    pieces = []
    for left, right in ((start, at), (at, end)):
        a, b = _trim(text, left, right)
        if a < b:
            pieces += _pieces(text, a, b, _costs([text[a:b]])[0], limit)
    return pieces


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end].lstrip()
    return end - len(part), end - len(part) + len(part.rstrip())

"""Values of what is read: documents, tables, chunks, passages; and what every value has in common."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every value: immutable, compared by content, convertible by ``identity.plain``."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How a notebook without HTML shows it: as ``print`` does."""
        printer.text(str(self))


class Maker(Record, frozen=True, kw_only=True):
    """What produced a number: a model with its file hash, or exact code with its version."""

    name: str
    hash: str = ""
    prompt_hash: str = ""
    threshold: float | None = None
    card: str = ""


class Measure(Record, frozen=True, kw_only=True):
    """A value and the number of items it was computed from; ``value`` is None if nothing was measured.
    ``maker`` is "" if nothing was measured, ``note`` if nothing is missing."""

    value: float | None
    n: int
    maker: str = ""
    note: str = ""


# --- documents ----------------------------------------------------------------------------------


class Section(Record, frozen=True, kw_only=True):
    """``path`` from the outermost heading inwards; the range covers the heading and its body."""

    path: tuple[str, ...]
    start: int
    end: int


class Page(Record, frozen=True, kw_only=True):
    """Width and height in PDF points (1/72 inch)."""

    number: int
    start: int
    end: int
    width: float
    height: float


class Box(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A text range and the rectangle that it occupies: PDF points, origin at the bottom left. ``confidence``
    is that of the OCR engine that read it, in [0, 1]; None for text of the file itself."""

    start: int
    end: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    confidence: float | None = None


def read_by_ocr(confidences: Iterable[float | None]) -> str:
    """What must be said of words in boxes of these confidences: "read by OCR (confidence .93)", with the
    lowest; "" where all is text of the file itself."""
    read = [one for one in confidences if one is not None]
    return f"read by OCR (confidence {min(read):.2f})".replace(" 0.", " .") if read else ""


class Cell(Record, frozen=True, kw_only=True):
    """One value of a table row and the head of its column ("" if the table has none)."""

    start: int
    end: int
    head: str


class Row(Record, frozen=True, kw_only=True):
    """One line of a table; ``label`` is its first cell's text, ``cells`` are the others.

    A first cell that extends down from a row above is also the label of this one: it is written once, at
    ``label_start`` in the document's text, outside ``[start, end)``; -1 if the row has its own label.
    ``group`` names the label rows above it ("Current assets"), outermost first, joined by " › ".
    """

    start: int
    end: int
    label: str
    cells: tuple[Cell, ...]
    group: str = ""
    label_start: int = -1


class Table(Record, frozen=True, kw_only=True):
    """Rows in reading order. ``units`` as printed: "In millions, except per share data"."""

    start: int
    end: int
    title: str
    units: str
    rows: tuple[Row, ...]


class TableExtent(Record, frozen=True, kw_only=True):
    """A table, of which a chunk may hold a part: ``rows`` counts all its rows. ``whole``: it has no other
    lines, and no other table of the document looks like a part of it."""

    start: int
    end: int
    rows: int
    title: str = ""
    whole: bool = True


class Found(Record, frozen=True, kw_only=True):
    """A metadata value and its origin: ``metadata``, ``metadata: modified`` (the day it was saved),
    ``front matter``, ``first page``, ``first page: period end`` (of a filing)... A ``guess`` was read from
    running text: it is shown, but not used for ordering or filtering."""

    value: str
    origin: str
    guess: bool = False


class Document(Record, frozen=True, kw_only=True):
    """One version of one source. ``text`` is NFC; ``version`` hashes the bytes it came from.

    Paragraphs are one line each, separated by newlines; the cells of a table row are separated by
    tabs, one line per row. ``incomplete`` lists the pages whose print is not all in the text; ``headers``
    are a mail's header fields, as (name, value), in order. ``expires_at`` is the last day on which it is in
    force; ``replaces`` are ids or titles of other documents, as named in its front matter;
    ``supersedes`` is the version before this one.
    """

    document_id: str
    version: str
    text: str
    text_hash: str
    reader: str
    media_type: str
    uri: str = ""
    title: Found | None = None
    author: Found | None = None
    language: Found | None = None
    published_at: Found | None = None
    effective_at: Found | None = None
    expires_at: Found | None = None
    signed_at: Found | None = None
    edition: Found | None = None
    replaces: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    pages: tuple[Page, ...] = ()
    boxes: tuple[Box, ...] = ()
    tables: tuple[Table, ...] = ()
    acl: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    ingested_at: str = ""
    supersedes: str = ""
    caller_supplied: bool = False
    incomplete: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()

    def boxes_in(self, start: int, end: int) -> tuple[Box, ...]:
        """The rectangles that overlap ``text[start:end]``."""
        return tuple(box for box in self.boxes if box.start < end and start < box.end)

    @property
    def dated(self) -> str:
        """The date it is ordered by: published, else effective, else signed; "" if only guessed."""
        known = (self.published_at, self.effective_at, self.signed_at)
        return next((found.value for found in known if found is not None and not found.guess), "")


class Standing(StrEnum):
    """Why part of a document is not in force: DELETED or REPLACED by a statement in another document, an
    older EDITION, EXPIRED, or not yet in force (EARLY)."""

    DELETED = "deleted"
    REPLACED = "replaced"
    EDITION = "edition"
    EXPIRED = "expired"
    EARLY = "early"


class Supersession(Record, frozen=True, kw_only=True):
    """``what[start:end]`` is not in force from ``from_date`` until before ``until``, "" for an open end; ISO
    dates. ``section`` is its name in the statement, () for the whole document. The statement, with the new
    wording if any, is ``by[source_start:source_end]``; ``by`` is "" if only a date ends it."""

    standing: Standing
    what: str
    what_version: str
    start: int
    end: int
    section: tuple[str, ...] = ()
    from_date: str = ""
    until: str = ""
    by: str = ""
    by_version: str = ""
    source_start: int = 0
    source_end: int = 0

    def holds(self, day: str) -> bool:
        """Whether the place is out of force on this ISO date."""
        return self.from_date <= day and not (self.until and day >= self.until)


# --- chunks and passages ------------------------------------------------------------------------


class Chunk(Record, frozen=True, kw_only=True):
    """A stretch of a document: ``content == document.text[start_offset:end_offset]``, always.

    ``context`` (document title, section, table title, units, column heads) is embedded and shown,
    never part of ``content``. ``parent_start`` and ``parent_end`` bound the section it belongs to. ``tables``
    are those it touches.
    """

    chunk_id: str
    document_id: str
    document_version: str
    start_offset: int
    end_offset: int
    content: str
    context: str = ""
    section_path: tuple[str, ...] = ()
    parent_id: str = ""
    parent_start: int = 0
    parent_end: int = 0
    previous_id: str = ""
    next_id: str = ""
    page: int | None = None
    rows: tuple[Row, ...] = ()
    tables: tuple[TableExtent, ...] = ()
    title: str = ""
    author: str = ""
    published_at: str = ""
    acl: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    ingested_at: str = ""

    @property
    def in_context(self) -> str:
        """What is embedded, indexed and shown to a ranker: the content under its context."""
        return f"{self.context}\n{self.content}" if self.context else self.content


class Likeliest(Record, frozen=True, kw_only=True):
    """The stretch of a passage most likely to answer, ``[start, end)`` in the document, and the answer
    check's probability that it does: below the threshold, it only says where to look."""

    start: int
    end: int
    answers: float


class Amending(Record, frozen=True, kw_only=True):
    """The words ``[start, end)`` of a document change or strike out the wording ``old`` in ``chunk``, without
    which they cannot be understood ("In clause 2, 690 is replaced by 735")."""

    start: int
    end: int
    old: str
    chunk: Chunk


class Passage(Record, frozen=True, kw_only=True):
    """A retrieved chunk. ``similarity`` is the best dense cosine, ``fused`` the RRF sum,
    ``relevance`` the ranker's calibrated probability that it answers the question, ``answers`` the answer
    check's probability for its likeliest sentence, if that is above the threshold. ``amends``: what it
    changes in other passages that were found."""

    chunk: Chunk
    similarity: float | None = None
    fused: float | None = None
    relevance: float | None = None
    answers: float | None = None
    likeliest: Likeliest | None = None
    amends: tuple[Amending, ...] = ()
    relevant: bool = False
    used: bool = False
    set_aside: str = ""

"""Pieces of a document in reading order -> its canonical text with sections and tables.

In: headings, paragraphs, code lines and grids of cells, as readers find them. Out: a
:class:`Document`: NFC, one line per paragraph, one line per table row with tabs between cells, invisible
characters dropped and counted. Knows nothing about file formats.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from citewell.core.errors import EmptyDocumentError
from citewell.core.identity import hash_bytes, hash_text
from citewell.core.records import Cell, Document, Found, Row, Section, Table
from citewell.documents.metadata import Metadata, dates_of, language
from citewell.questions.scales import joined_heads

# Invisible: controls, soft hyphens, zero-width and direction marks, tag characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNITS = re.compile(
    r"\(?\b((?:all |amounts? |dollars? |expressed |stated |u\.?s\.? ?){0,6}in "
    r"(?:[\w.$€£¥]+ )?(?:thousands|millions|billions)\b[^)\n\t]{0,80})\)?",
    re.I,
)
_NUMBER = re.compile(r"^\W*\d(?:[\d.,\s]*\d)?(?:[.,]|\s{1,3})?(?:[kKMBTx]|[mb]n)?[\W⁰¹²³⁴-⁹]*$")
_NO_VALUE = frozenset(("", "n/a", "na", "n.a.", "none", "nil", "null", "unknown", "tbd", "-", "–", "—"))
_YEAR = re.compile(r"^(19|20)\d\d$")
_TITLE_LIMIT = 160
NAME_LIMIT = 300
"""Characters of a heading, head or label that are kept where it is repeated: in the path of each section
under it, in each cell of its column, in each row of its group. The text has it in full."""
_HEAD_ROWS = 10
_GROUPS = 6  # consecutive single-cell rows that head the rows below them; more of them are a list
_TITLE_WITHIN = 500  # characters: a heading further down is not the document's title


def clean(text: str) -> str:
    """The text in NFC on one line, with single spaces and no invisible characters."""
    return unicodedata.normalize("NFC", " ".join(_unseen_dropped(text).split()))


def _unseen_dropped(text: str) -> str:
    return _SURROGATE.sub("�", _UNSEEN.sub("", text))


class Canonical:
    """Collects pieces; :meth:`document` closes it. ``metadata``, ``headers`` and ``tags`` are what the file
    says besides its text; ``titled``: its first heading may be its title."""

    def __init__(self, metadata: Metadata | None = None, *, titled: bool = True) -> None:
        self.metadata, self.titled = metadata or Metadata(), titled
        self.headers: tuple[tuple[str, str], ...] = ()
        self.tags: tuple[str, ...] = ()
        self._parts: list[str] = []
        self._length = 0
        self._open: list[tuple[int, str]] = []  # level and heading, outermost first
        self._sections: list[tuple[tuple[str, ...], int]] = []
        self._tables: list[Table] = []
        self._unseen = 0
        self._before_table = ""
        self._group: list[str] = []
        self._noted: Counter[str] = Counter()
        self._label, self._label_start = "", -1
        self._opened = False  # the row before opened a group

    def heading(self, text: str, level: int) -> None:
        """Opens a section with a heading of ``level`` (1 is outermost); an empty heading is ignored."""
        line = self._clean(text)
        if not line:
            return
        self._open = [(depth, name) for depth, name in self._open if depth < level]
        self._open.append((level, self._name(line)))
        if self._sections and self._sections[-1][1] == self._length:
            self._sections.pop()  # the empty section that :meth:`leave` just opened
        self._sections.append((tuple(name for _, name in self._open), self._length))
        self._write(line)

    @property
    def has_tables(self) -> bool:
        return bool(self._tables)

    @property
    def is_empty(self) -> bool:
        return not self._parts

    def leave(self, level: int) -> None:
        """Closes the sections of ``level`` and deeper."""
        if any(depth >= level for depth, _ in self._open):
            self._open = [(depth, name) for depth, name in self._open if depth < level]
            self._sections.append((tuple(name for _, name in self._open), self._length))

    def paragraph(self, text: str, mark: str = "") -> None:
        """One paragraph of running text, whatever its line breaks were; ``mark`` is printed before it: the
        bullet or number of a list item, the sign of a quotation."""
        line = self._clean(text)
        if line:
            self._write(f"{mark} {line}" if mark else line)
            self._before_table = line

    def verbatim(self, text: str) -> None:
        """Lines whose breaks and indentation matter, such as code; a tab becomes spaces."""
        for line in text.splitlines():
            self._count_unseen(line)
            kept = _unseen_dropped(line).expandtabs(4).replace("\r", " ").rstrip()
            if kept.strip():
                self._write(unicodedata.normalize("NFC", kept))

    def table(
        self, grid: Sequence[Sequence[str | None]], *, head_rows: int | None = None, title: str = ""
    ) -> None:
        """Rows of cells; None where the cell above extends down. The first ``head_rows`` are column heads
        (guessed if None): written, but not rows.

        Without a ``title``, a short line just before the table is it; units are there or in the corner.
        """
        cleaned = [[None if cell is None else self._clean(cell) for cell in row] for row in grid]
        filled = [row for row in cleaned if any(row)]
        rows = [[cell or "" for cell in row] for row in filled]
        if not rows:
            return
        count = guess_head_rows(rows) if head_rows is None else head_rows
        count = min(count + _unlabelled_rows(rows, count), len(rows) - 1)
        nearest = rows[max(0, count - _HEAD_ROWS) : count]
        joined = joined_heads([[self._name(cell) for cell in row] for row in nearest])
        heads = [self._name(head) for head in joined]
        before = self._before_table if len(self._before_table) <= _TITLE_LIMIT else ""
        corner = rows[0][0] if count else ""
        units = next(filter(None, map(find_units, (title, corner, before))), "")
        if not title and before[:1].isupper() and before[-1] not in ".;!?":
            title = before.rstrip(":,")
        start = self._length
        self._group, self._opened, self._label, self._label_start = [], False, "", -1
        found = [
            self._row(row, heads, position >= count, reached=filled[position][:1] == [None])
            for position, row in enumerate(rows)
        ]
        title, body = self._clean(title), tuple(row for row in found if row is not None)
        self._tables.append(Table(start=start, end=self._length, title=title, units=units, rows=body))

    def note(self, text: str, count: int = 1) -> None:
        """Notes what was left out; ignored if ``text`` is "" or ``count`` is 0. ``{n}`` in ``text`` becomes
        the total count of all notes with the same text."""
        if text and count:
            self._noted[text] += count

    def document(self, data: bytes, *, document_id: str, uri: str, reader: str, media_type: str) -> Document:
        """The finished document. Raises EmptyDocumentError if only white space was collected."""
        text = "".join(self._parts)
        if not text.strip():
            raise EmptyDocumentError(
                "the file contains no text", hint="check that it is the right file and was saved completely"
            )
        known = self.metadata
        self.note("invisible characters left out: {n}", self._unseen)
        title = known.title
        if title is None and self.titled and self._sections and self._sections[0][1] < _TITLE_WITHIN:
            title = Found(value=self._sections[0][0][-1], origin="first heading")
        return Document(
            document_id=document_id,
            version=hash_bytes(data),
            text=text,
            text_hash=hash_text(text),
            reader=reader,
            media_type=media_type,
            uri=uri,
            title=title,
            author=known.author,
            language=known.language or language(text),
            **dates_of(known, text, title.value if title else ""),
            replaces=known.replaces,
            sections=closed_sections(self._sections, self._length),
            tables=tuple(self._tables),
            notes=tuple(text.replace("{n}", str(count)) for text, count in self._noted.items()),
            headers=self.headers,
            tags=self.tags,
        )

    def _row(self, cells: list[str], heads: list[str], body: bool, *, reached: bool) -> Row | None:
        """Writes a row; None for a row of heads. ``reached``: the first cell above extends into it."""
        cells = cells[: next((at for at in range(len(cells), 0, -1) if cells[at - 1]), 0)]
        base, found, at = self._length, [], 0
        for column, cell in enumerate(cells):
            if column and cell:
                head = heads[column] if column < len(heads) else ""
                found.append(Cell(start=base + at, end=base + at + len(cell), head=head))
            at += len(cell) + 1
        line = "\t".join(cells)
        lead = len(line) - len(line.lstrip())
        self._write(line)
        if not body:
            self._label, self._label_start = "", -1
            return None
        if not reached:
            self._label, self._label_start = cells[0], base
        group = " \u203a ".join(self._group) if found else ""
        if cells[0] and not found:
            self._group = [*(self._group if self._opened else ()), self._name(cells[0])][-_GROUPS:]
        self._opened = not found
        return Row(
            start=base + lead,
            end=base + len(line),
            label=self._name(self._label) if reached else self._label,
            cells=tuple(found),
            group=group,
            label_start=self._label_start if reached and self._label else -1,
        )

    def _name(self, text: str) -> str:
        """The text as it is repeated."""
        cut = f"headings and labels cut to {NAME_LIMIT} characters where they are repeated: {{n}}"
        self.note(cut, len(text) > NAME_LIMIT)
        return text[:NAME_LIMIT].rstrip()

    def _write(self, line: str) -> None:
        self._parts.append(line + "\n")
        self._length += len(line) + 1
        self._before_table = ""

    def _clean(self, text: str) -> str:
        self._count_unseen(text)
        return clean(text)

    def _count_unseen(self, text: str) -> None:
        if not text.isascii() or not text.isprintable():
            self._unseen += len(_UNSEEN.findall(text))


def closed_sections(opened: Sequence[tuple[tuple[str, ...], int]], length: int) -> tuple[Section, ...]:
    """Sections from (path, start) pairs: each lasts until the next one that is not nested in it."""
    ends = [length] * len(opened)
    waiting: list[int] = []
    for position, (path, start) in enumerate(opened):
        while waiting and len(opened[waiting[-1]][0]) >= len(path):
            ends[waiting.pop()] = start
        waiting.append(position)
    return tuple(
        Section(path=path, start=start, end=end) for (path, start), end in zip(opened, ends, strict=True)
    )


def find_units(text: str) -> str:
    """ "In millions, except per share data" from a title or head; "" if it names no scale."""
    match = _UNITS.search(text)
    return match.group(1).strip() if match else ""


def guess_head_rows(rows: Sequence[Sequence[str]]) -> int:
    """1 if the first row names columns: words or years over numbers, or short distinct words; else 0."""
    if len(rows) < 2:
        return 0
    first, body = rows[0], rows[1:51]
    filled = [cell for cell in first if cell]
    if not filled or any(_numeric(cell) for cell in filled):
        return 0
    if heads_numbers(rows):
        return 1
    width = max(len(row) for row in body)
    distinct = len(set(filled)) == len(filled) == width
    return int(distinct and width > 1 and all(len(c) <= 40 and not re.search(r"\d", c) for c in filled))


def heads_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has words or years, and no numbers, over columns of numbers."""
    if not rows or any(map(_numeric, rows[0])):
        return False
    return any(
        column < len(rows[0]) and rows[0][column].strip().casefold() not in _NO_VALUE
        for column in numeric_columns(rows[1:51])
    )


def numeric_columns(rows: Sequence[Sequence[str]]) -> set[int]:
    """The columns in which more than half of the filled cells are numbers."""
    cells: dict[int, list[bool]] = {}
    for row in rows:
        for column, cell in enumerate(row):
            if cell.strip():
                cells.setdefault(column, []).append(_numeric(cell))
    return {column for column, found in cells.items() if sum(found) * 2 > len(found)}


def _numeric(cell: str) -> bool:
    return bool(_NUMBER.match(cell)) and not _YEAR.match(cell)


def _unlabelled_rows(rows: Sequence[Sequence[str]], heads: int) -> int:
    """How many rows after the first ``heads`` are also heads: unlabelled, words or years over numbers."""
    labelled = next((place for place in range(heads, len(rows)) if rows[place][0]), heads)
    above = rows[heads:labelled]
    if not above or any(map(_numeric, chain.from_iterable(above))):
        return 0
    return len(above) if heads_numbers(rows[labelled - 1 :]) else 0

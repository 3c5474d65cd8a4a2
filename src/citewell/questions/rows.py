"""Rows of tables read one by one, each as a line of words.

In: what is wanted and passages. Out: the rows most likely to be about it, and each as text that a reader
of sentences understands ("uvicorn › Options", "--port: default: 8000; what it does: Bind ...") with the
place of every cell in it. A chunk of twenty settings says little about any of them, one row says one thing.
Where columns or rows are periods, exact match alone is trusted (``cells``). Knows nothing about models.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from citewell.core.records import Cell, Passage, Record, Row
from citewell.questions.cells import text_of, whole
from citewell.questions.keys import set_apart
from citewell.questions.line_items import label_words
from citewell.questions.parsing import Ask, ParsedQuestion
from citewell.questions.periods import periods_in

MOST_ROWS = 12
LEAST_WORDS, MOST_CHARACTERS = 3, 400
_INNER = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BETWEEN = re.compile(r"[_\W]+")


class RowText(Record, frozen=True, kw_only=True):
    """A row in words. ``cells`` are (start, end, cell) in ``text``."""

    passage: Passage
    row: Row
    text: str
    cells: tuple[tuple[int, int, Cell], ...]

    @property
    def says(self) -> bool:
        """Whether it is a statement by itself, a setting with its meaning, and not values under heads."""
        longest = max(len(self.text[left:right].split()) for left, right, _ in self.cells)
        return longest >= LEAST_WORDS and self.row.end - self.row.start <= MOST_CHARACTERS

    def cell_at(self, start: int, end: int) -> Cell | None:
        """The one cell that a span lies in; None for the label, for several, and for the lines above."""
        hit = [cell for left, right, cell in self.cells if start < right and left < end]
        return hit[0] if len(hit) == 1 and start >= self.cells[0][0] else None


def likely_rows(wanted: ParsedQuestion, passages: Sequence[Passage], most: int = MOST_ROWS) -> list[RowText]:
    """Rows that share words with the question and that no key sets apart from it, those that share most
    first; none where line items are asked
    for, which are found by exact match, or a reason, which no row gives."""
    asked = asked_words(wanted)
    if wanted.by_cell or wanted.ask is Ask.WHY or not asked:
        return []
    shared: list[tuple[int, Passage, Row]] = []
    for passage in passages:
        for row in passage.chunk.rows:
            if row.cells and whole(passage, row) and not _of_periods(row):
                said = f"{row.label} {text_of(passage, row.start, row.end)}"
                held = () if set_apart(wanted.question, passage, row) else asked.intersection(words_of(said))
                shared += [(len(held), passage, row)] if held else []
    shared.sort(key=lambda found: -found[0])
    return [row_text(passage, row) for _, passage, row in shared[:most]]


def row_text(passage: Passage, row: Row) -> RowText:
    """``row`` under the first line of its chunk's context, each cell behind its column head."""
    text = f"{passage.chunk.context.partition(chr(10))[0]}\n{row.label}"
    cells = []
    for cell in row.cells:
        head = " ".join(cell.head.split())
        text += (": " if cell is row.cells[0] else "; ") + (f"{head}: " if head else "")
        said = text_of(passage, cell.start, cell.end)
        cells.append((len(text), len(text) + len(said), cell))
        text += said
    return RowText(passage=passage, row=row, text=text, cells=tuple(cells))


def _of_periods(row: Row) -> bool:
    return any(periods_in(text) for text in (row.label, *(cell.head for cell in row.cells)))


def asked_words(wanted: ParsedQuestion) -> frozenset[str]:
    """Stems of what is asked, names and the parts of identifiers included."""
    return frozenset(words_of(" ".join((*wanted.terms, *wanted.names, *wanted.codes))))


def joined(parts: Sequence[str]) -> str:
    """A row as it is shown, "label: cell; cell"."""
    return ": ".join(part for part in (parts[0], "; ".join(parts[1:])) if part)


@lru_cache(maxsize=8192)
def words_of(text: str) -> tuple[str, ...]:
    """Stems, those of the parts of identifiers too: "RedisBucket" is itself, redis and bucket."""
    return label_words(_BETWEEN.sub(" ", f"{text} {_INNER.sub(' ', text)}"))

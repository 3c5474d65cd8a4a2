"""Answers in table rows: the row asked for, the column of the period asked for.

In: the parsed question and passages with rows. Out: :class:`CellAnswer` values, best first, with the places
of label and cell and a match score; the rows most likely to be about the question, each as a line of
text for models that read sentences; and which cells distinguish rows with the same label ("Europe | 2023 |
410", "Europe | 2024 | 455"). Values are never computed, converted or combined from different rows.
Independent of how an answer is worded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from citewell.core.records import Cell, Passage, Record, Row
from citewell.questions.naming import calendar, head_fit, of_the_named, own_periods
from citewell.questions.parsing import ParsedQuestion, QuestionKind, label_words
from citewell.questions.periods import MONTHS, Period, covers, periods_in

MIN_ROW_SCORE, MOST_ROWS = 0.6, 12
LEAST_WORDS, MOST_CHARACTERS = 3, 400
MOST_KEY = 60  # maximum characters of a cell that distinguishes rows

CHANGE_HEAD = re.compile(r"change|\bvs\.?\b|versus|variance|increase|decrease|growth|compared", re.I)
_LONGER = re.compile(r"\b(?:six|nine|twelve|full[- ]year|year[- ]to[- ]date|ytd|years? ended)\b", re.I)
_PERCENT = re.compile(r"%|percent|change|vs\.?", re.I)


class CellAnswer(Record, frozen=True, kw_only=True):
    """A value and its label. ``cell`` is None if the whole row is quoted.

    ``keys`` are other cells of the row that the question names, quoted with its label. ``score`` in [0, 1]
    orders answers; it is a product of match scores, not a probability. ``probability`` that it answers is
    set if an extractor selected it.
    """

    passage: Passage
    row: Row
    cell: Cell | None
    score: float
    probability: float | None = None
    keys: tuple[Cell, ...] = ()

    @property
    def key(self) -> tuple[str, int, int]:
        """Identifies the place in the document version, whichever chunk it was read from."""
        at = self.cell or self.row
        return (self.passage.chunk.document_version, at.start, at.end)


def text_of(passage: Passage, start: int, end: int) -> str:
    """The document's text at ``[start, end)``, read from the chunk that contains it."""
    base = passage.chunk.start_offset
    return passage.chunk.content[start - base : end - base]


def label_span(passage: Passage, row: Row) -> tuple[int, int]:
    """Span of the row's label: in a row above, or between the row's start and its first cell, without
    surrounding white space."""
    if row.label_start >= 0:
        return row.label_start, row.label_start + len(row.label)
    end = min((cell.start for cell in row.cells), default=row.end)
    text = text_of(passage, row.start, end)
    at = text.find(row.label)
    if row.label and at >= 0:
        return row.start + at, row.start + at + len(row.label)
    return row.start + len(text) - len(text.lstrip()), row.start + len(text.rstrip())


def whole(passage: Passage, row: Row) -> bool:
    """Whether the row and its label are inside the chunk, so that they can be quoted from it."""
    start = row.start if row.label_start < 0 else min(row.start, row.label_start)
    return passage.chunk.start_offset <= start and row.end <= passage.chunk.end_offset


def is_value(text: str) -> bool:
    """Whether a cell contains a number."""
    return any(map(str.isdecimal, text))


def row_forms(row: Row, quotes: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """Ways to write a row or some of its cells; ``quotes`` are (start, text) pairs. The first is
    "label – head: cell; head: cell", as a row is shown, the second "label, key: cell", as a value."""
    heads = {cell.start: " ".join(cell.head.split()) for cell in row.cells}
    parts = [text for _, text in quotes]
    plain = ": ".join(filter(None, (parts[0], "; ".join(parts[1:]))))
    value = ": ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    own = int(quotes[0][0] not in heads)  # the label comes first, if quoted
    named = [f"{heads[start]}: {text}" if heads.get(start) else text for start, text in quotes[own:]]
    whole = " – ".join(filter(None, (*parts[:own], "; ".join(named)))) if any(heads.values()) else plain
    return (whole, value, plain, *(joiner.join(parts) for joiner in (" … ", " ", "\t")))


def best_first(found: Iterable[CellAnswer]) -> list[CellAnswer]:
    """By score, each place once. Ties keep the order of the passages, which is best first."""
    once: dict[tuple[str, int, int], CellAnswer] = {}
    for answer in sorted(found, key=lambda answer: -round(answer.score, 6)):
        once.setdefault(answer.key, answer)
    return list(once.values())


def columns_of_period(
    passage: Passage, row: Row, period: Period | None, *, every: bool = False
) -> Iterator[tuple[Cell, float]]:
    """The values of ``row`` under a column of ``period``, and how well each fits; for None, the newest
    column, or with ``every`` all that have one period."""
    heads = Counter(cell.head for cell in row.cells if cell.head.strip())
    # Two values under one head: the document reader split or merged columns, so neither can be trusted.
    values = [
        cell
        for cell in row.cells
        if whole(passage, row) and heads[cell.head] < 2 and is_value(text_of(passage, cell.start, cell.end))
    ]
    if period is None and every:
        of_one = (cell for cell in values if len(periods_in(cell.head)) == 1)
        yield from ((cell, 0.8) for cell in of_one if not CHANGE_HEAD.search(cell.head))
        return
    if period is None:
        yield from _newest(values)
        return
    for cell in values:
        fit = column_fit(passage, cell, period)
        if fit > 0.0:
            yield cell, fit
    if len(values) == 1 and not values[0].head.strip():
        named = own_periods(passage.chunk)
        if any((found.year, found.quarter) == (period.year, period.quarter) for found in named):
            yield values[0], 0.7


def column_fit(passage: Passage, cell: Cell, asked: Period) -> float:
    """How well the column of ``cell`` matches the period asked for, by head or table, in [0, 1]."""
    return max(head_fit(cell.head, asked, calendar(passage.chunk)), _quarter_by_table(passage, cell, asked))


def _newest(values: Sequence[Cell]) -> Iterator[tuple[Cell, float]]:
    """Without a period asked for: the latest column; in a table without periods, only a single value."""
    dated = [
        (max((found.year, found.month or 12, found.months or 0) for found in periods_in(cell.head)), cell)
        for cell in values
        if periods_in(cell.head) and not _PERCENT.search(cell.head)
    ]
    if dated:
        latest = max(when for when, _ in dated)
        yield next(cell for when, cell in dated if when == latest), 0.8
    elif len(values) == 1:
        yield values[0], 0.8


def _quarter_by_table(passage: Passage, cell: Cell, asked: Period) -> float:
    """A bare "2023" in a document of the quarter asked for is the quarter's column."""
    named = periods_in(cell.head)
    if asked.quarter is None or len(named) != 1 or named[0].year != asked.year:
        return 0.0
    if named[0].month is not None or named[0].quarter is not None or CHANGE_HEAD.search(cell.head):
        return 0.0
    table = passage.chunk.context.partition("\n")[2] + " " + cell.head
    if _LONGER.search(table):
        return 0.0
    return 0.6 if any(found.quarter == asked.quarter for found in own_periods(passage.chunk)) else 0.0


# --- rows by their words --------------------------------------------------------------------------


def find_rows(wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[CellAnswer]:
    """Rows whose label has words of the question, for what is not a known line item; best first.

    If a period is asked for, the cell of its column; otherwise the cell whose head has words of the
    question, or the whole row.
    """
    if not wanted.terms:
        return []
    found: list[CellAnswer] = []
    for passage in of_the_named(wanted, passages):
        around = frozenset(label_words(passage.chunk.context.replace("\n", " ")))
        for row in passage.chunk.rows:
            of_period = _period_row(wanted, passage, row)
            score = _row_score(wanted, row, around, of_period)
            if score >= MIN_ROW_SCORE and whole(passage, row):
                fits = [(None, 1.0)] if of_period else _own_columns(passage, row, wanted)
                found += [
                    CellAnswer(passage=passage, row=row, cell=cell, score=score * fit)
                    for cell, fit in fits
                    if score * fit >= MIN_ROW_SCORE
                ]
    return best_first(found)


def _row_score(wanted: ParsedQuestion, row: Row, around: frozenset[str], of_period: bool) -> float:
    """Share of the question's words in the label and heads and, at lower weight, in the table's context.

    A row labelled with a period asked for is scored by its heads and context alone.
    """
    if not row.cells:
        return 0.0
    label = set(label_words(row.label))
    heads = {word for cell in row.cells for word in label_words(cell.head)}
    terms = wanted.terms
    in_label = sum(term in label for term in terms)
    in_heads = sum(term in heads and term not in label for term in terms)
    elsewhere = sum(term in around and term not in label and term not in heads for term in terms)
    if of_period:
        return (in_heads + 0.9 * elsewhere) / len(terms)
    if not in_label or not set(wanted.words) <= label | heads | around:
        return 0.0
    # A short label fully covered by the question matches it; a long one shares words with many questions.
    of_label = in_label / max(1, len([word for word in label if len(word) > 2]))
    return (in_label + in_heads + 0.6 * elsewhere) / len(terms) * (0.6 + 0.4 * min(1.0, of_label))


def _period_row(wanted: ParsedQuestion, passage: Passage, row: Row) -> bool:
    """Whether the row's label (or first cell, if the label is empty) is one of the periods asked for."""
    if not wanted.periods or not row.cells or not whole(passage, row):
        return False
    named = periods_in(row.label or text_of(passage, row.cells[0].start, row.cells[0].end))
    return len(named) == 1 and any(
        covers(named[0], asked, calendar(passage.chunk)) > 0.9 for asked in wanted.periods
    )


def _own_columns(passage: Passage, row: Row, wanted: ParsedQuestion) -> list[tuple[Cell | None, float]]:
    if wanted.periods:
        return [found for period in wanted.periods for found in columns_of_period(passage, row, period)]
    return [(cell, 1.0) for cell in named_columns(wanted, row)] or [(None, 0.9)]


def named_columns(wanted: ParsedQuestion, row: Row) -> list[Cell]:
    """The cells under the heads with most words of the question; [] if no head has one."""
    asked = set(wanted.terms)
    hits = [(len(asked.intersection(label_words(cell.head))), cell) for cell in row.cells]
    best = max((hit for hit, _ in hits), default=0)
    return [cell for hit, cell in hits if hit == best] if best else []


_INNER = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BETWEEN = re.compile(r"[_\W]+")


class RowText(Record, frozen=True, kw_only=True):
    """A row as text. ``cells`` are (start, end, cell) in ``text``."""

    passage: Passage
    row: Row
    text: str
    cells: tuple[tuple[int, int, Cell], ...]

    @property
    def says(self) -> bool:
        """Whether it is self-explanatory, like a setting with its meaning, rather than values under heads."""
        longest = max(len(self.text[left:right].split()) for left, right, _ in self.cells)
        return longest >= LEAST_WORDS and self.row.end - self.row.start <= MOST_CHARACTERS

    def cell_at(self, start: int, end: int) -> Cell | None:
        """The one cell that a span touches; None for the label, several cells, or the lines above."""
        hit = [cell for left, right, cell in self.cells if start < right and left < end]
        return hit[0] if len(hit) == 1 and start >= self.cells[0][0] else None


def likely_rows(wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[RowText]:
    """Rows that share words with the question and have no key for another row, most shared words first, at
    most MOST_ROWS; none for line items, which are found by exact match, or reasons, which rows do not
    give. Rows labelled with periods, or under them, are left to exact match."""
    asked = asked_words(wanted)
    if wanted.by_cell or wanted.ask is QuestionKind.WHY or not asked:
        return []
    shared: list[tuple[int, Passage, Row]] = []
    for passage in passages:
        for row in passage.chunk.rows:
            of_periods = any(periods_in(text) for text in (row.label, *(cell.head for cell in row.cells)))
            if row.cells and whole(passage, row) and not of_periods:
                said = f"{row.label} {text_of(passage, row.start, row.end)}"
                held = asked.intersection(label_stems(said))
                if held and not differing_cell(wanted.question, passage, row):
                    shared.append((len(held), passage, row))
    shared.sort(key=lambda found: -found[0])
    return [row_text(passage, row) for _, passage, row in shared[:MOST_ROWS]]


def row_text(passage: Passage, row: Row) -> RowText:
    """``row`` under the first line of its chunk's context, each cell after its column head."""
    text = f"{passage.chunk.context.partition(chr(10))[0]}\n{row.label}"
    cells = []
    for cell in row.cells:
        head = " ".join(cell.head.split())
        text += (": " if cell is row.cells[0] else "; ") + (f"{head}: " if head else "")
        said = text_of(passage, cell.start, cell.end)
        cells.append((len(text), len(text) + len(said), cell))
        text += said
    return RowText(passage=passage, row=row, text=text, cells=tuple(cells))


def asked_words(wanted: ParsedQuestion) -> frozenset[str]:
    """Stems of the question's words, including names and the parts of identifiers."""
    return frozenset(label_stems(" ".join((*wanted.terms, *wanted.names, *wanted.codes))))


@lru_cache(maxsize=8192)
def label_stems(text: str) -> tuple[str, ...]:
    """Stems, including those of the parts of identifiers: "RedisBucket" gives itself, redis and bucket."""
    return label_words(_BETWEEN.sub(" ", f"{text} {_INNER.sub(' ', text)}"))


# --- rows that share a label ----------------------------------------------------------------------

_MONTH = "|".join(rf"{name[:3].capitalize()}(?:{name[3:]}\b)?" for name in MONTHS)
_SORTS = tuple(
    re.compile(rf"(?<![\w.,])(?:{sort})(?![\w%]|[.,]\d)")
    for sort in (r"(?:FY ?)?(?:19|20)\d\d", r"[Qq][1-4]", _MONTH)
)
"""Sorts of period: years, quarters and months."""
_OF_TIME = re.compile(
    r"^\W*(?:(?:fiscal|calendar|financial|reporting)\s+)?(?:year|quarter|month|period|fy|qtr)\W*$", re.I
)
_WHEN = re.compile(r"\b(?:when|(?:what|which) (?:year|month|quarter|date))\b", re.I)
_WIDE = re.compile(
    r"\b(?:since|after|before|until|prior|previous|preceding|last|past|years|quarters|months|each|every|which"
    r"|average|mean|change[ds]?|growth|grow|grew|rise|rose|fell|fall|drop(?:ped)?|increased?|decreased?"
    r"|declined?|compared?|ratio|difference|than|most|least|highest|lowest)\b"
    r"|\b(?:from|between) (?:FY ?|Q)?\d|\d ?(?:to|through|[-\u2013\u2014]) ?(?:FY ?|Q)?\d",
    re.I,
)
"""Words with which a question may refer to more rows than the one it names."""


def named_cells(question: str, passage: Passage, row: Row) -> tuple[Cell, ...]:
    """The cells of ``row`` that ``question`` names and that distinguish it from rows with the same label."""
    return tuple(
        cell
        for cell in row.cells
        if _asked(question, said := _said(passage, cell))
        and any(_fold(said) != _fold(other) for other in _in_column(passage, row, cell))
    )


def differing_cell(question: str, passage: Passage, row: Row) -> str:
    """Text of the cell that shows ``row`` is not the one asked for, or "".

    Either no cell of the row is named, but a row with the same label has what the question names in the
    same column; or the cell is a period in a column of periods, and the question asks for another of that
    sort, and not when. Whole cells are compared, ignoring case.
    """
    if _WIDE.search(question):
        return ""
    own = {_fold(_said(passage, cell)) for cell in row.cells}
    told = any(_asked(question, said) for said in own)  # the question names a cell of this row
    asks_when = bool(_WHEN.search(question))
    for cell in row.cells:
        said = _said(passage, cell)
        if not said or _asked(question, said):
            continue
        beside = list(_in_column(passage, row, cell))
        another = not told and any(_asked(question, other) and _fold(other) not in own for other in beside)
        timed = (beside or _OF_TIME.match(cell.head)) and not asks_when
        if another or (timed and _other_period(question, passage, row, said)):
            return said
    return ""


def _in_column(passage: Passage, row: Row, cell: Cell) -> Iterator[str]:
    """Cells in the same column of other rows with the same label."""
    for other in passage.chunk.rows:
        if other is not row and row.label and other.label == row.label and whole(passage, other):
            yield from (_said(passage, each) for each in other.cells if each.head == cell.head)


def _said(passage: Passage, cell: Cell) -> str:
    said = text_of(passage, cell.start, cell.end).strip()
    return said if len(said) <= MOST_KEY else ""


def _asked(question: str, said: str) -> bool:
    """Whether the question contains the whole cell: words, or a period as written ("may" is not May)."""
    period = any(sort.fullmatch(said) for sort in _SORTS)
    held = rf"(?<![\w.,]){re.escape(said)}(?![\w%]|[.,]\d)"
    return (period or any(map(str.isalpha, said))) and bool(re.search(held, question, 0 if period else re.I))


def _other_period(question: str, passage: Passage, row: Row, said: str) -> bool:
    """Whether a cell is a period, and the question names one of the same sort that neither the row nor its
    heads have."""
    for sort in _SORTS:
        if sort.fullmatch(said):
            held = [row.label, *(_said(passage, cell) for cell in row.cells), *(c.head for c in row.cells)]
            asked = _periods(sort, question)
            return len(asked) == 1 and not asked & _periods(sort, "\n".join(held))
    return False


def _periods(sort: re.Pattern[str], text: str) -> set[str]:
    """The periods of one sort in ``text``: "2024" for "FY 2024", "feb" for "February"."""
    found = (match.group().casefold() for match in sort.finditer(text))
    return {name[-4:] if name[-4:].isdigit() else name[:3] for name in found}


def _fold(said: str) -> str:
    return " ".join(said.split()).casefold()

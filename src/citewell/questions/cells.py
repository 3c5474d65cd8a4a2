"""Answers that stand in table cells: the row that is asked for, the column of the asked period.

In: what is wanted and passages with rows. Out: :class:`CellAnswer` values, best first: where the
label and the cell stand, and how sure the match is. Values are never computed, converted or joined
from different rows. Knows nothing about how an answer is worded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from citewell.core.records import Cell, Passage, Record, Row
from citewell.questions.line_items import (
    ITEMS,
    LineItem,
    label_score,
    label_words,
    same_label,
    statements_in,
)
from citewell.questions.naming import calendar, head_fit, of_the_named
from citewell.questions.parsing import ParsedQuestion, operands, read_question
from citewell.questions.periods import Period, covers, periods_in

MIN_SCORE = 0.4
MIN_ROW_SCORE = 0.6
MAX_CELLS = 12
MAX_YEARS = 5

_VALUE = re.compile(r"\d")
_BAD_PLACE = re.compile(
    r"segment|pro[ -]?forma|parent company|quarterly (?:financial|results)|selected|"
    r"condensed consolidating|"
    r"guarantor|as a percent|percent of|% of|reconcil|hypothetical|discontinued",
    re.I,
)
_SUPERLATIVE = re.compile(
    r"\b(?:highest|lowest|largest|smallest|biggest|most|least|best|worst|greatest|top|more|less|fewest)\b",
    re.I,
)
_CHANGE_HEAD = re.compile(r"change|\bvs\.?\b|versus|variance|increase|decrease|growth|compared", re.I)
_LONGER = re.compile(r"\b(?:six|nine|twelve|full[- ]year|year[- ]to[- ]date|ytd|years? ended)\b", re.I)
_PERCENT_HEAD = re.compile(r"%|percent(?:age)?s?(?:\s+(?:to|of|change|increase|decrease)\b|\s*$)", re.I)
_PERCENT = re.compile(r"%|percent|change|vs\.?", re.I)

_DULL = frozenset(
    label_words(
        "year years ended month months three six nine twelve fiscal as of quarter week weeks for the end "
        "ending at period and millions thousands in total consolidated unaudited audited restated "
        "13 26 39 52 53"
    )
)


class CellAnswer(Record, frozen=True, kw_only=True):
    """A value and the label that says what it is. ``cell`` is None when the whole row is quoted.

    ``keys`` are other cells of the row that the question names, quoted with its label (see ``keys``).
    ``score`` in [0, 1] orders answers; it is a product of matches, not a probability. ``probability`` that it
    answers is set where an extractor pointed at it.
    """

    passage: Passage
    row: Row
    cell: Cell | None
    score: float
    item: str = ""
    period: str = ""
    probability: float | None = None
    keys: tuple[Cell, ...] = ()

    @property
    def key(self) -> tuple[str, int, int]:
        """The same place of the same document version, whichever chunk it was read from."""
        at = self.cell or self.row
        return (self.passage.chunk.document_version, at.start, at.end)


def find_item(
    wanted: ParsedQuestion,
    item: LineItem,
    period: Period | None,
    passages: Sequence[Passage],
    *,
    segments: bool = False,
) -> list[CellAnswer]:
    """Cells of rows labelled as ``item`` under a column of ``period``, best first.

    With ``segments`` a part's table is as good as the whole's, and so is each of its columns.
    """
    found: list[CellAnswer] = []
    for passage in of_the_named(wanted, passages):
        place = 1.0 if segments else _place(passage, item, wanted)
        for row in passage.chunk.rows:
            label = label_score(row.label, item)
            if label <= 0.0:
                continue
            for cell, fit in _columns(passage, row, period, wanted):
                if not segments and not _qualified(wanted, passage, row, cell):
                    continue
                extra = 1.0 if segments else _head_extra(cell.head, wanted, passage)
                score = label * place * fit * extra * _kind_fit(passage, cell, item)
                if score >= MIN_SCORE:
                    found.append(
                        CellAnswer(
                            passage=passage,
                            row=row,
                            cell=cell,
                            score=score,
                            item=item.name,
                            period=period.name if period else "",
                        )
                    )
    return _ordered(found)


def labelled_cells(label: str, period: Period, passages: Sequence[Passage]) -> list[CellAnswer]:
    """Cells of rows that are called ``label``, under a column of ``period``; none when they disagree."""
    wanted = read_question(label)
    found = [
        CellAnswer(
            passage=passage, row=row, cell=cell, score=same * fit, item=label, period=period.name
        )
        for passage in passages
        for row in passage.chunk.rows
        if (same := same_label(row.label, label))
        for cell, fit in _columns(passage, row, period, wanted)
    ]  # fmt: skip
    top = max((answer.score for answer in found), default=0.0)
    best = [answer for answer in _ordered(found) if answer.score >= top - 1e-9]
    values = {text_of(a.passage, a.cell.start, a.cell.end).strip("$ ") for a in best if a.cell}
    return best if len(values) == 1 else []


def statement_cells(wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[CellAnswer]:
    """The best cell for each asked line item and period; [] unless all are found (one, for "A or B").

    A part of what is asked is not an answer to it; split aspects ask for one item and period each.
    """
    found: list[CellAnswer] = []
    for name in operands(wanted):
        for period in wanted.periods or (None,):
            cells = find_item(wanted, ITEMS[name], period, passages)
            if not cells and not wanted.either:
                return []
            same = [cell for cell in cells if cell.row == cells[0].row] if wanted.every else cells[:1]
            found += same[:MAX_YEARS]
        if found and wanted.either:
            break
    return found[:MAX_CELLS]


def compared_cells(wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[CellAnswer]:
    """Which of several is the highest or lowest: the item's values in every column of the period.

    All that are compared are given, best table first; which is the extreme is the reader's to see.
    """
    if not wanted.items or not _SUPERLATIVE.search(wanted.question):
        return []
    item, period = ITEMS[wanted.items[0].name], next(iter(wanted.periods), None)
    by_table: dict[tuple[str, tuple[str, ...]], list[CellAnswer]] = {}
    for answer in find_item(wanted, item, period, passages, segments=True):
        chunk = answer.passage.chunk
        by_table.setdefault((chunk.document_version, chunk.section_path), []).append(answer)
    tables = [answers for answers in by_table.values() if len(answers) > 1]
    return max(tables, key=lambda answers: (len(answers), answers[0].score), default=[])


def find_rows(wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[CellAnswer]:
    """Rows whose label has the question's own words, for what no line item names; best first.

    With an asked period the cell of its column; otherwise the cell whose head has asked words, or
    the whole row.
    """
    if not wanted.terms:
        return []
    found: list[CellAnswer] = []
    for passage in of_the_named(wanted, passages):
        around = frozenset(label_words(passage.chunk.context.replace("\n", " ")))
        for row in passage.chunk.rows:
            score = _row_score(wanted, passage, row, around)
            if score < MIN_ROW_SCORE:
                continue
            for cell, fit in _own_columns(passage, row, wanted):
                if score * fit >= MIN_ROW_SCORE:
                    found.append(CellAnswer(passage=passage, row=row, cell=cell, score=score * fit))
    return _ordered(found)


def text_of(passage: Passage, start: int, end: int) -> str:
    """The document's text at ``[start, end)``, read from the chunk that holds it."""
    base = passage.chunk.start_offset
    return passage.chunk.content[start - base : end - base]


def label_span(passage: Passage, row: Row) -> tuple[int, int]:
    """Where the row's label stands: in a row above, or from the row's start to its first cell, white space
    cut."""
    if row.label_start >= 0:
        return row.label_start, row.label_start + len(row.label)
    end = min((cell.start for cell in row.cells), default=row.end)
    text = text_of(passage, row.start, end)
    at = text.find(row.label)
    if row.label and at >= 0:
        return row.start + at, row.start + at + len(row.label)
    return row.start + len(text) - len(text.lstrip()), row.start + len(text.rstrip())


def whole(passage: Passage, row: Row) -> bool:
    """Whether the row and its label lie inside the chunk, so that they can be quoted from it."""
    start = row.start if row.label_start < 0 else min(row.start, row.label_start)
    return passage.chunk.start_offset <= start and row.end <= passage.chunk.end_offset


def is_value(text: str) -> bool:
    """Whether a cell holds a number."""
    return bool(_VALUE.search(text))


def _ordered(found: list[CellAnswer]) -> list[CellAnswer]:
    # Python's sort is stable: equal scores keep the passages' order, which is best first.
    ordered = sorted(found, key=lambda answer: -round(answer.score, 6))
    once: dict[tuple[str, int, int], CellAnswer] = {}
    for answer in ordered:
        once.setdefault(answer.key, answer)
    return list(once.values())


def _qualified(wanted: ParsedQuestion, passage: Passage, row: Row, cell: Cell) -> bool:
    """Words asked beside the item ("deferred", "domestic") must stand by the value, or it is another."""
    if not wanted.words or not wanted.by_cell:
        return True
    chunk = passage.chunk
    around = f"{row.label} {cell.head} {chunk.context} {' '.join(chunk.section_path)}".replace("\n", " ")
    return set(wanted.words) <= set(label_words(around))


def _place(passage: Passage, item: LineItem, wanted: ParsedQuestion) -> float:
    """How fitting the table is: the statement that is asked for, or where the item is at home."""
    chunk = passage.chunk
    title = chunk.context + "\n" + " › ".join(chunk.section_path)
    named = statements_in(title)
    asked = wanted.statements or (item.statement,)
    fit = 1.0 if any(kind in named for kind in asked) else 0.75 if named else 0.85
    if _BAD_PLACE.search(title) and not _BAD_PLACE.search(wanted.question):
        fit *= 0.75
    return fit


def _columns(
    passage: Passage, row: Row, period: Period | None, wanted: ParsedQuestion
) -> Iterator[tuple[Cell, float]]:
    heads = Counter(cell.head for cell in row.cells if cell.head.strip())
    # Two values under one head: the reader split or merged a column, and neither can be trusted.
    values = [
        cell
        for cell in row.cells
        if whole(passage, row) and heads[cell.head] < 2 and is_value(text_of(passage, cell.start, cell.end))
    ]
    if period is None and wanted.every:
        named = [(cell, periods_in(cell.head)) for cell in values]
        yield from ((c, 0.8) for c, found in named if len(found) == 1 and not _CHANGE_HEAD.search(c.head))
        return
    if period is None:
        yield from _newest(values)
        return
    known = calendar(passage.chunk)
    for cell in values:
        fit = max(head_fit(cell.head, period, known), quarter_by_table(passage, cell, period))
        if fit > 0.0:
            yield cell, fit
    if len(values) == 1 and not values[0].head.strip() and _document_is_of(passage, period):
        yield values[0], 0.7


def _newest(values: Sequence[Cell]) -> Iterator[tuple[Cell, float]]:
    """No period asked: the column of the latest one; a table without periods only when one value stands."""
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


def quarter_by_table(passage: Passage, cell: Cell, asked: Period) -> float:
    """A bare "2023" under a quarter's table, or in a document of that quarter, is the quarter's column."""
    named = periods_in(cell.head)
    if asked.quarter is None or len(named) != 1 or named[0].year != asked.year:
        return 0.0
    if named[0].month is not None or named[0].quarter is not None or _CHANGE_HEAD.search(cell.head):
        return 0.0
    table = passage.chunk.context.partition("\n")[2] + " " + cell.head
    if _LONGER.search(table):
        return 0.0
    of_quarter = any(
        found.quarter == asked.quarter
        for found in periods_in(f"{passage.chunk.document_id} {passage.chunk.title}")
    )
    return 0.6 if of_quarter else 0.0


def _head_extra(head: str, wanted: ParsedQuestion, passage: Passage) -> float:
    """Words of a column head beside its period say whose column it is (a segment's, a change's)."""
    bare = head
    for found in reversed(periods_in(head)):
        bare = bare[: found.start] + " " + bare[found.end :]
    own = {*wanted.terms, *label_words(passage.chunk.title)}
    extra = [word for word in label_words(bare) if word not in _DULL and word not in own]
    return max(0.6, 1.0 - 0.08 * len(extra))


def _kind_fit(passage: Passage, cell: Cell, item: LineItem) -> float:
    """An amount is not a percentage and the other way round."""
    percent = "%" in text_of(passage, cell.start, min(cell.end + 2, passage.chunk.end_offset))
    percent = percent or bool(_PERCENT_HEAD.search(cell.head))
    rate = "rate" in item.name
    return 1.0 if percent == rate or (rate and not percent) else 0.3


def _document_is_of(passage: Passage, period: Period) -> bool:
    named = periods_in(f"{passage.chunk.document_id} {passage.chunk.title}")
    return any((found.year, found.quarter) == (period.year, period.quarter) for found in named)


def _row_score(wanted: ParsedQuestion, passage: Passage, row: Row, around: frozenset[str]) -> float:
    """Share of the asked words in the label, then in the heads and the table's context at less weight.

    A row labelled with an asked period is found by its heads and context alone.
    """
    if not row.cells:
        return 0.0
    label = set(label_words(row.label))
    heads = {word for cell in row.cells for word in label_words(cell.head)}
    terms = wanted.terms
    in_label = sum(term in label for term in terms)
    in_heads = sum(term in heads and term not in label for term in terms)
    elsewhere = sum(term in around and term not in label and term not in heads for term in terms)
    if _period_row(wanted, passage, row):
        return (in_heads + 0.9 * elsewhere) / len(terms)
    if not in_label or not set(wanted.words) <= label | heads | around:
        return 0.0
    # A short label that is wholly asked for is the thing; a long one shares words with many questions.
    of_label = in_label / max(1, len([word for word in label if len(word) > 2]))
    return (in_label + in_heads + 0.6 * elsewhere) / len(terms) * (0.6 + 0.4 * min(1.0, of_label))


def _period_row(wanted: ParsedQuestion, passage: Passage, row: Row) -> bool:
    """Whether the row's label (or first cell, where the label is empty) is one of the asked periods."""
    if not wanted.periods or not whole(passage, row):
        return False
    label = row.label or text_of(passage, row.cells[0].start, row.cells[0].end)
    named = periods_in(label)
    return len(named) == 1 and any(
        covers(named[0], asked, calendar(passage.chunk)) > 0.9 for asked in wanted.periods
    )


def _own_columns(passage: Passage, row: Row, wanted: ParsedQuestion) -> Iterator[tuple[Cell | None, float]]:
    if not whole(passage, row):
        return
    if _period_row(wanted, passage, row):
        yield None, 1.0
        return
    if wanted.periods:
        for period in wanted.periods:
            yield from ((cell, fit) for cell, fit in _columns(passage, row, period, wanted))
        return
    asked = set(wanted.terms)
    hits = [(sum(word in asked for word in set(label_words(cell.head))), cell) for cell in row.cells]
    best = max((hit for hit, _ in hits), default=0)
    if best:
        yield from ((cell, 1.0) for hit, cell in hits if hit == best)
    else:
        yield None, 0.9

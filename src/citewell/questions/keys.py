"""Rows that share a label, told apart by their other cells: "Europe | 2023 | 410", "Europe | 2024 | 455".

In: a question and a row of a passage. Out: the cells of the row that the question names, to be quoted with
its label, and whether a cell sets the row apart from what is asked. A cell does where no cell of its row is
named, and a row of the same label has what the question names in the same column; or where it is a period, in
a column of them, and the question asks for another of that sort, and not when. Whole cells are compared, in
any case; knows nothing about which column holds the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from citewell.core.records import Cell, Passage, Row
from citewell.questions.cells import text_of, whole
from citewell.questions.periods import MONTHS

MOST_CHARACTERS = 60  # of a cell that tells rows apart
_MONTH = "|".join(rf"{name[:3].capitalize()}(?:{name[3:]}\b)?" for name in MONTHS)
_SORTS = tuple(
    re.compile(rf"(?<![\w.,])(?:{sort})(?![\w%]|[.,]\d)")
    for sort in (r"(?:FY ?)?(?:19|20)\d\d", r"[Qq][1-4]", _MONTH)
)
"""Years, quarters and months, each a sort of period."""
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
"""With these a question may mean more rows than the one that it names."""


def named_cells(question: str, passage: Passage, row: Row) -> tuple[Cell, ...]:
    """The cells of ``row`` that ``question`` names and that tell it from other rows of its label."""
    return tuple(
        cell
        for cell in row.cells
        if _asked(question, said := _said(passage, cell))
        and any(_fold(said) != _fold(other) for other in _beside(passage, row, cell))
    )


def set_apart(question: str, passage: Passage, row: Row) -> str:
    """The cell that makes ``row`` another than the one asked for, as it is written, or ""."""
    if _WIDE.search(question):
        return ""
    own = {_fold(_said(passage, cell)) for cell in row.cells}
    told = any(_asked(question, said) for said in own)  # another cell of it is what the question names
    asks_when = bool(_WHEN.search(question))
    for cell in row.cells:
        said = _said(passage, cell)
        if not said or _asked(question, said):
            continue
        beside = list(_beside(passage, row, cell))
        another = not told and any(_asked(question, other) and _fold(other) not in own for other in beside)
        timed = (beside or _OF_TIME.match(cell.head)) and not asks_when
        if another or (timed and _other_period(question, passage, row, said)):
            return said
    return ""


def _beside(passage: Passage, row: Row, cell: Cell) -> Iterator[str]:
    """What rows of the same label have in the same column."""
    for other in passage.chunk.rows:
        if other is not row and row.label and other.label == row.label and whole(passage, other):
            yield from (_said(passage, each) for each in other.cells if each.head == cell.head)


def _said(passage: Passage, cell: Cell) -> str:
    said = text_of(passage, cell.start, cell.end).strip()
    return said if len(said) <= MOST_CHARACTERS else ""


def _asked(question: str, said: str) -> bool:
    """Whether the question holds a whole cell: words, or a period as it is written ("may" is not May)."""
    period = any(sort.fullmatch(said) for sort in _SORTS)
    held = rf"(?<![\w.,]){re.escape(said)}(?![\w%]|[.,]\d)"
    return (period or any(map(str.isalpha, said))) and bool(re.search(held, question, 0 if period else re.I))


def _other_period(question: str, passage: Passage, row: Row, said: str) -> bool:
    """Whether a cell is one period, and the question names one of its sort that neither the row nor its heads
    have."""
    for sort in _SORTS:
        if sort.fullmatch(said):
            held = [row.label, *(_said(passage, cell) for cell in row.cells), *(c.head for c in row.cells)]
            asked = _periods(sort, question)
            return len(asked) == 1 and not asked & _periods(sort, "\n".join(held))
    return False


def _periods(sort: re.Pattern[str], text: str) -> set[str]:
    """The periods of one sort in ``text``: "2024" of "FY 2024", "feb" of "February"."""
    found = (match.group().casefold() for match in sort.finditer(text))
    return {name[-4:] if name[-4:].isdigit() else name[:3] for name in found}


def _fold(said: str) -> str:
    return " ".join(said.split()).casefold()

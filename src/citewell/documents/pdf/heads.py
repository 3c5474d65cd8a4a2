"""Column heads: which words above a table belong to which of its columns.

In: the pieces of the head lines and the columns of figures. Out: one text for each column, the lines
joined from top to bottom ("Year Ended December 31," over "2018" -> "Year Ended December 31, 2018").
Knows nothing about rows or documents.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from citewell.documents.pdf.cells import YEAR, Piece
from citewell.documents.pdf.layout import Line

_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
)
PERIOD = re.compile(
    rf"\b(?:years?|months?|weeks?|quarters?|fiscal|ended|ending|as of|at|{_MONTH} \d{{1,2}}),?", re.IGNORECASE
)
_DATE_PART = re.compile(
    rf"(?:{_MONTH} ?\d{{0,2}},? ?(?:(?:19|20)\d{{2}})?|(?:fiscal |fy ?)?(?:19|20)\d{{2}}|\(?(?:un)?audited\)?|"
    rf"\(?as (?:restated|adjusted|revised|reported)\)?|change|% ?change|\$ ?change|total|q[1-4]|[1-4]q\d*|"
    rf"(?:first|second|third|fourth) quarter|\(?in (?:millions|thousands|billions)[^)]*\)?|variance|"
    rf"\d{{1,2}}/\d{{1,2}}/\d{{2,4}}|"
    rf"(?:for )?(?:the )?(?:fiscal )?(?:years?|(?:three|six|nine|twelve|\d+) (?:months?|weeks?)|quarters?) ended.*|"
    rf"(?:as )?(?:of|at) {_MONTH}.*)",
    re.IGNORECASE,
)
_UNCOVERED = 12.0


class Column(NamedTuple):
    """The horizontal extent of a column's figures, in points."""

    x0: float
    x1: float


def is_head_line(line: Line, pieces: list[Piece]) -> bool:
    """Years, dates and period words only, besides at most one stub: the top of a table's columns."""
    if not pieces:
        return False
    dated = [piece for piece in pieces if _DATE_PART.fullmatch(piece.text)]
    years = [piece for piece in pieces if YEAR.fullmatch(piece.text)]
    numbers = [piece for piece in pieces if piece.number]
    if len(dated) == len(pieces):
        return len(pieces) >= 2 and bool(years or not numbers)
    if len(years) >= 2 and len(years) == len(numbers):
        return True
    return len(dated) >= 2 and len(dated) == len(pieces) - 1 and pieces[0] not in dated and not numbers


def column_heads(lines: list[list[Piece]], columns: list[Column]) -> tuple[str, ...]:
    """One head a column, "" where nothing stands above it."""
    parts: list[list[str]] = [[] for _ in columns]
    zone = columns[0].x0
    for pieces in lines:
        over = [piece for piece in pieces if piece.x1 > zone + 1]
        for piece, (first, last) in zip(over, _spans(over, columns), strict=True):
            for index in range(first, last + 1):
                parts[index].append(piece.text)
    return tuple(" ".join(part) for part in parts)


def stub_prefix(stub: list[str], heads: tuple[str, ...]) -> tuple[str, ...]:
    """ "Year Ended December 31," printed over the labels completes heads that are bare years."""
    for text in stub:
        words = re.sub(r"\([^()]*\)", "", text).strip()
        if not words or not PERIOD.search(words) or len(words) > 60:
            continue
        if any(YEAR.fullmatch(head) for head in heads):
            return tuple(f"{words} {head}" if YEAR.fullmatch(head) else head for head in heads)
    return heads


def _spans(pieces: list[Piece], columns: list[Column]) -> list[tuple[int, int]]:
    """For each head, left to right, the first and last column under it: the division whose middles
    lie nearest the middles of the heads. (0, -1) means none."""
    count = len(columns)
    if len(pieces) == count:
        return [(index, index) for index in range(count)]
    if len(pieces) > count:
        return [_nearest(piece, columns) for piece in pieces]

    @lru_cache(maxsize=None)
    def best(which: int, start: int) -> tuple[float, tuple[tuple[int, int], ...]]:
        if which == len(pieces):
            return _UNCOVERED * (count - start), ()
        piece = pieces[which]
        middle = (piece.x0 + piece.x1) / 2
        choice: tuple[float, tuple[tuple[int, int], ...]] = (float("inf"), ())
        rest = len(pieces) - which - 1
        for first in range(start, count - rest):
            for last in range(first, count - rest):
                across = (columns[first].x0 + columns[last].x1) / 2
                cost, spans = best(which + 1, last + 1)
                cost += abs(across - middle) + _UNCOVERED * (first - start)
                # A head wider than one column but narrower than what it would span is usual; the other
                # way round it must overlap what it heads.
                if piece.x1 < columns[first].x0 - 30 or piece.x0 > columns[last].x1 + 30:
                    cost += 200
                if cost < choice[0]:
                    choice = cost, ((first, last), *spans)
        return choice

    return list(best(0, 0)[1])


def _nearest(piece: Piece, columns: list[Column]) -> tuple[int, int]:
    middle = (piece.x0 + piece.x1) / 2
    index = min(range(len(columns)), key=lambda i: abs((columns[i].x0 + columns[i].x1) / 2 - middle))
    return index, index

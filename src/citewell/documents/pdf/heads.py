"""Column heads: which words above a table belong to which of its columns; and the types of a page's tables.

In: the pieces of the head lines and the columns of figures. Out: one text per column, the lines joined from
top to bottom ("Year Ended December 31," over "2018" -> "Year Ended December 31, 2018"). :class:`DraftTable`
is made by :mod:`.tables` and written into the text by :mod:`.writing`. Knows nothing about rows or documents.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import NamedTuple

from citewell.documents.metadata import MONTH
from citewell.documents.pdf.cells import MARKS, YEAR, LineCell
from citewell.documents.pdf.layout import VisualLine

_MONTH = rf"(?:{MONTH})\.?"
PERIOD = re.compile(
    rf"\b(?:years?|months?|weeks?|quarters?|fiscal|ended|ending|as of|at|{_MONTH} \d{{1,2}}),?", re.I
)
_DATE_PART = re.compile(
    rf"(?:{_MONTH} ?\d{{0,2}},? ?(?:(?:19|20)\d{{2}})?|(?:fiscal |fy ?)?(?:19|20)\d{{2}}{MARKS}|"
    rf"\(?(?:un)?audited\)?|"
    rf"\(?as (?:restated|adjusted|revised|reported)\)?|change|% ?change|\$ ?change|total|q[1-4]|[1-4]q\d*|"
    rf"(?:first|second|third|fourth) quarter|\(?in (?:millions|thousands|billions)[^)]*\)?|variance|"
    rf"\d{{1,2}}/\d{{1,2}}/\d{{2,4}}|"
    rf"(?:for )?(?:the )?(?:fiscal )?(?:years?|quarters?|(?:three|six|nine|twelve|\d+) (?:months?|weeks?))"
    rf" ended.*|"
    rf"(?:as )?(?:of|at) {_MONTH}.*)",
    re.I,
)
_ASIDE = re.compile(r"\(?(?:un)?audited\)?", re.I)
_BARE_YEAR = re.compile(rf"((?:(?!\b(?:{_MONTH}|ended|fiscal|year)\b).)*?)\b((?:19|20)\d{{2}})", re.I)
_ANY_YEAR = re.compile(r"\b(?:19|20)\d{2}")


class Column(NamedTuple):
    """The horizontal extent of a column's figures, in points."""

    x0: float
    x1: float


Span = tuple[int, int]
"""The first and the last of the columns under a head."""
Rules = tuple[tuple[float, float], ...]
"""The extents of the rules under a line, in points."""


def is_head_line(pieces: list[LineCell]) -> bool:
    """Whether a line has only years, dates and period words, plus at most one stub: the top of columns."""
    if not pieces:
        return False
    dated = [piece for piece in pieces if _DATE_PART.fullmatch(piece.text)]
    years = [piece for piece in pieces if YEAR.fullmatch(piece.text)]
    numbers = [piece for piece in pieces if piece.number]
    if len(dated) == len(pieces):
        return len(pieces) >= 2 and bool(years or not numbers)
    if numbers and len(years) == len(numbers):
        return len(years) >= 2 or all(
            piece in dated or piece.text.startswith("(") for piece in pieces if not piece.number
        )
    return len(dated) >= 2 and len(dated) == len(pieces) - 1 and pieces[0] not in dated and not numbers


def column_heads(
    lines: list[tuple[VisualLine, list[LineCell]]], columns: list[Column], zone: float
) -> tuple[str, ...]:
    """One head per column, "" if there is nothing above it; ``zone`` as in :func:`stands_over`.

    Read upwards, because the heads below a line show what it spans.
    """
    heads = [""] * len(columns)
    for level, (line, pieces) in enumerate(reversed(lines)):
        over = [piece for piece in pieces if stands_over(piece, zone)]
        if len(over) == 1 and len(columns) > 1 and _ASIDE.fullmatch(over[0].text):
            continue
        spans = _repeated(over, columns, heads) or _shared_out(over, columns, heads, line.ruled)
        spans = spans or _spans(over, columns, line.ruled, top=level == len(lines) - 1)
        for piece, (first, last) in zip(over, spans, strict=True):
            for index in range(first, last + 1):
                heads[index] = f"{piece.text} {heads[index]}".strip()
    return tuple(heads)


def stands_over(piece: LineCell, zone: float) -> bool:
    """Whether a piece above a table heads figures; ``zone`` is where their columns begin, points."""
    return _centre(piece) > zone + 1


def _repeated(pieces: list[LineCell], columns: list[Column], below: list[str]) -> list[Span]:
    """ "2021", "2020", "2019" over "Shares Amount" three times: each heads one repetition."""
    if len(pieces) < 2 or len(columns) % len(pieces) or len(columns) == len(pieces) or not all(below):
        return []
    width = len(columns) // len(pieces)
    if any(below[index] != below[index % width] for index in range(len(columns))):
        return []
    spans = [(start, start + width - 1) for start in range(0, len(columns), width)]
    for piece, (first, last) in zip(pieces, spans, strict=True):
        x0, x1 = columns[first].x0, columns[last].x1
        dated = _DATE_PART.fullmatch(piece.text) or PERIOD.search(piece.text)
        if abs(_centre(piece) - (x0 + x1) / 2) > ((x1 - x0) / 2 + 25 if dated else 8):
            return []
    return spans


def _shared_out(pieces: list[LineCell], columns: list[Column], below: list[str], ruled: Rules) -> list[Span]:
    """Assigns each column to the nearest head above it, if every head is then centred over its columns."""
    if not 2 <= len(pieces) < len(columns) or not all(below) or len(ruled) >= len(pieces):
        return []
    nearest = [
        min(range(len(pieces)), key=lambda at: abs(_centre(pieces[at]) - _middle(columns, index)))
        for index in range(len(columns))
    ]
    if nearest != sorted(nearest) or set(nearest) != set(range(len(pieces))):
        return []
    spans = [(nearest.index(at), len(nearest) - 1 - nearest[::-1].index(at)) for at in range(len(pieces))]
    for piece, (first, last) in zip(pieces, spans, strict=True):
        x0, x1 = columns[first].x0, columns[last].x1
        if abs((x0 + x1) / 2 - _centre(piece)) > min(15.0, 0.25 * (x1 - x0) + 5):
            return []
    return spans


def stub_prefix(stub: list[str], heads: tuple[str, ...]) -> tuple[str, ...]:
    """ "Year Ended December 31," above the labels completes heads that are bare years."""
    for text in stub:
        words = re.sub(r"\([^()]*\)", "", text).strip()
        if not words or not PERIOD.search(words) or len(words) > 60:
            continue
        if any(_BARE_YEAR.fullmatch(head) for head in heads):
            words = words.replace("\\", r"\\")
            return tuple(_ANY_YEAR.sub(rf"{words} \g<0>", head) for head in heads)
    return heads


def _spans(pieces: list[LineCell], columns: list[Column], ruled: Rules, top: bool) -> list[Span]:
    """For each head, left to right, the first and last column under it.

    A rule drawn under a head shows its span exactly. Without one, a head within one column's place heads that
    column; a wider one spans the columns whose common middle is nearest to its own and that no neighbour
    claims.
    """
    if len(pieces) == len(columns):
        return [(index, index) for index in range(len(columns))]
    places = _places(columns)
    spans = [
        _by_rule(piece, columns, ruled) or (None if _is_wide(piece, places) else _nearest(piece, columns))
        for piece in pieces
    ]
    for index, piece in enumerate(pieces):
        if spans[index] is not None:
            continue
        taken = [span for span in spans if span is not None]
        low = max((last + 1 for _, last in taken if _middle(columns, last) < _centre(piece)), default=0)
        high = min(
            (first - 1 for first, _ in taken if _middle(columns, first) > _centre(piece)),
            default=len(columns) - 1,
        )
        rivals = [other for at, other in enumerate(pieces) if spans[at] is None and at != index]
        spans[index] = _best_span(piece, columns, low, high, rivals, top)
    return [span for span in spans if span is not None]


def _by_rule(piece: LineCell, columns: list[Column], ruled: Rules) -> Span | None:
    for x0, x1 in ruled:
        if x1 - x0 < piece.x1 - piece.x0 - 4:
            continue  # shorter than the words above it: not their rule
        if x0 - 3 <= _centre(piece) <= x1 + 3 and abs((x0 + x1) / 2 - _centre(piece)) < 0.2 * (x1 - x0) + 3:
            under = [i for i in range(len(columns)) if x0 - 4 <= _middle(columns, i) <= x1 + 4]
            if under:
                return under[0], under[-1]
    return None


def _places(columns: list[Column]) -> list[tuple[float, float]]:
    """Each column with half of the white space to its neighbours."""
    borders = [(a.x1 + b.x0) / 2 for a, b in itertools.pairwise(columns)]
    left = columns[0].x0 - 30
    right = columns[-1].x1 + 30
    return list(itertools.pairwise([left, *borders, right]))


def _is_wide(piece: LineCell, places: list[tuple[float, float]]) -> bool:
    if len(places) == 1:
        return False
    return not any(x0 - 4 <= piece.x0 and piece.x1 <= x1 + 4 for x0, x1 in places)


def _best_span(
    piece: LineCell, columns: list[Column], low: int, high: int, rivals: list[LineCell], top: bool
) -> Span:
    # Among spans with nearly the same middle, the topmost head takes the widest.
    bonus = 0.7 if top else 0.0
    choice, least = _nearest(piece, columns), float("inf")
    for first in range(low, high + 1):
        for last in range(first, high + 1):
            x0, x1 = columns[first].x0, columns[last].x1
            if any(x0 < _centre(rival) < x1 for rival in rivals):
                continue
            if not (x0 - 20 < _centre(piece) < x1 + 20):
                continue
            cost = abs((x0 + x1) / 2 - _centre(piece)) - bonus * (last - first)
            if cost < least:
                choice, least = (first, last), cost
    return choice


def _nearest(piece: LineCell, columns: list[Column]) -> Span:
    index = min(range(len(columns)), key=lambda i: _distance(piece, columns[i]))
    return index, index


def _distance(piece: LineCell, column: Column) -> float:
    """Distance of a head from a column; heads are centred, left- or right-aligned, and the nearest counts."""
    shared = min(piece.x1, column.x1) - max(piece.x0, column.x0)
    off_centre = _centre(piece) - (column.x0 + column.x1) / 2
    apart = min(abs(piece.x0 - column.x0), abs(piece.x1 - column.x1), abs(off_centre))
    return apart + (0 if shared > 0 else 50 - shared)


def _centre(piece: LineCell) -> float:
    return (piece.x0 + piece.x1) / 2


def _middle(columns: list[Column], index: int) -> float:
    return (columns[index].x0 + columns[index].x1) / 2


@dataclass(frozen=True)
class DraftRow:
    """``labels``, the label's lines, are joined by spaces; ``cells`` pair each piece with its column."""

    labels: tuple[tuple[str, VisualLine], ...]
    cells: tuple[tuple[LineCell, int], ...]
    line: VisualLine
    x0: float
    group: str = ""

    @property
    def label(self) -> str:
        return " ".join(text for text, _ in self.labels)


@dataclass(frozen=True)
class DraftTable:
    """``before`` are the head lines, kept as separate lines; ``heads`` has one text per column."""

    before: tuple[VisualLine, ...]
    rows: tuple[DraftRow, ...]
    heads: tuple[str, ...]
    columns: tuple[Column, ...]
    title: str = ""
    units: str = ""


Block = VisualLine | DraftTable

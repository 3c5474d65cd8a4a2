"""Column heads of several lines, read downwards: "Three months ended June 30," over "2023" is one head.

In: the head rows of a table as cells, the first of each over the labels. Out: one head a column. Knows
nothing about what heads say.
"""

from __future__ import annotations

from collections.abc import Sequence


def joined_heads(rows: Sequence[Sequence[str]]) -> list[str]:
    """A head over others heads the columns that it spans, all of them where it stands alone. Where nobody can
    tell which it spans, each column's head holds all of them, so that none is taken for the whole of it."""
    width = max((len(row) for row in rows), default=0)
    levels = [*(_spread(row, width) for row in rows[:-1]), *rows[-1:]]
    columns = [[row[c] for row in levels if c < len(row) and row[c]] for c in range(width)]
    return [" ".join(dict.fromkeys(column)) for column in columns]


def _spread(row: Sequence[str], width: int) -> list[str]:
    """Each head over all the columns that it spans; a merged cell leaves the rest of them empty."""
    filled = [column for column in range(1, width) if column < len(row) and row[column]]
    spread = [*row, *[""] * (width - len(row))]
    if not filled or len(filled) == width - 1:
        return spread
    everything = " ".join(row[column] for column in filled)
    if len(filled) == 1:
        last_of_many = filled[0] == width - 1 > 2
        return spread if last_of_many else [spread[0], *[everything] * (width - 1)]
    if filled == list(range(1, len(filled) + 1)):  # two heads over four columns, set side by side
        return [spread[0], *[everything] * (width - 1)]
    spread[1 : filled[0]] = [everything] * (filled[0] - 1)
    for column in range(filled[0], width):
        spread[column] = spread[column] or spread[column - 1]
    return spread

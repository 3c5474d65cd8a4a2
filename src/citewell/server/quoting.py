"""Quoted words with what belongs to them in their document, so that a claim can be checked against them.

In: a document and the spans of a quote in it. Out: one text: sentences as they are quoted, table rows whole,
under their table's title, units and column heads, for a figure without its head says nothing of a year. Knows
nothing about claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from citewell.core.records import Document, Row, Table


def with_heads(document: Document, spans: Sequence[tuple[int, int]]) -> str:
    """``spans`` as half-open ranges of ``document.text``."""
    lines: list[str] = []
    rows: dict[int, tuple[Table, list[Row]]] = {}
    for start, end in spans:
        held = [(table, row) for table, row in _rows(document) if row.start < end and start < row.end]
        for table, row in held:
            known = rows.setdefault(table.start, (table, []))[1]
            known += [row] if row not in known else []
        if not held:
            lines.append(document.text[start:end])
    for table, found in rows.values():
        lines += [f"{table.title} ({table.units})" if table.units else table.title]
        heads = [cell.head for cell in max((row.cells for row in found), key=len, default=())]
        lines += ["\t".join(["", *heads])] if any(heads) else []
        lines += [document.text[row.start : row.end] for row in found]
    return "\n".join(line for line in lines if line.strip(" "))


def _rows(document: Document) -> Iterable[tuple[Table, Row]]:
    return ((table, row) for table in document.tables for row in table.rows if row.cells)

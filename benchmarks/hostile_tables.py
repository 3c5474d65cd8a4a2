"""Large tables in every format that has tables, in forms that make a careless reader slow.

In: a form and a size. Out: rows of cells with about that many characters, and the bytes of a file that holds
them as a table. Shared by ``tests/linear_time`` and ``benchmarks/linear_time.py``.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from xml.sax.saxutils import escape

from benchmarks.hostile_files import MAIL, lines_as_xlsx, rows_as_docx

Rows = Sequence[Sequence[str]]


def _until(size: int, rows: Iterator[Sequence[str]]) -> Rows:
    """The first of ``rows`` with about ``size`` characters in all, a separator for each cell included."""
    found: list[Sequence[str]] = []
    while size > 0:
        found.append(next(rows))
        size -= sum(len(cell) + 1 for cell in found[-1])
    return found


def _columns(width: int, lines: int) -> Rows:
    heads = [["item", *(f"{1900 + n % 200}" for n in range(width))]]
    return [
        *heads,
        *([f"item {line}", *(f"{n},{line % 10}00" for n in range(width))] for line in range(lines)),
    ]


def _again(*row: str) -> Callable[[int], Rows]:
    return lambda size: _until(size, (row for _ in count()))


FORMS: dict[str, Callable[[int], Rows]] = {
    "long": lambda size: [
        ["item", "2020", "%"],
        *_until(size, ([f"item {n}", f"{n},100", "5 %"] for n in count())),
    ],
    "wide": lambda size: _columns(min(size // 24, 1_500), max(3, size // 12_000)),
    "square": lambda size: _columns(math.isqrt(size // 6), math.isqrt(size // 6)),
    "short cells": _again("a", "1"),
    "labels alone": lambda size: _until(size, ([f"item {n}", "", ""] for n in count())),
    "values alone": lambda size: _until(size, (["", f"{n}", "5"] for n in count())),
    "groups": lambda size: _until(size, ([f"group {n}", ""] if n % 2 else ["item", "1"] for n in count())),
    "words": _again("some words", "other words", "more"),
    "long cells": _again("item", "words in a cell. " * 100, "1"),
    "one long cell": lambda size: [["item", "value"], ["item", "words in a cell. " * (size // 17)]],
    "rows of heads": lambda size: [*_again("", "a", "b")(size // 2), *_again("item", "1", "2")(size // 2)],
    "a diagonal": lambda size: [[*[""] * n, str(n)] for n in range(math.isqrt(2 * size))],
}


def _as_csv(rows: Rows) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def _as_html(rows: Rows) -> bytes:
    lines = ("<tr>" + "".join(f"<td>{escape(cell)}" for cell in row) for row in rows)
    return f"<!doctype html><html><body><table>{''.join(lines)}</table>".encode()


def _as_markdown(rows: Rows) -> bytes:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines[1:1] = ["|" + "---|" * len(rows[0])]
    return "\n".join(lines).encode()


def _as_mail(rows: Rows) -> bytes:
    return MAIL + b"MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n" + _as_html(rows)


WRITERS: dict[str, Callable[[Rows], bytes]] = {
    "csv": _as_csv,
    "html": _as_html,
    "md": _as_markdown,
    "eml": _as_mail,
    "docx": rows_as_docx,
    "xlsx": lambda rows: lines_as_xlsx("\n".join("\t".join(row) for row in rows)),
}

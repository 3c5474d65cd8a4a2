"""Refuses to start a new log silently in a home that already had one.

In: a home's folder, its keys folder and its log, a file or a database. Out: nothing, or a LogError that names
the remains of the old log. Knows nothing about entries.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from citewell.audit.database import Database
from citewell.audit.keys import NEXT, PUBLISHED, SIGNING
from citewell.core.errors import LogError

_HINT = (
    "restore the log from its backup, or start a new log in a new home (keep this one as evidence of what was"
    " there)"
)
_DOCUMENTS = "SELECT 1 FROM versions WHERE caller_supplied = 0 LIMIT 1"


def refuse_new_log(home: Path, log: Path, keys: Path, *, tables: Path) -> None:
    """Raises LogError for a missing or empty file ``log`` in a home that had one, as its keys, search tables
    or documents show."""
    empty = _first(log, "SELECT 1 FROM entries LIMIT 1") is None
    _refuse(home, str(log), keys, there=log.exists(), empty=empty, tables=tables)


def refuse_new_schema(home: Path, log: Database, keys: Path) -> None:
    """As :func:`refuse_new_log`, for a log in a database: call it before its tables are created."""
    with log.reading() as rows:
        there = "entries" in log.tables(rows)
        empty = not there or rows.execute("SELECT 1 FROM entries LIMIT 1").fetchone() is None
    _refuse(home, f"in {log.where}", keys, there=there, empty=empty)


def _refuse(
    home: Path, log: str, keys: Path, *, there: bool, empty: bool, tables: Path | None = None
) -> None:
    remains = [keys / SIGNING, keys / NEXT, keys / PUBLISHED, *([tables] if tables else [])]
    # Keys made before the first entry are no past of a log that is there.
    left = [] if there else [path.name for path in remains if path.exists()]
    if empty and _first(home / "evidence.sqlite", _DOCUMENTS):
        left.append("documents")
    if left:
        gone = "is empty" if there else "is gone"
        raise LogError(
            f"the audit log {log} {gone}, but this home had one: {', '.join(left)} are still there",
            hint=_HINT,
        )


def _first(path: Path, statement: str) -> object:
    """The first row; None if there is none or the file is unreadable, which its own opener reports."""
    if not path.is_file():
        return None
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as rows,
    ):
        return rows.execute(statement).fetchone()
    return None

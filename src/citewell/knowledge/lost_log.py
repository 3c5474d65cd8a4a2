"""Refuses to start a new log silently in a home that already had one.

In: a home's folder and its keys folder. Out: nothing, or a LogError that names the remains of the old log.
Knows nothing about entries.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from citewell.audit.keys import NEXT, PUBLISHED, SIGNING
from citewell.core.errors import LogError

_HINT = (
    "restore the log from its backup, or start a new log in a new home (keep this one as evidence of what was"
    " there)"
)


def refuse_new_log(home: Path, log: Path, keys: Path, *, tables: Path) -> None:
    """Raises LogError for a missing or empty ``log`` in a home that had one, as its keys, search tables or
    documents show."""
    there = log.exists()
    left = [path.name for path in (keys / SIGNING, keys / NEXT, keys / PUBLISHED, tables) if path.exists()]
    documents = _first(home / "evidence.sqlite", "SELECT 1 FROM versions WHERE caller_supplied = 0 LIMIT 1")
    if documents and (not there or _first(log, "SELECT 1 FROM entries LIMIT 1") is None):
        left.append("documents")
    elif there:
        return
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

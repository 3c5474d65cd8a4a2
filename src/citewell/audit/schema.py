"""The log's tables and how they grow: numbered functions, append-only, forward only.

In: a connection. Out: the same connection at the newest ``user_version``. No triggers forbid updates: whoever
holds the file can drop them, and tampering must be *found*, by the chain, not merely made inconvenient.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from citewell.errors import LogError


def _first(connection: sqlite3.Connection) -> None:
    facts = """timestamp TEXT NOT NULL, seq INTEGER NOT NULL, user TEXT NOT NULL, session_id TEXT NOT NULL,
        decision TEXT NOT NULL, band TEXT NOT NULL, claims INTEGER NOT NULL, unsupported INTEGER NOT NULL,
        broken INTEGER NOT NULL, all_verified INTEGER NOT NULL"""
    statements = (
        """CREATE TABLE entries(seq INTEGER PRIMARY KEY, previous TEXT NOT NULL, kind TEXT NOT NULL,
            timestamp TEXT NOT NULL, body TEXT NOT NULL, hash TEXT NOT NULL)""",
        "CREATE INDEX entries_by_kind ON entries(kind, seq)",
        f"CREATE TABLE answers(request_id TEXT NOT NULL UNIQUE, {facts})",
        "CREATE INDEX answers_by_seq ON answers(seq)",
        "CREATE INDEX answers_by_time ON answers(timestamp, seq)",
        "CREATE INDEX answers_by_user ON answers(user, timestamp, seq)",
        "CREATE INDEX answers_unsupported ON answers(timestamp, seq) WHERE unsupported > 0",
        "CREATE INDEX answers_broken ON answers(timestamp, seq) WHERE broken > 0",
        f"""CREATE TABLE cited(document_id TEXT NOT NULL, document_version TEXT NOT NULL, {facts},
            PRIMARY KEY(document_id, document_version, timestamp, seq)) WITHOUT ROWID""",
        "CREATE INDEX cited_by_seq ON cited(seq)",
    )
    for statement in statements:
        connection.execute(statement)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_first,)


def migrate(connection: sqlite3.Connection) -> None:
    """Brings the log to the newest schema, one transaction a step.

    Raises LogError when a newer Citewell wrote it.
    """
    if _version(connection) > len(MIGRATIONS):
        raise LogError(
            f"the audit log has schema {_version(connection)}, this Citewell knows {len(MIGRATIONS)}",
            hint="install the Citewell that wrote it, or a newer one",
        )
    while _version(connection) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Read again under the lock: another process may have taken this step while we waited.
            step = _version(connection)
            if step < len(MIGRATIONS):
                MIGRATIONS[step](connection)
                connection.execute(f"PRAGMA user_version = {step + 1}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])

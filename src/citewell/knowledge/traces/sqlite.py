"""Traces in a file of the home.

In: traces. Out: a session's traces in the order they happened. Commits are not synced one by one. Knows
nothing about other machines.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from citewell.core.errors import CitewellError
from citewell.core.records import Trace
from citewell.core.wal import empty_wal, open_wal

NEWEST = 100
"""Turns that are looked through for the session of a chat."""


def _first(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TABLE traces(number INTEGER PRIMARY KEY, request_id TEXT NOT NULL UNIQUE,"
        " session_id TEXT NOT NULL, timestamp TEXT NOT NULL, body TEXT NOT NULL)"
    )
    connection.execute("CREATE INDEX traces_by_session ON traces(session_id, number)")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_first,)


class SqliteTraces:
    """The TraceStore of a home. Safe to share between threads and processes."""

    def __init__(self, path: Path, *, wait_s: float = 30.0) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        with self._using():
            self._connection = open_wal(self.path, wait_s=wait_s, synchronous="NORMAL")
            self._migrate()

    def put(self, trace: Trace) -> None:
        """Adds the trace, or replaces the one of the same request. Raises CitewellError."""
        body = msgspec.json.encode(trace).decode()
        with self._using():
            self._connection.execute(
                "INSERT INTO traces(request_id, session_id, timestamp, body) VALUES(?, ?, ?, ?)"
                " ON CONFLICT(request_id) DO UPDATE SET body = excluded.body",
                (trace.request_id, trace.session_id, trace.timestamp, body),
            )

    def session(self, session_id: str) -> list[Trace]:
        """Oldest first; empty for a session that is not known."""
        with self._using():
            rows = self._connection.execute(
                "SELECT body FROM traces WHERE session_id = ? ORDER BY number", (session_id,)
            ).fetchall()
        return [msgspec.json.decode(body, type=Trace) for (body,) in rows]

    def between(self, first: str, last: str) -> list[Trace]:
        """The newest of sessions whose ids lie between these two or are one of them, newest first."""
        with self._using():
            rows = self._connection.execute(
                "SELECT body FROM traces WHERE session_id BETWEEN ? AND ? ORDER BY number DESC LIMIT ?",
                (first, last, NEWEST),
            ).fetchall()
        return [msgspec.json.decode(body, type=Trace) for (body,) in rows]

    def get(self, request_id: str) -> Trace | None:
        """The trace of one request, None when there is none."""
        with self._using():
            row = self._connection.execute(
                "SELECT body FROM traces WHERE request_id = ?", (request_id,)
            ).fetchone()
        return msgspec.json.decode(row[0], type=Trace) if row else None

    def flag(self, request_id: str, flags: tuple[str, ...]) -> bool:
        """Sets the flags of a trace; False when there is none of that request. Raises CitewellError."""
        with self._using():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                row = self._connection.execute(
                    "SELECT body FROM traces WHERE request_id = ?", (request_id,)
                ).fetchone()
                if row is not None:
                    trace = msgspec.structs.replace(msgspec.json.decode(row[0], type=Trace), flags=flags)
                    self._connection.execute(
                        "UPDATE traces SET body = ? WHERE request_id = ?",
                        (msgspec.json.encode(trace).decode(), request_id),
                    )
            finally:
                self._connection.execute("COMMIT")
        return row is not None

    def before(self, timestamp: str) -> set[str]:
        """The requests that were asked before it. Raises CitewellError."""
        with self._using():
            rows = self._connection.execute("SELECT request_id FROM traces WHERE timestamp < ?", (timestamp,))
            return {request for (request,) in rows}

    def forget(self, request_ids: Collection[str]) -> int:
        """Overwrites the traces of these requests; how many there were. Raises CitewellError."""
        with self._using():
            before = self._connection.total_changes
            self._connection.executemany(
                "DELETE FROM traces WHERE request_id = ?", [(request,) for request in request_ids]
            )
            forgotten = self._connection.total_changes - before
            emptied = empty_wal(self._connection)
        if not emptied:
            raise CitewellError(
                f"traces {self.path}: another process is still reading what was deleted",
                hint="stop that process and run the command again",
            )
        return forgotten

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _migrate(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        version = int(self._connection.execute("PRAGMA user_version").fetchone()[0])
        if version > len(MIGRATIONS):
            self._connection.execute("ROLLBACK")
            raise CitewellError(
                f"{self.path} has schema {version}, but this Citewell only knows schemas up to"
                f" {len(MIGRATIONS)}",
                hint="install the version of Citewell that wrote it, or a newer one",
            )
        for step in MIGRATIONS[version:]:
            step(self._connection)
        self._connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        self._connection.execute("COMMIT")

    @contextmanager
    def _using(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                raise CitewellError(
                    f"traces {self.path}: {error}", hint="check that the home is writable and has free space"
                ) from error

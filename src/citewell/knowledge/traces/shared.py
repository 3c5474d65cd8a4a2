"""Traces in a schema of the server that many workers share.

In: traces. Out: a session's traces in the order they happened. Commits are not waited for. Beside them stand
the events of answers in the making (:mod:`citewell.knowledge.traces.relay`), which are forgotten with the
traces of
their requests. Knows nothing about what events say.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec

from citewell.core.errors import CitewellError
from citewell.core.records import Trace
from citewell.knowledge.traces.sqlite import NEWEST


class Database(Protocol):
    """As :class:`citewell.audit.postgres.PostgresDatabase`, which this stage may not know."""

    where: str

    def reading(self) -> AbstractContextManager[Any]: ...

    def writing(self) -> AbstractContextManager[Any]: ...

    def tables(self, rows: Any) -> set[str]: ...

    def overwrite(self) -> None: ...

    def close(self) -> None: ...


_STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE traces(number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
        " request_id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, timestamp TEXT NOT NULL,"
        " body TEXT NOT NULL)",
        "CREATE INDEX traces_by_session ON traces(session_id, number)",
    ),
    (
        # Unlogged: what they hold is over in minutes, and its record is in the log.
        "CREATE UNLOGGED TABLE streams(request_id TEXT PRIMARY KEY, listener TEXT NOT NULL,"
        " alive_at TIMESTAMPTZ NOT NULL, ended BOOLEAN NOT NULL)",
        "CREATE UNLOGGED TABLE events(request_id TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL,"
        " data TEXT NOT NULL, PRIMARY KEY(request_id, number))",
    ),
    # What began before this keeps no groups: only who sees everything hears it.
    ("ALTER TABLE streams ADD COLUMN groups TEXT[]",),
)
"""Append here, never change what stands."""


class SharedTraces:
    """The same on PostgreSQL, for many workers. Raises LogError, a CitewellError."""

    def __init__(self, database: Database) -> None:
        self.database = database
        with database.writing() as rows:
            rows.execute("CREATE TABLE IF NOT EXISTS schema_version(number INTEGER NOT NULL)")
            row = rows.execute("SELECT max(number) FROM schema_version").fetchone()
            done = row[0] or 0
            if done > len(_STEPS):
                raise CitewellError(
                    f"{database.where} has schema {done}, but this Citewell only knows schemas"
                    f" up to {len(_STEPS)}",
                    hint="install the version of Citewell that wrote it, or a newer one",
                )
            for number, step in enumerate(_STEPS[done:], done + 1):
                for statement in step:
                    rows.execute(statement)
                rows.execute("INSERT INTO schema_version(number) VALUES(?)", (number,))

    def put(self, trace: Trace) -> None:
        """Adds the trace, or replaces the one of the same request."""
        # PostgreSQL refuses NUL in a text; JSON writes it as an escape, so a body never holds one.
        body = msgspec.json.encode(trace).decode()
        with self.database.writing() as rows:
            rows.execute("SET LOCAL synchronous_commit = off")
            rows.execute(
                "INSERT INTO traces(request_id, session_id, timestamp, body) VALUES(?, ?, ?, ?)"
                " ON CONFLICT(request_id) DO UPDATE SET body = excluded.body",
                (trace.request_id, _text(trace.session_id), trace.timestamp, body),
            )

    def session(self, session_id: str) -> list[Trace]:
        """Oldest first; empty for a session that is not known."""
        with self.database.reading() as rows:
            found = rows.execute(
                "SELECT body FROM traces WHERE session_id = ? ORDER BY number", (_text(session_id),)
            ).fetchall()
        return [msgspec.json.decode(body, type=Trace) for (body,) in found]

    def between(self, first: str, last: str) -> list[Trace]:
        """The newest of sessions whose ids lie between these two or are one of them, newest first."""
        with self.database.reading() as rows:
            found = rows.execute(
                "SELECT body FROM traces WHERE session_id BETWEEN ? AND ? ORDER BY number DESC LIMIT ?",
                (_text(first), _text(last), NEWEST),
            ).fetchall()
        return [msgspec.json.decode(body, type=Trace) for (body,) in found]

    def get(self, request_id: str) -> Trace | None:
        """The trace of one request, None when there is none."""
        with self.database.reading() as rows:
            return _trace(rows, request_id)

    def flag(self, request_id: str, flags: tuple[str, ...]) -> bool:
        """Sets the flags of a trace; False when there is none of that request."""
        with self.database.writing() as rows:
            trace = _trace(rows, request_id)
            if trace is not None:
                flagged = msgspec.structs.replace(trace, flags=flags)
                rows.execute(
                    "UPDATE traces SET body = ? WHERE request_id = ?",
                    (msgspec.json.encode(flagged).decode(), _text(request_id)),
                )
        return trace is not None

    def before(self, timestamp: str) -> set[str]:
        """The requests that were asked before it."""
        with self.database.reading() as rows:
            found = rows.execute("SELECT request_id FROM traces WHERE timestamp < ?", (timestamp,))
            return {request for (request,) in found}

    def forget(self, request_ids: Collection[str]) -> int:
        """Overwrites the traces of these requests; how many there were."""
        with self.database.writing() as rows:
            gone = 0
            for request in request_ids:
                for table in ("traces", "streams", "events"):
                    values = (_text(request),)
                    gone += rows.execute(f"DELETE FROM {table} WHERE request_id = ?", values).rowcount
        # Also where none was left: the call before may have ended between the two.
        if request_ids:
            self.database.overwrite()
        return gone

    def close(self) -> None:
        self.database.close()


def _trace(rows: Any, request_id: str) -> Trace | None:
    row = rows.execute("SELECT body FROM traces WHERE request_id = ?", (_text(request_id),)).fetchone()
    return msgspec.json.decode(row[0], type=Trace) if row else None


def _text(name: str) -> str:
    """A name as PostgreSQL takes it: it has no NUL."""
    return name.replace("\x00", "\ufffd")

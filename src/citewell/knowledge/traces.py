"""What happened in each request, by session, in a store separate from the log.

Traces are for inspection, records for proof, so losing the last traces to a power cut is acceptable. They
are kept in a file in the home, or in a schema on the server that workers share. There, events of answers in
progress are also relayed, as a disconnected client may reconnect to any worker; events are deleted soon
after the answer, which the record preserves. Knows nothing about records, verdicts or what events say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from citewell.audit.database import Database, Row, Rows, Step, migrate
from citewell.audit.postgres import PostgresDatabase
from citewell.audit.sqlite import SqliteDatabase
from citewell.core.identity import hash_value
from citewell.core.records import Record, Trace

NEWEST = 100
"""Maximum turns searched for a chat's session."""

_TRACES: Step = (
    "CREATE TABLE traces(number INTEGER PRIMARY KEY, request_id TEXT NOT NULL UNIQUE,"
    " session_id TEXT NOT NULL, timestamp TEXT NOT NULL, body TEXT NOT NULL)",
    "CREATE INDEX traces_by_session ON traces(session_id, number)",
)
_IDENTITY = "number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
_STREAMS: Step = (
    # Unlogged: the contents are obsolete within minutes, and the record is in the log.
    "CREATE UNLOGGED TABLE streams(request_id TEXT PRIMARY KEY, listener TEXT NOT NULL, groups TEXT[],"
    " alive_at TIMESTAMPTZ NOT NULL, ended BOOLEAN NOT NULL)",
    "CREATE UNLOGGED TABLE events(request_id TEXT NOT NULL, number INTEGER NOT NULL,"
    " kind TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY(request_id, number))",
)
_IN_A_FILE = (_TRACES,)
_ON_A_SERVER = (tuple(sql.replace("number INTEGER PRIMARY KEY", _IDENTITY) for sql in _TRACES) + _STREAMS,)
"""Append only; never change an existing step in either."""


class Traces:
    """A TraceStore in a file, or on a server that workers share (``shared``). Safe to share between threads
    and processes. Raises LogError."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.shared = isinstance(database, PostgresDatabase)
        migrate(database, _ON_A_SERVER if self.shared else _IN_A_FILE)

    @classmethod
    def in_file(cls, path: Path) -> Traces:
        """A store in one file, whose commits are not synced individually."""
        return cls(SqliteDatabase(path, synchronous="NORMAL"))

    def put(self, trace: Trace) -> None:
        """Adds the trace, replacing any of the same request."""
        with self.database.writing() as rows:
            if self.shared:
                _do_not_wait(rows)
            rows.execute(
                "INSERT INTO traces(request_id, session_id, timestamp, body) VALUES(?, ?, ?, ?)"
                " ON CONFLICT(request_id) DO UPDATE SET body = excluded.body",
                (trace.request_id, _text(trace.session_id), trace.timestamp, _body(trace)),
            )

    def session(self, session_id: str) -> list[Trace]:
        """A session's traces, oldest first; empty for an unknown session."""
        return self._found("session_id = ? ORDER BY number", _text(session_id))

    def between(self, first: str, last: str) -> list[Trace]:
        """The newest traces of sessions with ids in ``[first, last]``, newest first."""
        between = "session_id BETWEEN ? AND ? ORDER BY number DESC LIMIT ?"
        return self._found(between, _text(first), _text(last), NEWEST)

    def get(self, request_id: str) -> Trace | None:
        """The trace of one request, or None."""
        return next(iter(self._found("request_id = ?", _text(request_id))), None)

    def flag(self, request_id: str, flags: tuple[str, ...]) -> bool:
        """Sets the flags of a request's trace; False when there is none."""
        with self.database.writing() as rows:
            row = rows.execute(
                "SELECT body FROM traces WHERE request_id = ?", (_text(request_id),)
            ).fetchone()
            if row is not None:
                flagged = msgspec.structs.replace(_trace(row), flags=flags)
                rows.execute(
                    "UPDATE traces SET body = ? WHERE request_id = ?", (_body(flagged), _text(request_id))
                )
        return row is not None

    def batches(self) -> Iterator[list[Trace]]:
        """All traces, oldest first, some at a time."""
        number = 0
        while True:
            with self.database.reading() as rows:
                found = rows.execute(
                    "SELECT body, number FROM traces WHERE number > ? ORDER BY number LIMIT 200", (number,)
                ).fetchall()
            if not found:
                return
            yield [_trace(row) for row in found]
            number = found[-1][1]

    def before(self, timestamp: str) -> set[str]:
        """The requests asked before ``timestamp``."""
        with self.database.reading() as rows:
            found = rows.execute("SELECT request_id FROM traces WHERE timestamp < ?", (timestamp,))
            return {request for (request,) in found}

    def forget(self, request_ids: Collection[str]) -> int:
        """Overwrites the traces of these requests and returns how many there were."""
        gone = 0
        with self.database.writing() as rows:
            for request in map(_text, request_ids):
                gone += len(
                    rows.execute("DELETE FROM traces WHERE request_id = ? RETURNING 1", (request,)).fetchall()
                )
                for table in ("streams", "events") if self.shared else ():
                    rows.execute(f"DELETE FROM {table} WHERE request_id = ?", (request,))
        # Even when none was left: an earlier call may have stopped between deleting and overwriting.
        if request_ids:
            self.database.overwrite()
        return gone

    def close(self) -> None:
        self.database.close()

    def _found(self, where: str, *values: object) -> list[Trace]:
        with self.database.reading() as rows:
            found = rows.execute(f"SELECT body FROM traces WHERE {where}", values).fetchall()
        return [_trace(row) for row in found]


class RelayedEvent(Record, frozen=True, kw_only=True):
    """One event; ``number`` counts from 1."""

    number: int
    kind: str
    data: bytes


class RelayedEvents(Record, frozen=True, kw_only=True):
    """Events so far; ``ended``: there will be no more; ``silent_s``: seconds since the answering worker last
    gave a sign of life."""

    told: tuple[RelayedEvent, ...]
    ended: bool
    silent_s: float


class Relay:
    """Relays request events from the answering worker to workers whose client is the same user, through the
    schema of shared :class:`Traces`. Raises LogError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, request_id: str, user: str, *, groups: Sequence[str] | None, keep_s: float) -> None:
        """Begins a stream that only ``user`` may hear, and only with all of ``groups``; None means access to
        everything. Deletes streams silent for over ``keep_s`` seconds."""
        with self._database.writing() as rows:
            _do_not_wait(rows)
            over = "SELECT request_id FROM streams WHERE alive_at < now() - make_interval(secs => ?)"
            for table in ("events", "streams"):
                rows.execute(f"DELETE FROM {table} WHERE request_id IN ({over})", (keep_s,))
            rows.execute(
                "INSERT INTO streams(request_id, listener, groups, alive_at, ended)"
                " VALUES(?, ?, ?, now(), false)",
                (request_id, _listener(user), _hashed(groups)),
            )

    def tell(self, request_id: str, events: Iterable[RelayedEvent]) -> None:
        """Adds events to a stream already begun."""
        rows_of = [(request_id, one.number, one.kind, one.data.decode()) for one in events]
        with self._database.writing() as rows:
            _do_not_wait(rows)
            rows.executemany("INSERT INTO events(request_id, number, kind, data) VALUES(?, ?, ?, ?)", rows_of)

    def alive(self, request_ids: Collection[str], *, ended: bool = False) -> None:
        """Marks the worker answering these as alive; with ``ended``, the streams are complete."""
        with self._database.writing() as rows:
            _do_not_wait(rows)
            rows.execute(
                "UPDATE streams SET alive_at = now(), ended = ended OR ? WHERE request_id = ANY(?)",
                (ended, list(request_ids)),
            )

    def heard(
        self, request_id: str, user: str, after: int, *, groups: Sequence[str] | None
    ) -> RelayedEvents | None:
        """Events after number ``after``; None for a stream that is not kept, is another user's, or was begun
        with groups not all among ``groups``."""
        own = _hashed(groups)
        with self._database.reading() as rows:
            # The end is read in the same snapshot as the events, so none is missed in between.
            stream = rows.execute(
                "SELECT ended, extract(epoch FROM clock_timestamp() - alive_at)::float8 FROM streams"
                # NULL groups mean access to everything, which no list contains.
                " WHERE request_id = ? AND listener = ? AND (? OR groups <@ ?::text[])",
                (request_id, _listener(user), own is None, own or []),
            ).fetchone()
            if stream is None:
                return None
            told = rows.execute(
                "SELECT number, kind, data FROM events WHERE request_id = ? AND number > ? ORDER BY number",
                (request_id, after),
            ).fetchall()
        return RelayedEvents(
            told=tuple(RelayedEvent(number=n, kind=kind, data=data.encode()) for n, kind, data in told),
            ended=stream[0],
            silent_s=stream[1],
        )


def _do_not_wait(rows: Rows) -> None:
    """On a server: do not wait for this commit to reach its disk."""
    rows.execute("SET LOCAL synchronous_commit = off")


def _body(trace: Trace) -> str:
    # PostgreSQL refuses NUL in text; JSON escapes it, so a body never contains one.
    return msgspec.json.encode(trace).decode()


def _trace(row: Row) -> Trace:
    return msgspec.json.decode(row[0], type=Trace)


def _text(name: str) -> str:
    """A name without NUL, as PostgreSQL requires."""
    return name.replace("\x00", "\ufffd")


def _listener(user: str) -> str:
    """A stream's owner, hashed."""
    return hash_value({"listener": user})


def _hashed(groups: Sequence[str] | None) -> list[str] | None:
    return None if groups is None else [hash_value({"group": name}) for name in groups]

"""What happened in each request, by session, in a store of its own beside the log.

A trace is for looking, a record for proving: losing the last traces to a power cut is allowed. They stand in
a file of the home, or in a schema of the server that many workers share. There they also relay the events of
answers in the making, as a client that lost the line may come back to any worker; an event is forgotten soon
after its answer, which the record keeps for ever. Knows nothing about records, verdicts or what events say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from citewell.audit.database import Database, Row, Rows
from citewell.audit.postgres import PostgresDatabase
from citewell.audit.schema import Step, migrate
from citewell.audit.sqlite import SqliteDatabase
from citewell.core.identity import hash_value
from citewell.core.records import Record, Trace

NEWEST = 100
"""Turns that are looked through for the session of a chat."""

_TRACES: Step = (
    "CREATE TABLE traces(number INTEGER PRIMARY KEY, request_id TEXT NOT NULL UNIQUE,"
    " session_id TEXT NOT NULL, timestamp TEXT NOT NULL, body TEXT NOT NULL)",
    "CREATE INDEX traces_by_session ON traces(session_id, number)",
)
_IDENTITY = "number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
_STREAMS: Step = (
    # Unlogged: what they hold is over in minutes, and its record is in the log.
    "CREATE UNLOGGED TABLE streams(request_id TEXT PRIMARY KEY, listener TEXT NOT NULL, groups TEXT[],"
    " alive_at TIMESTAMPTZ NOT NULL, ended BOOLEAN NOT NULL)",
    "CREATE UNLOGGED TABLE events(request_id TEXT NOT NULL, number INTEGER NOT NULL,"
    " kind TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY(request_id, number))",
)
_IN_A_FILE = (_TRACES,)
_ON_A_SERVER = (tuple(sql.replace("number INTEGER PRIMARY KEY", _IDENTITY) for sql in _TRACES) + _STREAMS,)
"""Append to either, never change what stands."""


class Traces:
    """A TraceStore in a file, or on a server that many workers share (``shared``). Safe to use from several
    threads and processes. Raises LogError."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.shared = isinstance(database, PostgresDatabase)
        migrate(database, _ON_A_SERVER if self.shared else _IN_A_FILE)

    @classmethod
    def in_file(cls, path: Path, *, wait_s: float = 30.0) -> Traces:
        """Commits to it are not synced one by one."""
        return cls(SqliteDatabase(path, wait_s=wait_s, synchronous="NORMAL"))

    def put(self, trace: Trace) -> None:
        """Adds the trace, or replaces the one of the same request."""
        with self.database.writing() as rows:
            if self.shared:
                _do_not_wait(rows)
            rows.execute(
                "INSERT INTO traces(request_id, session_id, timestamp, body) VALUES(?, ?, ?, ?)"
                " ON CONFLICT(request_id) DO UPDATE SET body = excluded.body",
                (trace.request_id, _text(trace.session_id), trace.timestamp, _body(trace)),
            )

    def session(self, session_id: str) -> list[Trace]:
        """Oldest first; empty for a session that is not known."""
        return self._found("session_id = ? ORDER BY number", _text(session_id))

    def between(self, first: str, last: str) -> list[Trace]:
        """The newest of sessions whose ids lie between these two or are one of them, newest first."""
        between = "session_id BETWEEN ? AND ? ORDER BY number DESC LIMIT ?"
        return self._found(between, _text(first), _text(last), NEWEST)

    def get(self, request_id: str) -> Trace | None:
        """The trace of one request, None when there is none."""
        return next(iter(self._found("request_id = ?", _text(request_id))), None)

    def flag(self, request_id: str, flags: tuple[str, ...]) -> bool:
        """Sets the flags of a trace; False when there is none of that request."""
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

    def batches(self, size: int = 200) -> Iterator[list[Trace]]:
        """All of them, oldest first."""
        number = 0
        while True:
            with self.database.reading() as rows:
                found = rows.execute(
                    "SELECT body, number FROM traces WHERE number > ? ORDER BY number LIMIT ?", (number, size)
                ).fetchall()
            if not found:
                return
            yield [_trace(row) for row in found]
            number = found[-1][1]

    def before(self, timestamp: str) -> set[str]:
        """The requests that were asked before it."""
        with self.database.reading() as rows:
            found = rows.execute("SELECT request_id FROM traces WHERE timestamp < ?", (timestamp,))
            return {request for (request,) in found}

    def forget(self, request_ids: Collection[str]) -> int:
        """Overwrites the traces of these requests; how many there were."""
        gone = 0
        with self.database.writing() as rows:
            for request in map(_text, request_ids):
                gone += len(
                    rows.execute("DELETE FROM traces WHERE request_id = ? RETURNING 1", (request,)).fetchall()
                )
                for table in ("streams", "events") if self.shared else ():
                    rows.execute(f"DELETE FROM {table} WHERE request_id = ?", (request,))
        # Also where none was left: the call before may have ended between the two.
        if request_ids:
            self.database.overwrite()
        return gone

    def close(self) -> None:
        self.database.close()

    def _found(self, where: str, *values: object) -> list[Trace]:
        with self.database.reading() as rows:
            found = rows.execute(f"SELECT body FROM traces WHERE {where}", values).fetchall()
        return [_trace(row) for row in found]


class Relayed(Record, frozen=True, kw_only=True):
    """One event; ``number`` counts from 1."""

    number: int
    kind: str
    data: bytes


class Heard(Record, frozen=True, kw_only=True):
    """What was told; ``ended``: nothing more will be; ``silent_s``: since the answering worker last gave a
    sign of life."""

    told: tuple[Relayed, ...]
    ended: bool
    silent_s: float


class Relay:
    """Events of requests, from the worker that answers each to whoever listens for the same person, in the
    schema of shared :class:`Traces`. Raises LogError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, request_id: str, user: str, *, groups: Sequence[str] | None, keep_s: float) -> None:
        """``user`` alone may listen, and only with all of ``groups``; None is a right to everything. Lets go
        of what nobody told anything of for ``keep_s``."""
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

    def tell(self, request_id: str, events: Iterable[Relayed]) -> None:
        """Adds events to a stream that has begun."""
        rows_of = [(request_id, one.number, one.kind, one.data.decode()) for one in events]
        with self._database.writing() as rows:
            _do_not_wait(rows)
            rows.executemany("INSERT INTO events(request_id, number, kind, data) VALUES(?, ?, ?, ?)", rows_of)

    def alive(self, request_ids: Collection[str], *, ended: bool = False) -> None:
        """The worker that answers these is there; with ``ended``, it has told all of them."""
        with self._database.writing() as rows:
            _do_not_wait(rows)
            rows.execute(
                "UPDATE streams SET alive_at = now(), ended = ended OR ? WHERE request_id = ANY(?)",
                (ended, list(request_ids)),
            )

    def heard(self, request_id: str, user: str, after: int, *, groups: Sequence[str] | None) -> Heard | None:
        """What was told behind number ``after``; None for a stream that is not kept, is another user's, or
        was begun with groups that are not among ``groups``."""
        own = _hashed(groups)
        with self._database.reading() as rows:
            # The end is read with the events, in one view of the tables: none is missed between them.
            stream = rows.execute(
                "SELECT ended, extract(epoch FROM clock_timestamp() - alive_at)::float8 FROM streams"
                # The groups are NULL where everything was seen, which no list holds.
                " WHERE request_id = ? AND listener = ? AND (? OR groups <@ ?::text[])",
                (request_id, _listener(user), own is None, own or []),
            ).fetchone()
            if stream is None:
                return None
            told = rows.execute(
                "SELECT number, kind, data FROM events WHERE request_id = ? AND number > ? ORDER BY number",
                (request_id, after),
            ).fetchall()
        return Heard(
            told=tuple(Relayed(number=n, kind=kind, data=data.encode()) for n, kind, data in told),
            ended=stream[0],
            silent_s=stream[1],
        )


def _do_not_wait(rows: Rows) -> None:
    """On a server: this commit need not be on its disk."""
    rows.execute("SET LOCAL synchronous_commit = off")


def _body(trace: Trace) -> str:
    # PostgreSQL refuses NUL in a text; JSON writes it as an escape, so a body never holds one.
    return msgspec.json.encode(trace).decode()


def _trace(row: Row) -> Trace:
    return msgspec.json.decode(row[0], type=Trace)


def _text(name: str) -> str:
    """A name as PostgreSQL takes it: it has no NUL."""
    return name.replace("\x00", "\ufffd")


def _listener(user: str) -> str:
    """Whose a stream is, without the name."""
    return hash_value({"listener": user})


def _hashed(groups: Sequence[str] | None) -> list[str] | None:
    return None if groups is None else [hash_value({"group": name}) for name in groups]

"""The log itself: one SQLite file to which entries are only ever appended.

In: audit records and notices of what happened. Out: each entry's hash, once it is durable. One writer at a
time across threads and processes (``BEGIN IMMEDIATE``), WAL, ``synchronous=FULL``: when ``append`` returns,
the entry is on the disk; when it raises, nothing was written. Sequence numbers have no gaps.
Knows nothing about how an answer came about.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.check import CheckReport, check_log
from citewell.audit.entries import GENESIS, RECORDS, Entry, EntryKind, entry_hash
from citewell.audit.facts import ANSWERS, CITED, side_rows
from citewell.audit.queries import AuditQuery, Page, run_query
from citewell.audit.schema import migrate
from citewell.clock import SystemClock, stamp
from citewell.errors import LogError, UsageError
from citewell.identity import canonical_json
from citewell.records import AuditRecord

if TYPE_CHECKING:
    from citewell.ports import Clock, EvidenceStore

_ENTRY = ("seq", "previous", "kind", "timestamp", "body", "hash")
_HINTS = {
    "SQLITE_FULL": "free some disk space and ask again",
    "SQLITE_READONLY": "make the home writable, or name another with --home",
    "SQLITE_CANTOPEN": "check that the home exists and is writable",
    "SQLITE_BUSY": "another process holds the log; try again",
    "SQLITE_LOCKED": "another process holds the log; try again",
    "SQLITE_IOERR": "the disk refused; check it before anything else",
    "SQLITE_NOTADB": "the file is not an audit log; restore it from a backup",
    "SQLITE_CORRUPT": "the file is damaged; restore it from a backup and run `citewell audit check`",
}


class SqliteLog:
    """The AuditStore of a home. Safe to share between threads; any number of processes may open one.

    ``wait_s`` is how long a write waits for another writer. ``readonly`` opens what is there and changes
    nothing, not even on a read-only disk. Raises LogError, whose hint says what to do.
    """

    def __init__(
        self, path: Path, *, clock: Clock | None = None, readonly: bool = False, wait_s: float = 30.0
    ) -> None:
        self.path = Path(path)
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        with _as_log_error(self.path):
            self._connection = self._open_readonly() if readonly else self._open(wait_s)

    def append(self, record: AuditRecord) -> str:
        """Seals ``record``; durable when it returns. Raises LogError, and then nothing was written."""
        kind = EntryKind.ERROR if record.error else EntryKind.ANSWER
        return self._write(kind, record.timestamp, canonical_json(record))

    def note(self, kind: EntryKind, body: Mapping[str, Any]) -> str:
        """Seals an event that is not an answer: an ingest, a withdrawal, a configuration, a read."""
        return self._write(kind, stamp(self._clock), canonical_json(dict(body)))

    def get(self, request_id: str) -> Entry:
        """The entry of one answer or error. Raises UsageError when there is none."""
        with self._reading() as connection:
            row = connection.execute(
                "SELECT e.seq, previous, kind, e.timestamp, body, hash FROM answers JOIN entries e USING(seq)"
                " WHERE request_id = ?",
                (request_id,),
            ).fetchone()
        if row is None:
            raise UsageError(
                f"no record {request_id!r} in {self.path}", hint="`citewell audit query` lists them"
            )
        return _entry(row)

    def record(self, request_id: str) -> AuditRecord:
        """The AuditRecord of one request. Raises UsageError when there is none."""
        return msgspec.json.decode(self.get(request_id).body, type=AuditRecord)

    def latest(self, kind: EntryKind) -> Entry | None:
        """The last entry of ``kind``, None when there is none."""
        with self._reading() as connection:
            row = connection.execute(
                "SELECT seq, previous, kind, timestamp, body, hash FROM entries WHERE kind = ?"
                " ORDER BY seq DESC LIMIT 1",
                (kind.value,),
            ).fetchone()
        return None if row is None else _entry(row)

    def entries(self, kind: EntryKind | None = None) -> Iterator[Entry]:
        """Every entry (of ``kind``), in order; reads in blocks and holds no lock between them."""
        last = -(2**62)
        while True:
            with self._reading() as connection:
                rows = connection.execute(
                    "SELECT seq, previous, kind, timestamp, body, hash FROM entries"
                    " WHERE seq > ? AND (? IS NULL OR kind = ?) ORDER BY seq LIMIT 500",
                    (last, kind, kind),
                ).fetchall()
            if not rows:
                return
            yield from map(_entry, rows)
            last = rows[-1][0]

    def query(self, query: AuditQuery) -> Page:
        """A page of records, newest first; see :class:`AuditQuery`. Raises UsageError for a bad cursor."""
        with self._reading() as connection:
            return run_query(connection, query)

    def check(
        self, *, evidence: EvidenceStore | None = None, prompts: Mapping[str, str] | None = None
    ) -> CheckReport:
        """Derives the whole log again; see :func:`citewell.audit.check.check_log`."""
        with self._reading() as connection:
            return check_log(connection, evidence=evidence, prompts=prompts)

    def size(self) -> int:
        """How many entries there are."""
        with self._reading() as connection:
            return int(connection.execute("SELECT count(*) FROM entries").fetchone()[0])

    def close(self) -> None:
        with self._lock:
            self._connection.close()
            if self._copy is not None:
                self._copy.cleanup()

    def _write(self, kind: EntryKind, timestamp: str, body: bytes) -> str:
        with self._lock, _as_log_error(self.path):
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                head = connection.execute(
                    "SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1"
                ).fetchone()
                seq, previous = (head[0] + 1, head[1]) if head else (1, GENESIS)
                digest = entry_hash(seq, previous, kind.value, timestamp, body)
                row = (seq, previous, kind.value, timestamp, body.decode(), digest)
                connection.execute(_insert("entries", _ENTRY), row)
                if kind.value in RECORDS:
                    answer, cited = side_rows(seq, timestamp, msgspec.json.decode(body))
                    connection.execute(_insert("answers", ANSWERS), answer)
                    connection.executemany(_insert("cited", CITED), cited)
                connection.execute("COMMIT")
            except BaseException:
                # A full disk may already have rolled the transaction back; then there is nothing to undo.
                with suppress(sqlite3.OperationalError):
                    connection.execute("ROLLBACK")
                raise
        return digest

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _as_log_error(self.path):
            yield self._connection

    def _open(self, wait_s: float) -> sqlite3.Connection:
        fresh = not self.path.exists()
        connection = sqlite3.connect(self.path, timeout=wait_s, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        migrate(connection)
        if fresh:
            _sync_directory(self.path.parent)
        return connection

    def _open_readonly(self) -> sqlite3.Connection:
        """A log on a read-only disk cannot make the files WAL wants, so what is there is copied and read."""
        if not self.path.is_file():
            raise LogError(f"no audit log at {self.path}", hint="check --home, or ask something first")
        beside = [Path(f"{self.path}{suffix}") for suffix in ("", "-wal")]
        source = self.path
        if not os.access(self.path.parent, os.W_OK) or not os.access(self.path, os.W_OK):
            self._copy = tempfile.TemporaryDirectory(prefix="citewell-log-")
            for file in beside:
                if file.exists():
                    shutil.copy(file, self._copy.name)
            source = Path(self._copy.name) / self.path.name
        connection = sqlite3.connect(source, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA query_only = ON")
        return connection


@contextmanager
def _as_log_error(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "") or ""
        family = "_".join(name.split("_")[:2])
        raise LogError(f"audit log {path}: {error}", hint=_HINTS.get(family, "")) from error
    except OSError as error:
        raise LogError(f"audit log {path}: {error}", hint=_HINTS["SQLITE_CANTOPEN"]) from error


def _insert(table: str, columns: tuple[str, ...]) -> str:
    return f"INSERT INTO {table}({', '.join(columns)}) VALUES({', '.join('?' * len(columns))})"


def _entry(row: tuple[Any, ...]) -> Entry:
    seq, previous, kind, timestamp, body, digest = row
    return Entry(seq=seq, previous=previous, kind=kind, timestamp=timestamp, body=body, hash=digest)


def _sync_directory(folder: Path) -> None:
    """A new file's name is durable only when its directory is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

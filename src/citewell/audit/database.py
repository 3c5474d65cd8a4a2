"""What the log requires of a database: one writer at a time, snapshot reads, and the same SQL everywhere; and
the tables of the log, made by numbered, append-only steps that table ``schema_steps`` records.

SQL uses ``?`` for parameters, and schema steps ``{id}``, ``{bytes}`` and ``{compact}`` where databases
differ. Implemented for SQLite in :mod:`citewell.audit.sqlite`, for PostgreSQL in
:mod:`citewell.audit.postgres`. No triggers forbid updates of the log: whoever holds the file can drop them,
and tampering must be *detected* by the tree, not merely made inconvenient.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from citewell.core.errors import LogError

Row = tuple[Any, ...]


class Cursor(Protocol):
    """The result of a statement."""

    def fetchone(self) -> Row | None: ...

    def fetchall(self) -> list[Row]: ...

    def __iter__(self) -> Iterator[Row]: ...


class Rows(Protocol):
    """A running transaction. Raises LogError."""

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor: ...

    def executemany(self, sql: str, values: Iterable[Sequence[Any]]) -> object: ...


class Database(Protocol):
    """``where`` names it in messages; ``types`` fills ``{id}``, ``{bytes}`` and ``{compact}`` in schema
    steps."""

    where: str
    types: Mapping[str, str]

    def reading(self) -> AbstractContextManager[Rows]:
        """One snapshot. Any thread may read while another writes. Raises AbandonedError if nobody is waiting
        any more (:func:`citewell.core.metering.must_go_on`)."""
        ...

    def writing(self) -> AbstractContextManager[Rows]:
        """The only writer of all processes until the block ends; its writes are then durable, or none are.

        Raises LogError, whose hint says what to do.
        """
        ...

    def tables(self, rows: Rows) -> set[str]:
        """The names of the existing tables."""
        ...

    def overwrite(self) -> None:
        """Removes deleted data from every file of this database. Raises LogError."""
        ...

    def close(self) -> None: ...


Step = tuple[str, ...]

SEALED: Step = (
    # The leaves' contents. `body` is null after its retention period.
    "CREATE TABLE entries(seq {id} PRIMARY KEY, kind TEXT NOT NULL, timestamp TEXT NOT NULL,"
    " subject TEXT NOT NULL, body TEXT, body_hash TEXT NOT NULL)",
    # Answers are most of a log and are looked up by request.
    "CREATE INDEX entries_by_kind ON entries(kind, seq) WHERE kind <> 'answer'",
    # The entry of a request's record; a request is sealed once.
    "CREATE TABLE requests(request_id TEXT PRIMARY KEY, seq BIGINT NOT NULL){compact}",
    # Personal texts and their salt, encrypted under the subject's key.
    "CREATE TABLE private(seq {id} PRIMARY KEY, subject TEXT NOT NULL, sealed {bytes} NOT NULL)",
    "CREATE INDEX private_by_subject ON private(subject, seq)",
    # Level 0 holds the leaves' hashes, level n + 1 the roots of 256 hashes of level n (tlog-tiles).
    "CREATE TABLE tree(level INTEGER NOT NULL, place BIGINT NOT NULL, hash {bytes} NOT NULL,"
    " PRIMARY KEY(level, place)){compact}",
    # One row: size and signed checkpoint of the newest state; written with every group of entries.
    "CREATE TABLE head(one INTEGER PRIMARY KEY CHECK(one = 1), size BIGINT NOT NULL,"
    " checkpoint TEXT NOT NULL)",
    # What was published where; `error` is "" if it arrived.
    "CREATE TABLE published(size BIGINT NOT NULL, witness TEXT NOT NULL, timestamp TEXT NOT NULL,"
    " checkpoint TEXT NOT NULL, error TEXT NOT NULL, PRIMARY KEY(witness, timestamp, size)){compact}",
)
LOG: tuple[Step, ...] = (SEALED,)
"""The steps of the log. Append here; never change existing steps."""


def migrate(database: Database, steps: Sequence[Step] = LOG) -> None:
    """Takes the missing steps, one transaction each. Raises LogError if a newer Citewell wrote it."""
    with database.reading() as rows:
        taken = _taken(database, rows)
    if taken > len(steps):
        raise LogError(
            f"{database.where} has schema {taken}, but this Citewell only knows schemas up to {len(steps)}",
            hint="install the version of Citewell that wrote it, or a newer one",
        )
    while taken < len(steps):
        with database.writing() as rows:
            rows.execute("CREATE TABLE IF NOT EXISTS schema_steps(step INTEGER PRIMARY KEY)")
            # Read again under the lock: another process may have taken this step while we waited.
            taken = _taken(database, rows)
            if taken < len(steps):
                for statement in steps[taken]:
                    rows.execute(statement.format(**database.types))
                taken += 1
                rows.execute("INSERT INTO schema_steps(step) VALUES(?)", (taken,))


def _taken(database: Database, rows: Rows) -> int:
    if "schema_steps" not in database.tables(rows):
        return 0
    row = rows.execute("SELECT max(step) FROM schema_steps").fetchone()
    return int(row[0] or 0) if row else 0

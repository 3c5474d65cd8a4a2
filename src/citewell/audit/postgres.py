"""The log's database as a PostgreSQL server by URL: the same SQL, the same promises as SQLite.

In: ``postgresql://...``. Out: the :class:`citewell.audit.database.Database` of one schema of it. One advisory
lock lets one writer at a time through, of all processes on all machines; a server whose commits are not on
its disk (``synchronous_commit`` or ``fsync`` off) is refused. A server that was started anew is reached again
by the next block. Knows nothing about entries.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from citewell.audit.database import Cursor, Row, Rows
from citewell.core.addresses import named
from citewell.core.errors import ConfigError, LogError, MissingExtraError
from citewell.core.metering import must_go_on

if TYPE_CHECKING:
    import psycopg

_WRITER = 0x6369_7465
"""The advisory lock that one writer at a time holds."""
_PLAIN_INSERT = re.compile(r"\s*INSERT INTO (\w+)\(([\w, ]+)\) VALUES\((?:\?(?:, )?)+\)\s*")


class PostgresDatabase:
    """Safe to share between threads; any number of processes and machines may open one schema.

    ``readonly`` opens what is there and changes nothing; it reads a walk over a whole table some rows at a
    time. Raises MissingExtraError without psycopg, ConfigError for a server that does not sync its commits,
    LogError for one that cannot be reached or, to be read only, has no such schema.
    """

    types: Mapping[str, str] = {"id": "BIGINT", "bytes": "BYTEA", "compact": ""}

    def __init__(
        self, url: str, *, schema: str = "citewell", readonly: bool = False, wait_s: float = 30.0
    ) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtraError(
                "PostgreSQL requires the package psycopg", hint="pip install 'citewell[postgres]'"
            ) from error
        self.schema = schema
        self.where = f"PostgreSQL schema {schema}"
        self._error: type[Exception] = psycopg.Error
        self._url, self._wait_ms = url, int(wait_s * 1000)
        self._write_lock, self._read_lock = threading.Lock(), threading.Lock()
        self._closed = False
        with self._as_log_error():
            self._writer = None if readonly else self._open_writer()
            self._reader = self._open_reader()
            if readonly:
                self._refuse_absent()

    def _refuse_absent(self) -> None:
        found = self._reader.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (self.schema,))
        if found.fetchone() is None:
            self.close()
            raise LogError(
                f"there is no {self.where}", hint="check the URL, or ask a question first to create it"
            )

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        with self._read_lock, self._as_log_error():
            must_go_on()
            self._reader = self._live(self._reader, self._open_reader)
            with self._reader.transaction():
                yield _PostgresRows(self._reader, walks=self._writer is None)

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        with self._writing() as writer, writer.transaction():
            writer.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_WRITER, self.schema))
            yield _PostgresRows(writer)

    def tables(self, rows: Rows) -> set[str]:
        found = rows.execute("SELECT tablename FROM pg_tables WHERE schemaname = ?", (self.schema,))
        return {name for (name,) in found}

    def settle(self) -> None:
        """Statistics and visibility maps after a bulk load, as autovacuum would make them later."""
        with self._writing() as writer:
            for table in sorted(self.tables(_PostgresRows(writer))):
                writer.execute(f"VACUUM ANALYZE {table}".encode())

    def overwrite(self) -> None:
        """Rewrites every table, so that deleted rows stand in no file of it any more.

        What the server keeps elsewhere (its write-ahead log until it is recycled, its backups) is the
        operator's to bound.
        """
        with self._writing() as writer:
            for table in sorted(self.tables(_PostgresRows(writer))):
                writer.execute(f"VACUUM FULL {table}".encode())
            writer.execute("CHECKPOINT")

    def close(self) -> None:
        with self._write_lock, self._read_lock:
            self._closed = True
            self._reader.close()
            if self._writer is not None:
                self._writer.close()

    @contextmanager
    def _writing(self) -> Iterator[psycopg.Connection[Row]]:
        if self._writer is None:
            raise LogError(f"{self.where} is open read-only", hint="open the home for writing")
        with self._write_lock, self._as_log_error():
            self._writer = self._live(self._writer, self._open_writer)
            yield self._writer

    def _live(
        self, connection: psycopg.Connection[Row], anew: Callable[[], psycopg.Connection[Row]]
    ) -> psycopg.Connection[Row]:
        """Asked between two blocks, where nothing is in flight that a new connection could do twice."""
        if self._closed:
            return connection  # which says so
        try:
            connection.execute("SELECT 1")
        except self._error:
            connection.close()
            return anew()
        return connection

    def _open_writer(self) -> psycopg.Connection[Row]:
        import psycopg

        connection = self._open()
        # Each time, as a server that was started anew may have other settings.
        for setting in ("synchronous_commit", "fsync"):
            synced = connection.execute(f"SHOW {setting}".encode()).fetchone()
            if synced and synced[0] == "off":
                connection.close()
                raise ConfigError(
                    "this PostgreSQL server confirms commits before they are on disk, so"
                    " entries could be lost",
                    hint=f"set {setting} = on",
                )
        # Whatever the role's default is: a snapshot older than the lock would number entries twice.
        connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{self.schema}"'.encode())
        return connection

    def _open_reader(self) -> psycopg.Connection[Row]:
        import psycopg

        connection = self._open()
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        return connection

    def _open(self) -> psycopg.Connection[Row]:
        import psycopg

        try:
            connection = psycopg.connect(self._url, autocommit=True)
        except psycopg.ProgrammingError:
            # What it says repeats the part that cannot be read, which may be the password.
            raise ConfigError(
                f"audit.database is not a PostgreSQL URL: {named(self._url)}",
                hint="write postgresql://USER:PASSWORD@HOST/DATABASE; in the password, write"
                " %25 for % and %40 for @",
            ) from None
        connection.execute(f'SET search_path TO "{self.schema}"'.encode())
        connection.execute(f"SET lock_timeout = {self._wait_ms}".encode())
        # Plans are made for the values at hand: a key may have ten records or a million.
        connection.execute("SET plan_cache_mode = force_custom_plan")
        connection.execute("SET jit = off")
        return connection

    @contextmanager
    def _as_log_error(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            state = getattr(error, "sqlstate", None) or ""
            hint = next((hint for code, hint in _HINTS.items() if state.startswith(code)), _HINTS[""])
            raise LogError(f"{self.where}: {error}", hint=hint) from error


_HINTS = {
    "53100": "free some disk space on the server and try again",
    "55P03": "another process is using the log; try again",
    "28": "check the user and password in the URL",
    "": "check the URL, and that the server is running and has free space",
}
"""By the beginning of the SQLSTATE."""


_AT_A_TIME = 200
"""Rows of a walk that are in memory, each up to a whole record with all it retrieved. More are no faster."""


class _PostgresRows:
    """A running transaction, in the log's words. With ``walks`` the server keeps what a statement gave, and
    hands out some rows at a time."""

    def __init__(self, connection: psycopg.Connection[Row], *, walks: bool = False) -> None:
        self._connection = connection
        self._numbers = itertools.count() if walks else None

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor:
        if self._numbers is None:
            return self._connection.execute(_placed(sql), values)
        return _Walk(self._connection, b"walk%d" % next(self._numbers), _placed(sql), values)

    def executemany(self, sql: str, values: Iterable[Sequence[Any]]) -> object:
        plain = _PLAIN_INSERT.fullmatch(sql)
        with self._connection.cursor() as cursor:
            if plain is None:
                cursor.executemany(_placed(sql), values)
                return None
            with cursor.copy(f"COPY {plain[1]}({plain[2]}) FROM STDIN".encode()) as copy:
                for row in values:
                    copy.write_row(row)
        return None


class _Walk:
    """Rows that the server keeps until they are read to their end, or the transaction ends."""

    def __init__(
        self, connection: psycopg.Connection[Row], name: bytes, sql: bytes, values: Sequence[Any]
    ) -> None:
        self._connection, self._name = connection, name
        connection.execute(b"DECLARE %b NO SCROLL CURSOR FOR %b" % (name, sql), values, prepare=False)

    def fetchone(self) -> Row | None:
        return next(iter(self._fetch(1)), None)

    def fetchall(self) -> list[Row]:
        return list(self)

    def __iter__(self) -> Iterator[Row]:
        while rows := self._fetch(_AT_A_TIME):
            yield from rows
        self._connection.execute(b"CLOSE %b" % self._name, prepare=False)

    def _fetch(self, most: int) -> list[Row]:
        # Never prepared: another transaction gives the name to rows of other types.
        return self._connection.execute(b"FETCH %d FROM %b" % (most, self._name), prepare=False).fetchall()


def _placed(sql: str) -> bytes:
    return sql.replace("%", "%%").replace("?", "%s").encode()

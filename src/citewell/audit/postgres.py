"""The log's database on a PostgreSQL server: the same SQL and the same guarantees as SQLite.

In: ``postgresql://...``. Out: the :class:`citewell.audit.database.Database` in one of its schemas. An
advisory lock admits one writer at a time across all processes and machines; a server that confirms commits
before they are on disk (``synchronous_commit`` or ``fsync`` off) is refused. After a server restart the next
block reconnects. Independent of entries.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from citewell.audit.database import Cursor, Row, Rows
from citewell.core.addresses import redact_address
from citewell.core.errors import ConfigError, LogError, MissingExtraError
from citewell.core.files import WAIT_S
from citewell.core.metering import must_go_on

if TYPE_CHECKING:
    import psycopg

_WRITER = 0x6369_7465
"""The advisory lock held by the current writer."""
_PLAIN_INSERT = re.compile(r"\s*INSERT INTO (\w+)\(([\w, ]+)\) VALUES\((?:\?(?:, )?)+\)\s*")


class PostgresDatabase:
    """Safe to share between threads; any number of processes and machines may open one schema.

    ``readonly`` opens an existing schema, changes nothing, and reads through server-side cursors, some rows
    at a time. Raises MissingExtraError without psycopg, ConfigError for a server that does not sync its
    commits, LogError for one that cannot be reached or, if ``readonly``, lacks the schema.
    """

    types: Mapping[str, str] = {"id": "BIGINT", "bytes": "BYTEA", "compact": ""}

    def __init__(self, url: str, *, schema: str = "citewell", readonly: bool = False) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtraError(
                "PostgreSQL requires the package psycopg", hint="pip install 'citewell[postgres]'"
            ) from error
        self.schema = schema
        self.where = f"PostgreSQL schema {schema}"
        self._error: type[Exception] = psycopg.Error
        self._url = url
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

    def overwrite(self) -> None:
        """Rewrites every table, so that no table file contains deleted rows.

        What the server keeps elsewhere (its write-ahead log until it is recycled, its backups) is for the
        operator to limit.
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
        """A working connection. Called between blocks, so that nothing in flight could be done twice."""
        if self._closed:
            return connection  # whose use then raises
        try:
            connection.execute("SELECT 1")
        except self._error:
            connection.close()
            return anew()
        return connection

    def _open_writer(self) -> psycopg.Connection[Row]:
        import psycopg

        connection = self._open()
        # Checked each time, since a restarted server may have other settings.
        for setting in ("synchronous_commit", "fsync"):
            synced = connection.execute(f"SHOW {setting}".encode()).fetchone()
            if synced and synced[0] == "off":
                connection.close()
                raise ConfigError(
                    "this PostgreSQL server confirms commits before they are on disk, so"
                    " entries could be lost",
                    hint=f"set {setting} = on",
                )
        # Overrides the role's default: a snapshot older than the lock would number entries twice.
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
            # Its message repeats the unparsable part, which may be the password.
            raise ConfigError(
                f"audit.database is not a PostgreSQL URL: {redact_address(self._url)}",
                hint="write postgresql://USER:PASSWORD@HOST/DATABASE; in the password, write"
                " %25 for % and %40 for @",
            ) from None
        connection.execute(f'SET search_path TO "{self.schema}"'.encode())
        connection.execute(f"SET lock_timeout = {WAIT_S * 1000:.0f}".encode())
        # Plans depend on the actual values: a key may have ten records or a million.
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
"""By SQLSTATE prefix."""


_AT_A_TIME = 200
"""Cursor rows in memory, each up to a whole record with all it retrieved. More are no faster."""


class _PostgresRows:
    """A running transaction behind the log's interface. With ``walks`` results stay on the server and are
    fetched some rows at a time."""

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
    """A server-side cursor, open until it is read to the end or the transaction ends."""

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
        # Never prepared: another transaction reuses the name for rows of other types.
        return self._connection.execute(b"FETCH %d FROM %b" % (most, self._name), prepare=False).fetchall()


def _placed(sql: str) -> bytes:
    return sql.replace("%", "%%").replace("?", "%s").encode()

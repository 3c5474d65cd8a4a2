"""A PostgreSQL server is outside our control: it restarts, has its own settings, and may not sync."""

from __future__ import annotations

import itertools
import tempfile
import threading
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import psycopg
import pytest
from benchmarks.private_postgres import NoPostgresError, private_postgres

from citewell.audit.database import Database
from citewell.audit.postgres import PostgresDatabase
from citewell.core.errors import ConfigError, LogError

_SCHEMAS = itertools.count()
_LOSE_ALL = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"
)


def opened(url: str) -> PostgresDatabase:
    made = PostgresDatabase(url, schema=f"server{next(_SCHEMAS)}")
    with made.writing() as rows:
        rows.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
    return made


def add(database: Database) -> None:
    """Adds the next number, which requires seeing what the last writer wrote."""
    with database.writing() as rows:
        ((last,),) = rows.execute("SELECT coalesce(max(number), 0) FROM numbers")
        rows.execute("INSERT INTO numbers(number) VALUES(?)", (last + 1,))


def numbers(database: Database) -> list[int]:
    with database.reading() as rows:
        return [number for (number,) in rows.execute("SELECT number FROM numbers ORDER BY number")]


def test_a_server_that_was_started_anew_is_reached_again(postgres_url: str) -> None:
    database = opened(postgres_url)
    add(database)
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute(_LOSE_ALL)
    add(database)
    assert numbers(database) == [1, 2]
    database.close()
    with pytest.raises(LogError):
        numbers(database)


def test_a_role_that_reads_snapshots_does_not_number_twice(postgres_url: str) -> None:
    url = f"{postgres_url}&options=-c%20default_transaction_isolation%3Drepeatable%5C%20read"
    first = opened(url)
    writers = [first, *(PostgresDatabase(url, schema=first.schema) for _ in range(3))]
    threads = [threading.Thread(target=lambda own=own: [add(own) for _ in range(10)]) for own in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers(first) == list(range(1, 41))
    for writer in writers:
        writer.close()


def test_what_is_open_for_reading_only_is_not_changed(postgres_url: str) -> None:
    schema = f"server{next(_SCHEMAS)}"
    with pytest.raises(LogError, match="there is no PostgreSQL schema"):
        PostgresDatabase(postgres_url, schema=schema, readonly=True)
    with psycopg.connect(postgres_url) as server:
        assert server.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (schema,)).fetchone() is None
    written = opened(postgres_url)
    add(written)
    read = PostgresDatabase(postgres_url, schema=written.schema, readonly=True)
    assert numbers(read) == [1]
    for change in (lambda: add(read), read.overwrite):
        with pytest.raises(LogError, match="read-only"):
            change()
    for database in (read, written):
        database.close()


def test_walks_over_a_whole_log_are_not_read_into_memory(postgres_url: str) -> None:
    written = opened(postgres_url)
    read = PostgresDatabase(postgres_url, schema=written.schema, readonly=True)
    # As long as a record with all its retrieved passages may be.
    long = "SELECT number, repeat('x', 30000) FROM generate_series(1, ?) number"
    before = getrusage(RUSAGE_SELF).ru_maxrss
    with read.reading() as rows:
        first, second = iter(rows.execute(long, (100_000,))), iter(rows.execute(long, (100_000,)))
        for number in range(1, 5_000):
            # In parallel, as a check walks its tables.
            assert (next(first)[0], next(second)[0]) == (number, number)
        assert rows.execute("SELECT count(*) FROM numbers").fetchone() == (0,)
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 100_000
    assert numbers(read) == []
    for database in (read, written):
        database.close()


def test_blocks_that_were_read_are_let_go(postgres_url: str) -> None:
    """As when tables are compared: thousands of statements in one transaction."""
    written = opened(postgres_url)
    read = PostgresDatabase(postgres_url, schema=written.schema, readonly=True)
    block = "SELECT number, repeat('x', 10000) FROM generate_series(?::int, ?::int) number"
    before = getrusage(RUSAGE_SELF).ru_maxrss
    with read.reading() as rows:
        for start in range(0, 60_000, 600):
            found = rows.execute(block, (start + 1, start + 600)).fetchall()
            assert [number for number, _ in found] == list(range(start + 1, start + 601))
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 100_000
    for database in (read, written):
        database.close()


@pytest.mark.parametrize("setting", ["fsync", "synchronous_commit"])
def test_a_server_that_does_not_sync_is_refused(setting: str) -> None:
    try:
        with (
            tempfile.TemporaryDirectory(prefix="citewell-postgres-") as folder,
            private_postgres(Path(folder), (f"{setting}=off",)) as url,
            pytest.raises(ConfigError, match="before they are on disk") as refused,
        ):
            PostgresDatabase(url)
    except NoPostgresError as error:
        pytest.skip(str(error))
    assert refused.value.hint == f"set {setting} = on"


def test_a_server_that_does_not_sync_any_more_is_refused(postgres_url: str) -> None:
    database = opened(postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("ALTER ROLE CURRENT_USER SET synchronous_commit = off")
        try:
            other.execute(_LOSE_ALL)
            for _ in range(2):
                with pytest.raises(ConfigError, match="before they are on disk"):
                    add(database)
        finally:
            other.execute("ALTER ROLE CURRENT_USER RESET synchronous_commit")
    add(database)
    assert numbers(database) == [1]
    database.close()

"""Both databases of the log, empty: SQLite in a file, PostgreSQL in a schema of a server of our own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.private_postgres import NoPostgresError, private_postgres

from citewell.audit.database import Database
from citewell.audit.sqlite import SqliteDatabase

_SCHEMAS = itertools.count()


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Skips with the reason where there is no PostgreSQL."""
    pytest.importorskip("psycopg")
    try:
        with private_postgres(tmp_path_factory.mktemp("postgres"), ("fsync=off",)) as url:
            yield url
    except NoPostgresError as error:
        pytest.skip(str(error))


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Every test that asks for it runs on both."""
    made: Database
    if request.param == "sqlite":
        made = SqliteDatabase(tmp_path / "index.sqlite")
    else:
        from citewell.audit.postgres import PostgresDatabase

        url = request.getfixturevalue("postgres_url")
        made = PostgresDatabase(url, schema=f"test{next(_SCHEMAS)}")
    yield made
    made.close()


@pytest.fixture
def clean_server(postgres_url: str) -> str:
    """The server without what other homes left on it: a home's schemas have fixed names."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as server:
        for schema in ("citewell", "citewell_index", "citewell_traces", "citewell_feedback"):
            server.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())
    return postgres_url

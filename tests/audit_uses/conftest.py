"""Both databases of the log, empty: SQLite in a file, PostgreSQL in a schema of a private server."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.audit.database import Database
from citewell.audit.sqlite import SqliteDatabase

_SCHEMAS = itertools.count()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Every test that uses it runs on both."""
    made: Database
    if request.param == "sqlite":
        made = SqliteDatabase(tmp_path / "index.sqlite")
    else:
        from citewell.audit.postgres import PostgresDatabase

        url = request.getfixturevalue("postgres_url")
        made = PostgresDatabase(url, schema=f"test{next(_SCHEMAS)}")
    yield made
    made.close()

"""The logs used in benchmarks equal those that appending produces: every table, at a small size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from benchmarks.audit_bulk import PER_SESSION, write_entries, write_tables
from benchmarks.audit_generator import FLAG, FLAGGED_EACH, Generator, request_name, session_name, user_name

from citewell.audit.database import Database, migrate
from citewell.audit.entries import EntryKind
from citewell.audit.indexing import follow
from citewell.audit.keys import FolderKeys
from citewell.audit.log import Log
from citewell.audit.postings import Postings
from citewell.audit.sqlite import SqliteDatabase
from citewell.core.records import AuditRecord

SIZE = 900
ENTRIES = "SELECT seq, kind, timestamp, subject FROM entries WHERE seq <= ? ORDER BY seq"
SAME = (
    ENTRIES,
    "SELECT request_id, seq FROM requests WHERE seq <= ? ORDER BY seq",
    "SELECT level, place FROM tree WHERE level = 0 AND place < ? ORDER BY place",
    "SELECT level, place FROM tree WHERE level > 0 AND (place + 1) * 256 <= ? ORDER BY place",
)
TABLES = (
    "SELECT p.key, p.time, p.seq, f.facts FROM postings p JOIN profiles f ON f.id = p.profile"
    " ORDER BY 1, 2, 3",
    "SELECT p.time, p.seq, f.facts FROM records p JOIN profiles f ON f.id = p.profile ORDER BY 1, 2",
    "SELECT p.day, f.facts, p.n FROM tallies p JOIN profiles f ON f.id = p.profile ORDER BY 1, 2",
)


def asked(database: Database, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with database.reading() as rows:
        return [tuple(row) for row in rows.execute(statement, values).fetchall()]


@pytest.fixture(scope="module")
def generator() -> Generator:
    return Generator(SIZE)


@pytest.fixture
def generated(tmp_path: Path, database: Database, generator: Generator) -> tuple[Log, Postings]:
    """The log in SQLite, its tables in either database."""
    made = SqliteDatabase(tmp_path / "audit.sqlite")
    migrate(made)
    log, postings = Log(made, FolderKeys(tmp_path / "keys")), Postings(database)
    write_entries(log, generator)
    write_tables(log, postings, generator)
    return log, postings


def appended(log: Log, folder: Path, keys: Path) -> Log:
    """The same records through ``append``, with the texts that the generator leaves out; the flags as
    feedback."""
    database = SqliteDatabase(folder / "appended.sqlite")
    migrate(database)
    other = Log(database, FolderKeys(keys))
    for entry in log.entries():
        record = msgspec.convert(log.body(entry), AuditRecord)
        number = int(entry.subject.removeprefix("sub_"))
        other.append(
            msgspec.structs.replace(
                record,
                timestamp=entry.timestamp,
                user=user_name(number),
                session_id=session_name(entry.seq // PER_SESSION),
            )
        )
    for seq in range(1, SIZE + 1, FLAGGED_EACH):
        other.note(EntryKind.FEEDBACK, {"request_id": request_name(seq), "signal": FLAG})
    return other


def test_generated_tables_are_those_that_appending_makes(
    tmp_path: Path, generated: tuple[Log, Postings]
) -> None:
    log, postings = generated
    other = appended(log, tmp_path, tmp_path / "keys")
    for statement in SAME:
        assert asked(log.database, statement, SIZE) == asked(other.database, statement, SIZE)
    followed = Postings(SqliteDatabase(tmp_path / "followed.sqlite"))
    follow(other, followed)
    for statement in TABLES:
        mine = asked(postings.database, statement)
        assert len(mine) > 10
        assert mine == asked(followed.database, statement)
    place = postings.place()
    assert (place.seq, place.leaf) == (SIZE, log.at(SIZE).hash)
    other.close()
    followed.database.close()


def test_a_generated_log_checks(generated: tuple[Log, Postings]) -> None:
    log, _ = generated
    report = log.check()
    assert report.size == SIZE
    # The only findings: the personal texts, which the generator leaves out, are missing.
    assert {(finding.kind, finding.reason.split(",")[0]) for finding in report.findings} == {
        ("withheld", "its personal texts are gone")
    }

"""The query tables: manual changes are found, and changes from normal use are not reported."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from benchmarks.access_world import fake_parts
from benchmarks.sample_records import some_record

from citewell.audit import AuditQuery, EntryKind, SqliteLog
from citewell.audit.database import Database
from citewell.audit.indexing import differing, follow
from citewell.audit.postings import Postings
from citewell.audit.retention import expire
from citewell.audit.sqlite import SqliteDatabase
from citewell.core.config import Config
from citewell.core.errors import LogError
from citewell.knowledge.home import KnowledgeBase

OLD, NEW = "2026-01-05T08:00:00.000000Z", "2026-11-20T08:00:00.000000Z"
NOW = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)


def request(number: int) -> str:
    return f"req_{number:024d}"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    """Eight records, half of them old, two of them flagged."""
    log = SqliteLog(tmp_path / "audit.sqlite")
    for number in range(1, 9):
        record = some_record(number, document=f"{number % 3}.pdf")
        log.append(msgspec.structs.replace(record, timestamp=OLD if number <= 4 else NEW))
    for number in (1, 7):
        log.note(EntryKind.FEEDBACK, {"request_id": request(number), "signal": "thumbs_down"})
    yield log
    log.close()


@pytest.fixture
def postings(log: SqliteLog, database: Database) -> Postings:
    made = Postings(database)
    follow(log, made)
    return made


def tamper(database: Database, statement: str) -> None:
    with database.writing() as rows:
        rows.execute(statement)


def test_what_comes_of_use_is_no_finding(log: SqliteLog, postings: Postings) -> None:
    assert differing(log, postings.database) == ([], "")
    log.append(some_record(9))
    assert differing(log, postings.database) == ([], "")
    days = {"answers": 90, "feedback": 0}
    assert expire(log, postings, days, NOW).expired == {"answers": 4}
    assert differing(log, postings.database) == ([], "")
    later = datetime(2027, 11, 22, tzinfo=UTC)
    assert expire(log, postings, {"feedback": 30}, later).expired == {"feedback": 2}
    log.append(some_record(10))
    follow(log, postings)
    assert differing(log, postings.database) == ([], "")


@pytest.mark.parametrize(
    ("statement", "table", "seq"),
    [
        ("DELETE FROM postings", "postings", 1),
        ("DELETE FROM postings WHERE seq = 6", "postings", 6),
        ("INSERT INTO postings SELECT 7, time, seq, profile FROM records WHERE seq = 5", "postings", 5),
        ("DELETE FROM records WHERE seq = 3", "records", 3),
        ("UPDATE records SET profile = profile + 1 WHERE seq = 8", "records", 8),
        (
            "UPDATE named SET documents = (SELECT documents FROM named WHERE seq = 1) WHERE seq = 2",
            "named",
            2,
        ),
        ("DELETE FROM tallies", "tallies", 0),
        ("UPDATE tallies SET n = n + 1", "tallies", 0),
    ],
)
def test_a_changed_table_is_named(
    log: SqliteLog, postings: Postings, statement: str, table: str, seq: int
) -> None:
    tamper(postings.database, statement)
    findings, missed = differing(log, postings.database)
    assert [(found.kind, found.seq) for found in findings] == [("side-table", seq)]
    assert f"table {table} " in findings[0].reason
    assert not missed


def test_a_changed_profile_is_named_wherever_it_counts(log: SqliteLog, postings: Postings) -> None:
    tamper(postings.database, "UPDATE profiles SET facts = replace(facts, 'ANSWER', 'ABSTAIN')")
    assert len(differing(log, postings.database)[0]) == 3


def test_a_disk_that_is_full_meanwhile_is_no_deed(
    log: SqliteLog, postings: Postings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise LogError("disk is full")

    monkeypatch.setattr(Postings, "rebuild", full)
    findings, missed = differing(log, postings.database)
    assert (findings, missed) == ([], "they could not be recomputed: disk is full")


def test_tables_of_another_log_are_passed_over(log: SqliteLog, postings: Postings, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = SqliteLog(tmp_path / "other" / "audit.sqlite")
    other.append(some_record(1))
    findings, missed = differing(other, postings.database)
    assert (findings, "rebuilds" in missed) == ([], True)


@pytest.mark.parametrize("value", ["'x'", "x'00'", "1.5", "CAST(x'ff' AS TEXT)", "-7"])
@pytest.mark.parametrize(
    "cell",
    ["place.seq", "place.version", "postings.seq", "postings.key", "records.time", "tallies.n", "named.seq"],
)
def test_whatever_stands_in_a_cell_it_ends_with_an_answer(
    log: SqliteLog, tmp_path: Path, cell: str, value: str
) -> None:
    database = SqliteDatabase(tmp_path / "index.sqlite")
    follow(log, Postings(database))
    table, name = cell.split(".")
    if cell == "named.seq" and value != "-7":
        value = "77"
    tamper(database, f"UPDATE OR IGNORE {table} SET {name} = {value}")
    database.close()
    findings, missed = differing(log, SqliteDatabase(tmp_path / "index.sqlite", readonly=True))
    assert findings or missed


def test_a_home_finds_it(tmp_path: Path) -> None:
    kb = KnowledgeBase(fake_parts(tmp_path / "home", Config()))
    (tmp_path / "bridge.md").write_text("# Bridges\n\nThe bridge was paid for by the town.\n")
    kb.ingest(tmp_path / "bridge.md")
    kb.ask("Who paid for the bridge?", user="alice")
    assert any("search tables not checked" in line for line in kb.log.check().skipped)
    assert kb.audit.query(AuditQuery(user="alice")).records
    report = kb.log.check()
    assert report.ok
    assert not any("tables" in line for line in report.skipped)
    for deed in ("DELETE FROM postings", "DROP TABLE tallies"):
        tamper(kb._parts.tables(), deed)
        assert not kb.audit.query(AuditQuery(user="alice")).records
        assert {finding.kind for finding in kb.log.check().findings} == {"side-table"}
    kb.close()

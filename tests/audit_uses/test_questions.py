"""What can be queried in the log, on SQLite and on PostgreSQL, whatever arrives meanwhile."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from benchmarks.sample_records import some_record

from citewell.audit.database import Database, migrate
from citewell.audit.entries import EntryKind
from citewell.audit.indexing import follow
from citewell.audit.keys import FolderKeys
from citewell.audit.log import Log
from citewell.audit.pages import Queries
from citewell.audit.postings import Postings
from citewell.audit.question import AuditQuery, moment
from citewell.audit.tabular import FORMATS
from citewell.core.errors import UsageError
from citewell.core.records import Status

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
SECOND = {"document": "b.md", "version": "sha256:v2"}


QUESTIONS = [
    (AuditQuery(), [6, 5, 4, 3, 2, 1]),
    (AuditQuery(user="bob"), [4, 3]),
    (AuditQuery(user="carol"), []),
    (AuditQuery(session="ses_2"), [4]),
    (AuditQuery(session="ses_1", user="alice"), [5, 2, 1]),
    (AuditQuery(document="b.md"), [5, 2]),
    (AuditQuery(document="b.md", version="sha256:v2"), [5]),
    (AuditQuery(chunk="sha256:c1"), [2]),
    (AuditQuery(document="b.md", status="any-unsupported"), [2]),
    (AuditQuery(status="any-broken"), [3]),
    (AuditQuery(status="all-verified"), [5, 1]),
    (AuditQuery(status="no-claims"), [6, 4]),
    (AuditQuery(proof="verbatim"), [5, 2, 1]),
    (AuditQuery(confidence="high"), [6, 5, 1]),
    (AuditQuery(confidence="medium"), [2]),
    (AuditQuery(confidence="not measured"), [4]),
    (AuditQuery(decision="ABSTAIN"), [4]),
    (AuditQuery(decision="ERROR"), [6]),
    (AuditQuery(model="openai:small"), [5]),
    (AuditQuery(model="exact/1"), [6, 5, 4, 3, 2, 1]),
    (AuditQuery(prompt="sha256:p"), [5]),
    (AuditQuery(prompt="sha256:judge", user="bob"), [4, 3]),
    (AuditQuery(failure="citation_broken"), [3]),
    (AuditQuery(flag="thumbs_down"), [5]),
    (AuditQuery(since="2026-11-05T00:00:00.000000Z"), [6, 5, 4]),
    (AuditQuery(until="2026-11-04T00:00:00.000000Z"), [2, 1]),
    (
        AuditQuery(since="2026-11-02T00:00:00.000000Z", document="b.md", status="any-unsupported"),
        [2],
    ),
]


@pytest.fixture
def log(database: Database, tmp_path: Path) -> Iterator[Log]:
    """The log itself in the database under test."""
    migrate(database)
    log = Log(database, FolderKeys(tmp_path / "keys"))
    log.append(some_record(1))
    two = (Status.VERIFIED, Status.UNSUPPORTED)
    log.append(some_record(2, statuses=two, document="b.md", overall=0.7, decision="PARTIAL"))
    log.append(some_record(3, statuses=(Status.BROKEN,), user="bob", overall=0.1, failure="citation_broken"))
    log.append(some_record(4, statuses=(), overall=None, user="bob", session="ses_2", decision="ABSTAIN"))
    log.append(some_record(5, **SECOND, model="openai:small", prompt="sha256:p"))
    log.append(some_record(6, user="", error="GeneratorError: no", failure="generator_failed", statuses=()))
    log.note(EntryKind.FEEDBACK, {"request_id": f"req_{5:024d}", "signal": "thumbs_down"}, subject="alice")
    yield log
    log.keys.close()


@pytest.fixture
def queries(log: Log, database: Database) -> Queries:
    """The query tables in the same database; a home keeps them apart."""
    return Queries(log, Postings(database))


def found(queries: Queries, query: AuditQuery) -> list[int]:
    return [int(record.request_id[4:]) for record in queries.page(query).records]


def test_questions(queries: Queries) -> None:
    for query, numbers in QUESTIONS:
        assert found(queries, query) == numbers, query


def test_pages_are_stable_while_entries_arrive(queries: Queries, log: Log) -> None:
    seen: list[str] = []
    cursor = ""
    for arrival in range(10, 20):
        page = queries.page(AuditQuery(limit=2, cursor=cursor))
        seen += [record.request_id for record in page.records]
        log.append(some_record(arrival, timestamp="2026-12-01T00:00:00.000000Z"))
        if not page.next:
            break
        cursor = page.next
    assert [int(request[4:]) for request in seen] == [6, 5, 4, 3, 2, 1]


def test_records_come_back_whole(queries: Queries) -> None:
    record = queries.page(AuditQuery(user="alice", limit=1)).records[0]
    assert record == some_record(5, **SECOND, model="openai:small", prompt="sha256:p")


def test_counts_and_rates(queries: Queries) -> None:
    counts = queries.counts(AuditQuery(), by="month", of="decision")
    assert counts.total == 6
    assert [stretch.since[:10] for stretch in counts.stretches] == ["2026-11-01"]
    shares = {share.value: (share.n, round(share.rate, 3)) for share in counts.shares}
    assert shares == {"ANSWER": (3, 0.5), "PARTIAL": (1, 0.167), "ABSTAIN": (1, 0.167), "ERROR": (1, 0.167)}
    weeks = queries.counts(AuditQuery(user="alice"), by="week", of="status").stretches
    assert [week.since[:10] for week in weeks] == ["2026-11-02"]
    assert {s.value: s.n for s in weeks[0].shares} == {"VERIFIED": 3, "UNSUPPORTED": 1}
    assert counts.of_all == counts.stretches[0].of_all == 1.0
    some = queries.counts(AuditQuery(user="alice"), by="month")
    assert some.of_all == some.stretches[0].of_all == some.total / 6 < 1
    assert queries.counts(AuditQuery(user="nobody")).of_all == 0.0
    assert queries.counts(AuditQuery(until="2020-01-01T00:00:00.000000Z")).of_all is None
    hours = queries.counts(AuditQuery(), by="hour", of="failure").stretches
    assert all(hour.since[11:13] == "10" for hour in hours)


@pytest.mark.parametrize(
    "call",
    [
        lambda q: q.counts(AuditQuery(), by="year"),
        lambda q: q.counts(AuditQuery(), of="colour"),
        lambda q: q.page(AuditQuery(cursor="x")),
        lambda queries: queries.page(AuditQuery(limit=-(10**22))),
    ],
)
def test_what_cannot_be_asked_is_refused(queries: Queries, call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError):
        call(queries)


def test_tables_of_another_log_are_made_anew(queries: Queries, database: Database, tmp_path: Path) -> None:
    """As after restoring a backup: the same tables, but not the log they were built from."""
    from citewell.audit.log import SqliteLog

    assert len(queries.page(AuditQuery()).records) == 6
    (tmp_path / "other").mkdir()
    other = SqliteLog(tmp_path / "other" / "audit.sqlite")
    for number in range(1, 9):
        other.append(some_record(number, user="dave"))
    postings = Postings(database)
    assert follow(other, postings) == 8
    assert len(Queries(other, postings).page(AuditQuery(user="dave")).records) == 8


def test_a_clock_that_jumps_back_loses_no_record(queries: Queries, log: Log) -> None:
    log.append(some_record(50, timestamp="2020-01-01T00:00:00.000000Z"))
    assert found(queries, AuditQuery())[-1] == 50
    assert found(queries, AuditQuery(until="2021-01-01T00:00:00.000000Z")) == [50]


def test_exports_hold_every_record(queries: Queries, tmp_path: Path) -> None:
    for suffix, write in FORMATS.items():
        assert write(queries.every(AuditQuery(limit=1)), tmp_path / f"out{suffix}") == 6
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    words = ["Failed", "Answered", "Not answered", "Answered", "Answered in part", "Answered"]
    assert [row["Decision"] for row in rows] == words
    assert rows[4]["No supporting passage found"] == "1"
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(lines[1])["user_query"] == "question 5?"


@pytest.mark.parametrize("begins", ["=", "＝", "\n="])
def test_a_spreadsheet_gets_no_formula(log: Log, queries: Queries, tmp_path: Path, begins: str) -> None:
    log.append(some_record(70, question=f'{begins}HYPERLINK("http://x")'))
    FORMATS[".csv"](queries.every(AuditQuery()), tmp_path / "out.csv")
    assert f"\"'{begins}HYPERLINK" in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("30d", "2026-10-22T03:00:00.000000Z"),
        ("12h", "2026-11-20T15:00:00.000000Z"),
        ("2026-11-01", "2026-11-01T00:00:00.000000Z"),
        ("2026-11-01T02:00:00+02:00", "2026-11-01T00:00:00.000000Z"),
    ],
)
def test_moments(text: str, time: str) -> None:
    assert moment(text, NOW) == time


@pytest.mark.parametrize("text", ["", "soon", "3y", "99999999d", "999999w"])
def test_no_moment(text: str) -> None:
    with pytest.raises(UsageError):
        moment(text, NOW)


def test_a_home_may_keep_its_log_on_a_server(clean_server: str, tmp_path: Path) -> None:
    from citewell.core.config import Audit, Config
    from citewell.knowledge.assembly import Assembly
    from citewell.knowledge.auditing import Auditing

    parts = Assembly(tmp_path, Config(audit=Audit(database=clean_server)))
    with closing(parts):
        audit = Auditing(parts)
        parts.log.append(some_record(1))
        assert len(audit.query(AuditQuery(user="alice"), reader="auditor").records) == 1
        assert parts.log.check().ok
        assert [entry.kind for entry in parts.log.entries()] == ["answer", "read"]
        assert not (tmp_path / "audit.sqlite").exists()

"""What the log can be asked, and that its pages neither repeat nor miss a record."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from citewell.audit import AuditQuery, SqliteLog
from citewell.audit.queries import moment
from citewell.errors import UsageError
from citewell.records import Status

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


@pytest.fixture
def log(tmp_path: Path, make) -> SqliteLog:  # type: ignore[no-untyped-def]
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.append(make(1))
    log.append(make(2, statuses=(Status.VERIFIED, Status.UNSUPPORTED), document="b.md", overall=0.7))
    log.append(make(3, statuses=(Status.BROKEN,), user="bob", overall=0.1))
    log.append(make(4, statuses=(), overall=None, user="bob"))
    log.append(make(5, document="b.md", version="sha256:v2"))
    return log


def found(log: SqliteLog, query: AuditQuery) -> list[int]:
    return [int(record.request_id[4:]) for record in log.query(query).records]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        (AuditQuery(), [5, 4, 3, 2, 1]),
        (AuditQuery(user="bob"), [4, 3]),
        (AuditQuery(document="b.md"), [5, 2]),
        (AuditQuery(document="b.md", version="sha256:v2"), [5]),
        (AuditQuery(document="b.md", status="any-unsupported"), [2]),
        (AuditQuery(status="any-broken"), [3]),
        (AuditQuery(status="all-verified"), [5, 1]),
        (AuditQuery(confidence="high"), [5, 1]),
        (AuditQuery(confidence="medium"), [2]),
        (AuditQuery(confidence="low"), [3]),
        (AuditQuery(since="2026-11-04T00:00:00.000000Z"), [5, 4, 3]),
        (AuditQuery(until="2026-11-04T00:00:00.000000Z"), [2, 1]),
        (AuditQuery(document="none.md"), []),
        (AuditQuery(decision="ABSTAIN"), []),
        (AuditQuery(session="ses_1", user="alice"), [5, 2, 1]),
    ],
)
def test_questions(log: SqliteLog, query: AuditQuery, numbers: list[int]) -> None:
    assert found(log, query) == numbers


def test_pages_are_stable_while_entries_arrive(log: SqliteLog, make) -> None:  # type: ignore[no-untyped-def]
    seen: list[str] = []
    cursor = ""
    for arrival in range(10, 20):
        page = log.query(AuditQuery(limit=2, cursor=cursor))
        seen += [record.request_id for record in page.records]
        log.append(make(arrival, timestamp="2026-12-01T00:00:00.000000Z"))
        if not page.next:
            break
        cursor = page.next
    assert [int(request[4:]) for request in seen] == [5, 4, 3, 2, 1]


def test_equal_times_do_not_lose_records(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    log = SqliteLog(tmp_path / "other.sqlite")
    for number in range(7):
        log.append(make(number, timestamp="2026-12-01T00:00:00.000000Z"))
    first = log.query(AuditQuery(limit=4))
    second = log.query(AuditQuery(limit=4, cursor=first.next))
    assert len({record.request_id for record in (*first.records, *second.records)}) == 7
    assert second.next == ""


@pytest.mark.parametrize(
    "query",
    [
        AuditQuery(status="odd"),
        AuditQuery(confidence="sure"),
        AuditQuery(limit=0),
        AuditQuery(cursor="x"),
        AuditQuery(version="sha256:v2"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(log: SqliteLog, query: AuditQuery) -> None:
    with pytest.raises(UsageError):
        log.query(query)


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


def test_queries_use_an_index(log: SqliteLog) -> None:
    with log.database.reading() as rows:
        plan = rows.execute(
            "EXPLAIN QUERY PLAN SELECT timestamp, seq FROM cited WHERE timestamp >= ? AND document_id = ? AND"
            " document_version = ? AND unsupported > 0 ORDER BY timestamp DESC, seq DESC LIMIT 51",
            ("", "b.md", ""),
        ).fetchall()
    assert "SEARCH cited USING PRIMARY KEY" in plan[0][3]
    assert len(plan) == 1

"""Traces are returned by session, in order, from any process; on SQLite and on PostgreSQL."""

from __future__ import annotations

import itertools
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from citewell.core import files
from citewell.core.errors import CitewellError
from citewell.core.ports import TraceStore
from citewell.core.records import Stage, Trace
from citewell.knowledge.traces import Traces

_SCHEMAS = itertools.count()


def trace(number: int, session: str = "ses_1", **more: object) -> Trace:
    return Trace(
        session_id=session,
        request_id=f"req_{number}",
        timestamp=f"2026-11-21T00:00:{number:02d}Z",
        query="q",
        stages=(Stage(name="gate", latency_ms=1.5, notes=("n",)),),
        **more,  # type: ignore[arg-type]
    )


Store = Callable[[], TraceStore]


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """``store()`` opens the same store again, as another process would."""
    opened: list[Traces] = []
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else ""
    schema = f"traces{next(_SCHEMAS)}"

    def store() -> TraceStore:
        if url:
            from citewell.audit.postgres import PostgresDatabase

            opened.append(Traces(PostgresDatabase(url, schema=schema)))
        else:
            opened.append(Traces.in_file(tmp_path / "traces.sqlite"))
        return opened[-1]

    yield store
    for one in opened:
        one.close()


def test_a_session_comes_back_in_order(store: Store) -> None:
    traces = store()
    for number, session in ((1, "a"), (2, "b"), (3, "a")):
        traces.put(trace(number, session))
    assert store().session("a") == [trace(1, "a"), trace(3, "a")]
    assert traces.session("none") == []


def test_the_turns_of_sessions_between_two_ids_come_newest_first(store: Store) -> None:
    traces = store()
    for number, session in ((1, "ses_a0"), (2, "ses_af"), (3, "ses_b0"), (4, "ses_a0"), (5, "ses_9f")):
        traces.put(trace(number, session))
    assert [found.session_id for found in traces.between("ses_a0", "ses_af")] == [
        "ses_a0",
        "ses_af",
        "ses_a0",
    ]


def test_a_request_has_one_trace(store: Store) -> None:
    traces = store()
    traces.put(trace(1))
    traces.put(trace(1, failure_reason="record_failed"))
    assert [found.failure_reason for found in traces.session("ses_1")] == ["record_failed"]


def test_flags_are_set_and_seen_by_others(store: Store) -> None:
    traces = store()
    traces.put(trace(1))
    assert traces.flag("req_1", ("thumbs_down",))
    assert not traces.flag("req_9", ("thumbs_down",))
    found = store().get("req_1")
    assert found is not None
    assert found.flags == ("thumbs_down",)
    assert traces.get("req_9") is None


def test_what_is_forgotten_is_gone_and_the_rest_stays(store: Store) -> None:
    traces = store()
    for number in range(1, 5):
        traces.put(trace(number))
    assert traces.forget(["req_1", "req_3", "req_9"]) == 2  # type: ignore[attr-defined]
    assert [found.request_id for found in store().session("ses_1")] == ["req_2", "req_4"]
    assert traces.forget([]) == 0  # type: ignore[attr-defined]


def test_the_requests_of_a_time_are_named(store: Store) -> None:
    traces = store()
    for number in range(1, 5):
        traces.put(trace(number))
    assert traces.before(trace(3).timestamp) == {"req_1", "req_2"}  # type: ignore[attr-defined]


def test_words_that_are_hard_to_keep(store: Store) -> None:
    traces = store()
    odd = trace(1, "nul\x00 % ? 'quote' ☕", final_returned="\x00 100% ? 'x' \u2028")
    traces.put(odd)
    assert traces.session("nul\x00 % ? 'quote' ☕") == [odd]


def test_threads_share_a_store(store: Store) -> None:
    traces = store()
    threads = [threading.Thread(target=traces.put, args=(trace(number),)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(traces.session("ses_1")) == 20


def test_a_trace_is_not_said_to_be_forgotten_while_it_stands_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "WAIT_S", 0.1)
    traces = Traces.in_file(tmp_path / "traces.sqlite")
    traces.put(trace(1))
    reader = sqlite3.connect(tmp_path / "traces.sqlite")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM traces").fetchall()
    for _ in range(2):
        with pytest.raises(CitewellError, match="still reading"):
            traces.forget([trace(1).request_id])
    reader.close()
    traces.forget([trace(1).request_id])


def test_a_store_of_a_newer_citewell_is_refused(tmp_path: Path) -> None:
    Traces.in_file(tmp_path / "traces.sqlite").close()
    connection = sqlite3.connect(tmp_path / "traces.sqlite")
    connection.execute("INSERT INTO schema_steps(step) VALUES(99)")
    connection.commit()
    connection.close()
    with pytest.raises(CitewellError, match="newer"):
        Traces.in_file(tmp_path / "traces.sqlite")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CitewellError, match="writable"):
        Traces.in_file(tmp_path / "none" / "traces.sqlite")


def test_a_server_with_a_newer_schema_is_refused(postgres_url: str) -> None:
    from citewell.audit.postgres import PostgresDatabase

    database = PostgresDatabase(postgres_url, schema=f"traces{next(_SCHEMAS)}")
    Traces(database)
    with database.writing() as rows:
        rows.execute("INSERT INTO schema_steps(step) VALUES(99)")
    with pytest.raises(CitewellError, match="newer"):
        Traces(database)
    database.close()

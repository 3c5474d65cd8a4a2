"""Traces come back by session, in order, from any process."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from citewell.errors import CitewellError
from citewell.records import Stage, Trace
from citewell.traces import SqliteTraces


def trace(number: int, session: str = "ses_1", **more: object) -> Trace:
    return Trace(
        session_id=session,
        request_id=f"req_{number}",
        timestamp=f"2026-11-21T00:00:{number:02d}Z",
        query="q",
        stages=(Stage(name="gate", latency_ms=1.5, notes=("n",)),),
        **more,  # type: ignore[arg-type]
    )


def test_a_session_comes_back_in_order(tmp_path: Path) -> None:
    traces = SqliteTraces(tmp_path / "traces.sqlite")
    for number, session in ((1, "a"), (2, "b"), (3, "a")):
        traces.put(trace(number, session))
    assert SqliteTraces(tmp_path / "traces.sqlite").session("a") == [trace(1, "a"), trace(3, "a")]
    assert traces.session("none") == []


def test_a_request_has_one_trace(tmp_path: Path) -> None:
    traces = SqliteTraces(tmp_path / "traces.sqlite")
    traces.put(trace(1))
    traces.put(trace(1, failure_reason="record_failed"))
    assert [found.failure_reason for found in traces.session("ses_1")] == ["record_failed"]


def test_threads_share_a_store(tmp_path: Path) -> None:
    traces = SqliteTraces(tmp_path / "traces.sqlite")
    threads = [threading.Thread(target=traces.put, args=(trace(number),)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(traces.session("ses_1")) == 20


def test_a_store_of_a_newer_citewell_is_refused(tmp_path: Path) -> None:
    SqliteTraces(tmp_path / "traces.sqlite").close()
    connection = sqlite3.connect(tmp_path / "traces.sqlite")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(CitewellError, match="newer"):
        SqliteTraces(tmp_path / "traces.sqlite")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CitewellError, match="writable"):
        SqliteTraces(tmp_path / "none" / "traces.sqlite")

"""A home of signals without models: a log, its tables for questions, traces, and the store beside them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.audit_uses.records import some_record

from citewell.audit.database import Database
from citewell.audit.log import SqliteLog
from citewell.audit.pages import Queries
from citewell.audit.postings import Postings
from citewell.audit.sqlite import SqliteDatabase
from citewell.feedback import FeedbackStore
from citewell.listening import Listening
from citewell.records import AuditRecord, Trace
from citewell.traces import SqliteTraces


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 21, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def forward(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class Desk:
    """What :class:`Listening` works on, and answers to speak about."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder = folder
        self.clock = Clock()
        self.log = SqliteLog(folder / "audit.sqlite", clock=self.clock)
        self.postings = Postings(SqliteDatabase(folder / "audit-index.sqlite"))
        self.queries = Queries(self.log, self.postings)
        self.traces = SqliteTraces(folder / "traces.sqlite")
        self.store = FeedbackStore(database)
        self.listening = Listening(log=self.log, traces=self.traces, store=self.store, clock=self.clock)

    def answered(self, number: int, **more: Any) -> AuditRecord:
        """An answer in the log and its trace."""
        record = some_record(number, **more)
        self.log.append(record)
        self.traces.put(
            Trace(
                session_id=record.session_id,
                request_id=record.request_id,
                timestamp=record.timestamp,
                query=record.user_query,
                final_returned=record.shown_response or "text",
            )
        )
        return record

    def flags(self, record: AuditRecord) -> tuple[str, ...]:
        trace = self.traces.get(record.request_id)
        assert trace is not None
        return trace.flags

    def holds_bytes(self, text: str) -> list[str]:
        """The files in which the words stand."""
        return [
            path.name
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and text.encode() in path.read_bytes()
        ]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, SqliteDatabase(tmp_path / "feedback.sqlite"))

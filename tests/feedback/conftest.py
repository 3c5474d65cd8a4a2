"""A home of signals without models: a log, its query tables, traces, and the feedback store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from benchmarks.sample_records import TEXT, some_record

from citewell.audit.database import Database
from citewell.audit.log import SqliteLog
from citewell.audit.pages import Queries
from citewell.audit.postings import Postings
from citewell.audit.sqlite import SqliteDatabase
from citewell.core.config import Config
from citewell.core.environment import format_time
from citewell.core.records import AuditRecord, Trace
from citewell.documents.text import caller_document
from citewell.knowledge.feedback import FeedbackStore
from citewell.knowledge.feedback.intake import Intake
from citewell.knowledge.opening import open as open_home
from citewell.knowledge.traces import Traces
from citewell.models.fake import HashEmbedder


class Clock:
    """Fixed until it is moved forward."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 21, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def forward(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class Desk:
    """What :class:`Intake` works on, and answers to give feedback on."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder = folder
        self.clock = Clock()
        self.log = SqliteLog(folder / "audit.sqlite", clock=self.clock)
        self.postings = Postings(SqliteDatabase(folder / "audit-index.sqlite"))
        self.queries = Queries(self.log, self.postings)
        self.traces = Traces.in_file(folder / "traces.sqlite")
        self.store = FeedbackStore(database)
        self.intake = Intake(log=self.log, traces=self.traces, store=self.store, clock=self.clock)

    def answered(self, number: int, answer: str = "An answer.", **more: Any) -> AuditRecord:
        """An answer in the log, and its trace."""
        record = some_record(number, **more)
        self.log.append(record)
        self.traces.put(
            Trace(
                session_id=record.session_id,
                request_id=record.request_id,
                timestamp=record.timestamp,
                query=record.user_query,
                final_returned=answer,
            )
        )
        return record

    def flags(self, record: AuditRecord) -> tuple[str, ...]:
        trace = self.traces.get(record.request_id)
        assert trace is not None
        return trace.flags

    def holds_bytes(self, text: str) -> list[str]:
        """The files that contain the text."""
        return [
            path.name
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and text.encode() in path.read_bytes()
        ]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, SqliteDatabase(tmp_path / "feedback.sqlite"))


class Room(Desk):
    """An open home without models: answers are sealed as if they had been given."""

    def __init__(self, folder: Path, config: Config | None = None) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.clock = Clock()
        self.kb = open_home(folder, config=config or Config(), clock=self.clock)
        parts = self.kb._parts
        self.parts = parts
        self.log, self.traces, self.store = parts.log, parts.traces, parts.feedback
        self.intake = parts.intake
        self.queries = self.kb.audit.queries
        parts.__dict__["embedder"] = HashEmbedder()

    def document(self, document_id: str = "filings/a.pdf", text: str = TEXT) -> str:
        """Stores a document; returns its version, to be cited."""
        document = msgspec.structs.replace(caller_document(document_id, text), caller_supplied=False)
        self.parts.evidence.put(document)
        return document.version

    def turn(self, number: int, question: str, answer: str = "An answer.", **more: Any) -> AuditRecord:
        """One turn of the session ``ses_1`` at this time, with its implicit signals."""
        more.setdefault("timestamp", format_time(self.clock.now()))
        record = self.answered(number, question=question, answer=answer, **more)
        self.parts.implicit.turn(record.session_id, record.request_id, record.user)
        return record


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path / "home")
    yield made
    made.kb.close()

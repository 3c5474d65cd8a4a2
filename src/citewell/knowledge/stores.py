"""The stores of a home, each opened on first use and then kept: evidence, log, search tables, keys, traces,
feedback.

In: a home folder and a Config, which says whether workers share a database. Out: the stores. Refuses to start
a new log silently in a home that already had one. With :mod:`citewell.knowledge.assembly`, the only module
that knows which implementation serves each port.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.audit.database import Database, migrate
from citewell.audit.keys import NEXT, PUBLISHED, SIGNING, FolderKeys
from citewell.audit.log import KEYS_FOLDER, Log, SqliteLog
from citewell.audit.postgres import PostgresDatabase
from citewell.audit.postings import Postings
from citewell.audit.sqlite import SqliteDatabase
from citewell.audit.witnesses import Publisher, witnesses
from citewell.core.config import Config
from citewell.core.environment import SystemClock
from citewell.core.errors import LogError, UsageError
from citewell.knowledge.feedback import Feedback, FeedbackStore
from citewell.knowledge.feedback.intake import Intake
from citewell.knowledge.sealing import seal_configuration
from citewell.knowledge.traces import Relay, Traces

if TYPE_CHECKING:
    from citewell.core.ports import Clock
    from citewell.documents.evidence.sqlite import SqliteEvidence

AUDIT_FILE = "audit.sqlite"
TABLES_FILE = "audit-index.sqlite"
FEEDBACK_FILE = "feedback.sqlite"

_HINT = (
    "restore the log from its backup, or start a new log in a new home (keep this one as evidence of what was"
    " there)"
)
_ENTRIES = "SELECT 1 FROM entries LIMIT 1"
_DOCUMENTS = "SELECT 1 FROM versions WHERE caller_supplied = 0 LIMIT 1"


class Stores:
    """The stores of one home; :class:`citewell.knowledge.assembly.Assembly` adds models and stages."""

    def __init__(self, home: Path, config: Config, clock: Clock | None = None) -> None:
        self.home, self.config, self.clock = home, config, clock or SystemClock()
        self.publisher: Publisher | None = None
        self.subscribers: list[Callable[[Feedback], None]] = []
        self._sealed = False

    @cached_property
    def evidence(self) -> SqliteEvidence:
        from citewell.documents.evidence.sqlite import SqliteEvidence

        return SqliteEvidence(self.home / "evidence.sqlite")

    @cached_property
    def log(self) -> Log:
        log: Log
        if database := self._shared("citewell"):
            try:
                with database.reading() as rows:  # before its tables are created
                    there = "entries" in database.tables(rows)
                    empty = not there or rows.execute(_ENTRIES).fetchone() is None
                self._refuse_new_log(f"in {database.where}", there=there, empty=empty)
                migrate(database)
            except BaseException:
                database.close()
                raise
            log = Log(database, self.keys, clock=self.clock)
        else:
            path = self.home / AUDIT_FILE
            empty = _first(path, _ENTRIES) is None
            self._refuse_new_log(str(path), self.home / TABLES_FILE, there=path.exists(), empty=empty)
            log = SqliteLog(path, clock=self.clock, keys=self.keys)
        settings = self.config.audit
        sinks = witnesses(settings.witnesses)
        self.publisher = Publisher(log, sinks, self.clock, every_s=settings.publish_every_s)
        return log

    def _refuse_new_log(self, log: str, *beside: Path, there: bool, empty: bool) -> None:
        """Raises LogError for a missing or empty log in a home that had one, as its keys, its documents or
        the files ``beside`` the log show."""
        keys = (self.keys.folder / name for name in (SIGNING, NEXT, PUBLISHED))
        # Keys made before the first entry are no past of a log that is there.
        left = [] if there else [path.name for path in (*keys, *beside) if path.exists()]
        if empty and _first(self.home / "evidence.sqlite", _DOCUMENTS):
            left.append("documents")
        if left:
            gone = "is empty" if there else "is gone"
            raise LogError(
                f"the audit log {log} {gone}, but this home had one: {', '.join(left)} are still there",
                hint=_HINT,
            )

    def readonly_log(self) -> Log:
        """The log on a connection of its own, which changes nothing. Raises LogError if there is none."""
        if database := self._shared("citewell", readonly=True):
            return Log(database, self.keys)
        return SqliteLog(self.home / AUDIT_FILE, readonly=True, keys=self.keys)

    def tables(self, *, readonly: bool = False) -> Database:
        """The search tables for log queries: a file in the home, or a schema on the log's server. Raises
        LogError when ``readonly`` and they do not exist."""
        shared = self._shared("citewell_index", readonly=readonly)
        return shared or SqliteDatabase(self.home / TABLES_FILE, readonly=readonly)

    @cached_property
    def postings(self) -> Postings:
        """The search tables, open for all queries of this home."""
        return Postings(self.tables())

    def _shared(self, schema: str, *, readonly: bool = False) -> Database | None:
        """A schema on the server that workers share; None where the home has its own files."""
        if not self.config.audit.database:
            return None
        return PostgresDatabase(self.config.audit.database, schema=schema, readonly=readonly)

    @cached_property
    def keys(self) -> FolderKeys:
        named = self.config.audit.keys
        return FolderKeys(Path(named) if named else self.home / KEYS_FOLDER, origin=self.config.audit.origin)

    @cached_property
    def traces(self) -> Traces:
        shared = self._shared("citewell_traces")
        return Traces(shared) if shared else Traces.in_file(self.home / "traces.sqlite")

    @property
    def relay(self) -> Relay | None:
        """Lets workers follow answers that other workers are making; None with a single worker."""
        return Relay(self.traces.database) if self.traces.shared else None

    @cached_property
    def feedback(self) -> FeedbackStore:
        return FeedbackStore(self._shared("citewell_feedback") or SqliteDatabase(self.home / FEEDBACK_FILE))

    @cached_property
    def intake(self) -> Intake:
        return Intake(
            log=self.log,
            traces=self.traces,
            store=self.feedback,
            clock=self.clock,
            subscribers=self.subscribers,
        )

    def seal_configuration(self) -> None:
        """Seals the configuration once, before any entry that refers to it. Raises LogError."""
        if not self._sealed:
            seal_configuration(self.log, self.config)
            self._sealed = True

    def must_be_there(self) -> None:
        """Raises UsageError if the home does not exist yet."""
        if not self.home.is_dir():
            raise UsageError(
                f"no knowledge base at {self.home}", hint="create one with `citewell ingest PATH`"
            )

    def close(self) -> None:
        """Closes every open store."""
        if self.publisher is not None:
            self.publisher.close()
        if "keys" in self.__dict__:
            self.__dict__.pop("keys").close()
        for name in ("evidence", "log", "traces", "feedback"):
            if name in self.__dict__:
                self.__dict__.pop(name).close()
        if "postings" in self.__dict__:
            self.__dict__.pop("postings").database.close()


def _first(path: Path, statement: str) -> object:
    """The first row; None if there is none or the file is unreadable, which its own opener reports."""
    if not path.is_file():
        return None
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as rows,
    ):
        return rows.execute(statement).fetchone()
    return None

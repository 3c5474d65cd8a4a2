"""Checkpoints sent to their witnesses, now or when due, each outcome on record.

In: a log and its witnesses by name (:func:`names`). Out: :class:`Publication` for each; a row of table
``published``, and a notice in the log when a witness did not take it: a place that silently keeps nothing
would be worse than none. Knows nothing about what a witness is.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from citewell.audit.entries import EntryKind
from citewell.audit.notes import read_checkpoint
from citewell.core.addresses import named
from citewell.core.clock import stamp
from citewell.core.errors import CitewellError, LogError
from citewell.core.records import Record

if TYPE_CHECKING:
    from citewell.audit.log import Log
    from citewell.core.ports import Clock, Witness

_LAST_WAIT_S = 20.0
"""How long closing waits for a publication that is under way."""


class Publication(Record, frozen=True, kw_only=True):
    """``error`` is "" when the witness took the checkpoint of ``size`` entries."""

    witness: str
    size: int
    timestamp: str
    error: str


def names(urls: Sequence[str]) -> dict[str, str]:
    """For each witness's URL a name of its own, without the URL's secrets: it goes into the log."""
    counts: Counter[str] = Counter()
    found: dict[str, str] = {}
    for url in urls:
        name = named(url)
        counts[name] += 1
        found[f"{name} ({counts[name]})" if counts[name] > 1 else name] = url
    return found


class Publisher:
    """Sends the newest checkpoint to every witness, at most every ``every_s`` seconds, in its own thread."""

    def __init__(self, log: Log, witnesses: Mapping[str, Witness], clock: Clock, *, every_s: float) -> None:
        self._log, self._witnesses, self._clock, self._every_s = log, witnesses, clock, every_s
        self._turn = threading.Lock()
        self._running: threading.Thread | None = None
        self._next: datetime | None = None
        if witnesses and every_s > 0:
            log.after_append = self.nudge

    def publish(self) -> tuple[Publication, ...]:
        """To every witness, now. Raises LogError only when the log itself cannot be read or written."""
        with self._turn:
            self._next = self._clock.now() + timedelta(seconds=self._every_s)
            text = self._log.checkpoint()
            size = read_checkpoint(text).size
            done = tuple(self._send(name, text, size) for name in self._witnesses)
            with self._log.database.writing() as rows:
                rows.executemany(
                    "INSERT INTO published(size, witness, timestamp, checkpoint, error)"
                    " VALUES(?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    [(one.size, one.witness, one.timestamp, text, one.error) for one in done],
                )
            for one in done:
                if one.error:
                    body = {"witness": one.witness, "size": one.size, "error": one.error}
                    self._log.note(EntryKind.NOTICE, body)
        return done

    def nudge(self) -> None:
        """Something was appended: publishes when it is time. Returns at once."""
        if self._running is not None and self._running.is_alive():
            return
        if self._next is None:
            try:
                self._next = self._due()
            except LogError:
                # What was appended is durable all the same: whoever appended it must not be told otherwise.
                return
        if self._clock.now() >= self._next:
            self._running = threading.Thread(target=self._publish_aside, name="citewell-witnesses")
            self._running.start()

    def close(self) -> None:
        if self._running is not None:
            self._running.join(_LAST_WAIT_S)

    def _send(self, name: str, text: str, size: int) -> Publication:
        try:
            self._witnesses[name].publish(text)
            error = ""
        except CitewellError as failure:
            error = str(failure)
        return Publication(witness=name, size=size, timestamp=stamp(self._clock), error=error)

    def _publish_aside(self) -> None:
        try:
            self.publish()
        except LogError:
            # The log cannot be written: whoever appends next is told so, and publishing is tried again then.
            self._next = None

    def _due(self) -> datetime:
        """By what any process published last."""
        with self._log.database.reading() as rows:
            row = rows.execute("SELECT max(timestamp) FROM published").fetchone()
        if row is None or row[0] is None:
            return self._clock.now()
        return datetime.fromisoformat(str(row[0])) + timedelta(seconds=self._every_s)

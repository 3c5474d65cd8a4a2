"""Outside places that keep checkpoints: a file on somebody else's disk, or a webhook. Checkpoints are sent on
demand or when due, and each outcome is recorded.

In: a log, and witnesses by name. Out: a :class:`Publication` for each; a row of table ``published``, and a
notice in the log if a witness failed: one that silently keeps nothing would be worse than none. A witness is
only worth something if it is out of the log owner's control, which the operator must judge. ``file:/path``
appends to a file, ``https://...`` posts the text, and a 2xx response counts as kept.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.audit.entries import EntryKind
from citewell.audit.notes import read_checkpoint
from citewell.core.addresses import post, redact_address
from citewell.core.environment import stamp
from citewell.core.errors import ConfigError, LogError
from citewell.core.records import Record

if TYPE_CHECKING:
    from citewell.audit.log import Log
    from citewell.core.ports import Clock

_LAST_WAIT_S = 20.0
"""How long closing waits for a publication in progress."""


Witness = Callable[[str], str]
"""Keeps a checkpoint; returns what went wrong, "" for nothing."""


def _append(url: str, checkpoint: str) -> str:
    """Each checkpoint ends where the next one's origin begins."""
    try:
        with Path(urlsplit(url).path).open("a", encoding="utf-8") as file:
            file.write(checkpoint + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return f"{error}: check the path of the witness"
    return ""


def _post(url: str, checkpoint: str) -> str:
    """Whether it was kept is known only at the other end."""
    trouble = post(url, checkpoint.encode(), "text/plain; charset=utf-8")
    return trouble and f"{trouble}: check its address, and that its server is running"


SCHEMES: Mapping[str, Callable[[str, str], str]] = {"file": _append, "https": _post, "http": _post}


def witness(url: str) -> Witness:
    """Raises ConfigError for a URL that names no witness."""
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES or not (parts.netloc or parts.path):
        raise ConfigError(
            f"witness {redact_address(url)!r}",
            hint=f"write one of {', '.join(SCHEMES)}, followed by a location",
        )
    return partial(SCHEMES[parts.scheme], url)


def witnesses(urls: Sequence[str]) -> dict[str, Witness]:
    """Each under a unique name without its URL's secrets: the name goes into the log."""
    counts: Counter[str] = Counter()
    found: dict[str, Witness] = {}
    for url in urls:
        name = redact_address(url)
        counts[name] += 1
        found[f"{name} ({counts[name]})" if counts[name] > 1 else name] = witness(url)
    return found


class Publication(Record, frozen=True, kw_only=True):
    """``error`` is "" if the witness accepted the checkpoint of ``size`` entries."""

    witness: str
    size: int
    timestamp: str
    error: str


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
        """Publishes if due, after something was appended. Returns at once."""
        if self._running is not None and self._running.is_alive():
            return
        if self._next is None:
            try:
                self._next = self._due()
            except LogError:
                # What was appended is durable all the same, so its caller must not see an error.
                return
        if self._clock.now() >= self._next:
            self._running = threading.Thread(target=self._publish_aside, name="citewell-witnesses")
            self._running.start()

    def close(self) -> None:
        if self._running is not None:
            self._running.join(_LAST_WAIT_S)

    def _send(self, name: str, text: str, size: int) -> Publication:
        error = self._witnesses[name](text)
        return Publication(witness=name, size=size, timestamp=stamp(self._clock), error=error)

    def _publish_aside(self) -> None:
        try:
            self.publish()
        except LogError:
            # The log cannot be written: the next append reports that, and publishing is retried then.
            self._next = None

    def _due(self) -> datetime:
        """When to publish next, counted from the last publication by any process."""
        with self._log.database.reading() as rows:
            row = rows.execute("SELECT max(timestamp) FROM published").fetchone()
        if row is None or row[0] is None:
            return self._clock.now()
        return datetime.fromisoformat(str(row[0])) + timedelta(seconds=self._every_s)

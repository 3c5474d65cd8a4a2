"""What one running server holds, in one place: the home, its settings, and the parts that requests share.

In: a home. Out: a :class:`Site`, found again from any request by :func:`site`. Knows nothing about routes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from citewell.core.access import Caller
from citewell.core.config import Server
from citewell.knowledge.home import KnowledgeBase
from citewell.server.keys import ApiKeys
from citewell.server.limits import Buckets, Work
from citewell.server.logs import NAME
from citewell.server.metrics import Metrics
from citewell.server.oidc import Issuer
from citewell.server.pictures import Pictures
from citewell.server.problems import Problem
from citewell.server.scheduler import Looking
from citewell.server.streams import Streams
from citewell.server.telemetry import Telemetry, telemetry

if TYPE_CHECKING:
    from citewell.evaluation.drift import Metric

log = logging.getLogger(NAME)

DRIFT_KEPT_S = 300.0
CHANGE_WAITS_S = 5.0
"""No longer, for who waits holds a thread that questions and pages need too."""


@dataclass(kw_only=True)
class Site:
    """``local``: the socket listens on loopback alone, so that without keys the owner needs none.
    ``ready`` once the models are loaded, or ``failed`` says why not."""

    kb: KnowledgeBase
    settings: Server
    keys: ApiKeys
    work: Work
    callers: Buckets
    strangers: Buckets
    streams: Streams
    telemetry: Telemetry
    issuer: Issuer | None
    pictures: Pictures
    metrics: Metrics
    ingesting: threading.Lock = field(default_factory=threading.Lock)
    local: bool = True
    ready: threading.Event = field(default_factory=threading.Event)
    failed: str = ""

    def __post_init__(self) -> None:
        self.looking = Looking(self.look)

    @classmethod
    def of(cls, kb: KnowledgeBase, *, local: bool) -> Site:
        settings = kb.config.server
        quality = _Quality(kb)
        metrics = Metrics(quality.now)
        kb.parts.subscribers.append(metrics.signalled)
        return cls(
            kb=kb,
            settings=settings,
            keys=ApiKeys(kb.home),
            metrics=metrics,
            work=Work(
                settings.threads,
                settings.queue,
                max_wait_s=settings.max_wait_s,
                told=metrics.queue.set,
            ),
            callers=Buckets(settings.rate_per_minute, settings.burst),
            # Guessing 256 bits is hopeless; this keeps it from being expensive too.
            strangers=Buckets(60, 30),
            streams=Streams(settings.stream_keep_s, relay=lambda: kb.parts.relay),
            telemetry=telemetry(documents=settings.otel_documents, writer=kb.config.generator),
            issuer=Issuer(settings) if settings.oidc_issuer else None,
            pictures=Pictures(kb.config.documents),
            local=local,
        )

    def kb_for(self, caller: Caller) -> KnowledgeBase:
        """The home as far as ``caller`` may see and use it."""
        return self.kb.as_(caller)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Documents are changed by one request at a time. Raises Problem 503 for one that would wait long."""
        if not self.ingesting.acquire(timeout=CHANGE_WAITS_S):
            raise Problem(
                503,
                "another ingest is running",
                hint="try again when it has finished",
                retryable=True,
                headers={"Retry-After": "5"},
            )
        try:
            yield
        finally:
            self.ingesting.release()

    @property
    def open(self) -> bool:
        """Nobody ever made a key and no issuer is configured: the one at this machine is the owner."""
        return self.local and not self.settings.oidc_issuer and not self.keys.any()

    def load(self) -> None:
        """Makes every part of the pass, so that the first asker does not wait for it."""
        try:
            self.kb.warm()
        except Exception as error:  # also said by every request that needs the part
            self.failed = f"{type(error).__name__}: {error}"
            log.error("a component could not be loaded", exc_info=error)
        else:
            self.ready.set()
            self.metrics.ready.set(1)

    def look(self) -> None:
        """Notices what time alone brings about, so that flags, health and alerts have it without a reader of
        the queue. Before the models are loaded there may be no home yet."""
        if self.ready.is_set():
            self.kb.review.detect()

    def close(self, within: float | None = None) -> bool:
        """False where work is still running after ``within`` seconds."""
        self.looking.close()
        ended = self.work.close(within)
        self.streams.close()
        self.telemetry.close()
        self.keys.close()
        return ended


class _Quality:
    """What ``/metrics`` reads from the log when it is asked: the same in every worker."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._looking = threading.Lock()
        self._look_again = 0.0
        self._seen: tuple[Metric, ...] = ()

    def now(self) -> Iterator[tuple[str, str, dict[str, str], float | None]]:
        yield "log_entries", "Entries in the audit log", {}, float(self._kb.log.size())
        for metric in self._moved():
            yield metric.name, metric.help, metric.labels, metric.value

    def _moved(self) -> tuple[Metric, ...]:
        """Quality over the last week, and which alerts fire; kept for five minutes, for it reads the log."""
        from citewell.evaluation.drift import drift_metrics

        with self._looking:
            if time.monotonic() >= self._look_again:
                self._seen = drift_metrics(self._kb)
                self._look_again = time.monotonic() + DRIFT_KEPT_S
            return self._seen


def site(request: HTTPConnection) -> Site:
    found: Site = request.app.state.site
    return found

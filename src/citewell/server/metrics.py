"""Counts and times for Prometheus: requests, passes, verdicts, what went wrong, how much waits.

In: what happened. Out: the text of ``/metrics``. Labels are words of the product, never of a question, a
document or a person. Several workers keep their counts in one folder (``PROMETHEUS_MULTIPROC_DIR``, as the
library has it), and each tells the sum.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from citewell.core.records import Answer, Status
from citewell.knowledge.feedback import Feedback

CONTENT_TYPE = CONTENT_TYPE_LATEST
SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
GATE = "relevance_gate_failed"
SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The folder in which several workers keep their counts; must be named before the library is imported."""

Gauges = Callable[[], Iterable[tuple[str, str, dict[str, str], float | None]]]
"""Name, meaning, labels and value of what is read when somebody looks; None is not measured, and not said."""


class Metrics:
    """One server's."""

    def __init__(self, gauges: Gauges) -> None:
        # Every application counts for itself: several may live in one process.
        self.registry = CollectorRegistry()
        self._now = _Now(gauges)
        self.registry.register(self._now)

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"citewell_{name}", about, labels, registry=self.registry)

        def times(name: str, about: str, *labels: str) -> Histogram:
            return Histogram(f"citewell_{name}", about, labels, registry=self.registry, buckets=SECONDS)

        self.queue = Gauge(
            "citewell_queue",
            "Questions accepted and not yet finished",
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        self.ready = Gauge(
            "citewell_ready",
            "Whether the models are loaded, in every worker",
            registry=self.registry,
            multiprocess_mode="livemin",
        )
        self._requests = counter("requests", "Requests, by route and status", "method", "route", "status")
        self._request_s = times("request_seconds", "Time to the first byte, by route", "route")
        self._stage_s = times("stage_seconds", "Time of one stage of answering", "stage")
        self._pass_s = times("pass_seconds", "Time of answering a question in full")
        self._decisions = counter("decisions", "Answers, by decision", "decision")
        self._verdicts = counter("verdicts", "Claims of answers, by verdict", "status")
        self._broken = counter("broken_citations", "Citations that do not resolve to their source")
        self._gates = counter("gate_failures", "Questions for which nothing relevant was found")
        self._verified = counter("verified_claims", "Claims of external answers, by verdict", "status")
        self._signals = counter("signals", "User feedback on answers, explicit and implicit", "signal")
        self._failed = counter("failures", "Requests that ended in a server error", "kind")

    def requested(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._request_s.labels(route).observe(seconds)

    def failed(self, kind: str) -> None:
        self._failed.labels(kind).inc()

    def heard(self, answer: Answer) -> None:
        """An answer left."""
        self._decisions.labels(answer.decision.value).inc()
        for claim in answer.claims:
            self._verdicts.labels(claim.verdict.status.value).inc()
            for citation in claim.citations:
                if citation.verdict is not None and citation.verdict.status is Status.BROKEN:
                    self._broken.inc()
        trace = answer.trace
        if trace is None:
            return
        if trace.failure_reason == GATE:
            self._gates.inc()
        for stage in trace.stages:
            self._stage_s.labels(stage.name).observe(stage.latency_ms / 1000)
        self._pass_s.observe(sum(stage.latency_ms for stage in trace.stages) / 1000)

    def verified(self, lines: bytes) -> None:
        """Somebody else's answers were checked; ``lines`` as they were sent back."""
        for line in lines.splitlines():
            for claim in msgspec.json.decode(line, type=_Claims).claims:
                self._verified.labels(claim.verdict.status).inc()

    def signalled(self, said: Feedback) -> None:
        self._signals.labels(said.signal.value).inc()

    def text(self) -> bytes:
        folder = os.environ.get(SHARED)
        if not folder:
            return generate_latest(self.registry)
        _bury(Path(folder))
        together = CollectorRegistry()
        MultiProcessCollector(together, path=folder)  # type: ignore[no-untyped-call]
        together.register(self._now)
        return generate_latest(together)


def _bury(folder: Path) -> None:
    """What a worker had in hand went with it; what it counted stays counted."""
    for pid in {path.stem.rpartition("_")[2] for path in folder.glob("gauge_live*.db")}:
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            mark_process_dead(int(pid), str(folder))  # type: ignore[no-untyped-call]
        except (OSError, ValueError):
            continue


class _Status(msgspec.Struct):
    status: str


class _Claim(msgspec.Struct):
    verdict: _Status


class _Claims(msgspec.Struct):
    claims: list[_Claim]


class _Now(Collector):
    """What is true at the moment of the question."""

    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges

    def collect(self) -> Iterable[Metric]:
        families: dict[str, GaugeMetricFamily] = {}
        for name, about, labels, value in self._gauges():
            if value is None:
                continue
            if name not in families:
                families[name] = GaugeMetricFamily(f"citewell_{name}", about, labels=list(labels))
            families[name].add_metric(list(labels.values()), value)
        yield from families.values()

    def describe(self) -> Iterable[Metric]:
        return ()  # naming them must not read the log

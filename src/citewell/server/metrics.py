"""Prometheus metrics: requests, answers, verdicts, failures, the queue, quality.

Labels are the product's own terms, never from a question, a document or a person. Several workers keep their
counts in one folder (the library's ``PROMETHEUS_MULTIPROC_DIR``), and each reports the sum.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from citewell.core.records import Answer, Claim, Status
from citewell.knowledge.feedback import Feedback
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.evaluation import drift

SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The folder in which workers share their counts; must be set before the library is imported."""
QUALITY_KEPT_S = 300.0


class Metrics:
    def __init__(self, kb: KnowledgeBase) -> None:
        # Each application has its own counts, as several may live in one process.
        registry = self.registry = CollectorRegistry()
        self.quality = Quality(kb)
        registry.register(self.quality)

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"citewell_{name}", about, labels, registry=registry)

        def times(name: str, about: str, *labels: str) -> Histogram:
            return Histogram(f"citewell_{name}", about, labels, registry=registry, buckets=SECONDS)

        def gauge(name: str, about: str, over_workers: str) -> Gauge:
            return Gauge(f"citewell_{name}", about, registry=registry, multiprocess_mode=over_workers)  # type: ignore[arg-type]

        self.queue = gauge("queue", "Questions accepted and not yet finished", "livesum")
        self.ready = gauge("ready", "Whether the models are loaded, in every worker", "livemin")
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

    def answered(self, answer: Answer) -> None:
        self._decisions.labels(answer.decision.value).inc()
        for claim in answer.claims:
            self._verdicts.labels(claim.verdict.status.value).inc()
            for citation in claim.citations:
                if citation.verdict is not None and citation.verdict.status is Status.BROKEN:
                    self._broken.inc()
        trace = answer.trace
        if trace is None:
            return
        if trace.failure_reason == "relevance_gate_failed":
            self._gates.inc()
        for stage in trace.stages:
            self._stage_s.labels(stage.name).observe(stage.latency_ms / 1000)
        self._pass_s.observe(sum(stage.latency_ms for stage in trace.stages) / 1000)

    def verified(self, claims: Sequence[Claim]) -> None:
        for claim in claims:
            self._verified.labels(claim.verdict.status.value).inc()

    def signalled(self, said: Feedback) -> None:
        self._signals.labels(said.signal.value).inc()

    def text(self) -> bytes:
        folder = os.environ.get(SHARED)
        if not folder:
            return generate_latest(self.registry)
        _bury(Path(folder))
        together = CollectorRegistry()
        MultiProcessCollector(together, path=folder)  # type: ignore[no-untyped-call]
        together.register(self.quality)
        return generate_latest(together)


class Quality(Collector):
    """Read from the log on request: its size, and quality and alerts over the last week, the latter cached
    for five minutes. The same in every worker. What was not measured is omitted."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb, self._lock = kb, threading.Lock()
        self.read_again_at = 0.0
        self._moved: drift.Drift | None = None

    def collect(self) -> Iterable[Metric]:
        from citewell.evaluation.drift import drift_lately

        yield GaugeMetricFamily("citewell_log_entries", "Entries in the audit log", self._kb.log.size())
        with self._lock:
            if self._moved is None or time.monotonic() >= self.read_again_at:
                self._moved = drift_lately(self._kb)
                self.read_again_at = time.monotonic() + QUALITY_KEPT_S
            moved = self._moved
        window = ("measure", "window")
        quality = GaugeMetricFamily("citewell_drift", "Quality by the audit log", labels=window)
        records = GaugeMetricFamily("citewell_drift_records", "Records behind it", labels=window)
        firing = GaugeMetricFamily("citewell_alert_firing", "1 while an alert rule fires", labels=("rule",))
        for point in moved.points:
            quality.add_metric((point.measure, point.period), point.value)
            records.add_metric((point.measure, point.period), point.n)
        for alert in moved.alerts:
            if alert.state != "not measured":
                firing.add_metric((alert.rule,), alert.state == "firing")
        yield from (quality, records, firing)

    def describe(self) -> Iterable[Metric]:
        return ()  # naming them must not read the log


def _bury(folder: Path) -> None:
    """Drops the live gauges of dead workers; their counters remain."""
    for pid in {path.stem.rpartition("_")[2] for path in folder.glob("gauge_live*.db")}:
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            mark_process_dead(int(pid), str(folder))  # type: ignore[no-untyped-call]
        except (OSError, ValueError):
            continue

"""Spans for OpenTelemetry, where its standard variables ask for them; otherwise nothing.

In: a question while it is asked, its Answer. Out: spans and events by the GenAI semantic conventions, and how
long stages take as a metric, sent by the SDK's own exporters to the address in
``OTEL_EXPORTER_OTLP_ENDPOINT``. No text of a question, a document or an answer is sent; ids of documents only
when ``server.otel_documents`` is on.

A pass is one span; its stages are laid end to end inside it, because a trace keeps how long each took and not
when it began.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Protocol

from citewell.environment import environment
from citewell.errors import MissingExtraError
from citewell.records import Answer, Stage

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
OPERATIONS: Mapping[str, str] = {
    "retrieval": "retrieval",
    "broadened retrieval": "retrieval",
    "retrieval for missing aspects": "retrieval",
    "generation": "chat",
    "stricter retry": "chat",
}
"""Stages that the conventions have a word for (``gen_ai.operation.name``)."""

Heard = Callable[[Answer], None]
Carrier = Mapping[str, str]
"""The headers of the request, in which a trace may come along (W3C Trace Context)."""


class Telemetry(Protocol):
    """What is told of each question."""

    def asking(self, carrier: Carrier) -> Any: ...

    def close(self) -> None: ...


class Silent:
    """Nobody asked for spans."""

    @contextmanager
    def asking(self, carrier: Carrier) -> Iterator[Heard]:
        yield lambda answer: None

    def close(self) -> None:
        pass


def telemetry(*, documents: bool, environ: Mapping[str, str] = os.environ) -> Telemetry:
    """By the environment. Raises MissingExtraError where spans are wanted and cannot be made."""
    if not any(environ.get(name) for name in ENDPOINTS) or environ.get("OTEL_SDK_DISABLED", "") == "true":
        return Silent()
    if find_spec("opentelemetry.sdk") is None:
        raise MissingExtraError(
            "OTEL_* is set and OpenTelemetry is not installed", hint="pip install 'citewell[otel]'"
        )
    return Spans(documents=documents)


class Spans:
    """By the SDK, in batches, from a thread of its own."""

    def __init__(self, *, documents: bool) -> None:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        name = os.environ.get("OTEL_SERVICE_NAME", "citewell")
        version = environment()["citewell"]
        resource = Resource.create({"service.name": name, "service.version": version})
        # Not the global one: an application around this one keeps its own.
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("citewell", version)
        self._documents = documents
        self._meters = MeterProvider(
            resource=resource, metric_readers=[PeriodicExportingMetricReader(OTLPMetricExporter())]
        )
        self._stage_s = self._meters.get_meter("citewell", version).create_histogram(
            "citewell.stage.duration", unit="s", description="Time of a stage of the pass"
        )

    @contextmanager
    def asking(self, carrier: Carrier) -> Iterator[Heard]:
        """One span for the pass, in the trace that the request came with; an error marks it."""
        from opentelemetry.propagate import extract

        began = time.time_ns()
        attributes = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "citewell.ask"}
        with self._tracer.start_as_current_span(
            "invoke_workflow citewell.ask",
            context=extract(carrier),
            attributes=attributes,
            start_time=began,
            record_exception=False,  # its message may hold words of the question
            set_status_on_exception=False,
        ) as span:
            try:
                yield lambda answer: self._tell(span, answer, began)
            except Exception as error:
                from opentelemetry.trace import Status, StatusCode

                span.set_attribute("error.type", type(error).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise

    def close(self) -> None:
        self._provider.shutdown()
        self._meters.shutdown()

    def _tell(self, span: Any, answer: Answer, began: int) -> None:
        span.set_attribute("gen_ai.conversation.id", answer.session_id)
        span.set_attribute("gen_ai.response.id", answer.request_id)
        span.set_attribute("citewell.decision", answer.decision.value)
        if answer.confidence.overall is not None:
            span.set_attribute("citewell.confidence", answer.confidence.overall)
        for number, claim in enumerate(answer.claims, 1):
            verdict = claim.verdict
            result: dict[str, Any] = {
                "gen_ai.evaluation.name": "citewell.claim",
                "gen_ai.evaluation.score.label": verdict.status.value,
                "gen_ai.response.id": answer.request_id,
                "citewell.claim": number,
                "citewell.maker": verdict.maker.name,
            }
            if verdict.support is not None:
                result["gen_ai.evaluation.score.value"] = verdict.support
            span.add_event("gen_ai.evaluation.result", result)
        at = began
        for stage in answer.trace.stages if answer.trace else ():
            at = self._stage(stage, answer, at)

    def _stage(self, stage: Stage, answer: Answer, began: int) -> int:
        operation = OPERATIONS.get(stage.name)
        attributes: dict[str, Any] = {"citewell.stage": stage.name}
        if operation:
            attributes["gen_ai.operation.name"] = operation
        if operation == "retrieval" and self._documents:
            attributes["gen_ai.retrieval.documents"] = _documents(answer)
        ends = began + int(stage.latency_ms * 1e6)
        self._stage_s.record(stage.latency_ms / 1000, {"citewell.stage": stage.name})
        span = self._tracer.start_span(
            f"{operation or stage.name} citewell", attributes=attributes, start_time=began
        )
        span.end(end_time=ends)
        return ends


def _documents(answer: Answer) -> str:
    import json

    return json.dumps(
        [{"id": passage.chunk.document_id, "score": passage.relevance} for passage in answer.passages]
    )

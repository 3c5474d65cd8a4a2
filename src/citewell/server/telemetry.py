"""Spans for OpenTelemetry, where its standard variables ask for them; otherwise nothing.

In: a question while it is asked, its Answer; what was verified for others; a tool that an agent called. Out:
spans and events by the GenAI semantic conventions, and how long stages take as a metric, sent by the SDK's
own exporters to ``OTEL_EXPORTER_OTLP_ENDPOINT``, or each to an address of its own; what has no address is
not sent. No text of a question, a document or an answer is sent; ids of documents only when
``server.otel_documents`` is on.

A pass is one span; its stages are laid end to end inside it, because a trace keeps how long each took and not
when it began.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from typing import Any, Protocol

import msgspec

from citewell.core.environment import environment
from citewell.core.errors import MissingExtraError
from citewell.core.records import Answer, Claim, Stage

TRACES, METRICS = "TRACES", "METRICS"
OPERATIONS: Mapping[str, str] = {
    "retrieval": "retrieval",
    "broadened retrieval": "retrieval",
    "retrieval for missing aspects": "retrieval",
    "search with the claims": "retrieval",
    "generation": "chat",
    "stricter retry": "chat",
}
"""Stages that the conventions have a word for (``gen_ai.operation.name``)."""

Heard = Callable[[Answer], None]
Checked = Callable[[bytes], None]
"""Told the lines of ``citewell verify --jsonl`` that were sent back."""
Carrier = Mapping[str, str]
"""The headers of the request, in which a trace may come along (W3C Trace Context)."""


class Telemetry(Protocol):
    """What is told of each question, each check for others and each call of a tool."""

    def asking(self, carrier: Carrier) -> AbstractContextManager[Heard]: ...

    def verifying(self, carrier: Carrier) -> AbstractContextManager[Checked]: ...

    def calling(self, tool: str) -> AbstractContextManager[None]: ...

    def close(self) -> None: ...


class Silent:
    """Nobody asked for spans."""

    def asking(self, carrier: Carrier) -> AbstractContextManager[Heard]:
        return nullcontext(lambda answer: None)

    def verifying(self, carrier: Carrier) -> AbstractContextManager[Checked]:
        return nullcontext(lambda lines: None)

    def calling(self, tool: str) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        pass


def telemetry(*, documents: bool, writer: str, environ: Mapping[str, str] = os.environ) -> Telemetry:
    """By the environment; ``writer`` is the configuration's line for it. Raises MissingExtraError where spans
    or metrics are wanted and cannot be made."""
    traces, metrics = _wanted(TRACES, environ), _wanted(METRICS, environ)
    if not (traces or metrics) or environ.get("OTEL_SDK_DISABLED", "") == "true":
        return Silent()
    if find_spec("opentelemetry.sdk") is None:
        raise MissingExtraError(
            "OTEL_* is set, but OpenTelemetry is not installed", hint="pip install 'citewell[otel]'"
        )
    return Spans(documents=documents, writer=writer, traces=traces, metrics=metrics)


def _wanted(signal: str, environ: Mapping[str, str]) -> bool:
    """Whether it has an address; without one its exporter would try port 4318 of this machine for ever."""
    addresses = ("OTEL_EXPORTER_OTLP_ENDPOINT", f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    return environ.get(f"OTEL_{signal}_EXPORTER") != "none" and any(map(environ.get, addresses))


class Spans:
    """By the SDK, in batches, from a thread of its own."""

    def __init__(self, *, documents: bool, writer: str, traces: bool = True, metrics: bool = True) -> None:
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
        if traces:
            self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("citewell", version)
        self._documents = documents
        provider, _, model = writer.partition(":")
        if not model:  # one of our own
            provider, model = "citewell", writer
        self._writer = {"gen_ai.provider.name": provider, "gen_ai.request.model": model}
        readers = [PeriodicExportingMetricReader(OTLPMetricExporter())] if metrics else []
        self._meters = MeterProvider(resource=resource, metric_readers=readers)
        self._stage_s = self._meters.get_meter("citewell", version).create_histogram(
            "citewell.stage.duration", unit="s", description="Time of one stage of answering"
        )

    @contextmanager
    def asking(self, carrier: Carrier) -> Iterator[Heard]:
        """One span for the pass, in the trace that the request came with; an error marks it."""
        began = time.time_ns()
        with self._workflow("citewell.ask", carrier, began) as span:
            yield lambda answer: self._tell(span, answer, began)

    @contextmanager
    def verifying(self, carrier: Carrier) -> Iterator[Checked]:
        """One span for a check of somebody else's answers, with the verdict of each claim."""
        with self._workflow("citewell.verify", carrier, time.time_ns()) as span:
            yield lambda lines: _verdicts(
                span, [claim for line in lines.splitlines() for claim in _read(line).claims], {}
            )

    @contextmanager
    def calling(self, tool: str) -> Iterator[None]:
        """One span for the call of a tool, in the trace that the agent's request came with."""
        from opentelemetry.trace import SpanKind

        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "mcp.method.name": "tools/call",
        }
        with self._span(f"tools/call {tool}", attributes, {}, time.time_ns(), kind=SpanKind.SERVER):
            yield

    def _workflow(self, name: str, carrier: Carrier, began: int) -> AbstractContextManager[Any]:
        attributes = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": name}
        return self._span(f"invoke_workflow {name}", attributes, carrier, began)

    @contextmanager
    def _span(
        self, name: str, attributes: dict[str, Any], carrier: Carrier, began: int, **more: Any
    ) -> Iterator[Any]:
        from opentelemetry.context import get_current
        from opentelemetry.propagate import extract
        from opentelemetry.trace import Status, StatusCode

        with self._tracer.start_as_current_span(
            name,
            context=extract(carrier, get_current()),
            attributes=attributes,
            start_time=began,
            record_exception=False,  # its message may hold words of the question
            set_status_on_exception=False,
            **more,
        ) as span:
            try:
                yield span
            except Exception as error:
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
        _verdicts(span, answer.claims, {"gen_ai.response.id": answer.request_id})
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
        by = "citewell"
        if operation == "chat":
            attributes |= self._writer
            by = self._writer["gen_ai.request.model"]
        span = self._tracer.start_span(
            f"{operation or stage.name} {by}", attributes=attributes, start_time=began
        )
        span.end(end_time=ends)
        return ends


class _Line(msgspec.Struct):
    claims: tuple[Claim, ...]


def _read(line: bytes) -> _Line:
    return msgspec.json.decode(line, type=_Line)


def _verdicts(span: Any, claims: Sequence[Claim], more: dict[str, Any]) -> None:
    for number, claim in enumerate(claims, 1):
        verdict = claim.verdict
        result: dict[str, Any] = {
            "gen_ai.evaluation.name": "citewell.claim",
            "gen_ai.evaluation.score.label": verdict.status.value,
            "citewell.claim": number,
            "citewell.maker": verdict.maker.name,
            **more,
        }
        if verdict.support is not None:
            result["gen_ai.evaluation.score.value"] = verdict.support
        span.add_event("gen_ai.evaluation.result", result)


def _documents(answer: Answer) -> str:
    import json

    return json.dumps(
        [{"id": passage.chunk.document_id, "score": passage.relevance} for passage in answer.passages]
    )

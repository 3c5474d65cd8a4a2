"""OpenTelemetry spans, if its standard variables enable them.

In: a question being asked, its Answer; external answers verified; a tool call by an agent. Out: spans and
events by the GenAI semantic conventions, sent by the SDK's own exporter to ``OTEL_EXPORTER_OTLP_ENDPOINT`` or
``OTEL_EXPORTER_OTLP_TRACES_ENDPOINT``. No text of questions, documents or answers is sent; document ids only
if ``server.otel_documents`` is on.

Answering a question is one span; its stages are laid end to end inside it, as a trace records how long each
took but not when it began.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import Any

from opentelemetry.context import get_current
from opentelemetry.propagate import extract
from opentelemetry.trace import NoOpTracerProvider, Span, SpanKind, Status, StatusCode

from citewell.core.environment import environment
from citewell.core.errors import MissingExtraError
from citewell.core.records import Answer, Claim, Stage

OPERATIONS: Mapping[str, str] = {
    "retrieval": "retrieval",
    "broadened retrieval": "retrieval",
    "retrieval for missing aspects": "retrieval",
    "search with the claims": "retrieval",
    "generation": "chat",
    "stricter retry": "chat",
}
"""Stages with a name in the conventions (``gen_ai.operation.name``)."""

Carrier = Mapping[str, str]
"""The request's headers, which may carry a trace (W3C Trace Context)."""


def telemetry(*, documents: bool, writer: str, environ: Mapping[str, str] = os.environ) -> Telemetry:
    """Telemetry as set by the environment; ``writer`` is the configured generator. Raises MissingExtraError
    if spans are enabled but OpenTelemetry is not installed."""
    off = environ.get("OTEL_SDK_DISABLED") == "true" or environ.get("OTEL_TRACES_EXPORTER") == "none"
    # Without an address, the exporter would try port 4318 of this machine for ever.
    addresses = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    traces = not off and any(map(environ.get, addresses))
    if traces and find_spec("opentelemetry.sdk") is None:
        raise MissingExtraError(
            "OTEL_* is set, but OpenTelemetry is not installed", hint="pip install 'citewell[otel]'"
        )
    return Telemetry(documents=documents, writer=writer, traces=traces)


class Telemetry:
    """Sends spans in batches, from a thread of the SDK."""

    def __init__(self, *, documents: bool = False, writer: str = "", traces: bool = False) -> None:
        # Not the global provider, which an embedding application may use.
        self._sdk = _tracers() if traces else None
        self._tracer = (self._sdk or NoOpTracerProvider()).get_tracer("citewell", environment()["citewell"])
        self._documents = documents
        provider, _, model = writer.partition(":")
        if not model:  # one of our own
            provider, model = "citewell", writer
        self._writer = {"gen_ai.provider.name": provider, "gen_ai.request.model": model}

    @contextmanager
    def asking(self, carrier: Carrier) -> Iterator[Callable[[Answer], None]]:
        """One span for answering, in the request's trace; an error marks it. Call the yielded function with
        the answer."""
        began = time.time_ns()
        with self._workflow("citewell.ask", carrier, began) as span:
            yield lambda answer: self._describe(span, answer, began)

    @contextmanager
    def verifying(self, carrier: Carrier) -> Iterator[Callable[[Sequence[Claim]], None]]:
        """One span for checking external answers. Call the yielded function with their claims."""
        with self._workflow("citewell.verify", carrier, time.time_ns()) as span:
            yield lambda claims: _verdicts(span, claims, {})

    def calling(self, tool: str) -> AbstractContextManager[Span]:
        """One span for a tool call, in the current trace."""
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "mcp.method.name": "tools/call",
        }
        return self._span(f"tools/call {tool}", attributes, {}, time.time_ns(), SpanKind.SERVER)

    def close(self) -> None:
        if self._sdk is not None:
            self._sdk.shutdown()

    def _workflow(self, name: str, carrier: Carrier, began: int) -> AbstractContextManager[Span]:
        attributes = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": name}
        return self._span(f"invoke_workflow {name}", attributes, carrier, began, SpanKind.INTERNAL)

    @contextmanager
    def _span(
        self, name: str, attributes: dict[str, str], carrier: Carrier, began: int, kind: SpanKind
    ) -> Iterator[Span]:
        with self._tracer.start_as_current_span(
            name,
            context=extract(carrier, get_current()),
            kind=kind,
            attributes=attributes,
            start_time=began,
            record_exception=False,  # its message may quote the question
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise

    def _describe(self, span: Span, answer: Answer, began: int) -> None:
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
        by = "citewell"
        if operation:
            attributes["gen_ai.operation.name"] = operation
        if operation == "retrieval" and self._documents:
            found = [{"id": one.chunk.document_id, "score": one.relevance} for one in answer.passages]
            attributes["gen_ai.retrieval.documents"] = json.dumps(found)
        if operation == "chat":
            attributes |= self._writer
            by = self._writer["gen_ai.request.model"]
        name, ends = f"{operation or stage.name} {by}", began + int(stage.latency_ms * 1e6)
        self._tracer.start_span(name, attributes=attributes, start_time=began).end(end_time=ends)
        return ends


def _tracers() -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME", "citewell")
    about = {"service.name": name, "service.version": environment()["citewell"]}
    provider = TracerProvider(resource=Resource.create(about))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def _verdicts(span: Span, claims: Sequence[Claim], more: dict[str, str]) -> None:
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

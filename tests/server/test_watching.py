"""What operators see: metrics, log lines, spans. None contains a word of a question or a document."""

from __future__ import annotations

import gzip
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import anyio
import pytest
from fastapi.testclient import TestClient
from mcp.server.mcpserver.exceptions import ToolError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from citewell.core.config import Config, Server
from citewell.core.errors import MissingExtraError
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open
from citewell.server import create_app, logs, telemetry
from citewell.server.mcp import make_server

from .conftest import LOOPBACK, with_stand_ins

QUESTION = {"question": "When did the bridge open?"}


def test_metrics_count_answers_stages_verdicts_and_failures(client: TestClient) -> None:
    client.post("/v1/ask", json=QUESTION)
    client.post("/v1/ask", json={"question": "Who baked the cake?", "stream": True})
    client.get("/v1/answers/req_0")
    text = client.get("/metrics").text
    for line in (
        'citewell_decisions_total{decision="ANSWER"} 1.0',
        'citewell_decisions_total{decision="ABSTAIN"} 1.0',
        'citewell_verdicts_total{status="VERIFIED"} 1.0',
        "citewell_gate_failures_total 1.0",
        "citewell_broken_citations_total 0.0",
        'citewell_requests_total{method="POST",route="/v1/ask",status="200"} 2.0',
        'citewell_requests_total{method="GET",route="/v1/answers/{request_id}",status="404"} 1.0',
        "citewell_queue 0.0",
        "citewell_ready 1.0",
    ):
        assert line in text, line
    assert 'citewell_stage_seconds_count{stage="retrieval"} 2.0' in text
    assert "citewell_log_entries " in text
    assert "bridge" not in text


def test_a_log_line_names_the_route_and_never_the_address(
    client: TestClient, keys: Any, caplog: pytest.LogCaptureFixture
) -> None:
    headers = keys("alice", groups=["board"])
    with caplog.at_level(logging.INFO, logger=logs.log.name):
        client.post("/v1/ask", json={"question": "When will the merger be announced?"}, headers=headers)
        client.get("/v1/documents/text", params={"id": "merger.md"}, headers=headers)
        client.get("/nothing/merger", headers=headers)
    lines = [
        json.loads(logs.JsonLines().format(record))
        for record in caplog.records
        if record.name == logs.log.name
    ]
    assert [(line["route"], line["status"]) for line in lines] == [
        ("/v1/ask", 200),
        ("/v1/documents/text", 200),
        ("none", 404),
    ]
    written = json.dumps(lines)
    assert lines[0]["credential"] == keys.store.all()[0].key_id
    for word in ("merger", headers["Authorization"].split("_", 2)[2], "alice"):
        assert word not in written


def test_a_failure_is_logged_by_its_place_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise ValueError("the merger is in March")
    except ValueError as error:
        record = logging.LogRecord(
            logs.log.name,
            logging.ERROR,
            "x",
            1,
            "a request failed",
            (),
            (ValueError, error, error.__traceback__),
        )
    line = json.loads(logs.JsonLines().format(record))
    assert line["error"] == "ValueError"
    assert "test_watching.py" in line["at"][0]
    assert "merger" not in json.dumps(line)


def test_an_application_can_be_started_again(kb: KnowledgeBase) -> None:
    app = create_app(kb)
    for _ in range(2):
        with TestClient(app, base_url=LOOPBACK) as client:
            assert client.get("/healthz").status_code == 200


# --- OpenTelemetry ------------------------------------------------------------------------------------


class Collector(HTTPServer):
    """Accepts spans over OTLP/HTTP, and keeps them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list[Any] = []
        self.bodies: list[bytes] = []


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        collector: Any = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        collector.bodies.append(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                collector.spans += scope.spans
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    double = Collector()
    thread = threading.Thread(target=double.serve_forever)
    thread.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{double.server_port}")
    yield double
    double.shutdown()
    thread.join()
    double.server_close()


def attributes(span: Any) -> dict[str, Any]:
    found = {}
    for item in span.attributes:
        kind = item.value.WhichOneof("value")
        found[item.key] = getattr(item.value, kind)
    return found


@pytest.mark.enable_socket
def test_a_collector_gets_the_pass_its_stages_and_its_verdicts(home: Any, collector: Collector) -> None:
    config = Config(server=Server(otel_documents=True))
    with (
        with_stand_ins(open(home, config=config)) as kb,
        TestClient(create_app(kb), base_url=LOOPBACK) as client,
    ):
        came_with = {"traceparent": f"00-{'a1' * 16}-{'b2' * 8}-01"}
        answer = client.post("/v1/ask", json=QUESTION, headers=came_with).json()
    spans = {span.name: span for span in collector.spans}
    whole = spans["invoke_workflow citewell.ask"]
    assert (whole.trace_id.hex(), whole.parent_span_id.hex()) == ("a1" * 16, "b2" * 8)
    said = attributes(whole)
    assert said["gen_ai.operation.name"] == "invoke_workflow"
    assert said["gen_ai.conversation.id"] == answer["session_id"]
    assert said["citewell.decision"] == "ANSWER"
    (verdict,) = whole.events
    assert verdict.name == "gen_ai.evaluation.result"
    assert attributes(verdict)["gen_ai.evaluation.score.label"] == "VERIFIED"
    assert attributes(verdict)["gen_ai.response.id"] == answer["request_id"]
    retrieval = spans["retrieval citewell"]
    assert retrieval.parent_span_id == whole.span_id
    listed = json.loads(attributes(retrieval)["gen_ai.retrieval.documents"])
    assert listed[0]["id"] == "bridge.md"
    assert attributes(spans["chat extractive"])["citewell.stage"] == "generation"
    assert not any(b"opened in 1932" in body or b"When did" in body for body in collector.bodies)


@pytest.mark.enable_socket
def test_documents_are_named_only_when_wanted_and_an_error_has_no_words(
    kb: KnowledgeBase, collector: Collector
) -> None:
    with TestClient(create_app(kb), base_url=LOOPBACK, raise_server_exceptions=False) as client:
        client.post("/v1/ask", json=QUESTION)
        client.post("/v1/ask", json={"question": "?!"})
    retrieval = next(span for span in collector.spans if span.name == "retrieval citewell")
    assert "gen_ai.retrieval.documents" not in attributes(retrieval)
    failed = [span for span in collector.spans if "error.type" in attributes(span)]
    assert [attributes(span)["error.type"] for span in failed] == ["UsageError"]
    assert not any(b"bridge.md" in body for body in collector.bodies)


def test_no_address_no_spans_and_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = telemetry.telemetry(documents=False, writer="extractive", environ={})
    assert silent._sdk is None
    wanted = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
    off = telemetry.telemetry(
        documents=False, writer="extractive", environ={**wanted, "OTEL_SDK_DISABLED": "true"}
    )
    assert off._sdk is None
    monkeypatch.setattr(telemetry, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"citewell\[otel\]"):
        telemetry.telemetry(documents=False, writer="extractive", environ=wanted)


@pytest.mark.enable_socket
def test_a_chat_span_names_who_writes(kb: KnowledgeBase, collector: Collector) -> None:
    answer = kb.ask(QUESTION["question"])
    for writer in ("openai:gpt-5", "extractive"):
        sent = telemetry.telemetry(documents=False, writer=writer)
        with sent.asking({}) as heard:
            heard(answer)
        sent.close()
    chats = {span.name: attributes(span) for span in collector.spans}
    named = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model")
    assert [chats["chat gpt-5"][name] for name in named] == ["chat", "openai", "gpt-5"]
    assert [chats["chat extractive"][name] for name in named] == ["chat", "citewell", "extractive"]


@pytest.mark.enable_socket
def test_a_check_for_others_is_a_span_with_its_verdicts(kb: KnowledgeBase, collector: Collector) -> None:
    asked = {"claim": "The bridge opened in 1932.", "sources": ["The bridge opened in 1932."]}
    came_with = {"traceparent": f"00-{'a1' * 16}-{'b2' * 8}-01"}
    with TestClient(create_app(kb), base_url=LOOPBACK) as client:
        assert client.post("/v1/verify", json=asked, headers=came_with).status_code == 200
    (span,) = collector.spans
    assert (span.name, span.trace_id.hex()) == ("invoke_workflow citewell.verify", "a1" * 16)
    (verdict,) = span.events
    told = attributes(verdict)
    assert told.pop("citewell.maker")
    assert told.pop("gen_ai.evaluation.score.value") > 0.5
    assert told == {
        "gen_ai.evaluation.name": "citewell.claim",
        "gen_ai.evaluation.score.label": "VERIFIED",
        "citewell.claim": 1,
    }
    assert not any(b"1932" in body for body in collector.bodies)


def test_an_address_of_metrics_alone_sends_nothing() -> None:
    environ = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:1"}
    assert telemetry.telemetry(documents=False, writer="extractive", environ=environ)._sdk is None


@pytest.mark.enable_socket
def test_what_an_agent_calls_is_a_span_with_the_pass_inside(kb: KnowledgeBase, collector: Collector) -> None:
    sent = telemetry.telemetry(documents=False, writer="extractive")
    server = make_server(kb, telemetry=sent)
    anyio.run(server.call_tool, "ask", QUESTION)
    with pytest.raises(ToolError):
        anyio.run(server.call_tool, "get_receipt", {"request_id": "req_0"})
    sent.close()
    spans = {span.name: span for span in collector.spans}
    call, failed = spans["tools/call ask"], spans["tools/call get_receipt"]
    said = attributes(call)
    assert (said["gen_ai.operation.name"], said["gen_ai.tool.name"]) == ("execute_tool", "ask")
    assert said["mcp.method.name"] == "tools/call"
    assert spans["invoke_workflow citewell.ask"].parent_span_id == call.span_id
    assert attributes(failed)["error.type"] == "UsageError"
    assert not any(b"When did" in body for body in collector.bodies)

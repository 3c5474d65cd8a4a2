"""Verdicts as scores: what the real clients of Langfuse and Phoenix send for them."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.trace import NonRecordingSpan, SpanContext, use_span

import citewell
from citewell.core.errors import UsageError
from citewell.integrations.scores import annotate_in_phoenix, score_in_langfuse

from .conftest import BRIDGE, FALSE, TOLL

PAGE = Path(__file__).parents[2] / "docs/adapters/langfuse-and-phoenix.md"
SPAN = NonRecordingSpan(SpanContext(0xA1, 0xB2, is_remote=False))
TRACE_ID, SPAN_ID = f"{0xA1:032x}", f"{0xB2:016x}"


@pytest.fixture
def sent() -> list[tuple[str, Any]]:
    return []


@pytest.fixture
def http(sent: list[tuple[str, Any]]) -> Any:
    httpx = pytest.importorskip("httpx")

    def take(request: Any) -> Any:
        sent.append((request.url.path, json.loads(request.content)))
        return httpx.Response(200, json={"id": "1", "data": []})

    with httpx.Client(transport=httpx.MockTransport(take), base_url="http://scores.test/") as client:
        yield client


def claims() -> Any:
    return citewell.verify(f"{FALSE} The toll was abolished in 1958 [2].", [BRIDGE, TOLL]).claims


def test_each_claim_is_a_score_in_langfuse(http: Any, sent: list[tuple[str, Any]]) -> None:
    langfuse = pytest.importorskip("langfuse", reason="the [langfuse] extra is not installed: make extras")
    client = langfuse.Langfuse(
        public_key="pk", secret_key="sk", base_url="http://scores.test", httpx_client=http
    )
    found = claims()
    with use_span(SPAN):
        score_in_langfuse(found, client)
    client.flush()
    client.shutdown()
    scores = [one for path, body in sent if path == "/api/public/scores" for one in body]
    assert {(one["traceId"], one["observationId"]) for one in scores} == {(TRACE_ID, SPAN_ID)}
    labels = [one["value"] for one in scores if one["name"] == "citewell.claim"]
    assert labels == ["CONTRADICTED", "VERIFIED"]
    support = [one["value"] for one in scores if one["name"] == "citewell.support"]
    assert support == pytest.approx([claim.verdict.support for claim in found])
    assert "1947" in scores[0]["comment"]


def test_each_claim_is_an_annotation_in_phoenix(http: Any, sent: list[tuple[str, Any]]) -> None:
    phoenix = pytest.importorskip(
        "phoenix.client", reason="the [phoenix] extra is not installed: make extras"
    )
    client = phoenix.Client(http_client=http)
    with use_span(SPAN):
        annotate_in_phoenix(claims(), client)
    assert {path for path, _ in sent} == {"/v1/span_annotations"}
    notes = [one for _, body in sent for one in body["data"]]
    assert [(one["span_id"], one["name"], one["identifier"]) for one in notes] == [
        (SPAN_ID, "citewell.claim", "1"),
        (SPAN_ID, "citewell.claim", "2"),
    ]
    assert [one["result"]["label"] for one in notes] == ["CONTRADICTED", "VERIFIED"]
    assert notes[0]["result"]["score"] < 0.5 < notes[1]["result"]["score"]


def test_the_documented_example_scores_its_span_in_both(
    http: Any, sent: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    langfuse, phoenix = pytest.importorskip("langfuse"), pytest.importorskip("phoenix.client")
    # another key: Langfuse keeps one client for each
    made = langfuse.Langfuse(
        public_key="pk-2", secret_key="sk", base_url="http://scores.test", httpx_client=http
    )
    monkeypatch.setattr(langfuse, "Langfuse", lambda: made)
    monkeypatch.setattr(phoenix, "Client", partial(phoenix.Client, http_client=http))
    (code,) = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(), flags=re.M | re.S)
    exec(compile(code, "documentation", "exec"), {})  # noqa: S102
    made.flush()
    made.shutdown()
    assert {path for path, _ in sent} == {"/api/public/scores", "/v1/span_annotations"}


def test_without_a_span_there_is_nothing_to_score() -> None:
    with pytest.raises(UsageError, match="no current span"):
        score_in_langfuse([], None)

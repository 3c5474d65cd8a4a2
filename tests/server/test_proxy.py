"""The checking proxy between the real clients of OpenAI and Anthropic and a scripted upstream."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from citewell.audit.question import AuditQuery
from citewell.core.config import Config, Proxy
from citewell.core.errors import AbandonedError, ConfigError, EvidenceError, LogError, UsageError
from citewell.core.metering import must_go_on
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open
from citewell.server.protocols import PROTOCOLS
from citewell.server.routes import proxy as proxying

from .conftest import listening, with_stand_ins

pytestmark = pytest.mark.enable_socket

PROMPT = "[1] The bridge opened in 1932.\n[2] The toll was abolished in 1958.\n\nWhen did the bridge open?"
TRUE, FALSE = "The bridge opened in 1932 [1].", "The bridge opened in 1947 [1]."
KEY = "sk-live-0123456789"


class Upstream:
    """An API whose answers are set by the test; it records what it was sent."""

    def __init__(self) -> None:
        self.answer: Callable[[Request], Any] = lambda request: JSONResponse({})
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.app = Starlette(routes=[Route("/{path:path}", self._take, methods=["GET", "POST"])])
        self.address = ""

    async def _take(self, request: Request) -> Response:
        body = await request.body()
        self.seen.append((str(request.url), dict(request.headers), body))
        made: Response = self.answer(request)
        return made


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    made = Upstream()
    server = uvicorn.Server(uvicorn.Config(made.app, port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    made.address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    yield made
    server.should_exit = True
    thread.join(30)


@contextmanager
def proxied(home: Path, to: str, **settings: Any) -> Iterator[tuple[str, KnowledgeBase]]:
    config = Config(proxy=Proxy(to=to, **settings))
    with with_stand_ins(open(home, config=config)) as kb, listening(kb) as address:
        yield address + "/proxy", kb


def chat(text: str, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None, **more}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-x-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12},
    }


def chat_events(text: str) -> list[dict[str, Any] | str]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-x-2026"}
    words = [text[at : at + 5] for at in range(0, len(text), 5)]
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", "content": ""},
        *({"content": one} for one in words),
    ]
    chunks: list[dict[str, Any] | str] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    return [*chunks, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, "[DONE]"]


def message(text: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 7},
    }


def message_events(text: str) -> list[dict[str, Any]]:
    whole = message(text)
    return [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": text[at : at + 6]},
            }
            for at in range(0, len(text), 6)
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    ]


def response(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-x-2026",
        "status": "completed",
        "output": [item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def response_events(text: str) -> list[dict[str, Any]]:
    at = {"item_id": "m", "output_index": 0, "content_index": 0}
    whole = response(text)
    item = whole["output"][0]
    return [
        {"type": "response.created", "response": {**whole, "output": [], "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **at, "part": {**item["content"][0], "text": ""}},
        {"type": "response.output_text.delta", **at, "delta": text},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]


def sse(events: list[Any], *, pause_s: float = 0.0, broken: bool = False) -> Callable[[Request], Response]:
    async def lines() -> AsyncIterator[bytes]:
        for event in events:
            kind = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            data = event if isinstance(event, str) else json.dumps(event)
            yield f"{kind}data: {data}\n\n".encode()
            await asyncio.sleep(pause_s)
        if broken:
            raise ConnectionError("the upstream dies")

    return lambda request: StreamingResponse(lines(), media_type="text/event-stream")


CLIENTS: list[openai.OpenAI | anthropic.Anthropic] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Closes the connections that the clients would leave to the garbage collector."""
    yield
    while CLIENTS:
        CLIENTS.pop().close()


def openai_client(address: str) -> openai.OpenAI:
    made = openai.OpenAI(base_url=address + "/v1", api_key=KEY, max_retries=0, timeout=20)
    CLIENTS.append(made)
    return made


def anthropic_client(address: str) -> anthropic.Anthropic:
    made = anthropic.Anthropic(base_url=address, api_key=KEY, max_retries=0, timeout=20)
    CLIENTS.append(made)
    return made


def record_of(kb: KnowledgeBase, address: str) -> Any:
    return kb.audit.record(address.rpartition("/")[2])


def ask_chat(address: str, **more: Any) -> Any:
    messages = [{"role": "user", "content": PROMPT}]
    return openai_client(address).chat.completions.create(model="gpt-x", messages=messages, **more)  # type: ignore[call-overload]


def test_an_answer_of_chat_completions_is_passed_on_annotated_and_sealed(
    home: Path, upstream: Upstream
) -> None:
    upstream.answer = lambda request: JSONResponse(chat(TRUE))
    with proxied(home, upstream.address) as (address, kb):
        raw = openai_client(address).chat.completions.with_raw_response.create(
            model="gpt-x", messages=[{"role": "user", "content": PROMPT}], user="alice"
        )
        found: Any = raw.parse()
        assert found.choices[0].message.content == TRUE
        (note,) = found.choices[0].message.annotations
        assert note.url_citation.url == raw.headers["x-citewell-record"]
        assert found.citewell["status"] == raw.headers["x-citewell-status"] == "VERIFIED"
        assert found.citewell["claims"][0]["citations"][0]["source"] == "1"
        record = record_of(kb, raw.headers["x-citewell-record"])
        assert (record.user, record.user_query) == ("alice", "When did the bridge open?")
        assert (record.generation_model, record.shown_response) == ("proxy:gpt-x-2026", TRUE)
        (citation,) = record.claims[0].citations
        document = kb.parts.evidence.get(citation.document_version, citation.document_id)
        assert document.text[citation.start : citation.end] == citation.quote
        assert document.caller_supplied
        # The record's address is a page.
        assert "1932" in httpx2.get(raw.headers["x-citewell-record"]).text
        assert kb.log.check().ok
        with pytest.raises(UsageError, match="another system"):
            kb.audit.replay(record.request_id)
        (again,) = kb.audit.recheck(record.request_id)
        assert again.counts == {"SAME": 1}
    url, headers, body = upstream.seen[-1]
    assert url.endswith("/v1/chat/completions")
    assert headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(body)["messages"][0]["content"] == PROMPT


def test_the_sources_of_a_person_are_erased_with_them_and_nobody_elses(
    home: Path, upstream: Upstream
) -> None:
    upstream.answer = lambda request: JSONResponse(chat(TRUE))
    with proxied(home, upstream.address) as (address, kb):
        records = [
            record_of(kb, ask_chat(address, user=user).citewell["record"]) for user in ("alice", "bob")
        ]
        names = [record.parameters["looked_into"] for record in records]
        assert [len(found) for found in names] == [2, 2]
        kb.audit.erase("alice")
        texts = [[_stored(kb, name) for name in found] for found in names]
        assert texts[0] == ["", ""]
        assert "1932" in texts[1][0]
        assert "1958" in texts[1][1]


def _stored(kb: KnowledgeBase, name: str) -> str:
    (version,) = kb.parts.evidence.versions(name)
    try:
        return kb.parts.evidence.get(version, name).text
    except EvidenceError:
        return ""


def test_keys_are_neither_stored_nor_logged(
    home: Path, upstream: Upstream, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    upstream.answer = lambda request: JSONResponse({"candidates": [{"content": {"parts": [{"text": TRUE}]}}]})
    with proxied(home, upstream.address) as (address, _):
        httpx2.post(
            f"{address}/v1beta/models/g:generateContent?key={KEY}",
            json={"contents": [{"role": "user", "parts": [{"text": PROMPT}]}]},
            headers={"x-goog-api-key": KEY, "Authorization": f"Bearer {KEY}"},
        )
    assert upstream.seen[-1][0].endswith(f"?key={KEY}")
    held = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert KEY.encode() not in held
    ours = [entry.getMessage() for entry in caplog.records if entry.name.startswith(("citewell", "httpx"))]
    assert KEY not in "".join([*capfd.readouterr(), *ours])


@pytest.mark.parametrize("policy", ["observe", "annotate"])
def test_a_stream_of_chat_completions_is_the_same_text_and_its_end_waits_for_the_record(
    home: Path, upstream: Upstream, policy: str
) -> None:
    upstream.answer = sse(chat_events(FALSE))
    with proxied(home, upstream.address, policy=policy) as (address, kb):
        chunks = list(ask_chat(address, stream=True))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert text == FALSE
        marks = [chunk.citewell for chunk in chunks if getattr(chunk, "citewell", None)]
        assert [mark["status"] for mark in marks] == (["CONTRADICTED"] if policy == "annotate" else [])
        (trace,) = kb.parts.traces.session(kb.parts.traces.get(_newest(kb)).session_id)
        assert trace.failure_reason == "hallucination_detected"


def _until_sealed(kb: KnowledgeBase) -> None:
    """Waits at most ten seconds for the first answer in the log."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and not any(one.kind == "answer" for one in kb.parts.log.entries()):
        time.sleep(0.05)


def _newest(kb: KnowledgeBase) -> str:
    entries = list(kb.parts.log.entries())
    return str(kb.parts.log.body(entries[-1])["request_id"])


def test_a_false_answer_is_withheld_from_every_client(home: Path, upstream: Upstream) -> None:
    with proxied(home, upstream.address, policy="withhold") as (address, kb):
        upstream.answer = lambda request: JSONResponse(chat(FALSE))
        found = ask_chat(address)
        assert "in 1947" not in found.choices[0].message.content
        assert found.choices[0].finish_reason == "content_filter"
        assert "withheld" in found.choices[0].message.content
        assert "in 1947" not in found.to_json()
        assert record_of(kb, found.citewell["record"]).shown_response == ""
        assert record_of(kb, found.citewell["record"]).response_decision == "ABSTAIN"

        upstream.answer = sse(chat_events(FALSE))
        chunks = list(ask_chat(address, stream=True))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert "in 1947" not in "".join(chunk.to_json() for chunk in chunks)
        assert "withheld" in text

        upstream.answer = sse(message_events(FALSE))
        given = [{"role": "user", "content": PROMPT}]
        with anthropic_client(address).messages.stream(
            model="claude-x",
            max_tokens=99,
            messages=given,  # type: ignore[arg-type]
        ) as stream:
            last = stream.get_final_message()
        assert "withheld" in last.content[0].text
        assert "in 1947" not in last.content[0].text
        assert last.stop_reason == "refusal"

        upstream.answer = sse(response_events(FALSE))
        with openai_client(address).responses.stream(model="gpt-x", input=PROMPT) as told:
            output = told.get_final_response().output_text
        assert "withheld" in output
        assert "in 1947" not in output
        # Supported answers pass under this policy, too.
        upstream.answer = sse(chat_events(TRUE))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in ask_chat(address, stream=True))
        assert text == TRUE


def test_claims_are_read_while_the_stream_goes_on_and_none_twice(home: Path, upstream: Upstream) -> None:
    read: list[tuple[str, str]] = []
    before: list[int] = []
    *said, stop, done = chat_events(f"{TRUE} The toll was abolished in 1958 [2]. It rains.")

    async def lines() -> AsyncIterator[bytes]:
        for event in said:
            yield f"data: {json.dumps(event)}\n\n".encode()
            await asyncio.sleep(0.02)
        until = time.monotonic() + 10
        while time.monotonic() < until and not read:
            await asyncio.sleep(0.05)
        before.append(len(read))
        yield f"data: {json.dumps(stop)}\n\ndata: {done}\n\n".encode()

    upstream.answer = lambda request: StreamingResponse(lines(), media_type="text/event-stream")
    with proxied(home, upstream.address) as (address, kb):
        entailer = kb.parts.entailer

        class Noting:
            maker = entailer.maker

            def entail(self, pairs: Any) -> Any:
                read.extend(pairs)
                return entailer.entail(pairs)

        kb._parts.__dict__["entailer"] = Noting()
        *_, mark = [one.citewell for one in ask_chat(address, stream=True) if getattr(one, "citewell", None)]
        claims = len(mark["claims"])
    assert claims == 3
    assert before[0] > 0
    assert sorted(set(read)) == sorted(read)


def test_anthropic_documents_and_tool_results_are_sources(home: Path, upstream: Upstream) -> None:
    document = {
        "type": "document",
        "title": "bridge",
        "source": {"type": "text", "media_type": "text/plain", "data": "The bridge opened in 1932."},
    }
    result = {"type": "search_result", "source": "https://b.example/toll", "title": "Toll"}
    result["content"] = [{"type": "text", "text": "The toll was abolished in 1958."}]  # type: ignore[assignment]
    messages: Any = [
        {"role": "user", "content": [document, {"type": "text", "text": "What about the toll?"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [result]}]},
    ]
    text = "The bridge opened in 1932. The toll was abolished in 1958."
    with proxied(home, upstream.address) as (address, kb):
        client = anthropic_client(address)
        upstream.answer = lambda request: JSONResponse(message(text))
        found: Any = client.messages.create(model="claude-x", max_tokens=9, messages=messages)
        assert found.citewell["status"] == "VERIFIED"
        cited = {one["source"] for claim in found.citewell["claims"] for one in claim["citations"]}
        assert cited == {"bridge", "https://b.example/toll"}
        upstream.answer = sse(message_events(text))
        events: list[Any] = list(
            client.messages.create(model="claude-x", max_tokens=9, messages=messages, stream=True)
        )
        stop = next(event for event in events if event.type == "message_stop")
        assert stop.citewell["status"] == "VERIFIED"
        assert record_of(kb, stop.citewell["record"]).shown_response == text


def test_a_response_of_openai_and_its_stream_are_annotated(home: Path, upstream: Upstream) -> None:
    given: Any = [
        {"role": "user", "content": "When did the bridge open?"},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": json.dumps({"results": [{"id": "b-1", "text": "The bridge opened in 1932."}]}),
        },
    ]
    text = "The bridge opened in 1932."
    with proxied(home, upstream.address) as (address, _):
        client = openai_client(address)
        upstream.answer = lambda request: JSONResponse(response(text))
        whole: Any = client.responses.create(model="gpt-x", input=given)
        upstream.answer = sse(response_events(text))
        with client.responses.stream(model="gpt-x", input=given) as told:
            streamed: Any = told.get_final_response()
        for found in (whole, streamed):
            (note,) = found.output[0].content[0].annotations
            assert (note.type, note.title, note.start_index) == ("url_citation", "b-1", 0)
            assert found.citewell["status"] == "VERIFIED"


def test_a_turn_that_calls_tools_passes_whatever_the_policy(home: Path, upstream: Upstream) -> None:
    call = {"id": "t", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    upstream.answer = lambda request: JSONResponse(chat("Let me look.", tool_calls=[call]))
    with proxied(home, upstream.address, policy="withhold", unchecked="withhold") as (address, _):
        found = ask_chat(address)
    assert found.choices[0].message.tool_calls[0].function.name == "look"
    assert "tools" in found.citewell["unchecked"]


@pytest.mark.parametrize(("unchecked", "passes"), [("pass", True), ("withhold", False)])
def test_where_checking_fails_the_answer_is_marked_or_withheld(
    home: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch, unchecked: str, passes: bool
) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("no model")

    monkeypatch.setattr(proxying.external, "check", fails)
    with proxied(home, upstream.address, policy="withhold", unchecked=unchecked) as (address, kb):
        upstream.answer = lambda request: JSONResponse(chat(TRUE))
        whole = ask_chat(address)
        upstream.answer = sse(chat_events(TRUE))
        chunks = list(ask_chat(address, stream=True))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        mark = next(chunk.citewell for chunk in chunks if getattr(chunk, "citewell", None))
        for said, told in ((whole.choices[0].message.content, whole.citewell), (text, mark)):
            assert (said == TRUE) is passes
            assert told["status"] == "UNCHECKED"
            assert "RuntimeError" in told["unchecked"]
            assert record_of(kb, told["record"]).failure_reason == "unchecked"


def test_an_observed_stream_whose_check_failed_says_so_in_a_comment_and_changes_no_event(
    home: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> Any:
        raise RuntimeError("no model")

    upstream.answer = sse(chat_events(TRUE))
    asked = {"model": "g", "stream": True, "messages": [{"role": "user", "content": PROMPT}]}
    with proxied(home, upstream.address, policy="observe") as (address, kb):
        checked = httpx2.post(f"{address}/v1/chat/completions", json=asked).text
        monkeypatch.setattr(proxying.external, "check", fails)
        reply = httpx2.post(f"{address}/v1/chat/completions", json=asked)
        (comment,) = (event for event in reply.text.split("\n\n") if event.startswith(":"))
        assert comment == ": X-Citewell-Status: UNCHECKED (the check failed (RuntimeError))"
        assert reply.text.replace(f"{comment}\n\n", "") == checked
        assert reply.text.index(comment) < reply.text.index("[DONE]")
        text = "".join(chunk.choices[0].delta.content or "" for chunk in ask_chat(address, stream=True))
        assert text == TRUE
        assert record_of(kb, reply.headers["x-citewell-record"]).failure_reason == "unchecked"


def test_a_check_that_takes_too_long_is_unchecked(
    home: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxying.external, "check", lambda *_: time.sleep(1))
    upstream.answer = lambda request: JSONResponse(chat(TRUE))
    with proxied(home, upstream.address, check_s=0.1) as (address, _):
        found = ask_chat(address)
    assert found.choices[0].message.content == TRUE
    assert "longer than 0.1 s" in found.citewell["unchecked"]


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Every check runs until it is told to stop; the event is set when one was."""
    stopped = threading.Event()

    def check(*given: Any) -> None:
        for _ in range(1_500):
            time.sleep(0.01)
            try:
                must_go_on()
            except AbandonedError:
                stopped.set()
                raise

    monkeypatch.setattr(proxying.external, "check", check)
    return stopped


def test_a_check_that_takes_too_long_ends(home: Path, upstream: Upstream, endless: threading.Event) -> None:
    upstream.answer = lambda request: JSONResponse(chat(TRUE))
    with proxied(home, upstream.address, check_s=0.5) as (address, _):
        assert "longer than 0.5 s" in ask_chat(address).citewell["unchecked"]
        assert endless.wait(3)


@pytest.mark.parametrize("stream", [False, True])
def test_a_check_whose_client_has_gone_ends_and_is_sealed(
    home: Path, upstream: Upstream, endless: threading.Event, stream: bool
) -> None:
    upstream.answer = sse(chat_events(TRUE)) if stream else lambda request: JSONResponse(chat(TRUE))
    with proxied(home, upstream.address, check_s=60) as (address, kb):
        with pytest.raises((openai.APITimeoutError, httpx2.TimeoutException, httpx.TimeoutException)):
            list(ask_chat(address, stream=stream, timeout=1))
        assert endless.wait(3)
        _until_sealed(kb)
        (record,) = kb.audit.query(AuditQuery()).records
    assert (record.failure_reason, record.shown_response) == ("unchecked", TRUE)


def test_a_long_answer_is_read_beside_the_event_loop(
    home: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, threads = proxying.read_response, []

    def noted(*given: Any) -> Any:
        threads.append(threading.current_thread().name)
        return read(*given)

    monkeypatch.setattr(proxying, "read_response", noted)
    upstream.answer = lambda request: JSONResponse(chat(TRUE))
    with proxied(home, upstream.address) as (address, _):
        assert ask_chat(address).citewell["status"] == "VERIFIED"
    assert threads
    assert all("worker" in name for name in threads)


def test_without_sources_an_answer_is_unchecked_and_says_so(home: Path, upstream: Upstream) -> None:
    upstream.answer = lambda request: JSONResponse(chat(TRUE))
    with proxied(home, upstream.address) as (address, _):
        messages: Any = [{"role": "user", "content": "When did the bridge open?"}]
        found: Any = openai_client(address).chat.completions.create(model="gpt-x", messages=messages)
    assert (found.citewell["status"], found.citewell["unchecked"]) == (
        "UNCHECKED",
        "the request gave no sources",
    )


def test_a_pattern_finds_sources_that_a_prompt_writes_otherwise(home: Path, upstream: Upstream) -> None:
    upstream.answer = lambda request: JSONResponse(chat("The bridge opened in 1932."))
    messages: Any = [
        {"role": "user", "content": "When?\nContext: The bridge opened in 1932.\nAnswer:"},
    ]
    pattern = r"(?s)Context: (?P<text>.+?)\nAnswer:"
    with proxied(home, upstream.address, sources=pattern) as (address, _):
        found: Any = openai_client(address).chat.completions.create(model="gpt-x", messages=messages)
    assert found.citewell["status"] == "VERIFIED"


def test_no_answer_is_complete_without_its_record(
    home: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise LogError("disk full")

    monkeypatch.setattr(proxying.external, "seal", full)
    with proxied(home, upstream.address) as (address, _):
        upstream.answer = lambda request: JSONResponse(chat(TRUE))
        with pytest.raises(openai.APIStatusError) as refused:
            ask_chat(address)
        assert refused.value.status_code == 503
        assert "1932" not in str(refused.value.body)
        upstream.answer = sse(chat_events(TRUE))
        with pytest.raises(openai.APIError, match="could not be written"):
            list(ask_chat(address, stream=True))
        upstream.answer = sse(message_events(TRUE))
        messages: Any = [{"role": "user", "content": PROMPT}]
        with (
            pytest.raises(anthropic.APIError, match="could not be written"),
            anthropic_client(address).messages.stream(
                model="claude-x", max_tokens=9, messages=messages
            ) as stream,
        ):
            stream.get_final_message()


def test_errors_of_the_upstream_come_through_unchanged(home: Path, upstream: Upstream) -> None:
    told = {"error": {"message": "bad key", "type": "invalid_request_error", "code": None, "param": None}}
    upstream.answer = lambda request: JSONResponse(told, 401, headers={"x-request-id": "r"})
    with proxied(home, upstream.address) as (address, kb):
        size = kb.parts.log.size()
        with pytest.raises(openai.AuthenticationError, match="bad key"):
            ask_chat(address)
        assert kb.parts.log.size() == size
        upstream.answer = lambda request: JSONResponse({"object": "list", "data": []})
        assert openai_client(address).models.list().data == []


def test_an_upstream_that_is_not_there_or_is_slow(home: Path, upstream: Upstream) -> None:
    with proxied(home, "http://127.0.0.1:9") as (address, _), pytest.raises(openai.APIStatusError) as gone:
        ask_chat(address)
    assert gone.value.status_code == 502
    upstream.answer = sse(chat_events(TRUE), pause_s=2)
    with (
        proxied(home, upstream.address, timeout_s=0.3) as (address, _),
        pytest.raises(openai.APIError, match="cut off"),
    ):
        list(ask_chat(address, stream=True))


def test_what_a_dying_upstream_said_is_sealed_and_its_stream_is_an_error(
    home: Path, upstream: Upstream
) -> None:
    upstream.answer = sse(chat_events(TRUE)[:4], broken=True)
    with proxied(home, upstream.address) as (address, kb):
        words: list[str] = []
        with pytest.raises(openai.APIError, match="cut off"):
            words.extend(chunk.choices[0].delta.content or "" for chunk in ask_chat(address, stream=True))
        said = "".join(words)
        record = kb.audit.record(_newest(kb))
        assert said == record.shown_response == TRUE[: len(said)]
        assert record.failure_reason == "unchecked"


@pytest.mark.parametrize(
    "body", [b"not json", b'"text"', b'{"choices": 7}', b'{"choices": [{"message": {}}]}']
)
def test_an_answer_that_cannot_be_read_passes_as_unchecked(
    home: Path, upstream: Upstream, body: bytes
) -> None:
    upstream.answer = lambda request: Response(body, media_type="application/json")
    with proxied(home, upstream.address) as (address, _):
        found = httpx2.post(f"{address}/v1/chat/completions", json={"messages": []})
    assert found.headers["x-citewell-status"] == "UNCHECKED"


def test_what_a_client_heard_before_it_left_is_sealed(home: Path, upstream: Upstream) -> None:
    upstream.answer = sse(chat_events(TRUE), pause_s=0.05)
    with proxied(home, upstream.address) as (address, kb):
        stream = ask_chat(address, stream=True)
        next(stream), next(stream)
        stream.close()
        _until_sealed(kb)
        record = kb.audit.record(_newest(kb))
        assert TRUE.startswith(record.shown_response)
        assert any("client disconnected" in note for note in record.notes)


def test_many_streams_at_once(home: Path, upstream: Upstream) -> None:
    upstream.answer = sse(chat_events(TRUE), pause_s=0.01)
    body = {"model": "gpt-x", "stream": True, "messages": [{"role": "user", "content": PROMPT}]}

    async def all_of(address: str) -> list[str]:
        async with httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=None)) as client:
            found = await asyncio.gather(
                *(client.post(f"{address}/v1/chat/completions", json=body) for _ in range(100))
            )
        return [one.text for one in found]

    with proxied(home, upstream.address) as (address, kb):
        texts = asyncio.run(all_of(address))
        assert all('"status":"VERIFIED"' in text and text.endswith("[DONE]\n\n") for text in texts)
        kinds = [entry.kind for entry in kb.parts.log.entries()]
        assert kinds.count("answer") == 100
        assert kb.log.check().ok


def test_a_path_cannot_leave_the_api(home: Path, upstream: Upstream) -> None:
    with proxied(home, upstream.address + "/v1") as (address, _):
        seen = len(upstream.seen)
        assert httpx2.get(f"{address}/%2e%2e/admin").status_code == 400
        assert len(upstream.seen) == seen


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (Proxy(to="ftp://x"), "proxy.to"),
        (Proxy(to="http://x", unchecked="withhold"), "withholds nothing"),
        (Proxy(to="http://x", sources="("), "regular expression"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: Proxy, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        proxying.validate_proxy(settings)


def test_many_small_events_in_one_piece_are_cut_in_linear_time() -> None:
    async def given() -> AsyncIterator[bytes]:
        yield b"data: 1\n\n" * 200_000 + b"data: 2\r\n"
        yield b"\r\ndata: 3\n\n"

    async def cut() -> list[bytes]:
        return [event async for event in proxying._events(given())]

    began = time.process_time()
    events = asyncio.run(cut())
    assert time.process_time() - began < 1
    assert events[-3:] == [b"data: 1\n\n", b"data: 2\r\n\r\n", b"data: 3\n\n"]


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
def test_an_answer_of_many_pieces_is_joined_in_linear_time(name: str) -> None:
    protocol = next(one for one in PROTOCOLS if one.vendor == name)
    word = "twenty-two characters "
    events: dict[str, list[dict[str, Any]]] = {
        "openai": [{"choices": [{"index": 0, "delta": {"content": word}}]}],
        "anthropic": [
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
        ],
        "gemini": [{"candidates": [{"content": {"parts": [{"text": word}]}}]}],
    }
    begun = {"anthropic": [{"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}]}
    began = time.process_time()
    whole = protocol.joined([*begun.get(name, ()), *events[name] * 100_000])
    assert time.process_time() - began < 1.5
    assert json.dumps(whole).count(word) == 100_000
    assert word * 3 in json.dumps(whole)

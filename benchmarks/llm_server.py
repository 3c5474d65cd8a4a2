"""A local server that speaks the real protocols and plays scripted writers.

OpenAI chat completions and Anthropic messages, whole and as server-sent events, with usage, errors, stalls
and one-byte writes. In: a *play*, a function from the request to the reply. Out: the address, and every
request received. For tests and ``benchmarks.llm_writers``; no model is involved.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_BLOCK = re.compile(
    r"^\[SOURCE_(\d+)\]\nTitle: (.*)\nAuthor: ?(.*)\nDate: ?(.*)\nContent: (.*?)\n\[/SOURCE_\1\]", re.M | re.S
)
_FAILED = re.compile(r"^- (.+)$", re.M)


@dataclass(frozen=True)
class Asked:
    """One request, as a writer sees it. ``form`` is schema, native, grammar or inline."""

    protocol: str
    form: str
    body: dict[str, Any]
    system: str
    user: str
    sources: tuple[str, ...]
    stream: bool

    @property
    def question(self) -> str:
        found = re.search(r"^Question: (.*)$", self.user, re.M)
        return found[1] if found else self.user

    @property
    def failed(self) -> tuple[str, ...]:
        """The failed claims that a stricter prompt names."""
        head = self.user.rpartition("Question:")[0].rpartition("[/SOURCE_")[2]
        return tuple(_FAILED.findall(head))


@dataclass(frozen=True)
class Said:
    """One scripted claim: the label of its source (from 1), the quote, the claim."""

    source: int
    quote: str
    claim: str
    kind: str = "cited"
    reasoning: str = ""


@dataclass(frozen=True)
class Reply:
    """What is sent. ``text`` overrides ``claims``; ``piece`` is characters per event, ``chop`` bytes per
    write; ``stall_s`` sleeps before the last event; ``break_at`` closes the connection after that many
    events, first sending an error of type ``told``, if any (Anthropic's protocol);
    ``model`` is the name the server answers under, "" for the requested one; ``read`` is the number of
    prompt tokens it reports having read, -1 for all."""

    claims: Sequence[Said] = ()
    missing: Sequence[str] = ()
    text: str | None = None
    status: int = 200
    error: str = "busy"
    headers: dict[str, str] = field(default_factory=dict)
    piece: int = 40
    chop: int = 0
    stall_s: float = 0.0
    break_at: int = -1
    told: str = ""
    finish: str = "stop"
    model: str = ""
    read: int = -1

    def segments(self, asked: Asked) -> list[tuple[str, list[dict[str, Any]]]]:
        """Text blocks with their citations, in the native form."""
        if self.text is not None:
            return [(self.text, [])]
        made: list[tuple[str, list[dict[str, Any]]]] = []
        for said in self.claims:
            content = asked.sources[said.source - 1] if said.source <= len(asked.sources) else ""
            at = max(0, content.find(said.quote))
            pointer = {
                "type": "char_location", "cited_text": said.quote, "document_index": said.source - 1,
                "document_title": "t", "file_id": None, "start_char_index": at,
                "end_char_index": at + len(said.quote),
            }  # fmt: skip
            note = f" [inference: {said.reasoning}]" if said.kind == "inference" else ""
            made += [(said.claim + note, [pointer] if said.quote else []), (" ", [])]
        made += [(f"[missing: {what}] ", []) for what in self.missing]
        return made or [
            ("The available sources do not contain enough information to answer this question reliably.", [])
        ]

    def written(self, asked: Asked) -> str:
        if self.text is not None:
            return self.text
        if asked.form == "schema":
            claims = [
                {
                    "evidence": [{"source": f"SOURCE_{s.source}", "quote": s.quote}] if s.quote else [],
                    "kind": s.kind, "reasoning": s.reasoning, "part": 1, "claim": s.claim,
                }
                for s in self.claims
            ]  # fmt: skip
            return json.dumps({"claims": claims, "missing": list(self.missing)})
        lines = [
            (f'[SOURCE_{s.source}: "{s.quote}"] ' if s.quote else "")
            + s.claim
            + (f" [inference: {s.reasoning}]" if s.kind == "inference" else "")
            for s in self.claims
        ]
        return "\n".join([*lines, *(f"[missing: {what}]" for what in self.missing)])


Play = Callable[[Asked, int], Reply]
"""The request and the number of calls before it -> the reply."""


class Server(ThreadingHTTPServer):
    """``asked`` holds every request in order."""

    daemon_threads = True

    def __init__(self, play: Play) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.play = play
        self.asked: list[Asked] = []
        self.lock = threading.Lock()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def environment(self) -> dict[str, str]:
        """The variables by which the SDKs find the server."""
        return {
            "OPENAI_BASE_URL": f"{self.address}/v1",
            "OPENAI_API_KEY": "sk-secret-of-the-test",
            "ANTHROPIC_BASE_URL": self.address,
            "ANTHROPIC_API_KEY": "sk-ant-secret-of-the-test",
        }

    def handle_error(self, *_: Any) -> None:
        """Ignores errors: a client that disconnects is part of the play."""


@contextmanager
def serving(play: Play) -> Iterator[Server]:
    """The server, running until the block ends."""
    server = Server(play)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asked = _asked(self.path, body)
        with self.server.lock:
            before = len(self.server.asked)
            self.server.asked.append(asked)
        reply = self.server.play(asked, before)
        if reply.status != 200:
            self._send(json.dumps({"error": {"message": reply.error, "type": "error"}}), reply)
        elif asked.stream:
            self._stream(asked, reply)
        else:
            if reply.stall_s:
                time.sleep(reply.stall_s)
            self._send(json.dumps(_WHOLE[asked.protocol](asked, reply)), reply)

    def _send(self, text: str, reply: Reply) -> None:
        data = text.encode()
        self.send_response(reply.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, asked: Asked, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        events = list(_EVENTS[asked.protocol](asked, reply))
        for number, event in enumerate(events):
            if number == reply.break_at:
                if reply.told:
                    error = {"type": "error", "error": {"type": reply.told, "message": reply.error}}
                    self.wfile.write(f"event: error\ndata: {json.dumps(error)}\n\n".encode())
                return
            if reply.stall_s and number == len(events) - 1:
                self.wfile.flush()
                time.sleep(reply.stall_s)
            data = event.encode()
            for start in range(0, len(data), reply.chop or len(data)):
                self.wfile.write(data[start : start + (reply.chop or len(data))])
                self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass


def _asked(path: str, body: dict[str, Any]) -> Asked:
    protocol = "openai" if path.endswith("/chat/completions") else "anthropic"
    content = body["messages"][-1]["content"]
    system = body.get("system") or (body["messages"][0]["content"] if len(body["messages"]) > 1 else "")
    documents = () if isinstance(content, str) else tuple(p for p in content if p["type"] == "document")
    user = content if isinstance(content, str) else "".join(p["text"] for p in content if p["type"] == "text")
    form = "inline"
    if documents:
        form = "native"
    elif "response_format" in body or "output_config" in body:
        form = "schema"
    elif "grammar" in body or "structured_outputs" in body:
        form = "grammar"
    sources = tuple(document["source"]["data"] for document in documents) or tuple(
        match[5] for match in _BLOCK.finditer(user)
    )
    return Asked(protocol, form, body, system, user, sources, bool(body.get("stream")))


def _cut(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)] or [""]


def _usage(asked: Asked, reply: Reply, text: str) -> tuple[int, int]:
    """Prompt and completion tokens, counted in words: they only have to be the server's own."""
    whole = len(asked.user.split()) + len(asked.system.split())
    return whole if reply.read < 0 else reply.read, len(text.split())


def _openai_whole(asked: Asked, reply: Reply) -> dict[str, Any]:
    text = reply.written(asked)
    prompt, completion = _usage(asked, reply, text)
    message = {"role": "assistant", "content": text}
    return {
        "id": "c1", "object": "chat.completion", "created": 1,
        "model": reply.model or asked.body["model"],
        "choices": [{"index": 0, "finish_reason": reply.finish, "message": message}],
        "usage": {
            "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
        },
    }  # fmt: skip


def _openai_events(asked: Asked, reply: Reply) -> Iterator[str]:
    text = reply.written(asked)
    prompt, completion = _usage(asked, reply, text)
    head = {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": reply.model or asked.body["model"],
        "system_fingerprint": "fp_play",
    }
    for piece in _cut(text, reply.piece):
        yield _data(head | {"choices": [{"index": 0, "finish_reason": None, "delta": {"content": piece}}]})
    yield _data(head | {"choices": [{"index": 0, "finish_reason": reply.finish, "delta": {}}]})
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    if asked.body.get("stream_options", {}).get("include_usage"):
        yield _data(head | {"choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _anthropic_whole(asked: Asked, reply: Reply) -> dict[str, Any]:
    segments = reply.segments(asked) if asked.form == "native" else [(reply.written(asked), [])]
    prompt, completion = _usage(asked, reply, "".join(text for text, _ in segments))
    return {
        "id": "m1", "type": "message", "role": "assistant", "stop_reason": "end_turn",
        "model": reply.model or asked.body["model"],
        "content": [{"type": "text", "text": text, "citations": found} for text, found in segments],
        "usage": {"input_tokens": prompt, "output_tokens": completion},
    }  # fmt: skip


def _anthropic_events(asked: Asked, reply: Reply) -> Iterator[str]:
    segments = reply.segments(asked) if asked.form == "native" else [(reply.written(asked), [])]
    prompt, completion = _usage(asked, reply, "".join(text for text, _ in segments))
    start = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": reply.model or asked.body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": prompt, "output_tokens": 1},
    }
    yield _event("message_start", {"message": start})
    for index, (text, found) in enumerate(segments):
        yield _event("content_block_start", {"index": index, "content_block": {"type": "text", "text": ""}})
        for pointer in found:
            delta = {"type": "citations_delta", "citation": pointer}
            yield _event("content_block_delta", {"index": index, "delta": delta})
        for piece in _cut(text, reply.piece):
            delta = {"type": "text_delta", "text": piece}
            yield _event("content_block_delta", {"index": index, "delta": delta})
        yield _event("content_block_stop", {"index": index})
    stop = {"stop": "end_turn", "length": "max_tokens"}.get(reply.finish, reply.finish)
    usage = {"output_tokens": completion}
    yield _event("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage})
    yield _event("message_stop", {})


def _data(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"


def _event(name: str, value: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name} | value)}\n\n"


_WHOLE = {"openai": _openai_whole, "anthropic": _anthropic_whole}
_EVENTS = {"openai": _openai_events, "anthropic": _anthropic_events}

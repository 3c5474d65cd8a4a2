"""How each vendor's API streams an answer, and how to annotate or withhold it.

In: the JSON of responses and events. Out: the response that events add up to, the same annotated with its
check, and one saying that it was withheld. Citewell's member is ``citewell``, which every SDK keeps as an
extra field. Knows nothing about connections or checks.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from citewell.vendors.reading import VendorAnswer
from citewell.vendors.writing import write

Json = dict[str, Any]
MARK = "citewell"
DONE: Json = {"type": "[DONE]"}
"""Represents the non-JSON text that ends a stream of chat completions."""


class Protocol(ABC):
    """``vendor`` as in :data:`citewell.vendors.reading.VENDORS`; ``path`` matches its addresses; ``last`` are
    the types of the event that ends a stream; ``refused`` are the members of a response, and ``stopped``
    those of its one answer, that say that it was refused."""

    vendor: str
    path: re.Pattern[str]
    last: tuple[str, ...] = ()
    refused: Json = {}
    stopped: Json = {}

    @abstractmethod
    def joined(self, events: Sequence[Json]) -> Json:
        """The response that a stream's events add up to."""

    @abstractmethod
    def events(self, response: Json) -> list[Json]:
        """The response as a stream."""

    def ends(self, event: Json) -> bool:
        """Whether the event ends a stream."""
        return event.get("type") in self.last

    def marked(self, response: Json, answered: VendorAnswer, mark: Json) -> None:
        """Adds a mark to a response."""
        response[MARK] = mark

    def closing(self, held: list[Json], answered: VendorAnswer, mark: Json) -> list[Json]:
        """The events that end a stream, with a mark."""
        return [*held[:-1], held[-1] | {MARK: mark}]

    def withheld(self, response: Json, notice: str, mark: Json) -> Json:
        """The response with a notice for its text, and a mark that does not reveal what is withheld."""
        made = response | write(VendorAnswer(text=notice), (), self.vendor) | self.refused
        made[MARK] = mark | {"claims": [], "notes": []}
        for one in made.get("choices") or made.get("candidates") or ():
            one.update(self.stopped)
        return made

    def error(self, message: str) -> Json:
        """The body of an error."""
        return {"error": {"message": message, "type": MARK, "code": None, "param": None}}


class Chat(Protocol):
    """OpenAI chat completions."""

    vendor = "openai"
    path = re.compile(r"(?:^|/)chat/completions$")
    last = ("[DONE]",)
    stopped = {"finish_reason": "content_filter"}

    def joined(self, events: Sequence[Json]) -> Json:
        whole: Json = {"choices": []}
        choices: dict[int, Json] = {}
        texts: dict[int, list[str]] = {}  # joined once: adding to a text copies it
        for event in events:
            whole |= {key: value for key, value in event.items() if key not in ("choices", "type") and value}
            for choice in event.get("choices") or ():
                delta, index = choice.get("delta") or {}, choice.get("index") or 0
                kept = choices.setdefault(
                    index,
                    {"index": index, "finish_reason": None, "message": {"role": "assistant", "content": ""}},
                )
                message = kept["message"]
                texts.setdefault(index, []).append(delta.get("content") or "")
                for name in ("tool_calls", "annotations"):
                    if delta.get(name):
                        message.setdefault(name, []).extend(delta[name])
                if delta.get("context"):
                    message["context"] = delta["context"]
                kept["finish_reason"] = choice.get("finish_reason") or kept["finish_reason"]
        for index, pieces in texts.items():
            choices[index]["message"]["content"] = "".join(pieces)
        return whole | {"object": "chat.completion", "choices": [choices[index] for index in sorted(choices)]}

    def marked(self, response: Json, answered: VendorAnswer, mark: Json) -> None:
        for (place, _), note in _notes(answered, mark):
            own = {key: note.pop(key) for key in ("start_index", "end_index", "title", "url")}
            message = response["choices"][place]["message"]
            message["annotations"] = [*(message.get("annotations") or ()), note | {"url_citation": own}]
        response[MARK] = mark

    def closing(self, held: list[Json], answered: VendorAnswer, mark: Json) -> list[Json]:
        """Our own chunk, then the original closing events."""
        whole: Json = {"choices": [{"message": {}} for _ in range(len(answered.pieces) or 1)]}
        self.marked(whole, answered, mark)
        choices = [
            {"index": place, "delta": choice["message"], "finish_reason": None}
            for place, choice in enumerate(whole["choices"])
        ]
        chunk = {"id": mark["request_id"], "object": "chat.completion.chunk", "created": 0, "model": MARK}
        return [chunk | {"choices": choices, MARK: mark}, *held]

    def events(self, response: Json) -> list[Json]:
        """A completion as chunks: its message, then its end, which has the mark."""
        about = {key: value for key, value in response.items() if key not in ("choices", "usage", MARK)}
        about["object"] = "chat.completion.chunk"
        choice = response["choices"][0]
        said = {"index": 0, "delta": choice["message"], "finish_reason": None}
        ends = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        return [about | {"choices": [said]}, about | {"choices": [ends], MARK: response.get(MARK)}, DONE]


class Responses(Protocol):
    """OpenAI responses."""

    vendor = "openai-responses"
    path = re.compile(r"(?:^|/)responses$")
    last = ("response.completed", "response.incomplete", "response.failed")
    refused = {"status": "completed"}

    def joined(self, events: Sequence[Json]) -> Json:
        """The response in the last event; for an interrupted stream, one with its text."""
        whole = next((event["response"] for event in reversed(events) if self.ends(event)), None)
        if whole is not None:
            return dict(whole)
        told = [event["delta"] for event in events if event.get("type") == "response.output_text.delta"]
        return write(VendorAnswer(text="".join(told)), (), self.vendor)

    def marked(self, response: Json, answered: VendorAnswer, mark: Json) -> None:
        for (place, number), note in _notes(answered, mark):
            part = response["output"][place]["content"][number]
            part["annotations"] = [*(part.get("annotations") or ()), note]
        response[MARK] = mark

    def closing(self, held: list[Json], answered: VendorAnswer, mark: Json) -> list[Json]:
        for event in held:
            if self.ends(event):
                self.marked(event["response"], answered, mark)
        return held

    def events(self, response: Json) -> list[Json]:
        item = response["output"][0]
        part = item["content"][0]
        at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        begun = {**response, "status": "in_progress", "output": []}
        told: list[Json] = [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added", "output_index": 0, "item": item | {"content": []}},
            {"type": "response.content_part.added", **at, "part": part | {"text": ""}},
            {"type": "response.output_text.delta", **at, "delta": part["text"], "logprobs": []},
            {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []},
            {"type": "response.content_part.done", **at, "part": part},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        return [event | {"sequence_number": number} for number, event in enumerate(told)]


class Messages(Protocol):
    """Anthropic messages."""

    vendor = "anthropic"
    path = re.compile(r"(?:^|/)messages$")
    last = ("message_stop",)
    refused = {"stop_reason": "refusal", "stop_sequence": None}

    def joined(self, events: Sequence[Json]) -> Json:
        whole: Json = {"type": "message", "role": "assistant"}
        blocks: dict[int, Json] = {}
        texts: dict[int, list[str]] = {}
        citations: dict[int, list[Any]] = {}
        for event in events:
            match event.get("type"):
                case "message_start":
                    whole |= event["message"]
                case "content_block_start":
                    blocks[event["index"]] = dict(event["content_block"])
                case "content_block_delta":
                    index, delta = event["index"], event["delta"]
                    if delta["type"] == "text_delta":
                        texts.setdefault(index, [blocks[index].get("text") or ""]).append(delta["text"])
                    elif delta["type"] == "citations_delta":
                        begun = list(blocks[index].get("citations") or ())
                        citations.setdefault(index, begun).append(delta["citation"])
                case "message_delta":
                    whole |= event["delta"]
                    whole["usage"] = (whole.get("usage") or {}) | (event.get("usage") or {})
        for index, pieces in texts.items():
            blocks[index]["text"] = "".join(pieces)
        for index, cited in citations.items():
            blocks[index]["citations"] = cited
        return whole | {"content": [blocks[index] for index in sorted(blocks)]}

    def events(self, response: Json) -> list[Json]:
        text = response["content"][0]["text"]
        usage = response.get("usage") or {"input_tokens": 0, "output_tokens": 0}
        stop = {"stop_reason": response["stop_reason"], "stop_sequence": None}
        begun = {key: value for key, value in response.items() if key != MARK}
        begun |= {"content": [], "stop_reason": None, "usage": usage}
        written = {"output_tokens": usage.get("output_tokens") or 0}
        return [
            {"type": "message_start", "message": begun},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": written},
            {"type": "message_stop", MARK: response.get(MARK)},
        ]

    def error(self, message: str) -> Json:
        return {"type": "error", "error": {"type": "api_error", "message": message}}


class Gemini(Protocol):
    vendor = "gemini"
    path = re.compile(r":(?:stream)?generateContent$", re.IGNORECASE)
    stopped = {"index": 0, "finishReason": "OTHER"}

    def joined(self, events: Sequence[Json]) -> Json:
        whole: Json = {}
        candidate: Json = {"content": {"role": "model", "parts": []}}
        texts: list[str] = []  # of the last part, if it is plain text
        for event in events:
            whole |= {key: value for key, value in event.items() if key != "candidates"}
            for one in (event.get("candidates") or ())[:1]:
                candidate |= {key: value for key, value in one.items() if key != "content"}
                for part in (one.get("content") or {}).get("parts") or ():
                    kept = candidate["content"]["parts"]
                    plain = {*part} == {"text"}
                    if not (plain and texts):
                        kept.append(part)
                        texts = []
                    if plain:
                        texts.append(part["text"])
                        kept[-1] = {"text": texts}
        for part in candidate["content"]["parts"]:
            if isinstance(part.get("text"), list):
                part["text"] = "".join(part["text"])
        return whole | {"candidates": [candidate]}

    def ends(self, event: Json) -> bool:
        return any(candidate.get("finishReason") for candidate in event.get("candidates") or ())

    def events(self, response: Json) -> list[Json]:
        return [response]

    def error(self, message: str) -> Json:
        return {"error": {"code": 502, "message": message, "status": "UNAVAILABLE"}}


def _notes(answered: VendorAnswer, mark: Json) -> Iterator[tuple[tuple[int, int], Json]]:
    """(key of the part, OpenAI annotation with offsets in that part) for each verified citation."""
    sources = {source.id: source for source in answered.sources}
    verified = [claim for claim in mark["claims"] if claim["status"] == "VERIFIED"]
    pairs = [(claim, piece) for claim in verified for piece in answered.pieces]
    for claim, piece in pairs:
        if piece.start <= claim["answer_start"] < piece.end:
            for cited in claim["citations"]:
                if source := sources.get(cited["source"]):
                    yield (
                        piece.key,
                        {
                            "type": "url_citation",
                            "start_index": claim["answer_start"] - piece.start,
                            "end_index": min(claim["answer_end"], piece.end) - piece.start,
                            "title": source.title or cited["source"],
                            "url": source.uri or mark["record"],
                            MARK: cited,
                        },
                    )


def line(event: Json) -> bytes:
    if event is DONE:
        return b"data: [DONE]\n\n"
    kind = event.get("type")
    named = f"event: {kind}\n".encode() if isinstance(kind, str) else b""
    return named + b"data: " + msgspec.json.encode(event) + b"\n\n"


CHAT = Chat()
PROTOCOLS: tuple[Protocol, ...] = (CHAT, Responses(), Messages(), Gemini())


def protocol_of(path: str) -> Protocol | None:
    """The protocol at ``path``; None for paths without answers (models, files, embeddings)."""
    return next((found for found in PROTOCOLS if found.path.search(path)), None)

"""Extracts the question and sources from a request to a language model.

In: the JSON body of OpenAI chat completions or responses, Anthropic messages, Gemini generateContent; a
pattern for sources written into a prompt. Out: :class:`AnswerRequest`. A document that is not text (a PDF in
base64, a file by its id) is named in ``notes``, never guessed at. Independent of answers and HTTP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from citewell.core.addresses import visible_id
from citewell.core.records import Record

Row = Mapping[str, Any]

NUMBERED = (
    r"(?ms)^[ \t]*\[(?P<id>\d{1,3})\][:.]?[ \t]*(?P<text>\S.*?)(?=\n[ \t]*\n|\n[ \t]*\[\d{1,3}\]|\Z)"
    r"|<(?P<tag>document|doc|source|passage|chunk)\b(?P<head>[^<>]{0,300})>"
    r"(?P<inner>(?:[^<]|<(?!/?(?P=tag)\b))*+)</(?P=tag)>"
)
"""``[1] text`` up to a blank line or the next number, and ``<document index="1">text</document>``."""
_NAMED = re.compile(r"\b(?:id|index|name|title)\s*=\s*[\"']([^\"'<>]{1,200})[\"']")
_TEXTS = ("text", "content", "page_content", "pageContent", "snippet", "body", "passage", "chunk")
_IDS = ("id", "doc_id", "document_id", "chunk_id", "file_id")
_LISTS = ("results", "documents", "docs", "sources", "chunks", "passages", "search_results", "data", "items")
MOST_DEPTH = 20


class RequestSource(Record, frozen=True, kw_only=True):
    """A source in a request: ``kind`` is ``document``, ``search``, ``tool`` or ``prompt``."""

    text: str
    id: str = ""
    title: str = ""
    uri: str = ""
    kind: str = "tool"


class AnswerRequest(Record, frozen=True, kw_only=True):
    """``sources`` have unique ids; ``[1]`` of the newest turn keeps its number."""

    question: str = ""
    sources: tuple[RequestSource, ...] = ()
    user: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()

    def of_kind(self, kind: str) -> list[RequestSource]:
        """The sources of a kind in the order of the request, as vendors index them."""
        return [source for source in self.sources if source.kind == kind]


def sent(body: Row, pattern: str = NUMBERED) -> AnswerRequest:
    """The question (the user's last words) and all sources of a request, in order. Never raises for a body
    that is not a request: it then has no sources."""
    try:
        return _sent(body, pattern)
    except RecursionError:
        return AnswerRequest(notes=("the request is nested too deeply to be read",))


def _sent(body: Row, pattern: str) -> AnswerRequest:
    walk = _Walk()
    for key in ("system", "instructions", "systemInstruction", "system_instruction"):
        walk.content(body.get(key), "system")
    for key in ("messages", "input", "contents"):
        value = body.get(key)
        if isinstance(value, str):
            walk.content(value, "user")
        for message in objects(value):
            walk.content(message, str(message.get("role") or "user"))
    walk.found += results(body.get("documents"), "document")  # Cohere
    spoken = [text for role, text in walk.said if role == "user"]
    written = [text for role, text in walk.said if role not in ("assistant", "model")]
    prompts = [source for text in written for source in in_prompt(text, pattern)]
    metadata = body.get("metadata")
    user = body.get("user") or body.get("safety_identifier")
    user = user or (metadata.get("user_id") if isinstance(metadata, Mapping) else "")
    return AnswerRequest(
        question=_question(spoken[-1] if spoken else "", pattern),
        sources=_numbered([*walk.found, *prompts]),
        user=visible_id(string(user))[:200],
        model=string(body.get("model"))[:200],
        notes=tuple(dict.fromkeys(walk.notes)),
    )


def in_prompt(text: str, pattern: str) -> Iterator[RequestSource]:
    """The matches of ``pattern``: its group ``text``, or the whole match, with its group ``id`` if any."""
    for found in re.finditer(pattern, text):
        groups = found.groupdict()
        words = groups.get("text") or groups.get("inner") or found.group()
        named = groups.get("id") or next(iter(_NAMED.findall(groups.get("head") or "")), "")
        if words.strip():
            yield RequestSource(text=words.strip(), id=named, kind="prompt")


def results(value: Any, kind: str, name: str = "") -> list[RequestSource]:
    """The sources in a tool's result: each object of a list with its text, or the whole result as one."""
    if isinstance(value, str):
        try:
            inner = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            inner = None
        if isinstance(inner, dict | list):
            return results(inner, kind, name)
        return [RequestSource(text=value, id=name, kind=kind)] if value.strip() else []
    if isinstance(value, list):
        return [found for item in value for found in results(item, kind, name if len(value) == 1 else "")]
    if not isinstance(value, Mapping):
        return []
    for key in _LISTS:
        if isinstance(value.get(key), list) and objects(value[key]):
            return results(value[key], kind)
    text = next((value[key] for key in _TEXTS if isinstance(value.get(key), str) and value[key]), "")
    if not text and value and all(isinstance(item, Mapping) for item in value.values()):
        return [found for key, item in value.items() for found in results(item, kind, str(key))]  # Mistral
    inner = value.get("document") or value.get("data")
    text = text or string(inner)
    if not text and isinstance(inner, Mapping):
        return [
            msgspec.structs.replace(found, id=string(value.get("id")) or found.id)
            for found in results(inner, kind)
        ]
    return [
        RequestSource(
            text=text or "\n".join(_leaves(value)),
            id=next((str(value[key]) for key in _IDS if isinstance(value.get(key), str | int)), name),
            title=string(value.get("title") or value.get("filename") or value.get("name")),
            uri=string(value.get("url") or value.get("uri") or value.get("link")),
            kind=kind,
        )
    ]


class _Walk:
    """Walks messages and blocks: ``said`` collects their words by role, ``found`` their sources."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []
        self.found: list[RequestSource] = []
        self.notes: list[str] = []

    def content(self, value: Any, role: str, depth: int = 0) -> None:
        if isinstance(value, str):
            if role in ("tool", "function"):
                self.found += results(value, "tool")
            else:
                self.said.append((role, value))
        elif isinstance(value, list) and depth < MOST_DEPTH:
            for item in value:
                self.content(item, role, depth + 1)
        elif isinstance(value, Mapping) and depth < MOST_DEPTH:
            self._block(value, role, depth + 1)

    def _block(self, block: Row, role: str, depth: int) -> None:
        kind = string(block.get("type"))
        match kind:
            case "document":
                self._document(block)
            case "search_result":
                text = "\n".join(content_texts(block.get("content")))
                uri = string(block.get("source"))
                self._add(text, uri, string(block.get("title")), "search", uri)
            case "file_search_call":
                self.found += results(block.get("results"), "search")
            case _ if kind.endswith(("tool_result", "call_output")):
                self.content(block.get("content", block.get("output")), "tool", depth)
            case _ if "functionResponse" in block:
                answer = block["functionResponse"]
                self.found += results(
                    answer.get("response") if isinstance(answer, Mapping) else answer, "tool"
                )
            case "web_fetch_result":
                self.content(block.get("content"), role, depth)
            case _ if kind in ("file", "input_file", "image", "image_url", "input_image") or (
                not block.keys().isdisjoint(("inlineData", "fileData"))
            ):
                self.notes.append("a file or picture of the request is not text and was not read")
            case _ if role in ("tool", "function") and "text" in block:
                self.found += results(string(block["text"]), "tool")
            case _:
                for key in ("text", "content", "parts"):
                    self.content(block.get(key), role, depth)

    def _document(self, block: Row) -> None:
        source, title = block.get("source"), string(block.get("title"))
        found = source if isinstance(source, Mapping) else block.get("document")
        text = None
        if isinstance(found, Mapping):
            text = {"text": found.get("data"), "content": found.get("content")}.get(string(found.get("type")))
        if text is None:
            cohere = [] if source else results(found, "document", string(block.get("id")))
            self.found += cohere
            if not cohere:
                self._add("", "", title, "document")  # because Anthropic's document_index counts it
                self.notes.append(f"the document {title or 'of the request'} is not text and was not read")
            return
        self._add("\n".join(content_texts(text)), "", title, "document")

    def _add(self, text: str, id: str, title: str, kind: str, uri: str = "") -> None:
        self.found.append(RequestSource(text=text, id=id, title=title, kind=kind, uri=uri))


def _numbered(found: list[RequestSource]) -> tuple[RequestSource, ...]:
    """Makes ids unique: later sources keep their id; repeated tool and prompt texts are kept once."""
    taken: dict[str, str] = {}
    named = []
    for number, source in reversed(list(enumerate(found, 1))):
        wanted = visible_id(source.id or source.title or source.uri)[:200].strip() or str(number)
        if wanted in taken and taken[wanted] == source.text and source.kind in ("tool", "prompt"):
            continue
        id, extra = wanted, 1
        while id in taken:
            extra += 1
            id = f"{wanted} ({extra})"
        taken[id] = source.text
        named.append(msgspec.structs.replace(source, id=id))
    return tuple(reversed(named))


def _question(text: str, pattern: str) -> str:
    """The user's words without embedded sources."""
    return " ".join(re.sub(pattern, " ", text).split())


def content_texts(value: Any) -> list[str]:
    """The texts of a content: one string or text blocks."""
    if isinstance(value, str):
        return [value]
    return [string(block.get("text")) for block in objects(value) if block.get("text")]


def objects(value: Any) -> list[Row]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _leaves(value: Any, name: str = "", depth: int = 0) -> Iterator[str]:
    if depth > MOST_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, str(key), depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, name, depth + 1)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield f"{name}: {value}" if name else str(value)

"""Parses model vendors' answers with citations into a text, its sources and its citations.

In: the JSON of a response, and the contents of its request (:mod:`citewell.vendors.requests`) if known. Out:
:class:`VendorAnswer`, with offsets in code points of the text; Gemini's offsets in UTF-8 bytes are converted.
If only quotes of a source are known, they replace it, and a note says so. Raises UsageError for any other
format. Formats follow the types of each vendor's SDK, and AWS's and Azure's references.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from citewell.core.addresses import visible_id
from citewell.core.errors import UsageError
from citewell.core.records import Cited, Quote, Record
from citewell.vendors.requests import AnswerRequest, RequestSource, Row, objects, results, sent, string

QUOTES_ALONE = "the sources were not given; the quotes in the answer are used instead"
_DOC = re.compile(r"\[doc(\d{1,3})\]")


class AnswerPart(NamedTuple):
    """One part of the answer: ``key`` locates it in the response, ``[start, end)`` in the text."""

    key: tuple[int, int]
    start: int
    end: int


class VendorAnswer(Record, frozen=True, kw_only=True):
    """``calls_tools``: the model calls tools, so this is not its final answer."""

    text: str
    sources: tuple[RequestSource, ...] = ()
    citations: tuple[Cited, ...] = ()
    question: str = ""
    pieces: tuple[AnswerPart, ...] = ()
    calls_tools: bool = False
    notes: tuple[str, ...] = ()


def read_saved_response(
    given: Row, vendor: str = "", documents: Iterable[tuple[str, str]] = ()
) -> VendorAnswer:
    """Reads a saved response, or ``{"request": ..., "response": ...}``; ``documents`` are (id, text) pairs in
    the order of a request that was not saved. Without ``vendor`` the first one whose keys match is used.
    Raises UsageError."""
    response, request = given, AnswerRequest()
    if isinstance(given.get("response"), dict):
        response = given["response"]
        request = sent(given["request"]) if isinstance(given.get("request"), dict) else request
    own = tuple(RequestSource(id=id, text=text, kind="document") for id, text in documents)
    request = msgspec.structs.replace(request, sources=(*request.sources, *own))
    vendor = vendor or next((name for name, found in VENDORS.items() if found.fits(response)), "")
    if not vendor:
        raise UsageError(
            "the file is not a response of a supported vendor", hint=f"use one of: {', '.join(VENDORS)}"
        )
    if vendor not in VENDORS:
        raise UsageError(f"unknown format {vendor!r}", hint=f"use one of: {', '.join(VENDORS)}")
    if not VENDORS[vendor].fits(response):
        raise UsageError(f"not a response of {vendor}", hint=f"expected {VENDORS[vendor].holds}")
    return read_response(response, vendor, request)


def read_response(response: Row, vendor: str, request: AnswerRequest) -> VendorAnswer:
    """Like :func:`read_saved_response`, for a known vendor. Raises UsageError if a part has the wrong
    type."""
    try:
        found = VENDORS[vendor].read(response, request)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"this response of {vendor} is malformed: {type(error).__name__}: {error}"[:300],
            hint=f"expected {VENDORS[vendor].holds}",
        ) from error
    return msgspec.structs.replace(
        found, question=found.question or request.question, notes=(*request.notes, *found.notes)
    )


MOST_PARTS, MOST_LETTERS, MOST_NAMED, MOST_CITED = 10_000, 1_000_000, 1_000, 10_000
"""Parts and characters of an answer, sources and citations in a response: no more could be checked."""


def _few(count: int, most: int, what: str) -> None:
    if count > most:
        raise ValueError(f"it has more than {most:,} {what}")


class _Text:
    """The answer, its sources and citations. Raises ValueError for more than can be checked."""

    def __init__(self, request: AnswerRequest, *, joint: str = "") -> None:
        self.text, self._joint, self._request = "", joint, request
        self.pieces: list[AnswerPart] = []
        self.citations: list[Cited] = []
        self._known = {source.id: source.text for source in request.sources}
        self._own: dict[str, RequestSource] = {}
        self._quoted: dict[str, list[str]] = {}

    def add(self, key: tuple[int, int], words: str, *, apart: bool = False) -> AnswerPart:
        if apart and self.text and words:
            self.text += self._joint
        _few(len(self.pieces), MOST_PARTS, "parts")
        _few(len(self.text) + len(words), MOST_LETTERS, "characters")
        piece = AnswerPart(key, len(self.text), len(self.text) + len(words))
        self.text += words
        self.pieces.append(piece)
        return piece

    def source(self, given: RequestSource) -> str:
        """Registers a source; returns its id, unique among sources with other texts."""
        _few(len(self._own), MOST_NAMED, "sources")
        id = name = visible_id(given.id or given.title or given.uri)[:200].strip() or str(len(self._own) + 1)
        extra = 1
        while (taken := self._known.get(id, self._own[id].text if id in self._own else None)) is not None:
            if taken == given.text or not given.text:
                return id
            extra += 1
            id = f"{name} ({extra})"
        self._own[id] = msgspec.structs.replace(given, id=id)
        return id

    def cite(self, start: int, end: int, source: str, quote: str = "") -> None:
        if not 0 <= start <= end <= len(self.text):
            raise ValueError(f"a citation of [{start}, {end}) in a text of {len(self.text)}")
        _few(len(self.citations), MOST_CITED, "citations")
        self.citations.append(
            Cited(answer_start=start, answer_end=end, quote=Quote(source=source, text=quote))
        )
        if quote:
            self._quoted.setdefault(source, []).append(quote)

    def done(self, *, calls_tools: bool = False) -> VendorAnswer:
        """The result; the text of a source that was not given consists of its quotes."""
        given = {source.id: source for source in self._request.sources} | self._own
        notes = []
        for id in dict.fromkeys(cited.quote.source for cited in self.citations):
            if not given.setdefault(id, RequestSource(text="", id=id)).text and id in self._quoted:
                words = "\n\n".join(dict.fromkeys(self._quoted[id]))
                given[id] = msgspec.structs.replace(given[id], text=words)
                notes.append(QUOTES_ALONE)
        kept = [cited for cited in self.citations if given[cited.quote.source].text]
        if lost := len(self.citations) - len(kept):
            notes.append(f"{lost} citations name sources whose text was not given, and were left out")
        return VendorAnswer(
            text=self.text,
            sources=tuple(source for source in given.values() if source.text),
            citations=tuple(kept),
            pieces=tuple(self.pieces),
            calls_tools=calls_tools,
            notes=tuple(dict.fromkeys(notes)),
        )


def _anthropic(response: Row, request: AnswerRequest) -> VendorAnswer:
    made = _Text(msgspec.structs.replace(request, sources=(*request.sources, *_served(response, request))))
    for place, block in enumerate(response["content"]):
        if block["type"] == "text":
            piece = made.add((place, 0), block["text"])
            for citation in block.get("citations") or ():
                made.cite(piece.start, piece.end, _pointed(made, request, citation), citation["cited_text"])
    return made.done(calls_tools=any(block["type"] == "tool_use" for block in response["content"]))


def _served(response: Row, request: AnswerRequest) -> tuple[RequestSource, ...]:
    blocks = response.get("content") or response.get("output") or []
    served = [block for block in objects(blocks) if block.get("type") not in ("text", "message")]
    taken = {source.id for source in request.sources}
    return tuple(found for found in sent({"messages": served}).sources if found.id not in taken)


def _pointed(made: _Text, request: AnswerRequest, citation: Row) -> str:
    """The id of the source that an Anthropic citation points to."""
    kind = citation["type"]
    if kind == "search_result_location":
        place, title, uri = citation["search_result_index"], citation.get("title"), citation["source"]
        known = request.of_kind("search")
    elif kind == "web_search_result_location":
        place, title, uri, known = -1, citation.get("title"), citation["url"], []
    else:
        place, title, uri = citation["document_index"], citation.get("document_title"), ""
        known = request.of_kind("document")
    if 0 <= place < len(known):
        return known[place].id
    name = uri or title or f"document {place + 1}"
    return made.source(RequestSource(text="", id=name, title=string(title), uri=uri))


def _responses(response: Row, request: AnswerRequest) -> VendorAnswer:
    made = _Text(
        msgspec.structs.replace(request, sources=(*request.sources, *_served(response, request))),
        joint="\n\n",
    )
    for place, item in enumerate(response["output"]):
        for number, part in enumerate(item.get("content") or () if item["type"] == "message" else ()):
            if part["type"] == "output_text":
                piece = made.add((place, number), part["text"], apart=True)
                for note in part.get("annotations") or ():
                    _annotation(made, piece, note)
    tools = any(item["type"] in ("function_call", "custom_tool_call") for item in response["output"])
    return made.done(calls_tools=tools)


def _annotation(made: _Text, piece: AnswerPart, note: Row) -> None:
    """OpenAI's annotations: a file at one position or over a range, a URL over a range."""
    note = note | note.get("url_citation", {}) if "url_citation" in note else note
    match note["type"]:
        case "url_citation":
            id = made.source(
                RequestSource(text="", id=note["url"], title=string(note.get("title")), uri=note["url"])
            )
            made.cite(piece.start + note["start_index"], piece.start + note["end_index"], id)
        case "file_citation" | "container_file_citation":
            name = note.get("filename") or note["file_id"]
            id = made.source(RequestSource(text="", id=note["file_id"], title=string(name)))
            start = piece.start + (
                note["start_index"] if "start_index" in note else max(note["index"] - 1, 0)
            )
            made.cite(start, piece.start + note.get("end_index", note.get("index", 0)), id)


def _chat(response: Row, request: AnswerRequest) -> VendorAnswer:
    """Also for other servers with OpenAI's protocol: Azure's "on your data", Mistral, Perplexity."""
    made = _Text(request, joint="\n\n")
    found = response.get("search_results") or [{"url": url} for url in response.get("citations") or ()]
    for number, result in enumerate(found, 1):  # Perplexity; the text has [1]
        made.source(msgspec.structs.replace(_first(results(result, "search")), id=str(number)))
    for place, choice in enumerate(response["choices"]):
        message = choice["message"]
        context = message.get("context") or {}
        docs = [  # Azure; the text has [doc1]
            made.source(msgspec.structs.replace(_first(results(one, "document")), id=f"doc{number}"))
            for number, one in enumerate(context.get("citations") or (), 1)
        ]
        content = message.get("content") or ""
        if not isinstance(content, str):
            _mistral(made, place, content)
            continue
        piece = made.add((place, 0), content, apart=True)
        for note in message.get("annotations") or ():
            _annotation(made, piece, note)
        for mark in _DOC.finditer(content) if docs else ():
            if int(mark[1]) <= len(docs):
                made.cite(piece.start + mark.start(), piece.start + mark.end(), docs[int(mark[1]) - 1])
    tools = any(choice["message"].get("tool_calls") for choice in response["choices"])
    return made.done(calls_tools=tools)


def _mistral(made: _Text, place: int, chunks: Iterable[Row]) -> None:
    """A reference follows the text that it supports."""
    last = made.add((place, 0), "")
    for number, chunk in enumerate(chunks):
        match chunk["type"]:
            case "text":
                last = made.add((place, number), chunk["text"], apart=number == 0)
            case "reference":
                for id in chunk["reference_ids"]:
                    made.cite(last.start, last.end, str(id))
            case "tool_reference":
                uri, title = string(chunk.get("url")), string(chunk.get("title"))
                words = string(chunk.get("description"))
                made.cite(
                    last.start, last.end, made.source(RequestSource(text=words, id=uri, title=title, uri=uri))
                )


def _gemini(response: Row, request: AnswerRequest) -> VendorAnswer:
    made = _Text(request, joint="\n\n")
    tools = False
    for place, candidate in enumerate(response["candidates"]):
        parts = (candidate.get("content") or {}).get("parts") or []
        spoken: dict[int, AnswerPart] = {}
        for number, part in enumerate(parts):
            tools = tools or "functionCall" in part
            if part.get("text") and not part.get("thought"):
                spoken[number] = made.add((place, number), part["text"], apart=not spoken)
        grounding = candidate.get("groundingMetadata") or {}
        ids = [made.source(_chunk(chunk)) for chunk in grounding.get("groundingChunks") or ()]
        supports = grounding.get("groundingSupports") or ()
        _few(len(supports), MOST_CITED, "segments")
        for support in supports:
            segment = support["segment"]
            piece = spoken[segment.get("partIndex") or min(spoken)]
            data = made.text[piece.start : piece.end].encode()
            first, last = (segment.get(name) or 0 for name in ("startIndex", "endIndex"))
            if not 0 <= first <= last <= len(data):
                raise ValueError(f"a segment of bytes [{first}, {last}) in a text of {len(data)}")
            start, end = (piece.start + len(data[:place].decode(errors="ignore")) for place in (first, last))
            for chunk in support.get("groundingChunkIndices") or ():
                made.cite(start, end, ids[chunk])
    return made.done(calls_tools=tools)


def _chunk(chunk: Row) -> RequestSource:
    kind = next((kind for kind in ("retrievedContext", "web", "maps") if kind in chunk), "web")
    found = chunk[kind]
    name = string(found.get("documentName")) or string(found.get("uri")) or string(found.get("title"))
    return RequestSource(
        text=string(found.get("text")),
        id=name,
        title=string(found.get("title")),
        uri=string(found.get("uri")),
    )


def _cohere(response: Row, request: AnswerRequest) -> VendorAnswer:
    made = _Text(request)
    message = response["message"]
    placed: dict[int, AnswerPart] = {}
    for place, part in enumerate(message.get("content") or ()):
        if part["type"] == "text":
            placed[place] = made.add((place, 0), part["text"])
    for citation in message.get("citations") or ():
        piece = placed[citation["content_index"] if citation.get("content_index") in placed else min(placed)]
        if citation.get("type") not in (None, "TEXT_CONTENT"):
            continue  # cites the plan or the thoughts, which are not part of the answer
        for source in citation["sources"]:
            found = _first(results(source.get("document") or source.get("tool_output"), "document"))
            id = made.source(msgspec.structs.replace(found, id=string(source.get("id")) or found.id))
            made.cite(piece.start + citation["start"], piece.start + citation["end"], id)
    return made.done(calls_tools=bool(message.get("tool_calls")))


def _bedrock(response: Row, request: AnswerRequest) -> VendorAnswer:
    """A span's end is inclusive in some regions and exclusive in others: its text decides."""
    made = _Text(request)
    whole = made.add((0, 0), response["output"]["text"])
    for citation in response.get("citations") or ():
        part = citation["generatedResponsePart"]["textResponsePart"]
        span, words = part.get("span") or {}, string(part.get("text"))
        start = span.get("start") or 0
        if words and made.text[start : start + len(words)] != words:
            start = max(made.text.find(words), 0)
        end = start + len(words) if words else span["end"]
        for reference in citation.get("retrievedReferences") or ():
            id = made.source(_reference(reference))
            made.cite(start, min(end, whole.end), id)
    return made.done()


def _reference(reference: Row) -> RequestSource:
    place = reference.get("location") or {}
    inner = next((value for value in place.values() if isinstance(value, dict)), {})
    uri = next((value for name in ("uri", "url", "id") if (value := string(inner.get(name)))), "")
    return RequestSource(text=string(reference["content"].get("text")), id=uri, title="", uri=uri)


def _first(found: list[RequestSource]) -> RequestSource:
    return found[0] if found else RequestSource(text="")


class Vendor(NamedTuple):
    """``fits`` tells whether a response has this vendor's keys; ``holds`` describes them."""

    holds: str
    fits: Callable[[Row], bool]
    read: Callable[[Row, AnswerRequest], VendorAnswer]


def _has(*path: str) -> Callable[[Row], bool]:
    """Whether a path exists through objects and the first entries of lists."""

    def fits(value: Any) -> bool:
        for name in path:
            value = value[0] if isinstance(value, list) and value else value
            if not isinstance(value, dict) or name not in value:
                return False
            value = value[name]
        return True

    return fits


VENDORS: dict[str, Vendor] = {
    "bedrock": Vendor("output.text and citations, of RetrieveAndGenerate", _has("output", "text"), _bedrock),
    "gemini": Vendor("candidates with content and groundingMetadata", _has("candidates"), _gemini),
    "cohere": Vendor("message.content and message.citations", _has("message", "content"), _cohere),
    "openai-responses": Vendor("output, a list of items with a type", _has("output", "type"), _responses),
    "azure": Vendor(
        "choices with message.context.citations", _has("choices", "message", "context", "citations"), _chat
    ),
    "perplexity": Vendor(
        "choices, and search_results or citations beside them",
        lambda value: (
            _has("choices", "message")(value) and not value.keys().isdisjoint(("search_results", "citations"))
        ),
        _chat,
    ),
    "mistral": Vendor(
        "choices with message.content in chunks", _has("choices", "message", "content", "type"), _chat
    ),
    "openai": Vendor("choices with message.content and annotations", _has("choices", "message"), _chat),
    "anthropic": Vendor("content, a list of blocks with a type", _has("content", "type"), _anthropic),
}
"""The first that fits is used."""

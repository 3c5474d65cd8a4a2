"""Checked answers in vendors' citation formats, and as W3C Web Annotations.

In: an answer, its sources and its claims with their verdicts. Out: JSON that the vendor's SDK can parse. Only
VERIFIED claims get citations. Web Annotation: https://www.w3.org/TR/annotation-model/ with text quote and
position selectors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from citewell.core.errors import UsageError
from citewell.core.records import Citation, Claim, Status
from citewell.core.sentences import bytes_before
from citewell.vendors.reading import VendorAnswer
from citewell.vendors.requests import RequestSource

Json = dict[str, Any]
_AROUND = 32
"""Characters of context before and after a quote in a text quote selector."""
_MARK = re.compile(r" ?\[((?:doc)?\d{1,3}(?:, ?(?:doc)?\d{1,3})*)\]")


class VerifiedSpan(NamedTuple):
    """A verified claim: ``[start, end)`` of the answer, with (index, source, citation) per citation."""

    start: int
    end: int
    cited: tuple[tuple[int, RequestSource, Citation], ...]


def write(answered: VendorAnswer, claims: Sequence[Claim], vendor: str) -> Json:
    """The answer in the format of ``vendor``. Raises UsageError for an unknown format."""
    if vendor not in WRITERS:
        raise UsageError(f"unknown format {vendor!r}", hint=f"use one of: {', '.join(WRITERS)}")
    return WRITERS[vendor](answered, _spans(answered, claims))


def _spans(answered: VendorAnswer, claims: Sequence[Claim]) -> list[VerifiedSpan]:
    places = {source.id: (place, source) for place, source in enumerate(answered.sources)}
    spans: dict[tuple[int, int], dict[tuple[str, int], tuple[int, RequestSource, Citation]]] = {}
    for claim in claims:
        if claim.verdict.status is Status.VERIFIED:
            found = spans.setdefault((claim.answer_start, claim.answer_end), {})
            for one in claim.citations:
                if one.start >= 0:
                    found[one.document_id, one.start] = (*places[one.document_id], one)
    return [VerifiedSpan(*at, tuple(cited.values())) for at, cited in sorted(spans.items()) if cited]


def _parts(text: str, spans: Sequence[VerifiedSpan]) -> Iterator[tuple[str, VerifiedSpan | None]]:
    """The text cut at span borders; of overlapping spans only the first is kept."""
    place = 0
    for span in spans:
        if span.start < place:
            continue
        if span.start > place:
            yield text[place : span.start], None
        yield text[span.start : span.end], span
        place = span.end
    if place < len(text):
        yield text[place:], None


def _openai(answered: VendorAnswer, spans: Sequence[VerifiedSpan]) -> Json:
    notes = [{"type": "url_citation", "url_citation": note} for note in _addresses(spans)]
    message = {"role": "assistant", "content": answered.text, "refusal": None, "annotations": notes}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}]}


def _responses(answered: VendorAnswer, spans: Sequence[VerifiedSpan]) -> Json:
    notes = [{"type": "url_citation", **note} for note in _addresses(spans)]
    part = {"type": "output_text", "text": answered.text, "annotations": notes}
    item = {"type": "message", "id": "msg_0", "role": "assistant", "status": "completed", "content": [part]}
    return {"object": "response", "output": [item]}


def _addresses(spans: Sequence[VerifiedSpan]) -> Iterator[Json]:
    for span in spans:
        for _, source, _ in span.cited:
            yield {
                "start_index": span.start,
                "end_index": span.end,
                "title": source.title or source.id,
                "url": source.uri or source.id,
            }


def _azure(answered: VendorAnswer, spans: Sequence[VerifiedSpan]) -> Json:
    written = _openai(_marked(answered, spans, " [doc{}]"), ())
    cited = [
        {"content": one.text, "title": one.title or one.id, "url": one.uri or None, "filepath": None}
        for one in answered.sources
    ]
    written["choices"][0]["message"]["context"] = {"citations": cited, "intent": "[]"}
    return written


def _perplexity(answered: VendorAnswer, spans: Sequence[VerifiedSpan]) -> Json:
    found = [
        {"title": one.title or one.id, "url": one.uri or one.id, "date": None, "snippet": one.text}
        for one in answered.sources
    ]
    written = _openai(_marked(answered, spans, "[{}]"), ())
    written["choices"][0]["delta"] = {"role": "assistant", "content": ""}
    return written | {"search_results": found}


def _marked(answered: VendorAnswer, spans: Sequence[VerifiedSpan], mark: str) -> VendorAnswer:
    """With a mark at the end of each verified claim, in place of the marks that the text had."""
    last = len(answered.sources)

    def unmarked(found: re.Match[str]) -> str:
        return "" if all(1 <= int(one) <= last for one in re.findall(r"\d+", found[1])) else found[0]

    made = ""
    for text, span in _parts(answered.text, spans):
        bare = _MARK.sub(unmarked, text)
        end = len(bare.rstrip(" \n.!?"))
        places = dict.fromkeys(place for place, _, _ in span.cited) if span else ()
        made += bare[:end] + "".join(mark.format(place + 1) for place in places) + bare[end:]
    return msgspec.structs.replace(answered, text=made)


def _anthropic(answered: VendorAnswer, spans: Sequence[VerifiedSpan]) -> Json:
    blocks: list[Json] = []
    for text, span in _parts(answered.text, spans):
        block: Json = {"type": "text", "text": text, "citations": None}
        if span is not None:
            block["citations"] = [
                {
                    "type": "char_location",
                    "cited_text": cited.quote,
                    "document_index": place,
                    "document_title": source.title or source.id,
                    "start_char_index": cited.start,
                    "end_char_index": cited.end,
                    "file_id": None,
                }
                for place, source, cited in span.cited
            ]
        blocks.append(block)
    return {"type": "message", "role": "assistant", "content": blocks}


def _gemini(answered: VendorAnswer, spans: Sequence[VerifiedSpan]) -> Json:
    chunks = [
        {"retrievedContext": {"title": one.title or one.id, "uri": one.uri or one.id, "text": one.text}}
        for one in answered.sources
    ]
    before = bytes_before(answered.text)
    supports = [
        {
            "segment": {
                "startIndex": before[span.start],
                "endIndex": before[span.end],
                "text": answered.text[span.start : span.end],
            },
            "groundingChunkIndices": list(dict.fromkeys(place for place, _, _ in span.cited)),
        }
        for span in spans
    ]
    grounding = {"groundingChunks": chunks, "groundingSupports": supports}
    content = {"role": "model", "parts": [{"text": answered.text}]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "groundingMetadata": grounding}]}


def _cohere(answered: VendorAnswer, spans: Sequence[VerifiedSpan]) -> Json:
    citations = [
        {
            "start": span.start,
            "end": span.end,
            "text": answered.text[span.start : span.end],
            "sources": [
                {
                    "type": "document",
                    "id": one.id,
                    "document": {"id": one.id, "title": one.title, "text": one.text},
                }
                for one in {source.id: source for _, source, _ in span.cited}.values()
            ],
            "content_index": 0,
            "type": "TEXT_CONTENT",
        }
        for span in spans
    ]
    content = [{"type": "text", "text": answered.text}]
    return {"message": {"role": "assistant", "content": content, "citations": citations}}


def _mistral(answered: VendorAnswer, spans: Sequence[VerifiedSpan]) -> Json:
    chunks: list[Json] = []
    for text, span in _parts(answered.text, spans):
        chunks.append({"type": "text", "text": text})
        if span is not None:
            ids = list(dict.fromkeys(source.id for _, source, _ in span.cited))
            chunks.append({"type": "reference", "reference_ids": ids})
    return {
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": chunks}, "finish_reason": "stop"}
        ]
    }


def _bedrock(answered: VendorAnswer, spans: Sequence[VerifiedSpan]) -> Json:
    citations = [
        {
            "generatedResponsePart": {
                "textResponsePart": {
                    "text": answered.text[span.start : span.end],
                    "span": {"start": span.start, "end": span.end},
                }
            },
            "retrievedReferences": [
                {
                    "content": {"text": one.text},
                    "location": {"type": "CUSTOM", "customDocumentLocation": {"id": one.id}},
                }
                for one in {source.id: source for _, source, _ in span.cited}.values()
            ],
        }
        for span in spans
    ]
    return {"output": {"text": answered.text}, "citations": citations}


def _w3c(answered: VendorAnswer, spans: Sequence[VerifiedSpan]) -> Json:
    """Each annotation links a range of the answer (its body) to the supporting span of a source (its
    target)."""
    items = [
        {
            "type": "Annotation",
            "motivation": "linking",
            "body": {
                "type": "TextualBody",
                "format": "text/plain",
                "value": answered.text[span.start : span.end],
                "selector": {"type": "TextPositionSelector", "start": span.start, "end": span.end},
            },
            "target": {
                "source": source.uri or source.id,
                "selector": [
                    {
                        "type": "TextQuoteSelector",
                        "exact": cited.quote,
                        "prefix": source.text[max(cited.start - _AROUND, 0) : cited.start],
                        "suffix": source.text[cited.end : cited.end + _AROUND],
                    },
                    {"type": "TextPositionSelector", "start": cited.start, "end": cited.end},
                ],
            },
        }
        for span in spans
        for _, source, cited in span.cited
    ]
    return {"@context": "http://www.w3.org/ns/anno.jsonld", "type": "AnnotationPage", "items": items}


WRITERS: dict[str, Callable[[VendorAnswer, Sequence[VerifiedSpan]], Json]] = {
    "anthropic": _anthropic,
    "azure": _azure,
    "bedrock": _bedrock,
    "cohere": _cohere,
    "gemini": _gemini,
    "mistral": _mistral,
    "openai": _openai,
    "openai-responses": _responses,
    "perplexity": _perplexity,
    "w3c": _w3c,
}

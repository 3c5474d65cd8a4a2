"""Vendors' citations, in and out: shapes as their SDKs define them, checked with the SDK if installed."""

from __future__ import annotations

import importlib.util
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from citewell.answering.verifying import verify
from citewell.cli import app
from citewell.core.errors import UsageError
from citewell.models.fake import FakeEntailer, HashEmbedder
from citewell.vendors.reading import QUOTES_ALONE, VENDORS, VendorAnswer, read_saved_response
from citewell.vendors.requests import NUMBERED, RequestSource, sent
from citewell.vendors.writing import WRITERS, write

BRIDGE, TOLL = "The bridge – open since 1932 – is 40 m long.", "The toll was abolished in 1958."
TEXT = "Übrigens: the bridge is 40 m long. The toll was abolished in 1958."
FIRST, SECOND = (10, 34), (35, 66)


def chat(content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
    }


def in_bytes(place: int) -> int:
    return len(TEXT[:place].encode())


ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-x",
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
    "content": [
        {"type": "text", "text": TEXT[: FIRST[0]], "citations": None},
        {
            "type": "text",
            "text": TEXT[FIRST[0] : FIRST[1]],
            "citations": [
                {
                    "type": "char_location",
                    "cited_text": BRIDGE,
                    "document_index": 0,
                    "document_title": "bridge",
                    "start_char_index": 0,
                    "end_char_index": len(BRIDGE),
                    "file_id": None,
                }
            ],
        },
        {"type": "text", "text": " ", "citations": None},
        {
            "type": "text",
            "text": TEXT[SECOND[0] :],
            "citations": [
                {
                    "type": "page_location",
                    "cited_text": TOLL,
                    "document_index": 1,
                    "document_title": "toll",
                    "start_page_number": 1,
                    "end_page_number": 2,
                    "file_id": None,
                },
                {
                    "type": "content_block_location",
                    "cited_text": TOLL,
                    "document_index": 1,
                    "document_title": "toll",
                    "start_block_index": 0,
                    "end_block_index": 1,
                    "file_id": None,
                },
                {
                    "type": "search_result_location",
                    "cited_text": TOLL,
                    "search_result_index": 0,
                    "source": "https://t.example",
                    "title": "Toll",
                    "start_block_index": 0,
                    "end_block_index": 1,
                },
            ],
        },
    ],
}
RESPONSES = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "type": "file_search_call",
            "id": "fs",
            "queries": ["bridge"],
            "status": "completed",
            "results": [
                {"file_id": "file-1", "filename": "bridge.txt", "text": BRIDGE, "score": 0.9},
                {"file_id": "file-2", "filename": "toll.txt", "text": TOLL, "score": 0.8},
            ],
        },
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "content": [
                {
                    "type": "output_text",
                    "text": TEXT,
                    "annotations": [
                        {"type": "file_citation", "file_id": "file-1", "filename": "bridge.txt", "index": 33},
                        {"type": "file_citation", "file_id": "file-2", "filename": "toll.txt", "index": 65},
                    ],
                }
            ],
        },
    ],
}
GEMINI = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"text": TEXT}]},
            "finishReason": "STOP",
            "groundingMetadata": {
                "groundingChunks": [
                    {"retrievedContext": {"uri": "gs://b/bridge", "title": "bridge", "text": BRIDGE}},
                    {"retrievedContext": {"uri": "gs://b/toll", "title": "toll", "text": TOLL}},
                ],
                "groundingSupports": [
                    {
                        "segment": {
                            "startIndex": in_bytes(FIRST[0]),
                            "endIndex": in_bytes(FIRST[1]),
                            "text": TEXT[FIRST[0] : FIRST[1]],
                        },
                        "groundingChunkIndices": [0],
                        "confidenceScores": [0.9],
                    },
                    {
                        "segment": {"startIndex": in_bytes(SECOND[0]), "endIndex": in_bytes(SECOND[1])},
                        "groundingChunkIndices": [1],
                    },
                ],
            },
        }
    ]
}


def cohere_citation(span: tuple[int, int], id: str, text: str) -> dict[str, Any]:
    source = {"type": "document", "id": id, "document": {"id": id, "title": id, "text": text}}
    return {
        "start": span[0],
        "end": span[1],
        "text": TEXT[span[0] : span[1]],
        "sources": [source],
        "content_index": 0,
        "type": "TEXT_CONTENT",
    }


COHERE = {
    "id": "c",
    "finish_reason": "COMPLETE",
    "message": {
        "role": "assistant",
        "content": [{"type": "text", "text": TEXT}],
        "citations": [cohere_citation(FIRST, "bridge", BRIDGE), cohere_citation(SECOND, "toll", TOLL)],
    },
}
MISTRAL = {
    "request": {
        "messages": [
            {"role": "user", "content": "How long is it?"},
            {
                "role": "tool",
                "name": "look",
                "tool_call_id": "t",
                "content": json.dumps({"0": {"title": "bridge", "text": BRIDGE}, "1": {"text": TOLL}}),
            },
        ]
    },
    "response": {
        **chat(
            [
                {"type": "text", "text": TEXT[: FIRST[1]]},
                {"type": "reference", "reference_ids": [0]},
                {"type": "text", "text": TEXT[FIRST[1] :]},
                {"type": "reference", "reference_ids": [1]},
            ]
        ),
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    },
}


def bedrock_citation(span: tuple[int, int], uri: str, text: str) -> dict[str, Any]:
    words = {"text": TEXT[span[0] : span[1]], "span": {"start": span[0], "end": span[1] - 1}}
    return {
        "generatedResponsePart": {"textResponsePart": words},
        "retrievedReferences": [
            {
                "content": {"text": text, "type": "TEXT"},
                "location": {"type": "S3", "s3Location": {"uri": uri}},
                "metadata": {},
            }
        ],
    }


BEDROCK = {
    "sessionId": "s1",
    "output": {"text": TEXT},
    "citations": [
        bedrock_citation(FIRST, "s3://b/bridge", BRIDGE),
        bedrock_citation(SECOND, "s3://b/toll", TOLL),
    ],
}
AZURE = chat(
    "Übrigens: the bridge is 40 m long [doc1]. The toll was abolished in 1958 [doc2].",
    context={
        "intent": "[]",
        "citations": [
            {"content": BRIDGE, "title": "bridge", "url": None, "filepath": "b.txt", "chunk_id": "0"},
            {
                "content": TOLL,
                "title": "toll",
                "url": "https://t.example",
                "filepath": "t.txt",
                "chunk_id": "0",
            },
        ],
    },
)
PERPLEXITY = {
    **chat("Übrigens: the bridge is 40 m long[1]. The toll was abolished in 1958[2]."),
    "citations": ["https://b.example", "https://t.example"],
    "search_results": [
        {"title": "bridge", "url": "https://b.example", "date": "2026-01-01", "snippet": BRIDGE},
        {"title": "toll", "url": "https://t.example", "date": None, "snippet": TOLL},
    ],
}


def url_citation(span: tuple[int, int], url: str) -> dict[str, Any]:
    about = {"start_index": span[0], "end_index": span[1], "title": url, "url": url}
    return {"type": "url_citation", "url_citation": about}


OPENAI = {
    "request": {
        "documents": [
            {"id": "https://b.example", "text": BRIDGE},
            {"id": "https://t.example", "text": TOLL},
        ]
    },
    "response": chat(
        TEXT,
        annotations=[url_citation(FIRST, "https://b.example"), url_citation(SECOND, "https://t.example")],
    ),
}
PERPLEXITY["choices"][0]["delta"] = {"role": "assistant", "content": ""}
SHAPES: dict[str, dict[str, Any]] = {
    "anthropic": ANTHROPIC,
    "azure": AZURE,
    "bedrock": BEDROCK,
    "cohere": COHERE,
    "gemini": GEMINI,
    "mistral": MISTRAL,
    "openai": OPENAI,
    "openai-responses": RESPONSES,
    "perplexity": PERPLEXITY,
}


def checked(found: VendorAnswer) -> Any:
    return verify(
        found.text,
        [(source.id, source.text) for source in found.sources],
        citations=found.citations,
        entailer=FakeEntailer(),
        embedder=HashEmbedder(),
    )


def sdk_models(vendor: str) -> Any:
    """What the vendor's own SDK makes of a response; None if it is not installed."""
    if vendor == "anthropic":
        from anthropic.types import Message

        return Message.model_validate
    if vendor == "openai-responses":
        from openai.types.responses import Response

        return Response.model_validate
    if vendor == "perplexity" and importlib.util.find_spec("perplexity"):
        from perplexity.types import StreamChunk

        return StreamChunk.model_validate
    if vendor in ("openai", "azure"):
        from openai.types.chat import ChatCompletion

        return ChatCompletion.model_validate
    if vendor == "gemini" and importlib.util.find_spec("google.genai"):
        from google.genai.types import GenerateContentResponse

        return GenerateContentResponse.model_validate
    if vendor == "cohere" and importlib.util.find_spec("cohere"):
        from cohere.types import AssistantMessageResponse

        return lambda value: AssistantMessageResponse.model_validate(value["message"])
    if vendor == "mistral" and importlib.util.find_spec("mistralai"):
        from mistralai.client.models import ChatCompletionResponse

        return ChatCompletionResponse.model_validate
    if vendor == "bedrock" and importlib.util.find_spec("botocore"):
        return of_service
    return None


def of_service(value: dict[str, Any]) -> None:
    """Raises for what is not of the shape in AWS's own description of the service: botocore has no types."""
    from botocore.loaders import Loader
    from botocore.model import ServiceModel
    from botocore.validate import ParamValidator

    described = Loader().load_service_model("bedrock-agent-runtime", "service-2")
    shape = ServiceModel(described).shape_for("RetrieveAndGenerateResponse")
    found = ParamValidator().validate(value, shape)
    assert not found.has_errors(), found.generate_report()


@pytest.mark.parametrize("vendor", SHAPES)
def test_a_response_is_of_the_shape_that_the_sdk_defines(vendor: str) -> None:
    make = sdk_models(vendor)
    if make is None:
        pytest.skip(f"the SDK of {vendor} is not installed")
    make(SHAPES[vendor].get("response", SHAPES[vendor]))


@pytest.mark.parametrize("vendor", SHAPES)
def test_citations_come_in_with_their_sources_and_places(vendor: str) -> None:
    found = read_saved_response(SHAPES[vendor])
    assert found == read_saved_response(SHAPES[vendor], vendor)  # detected
    texts = {source.id: source.text for source in found.sources}
    cited = {texts[one.quote.source] for one in found.citations} if found.citations else {*texts.values()}
    assert cited == {BRIDGE, TOLL}
    for one in found.citations:
        words = found.text[one.answer_start : one.answer_end]
        about = "bridge" if texts[one.quote.source] == BRIDGE else "toll"
        assert about in words or len(words) < 8  # a position, or a marker
    report = checked(found)
    by_source = {claim.citations[0].document_id: claim for claim in report.claims if claim.citations}
    assert {texts[name] for name in by_source} == {BRIDGE, TOLL}
    assert all(claim.citations[0].mode == "generated" for claim in report.claims if claim.citations)
    assert report.report.invalid_citations == ()


def test_quotes_stand_for_sources_that_were_not_saved() -> None:
    assert QUOTES_ALONE in read_saved_response(ANTHROPIC).notes
    found = read_saved_response(ANTHROPIC, documents=[("a.txt", BRIDGE), ("b.txt", TOLL)])
    assert {one.quote.source for one in found.citations} == {"a.txt", "b.txt", "https://t.example"}


def test_a_citation_of_the_wrong_source_is_caught() -> None:
    swapped = json.loads(json.dumps(GEMINI))
    for support in swapped["candidates"][0]["groundingMetadata"]["groundingSupports"]:
        support["groundingChunkIndices"] = [1 - support["groundingChunkIndices"][0]]
    assert checked(read_saved_response(swapped)).status != "VERIFIED"
    invented = json.loads(json.dumps(ANTHROPIC))
    invented["content"][1]["citations"][0]["cited_text"] = "The bridge is made of cheese and nothing else."
    assert checked(read_saved_response(invented, documents=[("a", BRIDGE), ("b", TOLL)])).status == "BROKEN"


def proven(found: VendorAnswer) -> set[tuple[str, str]]:
    """Each verified claim, with the text of each source that it cites itself."""
    texts = {source.id: source.text for source in found.sources}
    return {
        (claim.text, texts[one.document_id])
        for claim in checked(found).claims
        for one in claim.citations
        if claim.verdict.status == "VERIFIED" and one.mode == "generated"
    }


@pytest.mark.parametrize("vendor", [name for name in WRITERS if name != "w3c"])
@pytest.mark.parametrize("first", SHAPES)
def test_an_answer_of_any_vendor_goes_out_and_comes_in_again(first: str, vendor: str) -> None:
    found = read_saved_response(SHAPES[first])
    written = write(found, checked(found).claims, vendor)
    assert json.loads(json.dumps(written)) == written
    request = {"documents": [{"id": source.id, "text": source.text} for source in found.sources]}
    back = read_saved_response({"request": request, "response": written}, vendor)
    assert proven(back) == proven(found) != set()


@pytest.mark.parametrize(("vendor", "mark"), [("azure", " [doc2]"), ("perplexity", "[2]")])
@pytest.mark.parametrize("first", ["azure", "gemini", "perplexity"])
def test_marks_stand_for_what_is_verified_alone(vendor: str, mark: str, first: str) -> None:
    found = read_saved_response(SHAPES[first])
    written = write(found, checked(found).claims, vendor)
    text = written["choices"][0]["message"]["content"]
    assert text == f"Übrigens: the bridge is 40 m long. The toll was abolished in 1958{mark}."


def test_what_is_written_is_read_by_the_sdk() -> None:
    found = read_saved_response(ANTHROPIC, documents=[("bridge", BRIDGE), ("toll", TOLL)])
    claims = checked(found).claims
    from anthropic.types import TextBlock
    from openai.types.chat import ChatCompletionMessage
    from openai.types.responses import ResponseOutputMessage

    for block in write(found, claims, "anthropic")["content"]:
        TextBlock.model_validate(block)
    ChatCompletionMessage.model_validate(write(found, claims, "openai")["choices"][0]["message"])
    ResponseOutputMessage.model_validate(write(found, claims, "openai-responses")["output"][0])
    frame = chat("")
    frames: dict[str, dict[str, Any]] = {
        "azure": frame,
        "bedrock": {"sessionId": "s1"},
        "cohere": {},
        "gemini": {},
        "mistral": {**frame, "usage": {}},
        "perplexity": frame,
    }
    for vendor, around in frames.items():
        if make := sdk_models(vendor):
            make({**around, **write(found, claims, vendor)})


def test_web_annotations_select_the_quote_by_words_and_by_place() -> None:
    found = read_saved_response(COHERE)
    page = write(found, checked(found).claims, "w3c")
    assert page["type"] == "AnnotationPage"
    (item,) = [one for one in page["items"] if "toll" in one["body"]["value"]]
    quote, place = item["target"]["selector"]
    assert TOLL[place["start"] : place["end"]] == quote["exact"]
    assert TOLL.startswith(quote["prefix"] + quote["exact"])


def mangled(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    copy = json.loads(json.dumps(value))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = by
    return copy


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, one in items for found in ((*path, key), *places(one, (*path, key)))]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_malformed_response_is_a_usage_error_or_still_a_text(data: st.DataObject) -> None:
    vendor = data.draw(st.sampled_from(sorted(SHAPES)))
    response = SHAPES[vendor].get("response", SHAPES[vendor])
    path = data.draw(st.sampled_from(places(response)))
    broken = mangled(response, path, data.draw(st.sampled_from([None, 7, "x", [], {}, [None], {"a": 1}, -1])))
    with suppress(UsageError):  # any other error is a bug
        found = read_saved_response(broken, vendor)
        assert all(one.answer_end <= len(found.text) for one in found.citations)


def nested(depth: int) -> Any:
    inner: Any = "words"
    for _ in range(depth):
        inner = [inner]
    return inner


def test_what_is_nested_too_deeply_is_no_request() -> None:
    for documents in (nested(2_000), "[" * 5_000 + "]" * 5_000):
        request = sent({"messages": [{"role": "tool", "content": documents}], "documents": documents})
        assert not request.sources or request.sources[0].text == documents


def test_a_malformed_response_says_what_was_expected() -> None:
    broken = mangled(
        GEMINI, ("candidates", 0, "groundingMetadata", "groundingSupports", 0, "segment", "endIndex"), 900
    )
    with pytest.raises(UsageError, match=r"gemini is malformed.*bytes \[11, 900\).*expected candidates"):
        read_saved_response(broken, "gemini")
    with pytest.raises(UsageError, match="'cited_text'"):
        read_saved_response(
            {
                "content": [
                    {
                        "type": "text",
                        "text": "a",
                        "citations": [{"type": "char_location", "document_index": 0}],
                    }
                ]
            }
        )


def test_what_is_no_response_names_what_is_known() -> None:
    with pytest.raises(UsageError, match="anthropic"):
        read_saved_response({"hello": 1})
    with pytest.raises(UsageError, match="not a response of gemini"):
        read_saved_response(ANTHROPIC, "gemini")
    assert {*SHAPES} == {*VENDORS} == {*WRITERS} - {"w3c"}


def test_sources_of_a_prompt_end_where_the_question_begins() -> None:
    found = sent({"messages": [{"role": "user", "content": f"[1] {BRIDGE}\n[2] {TOLL}\n\nIs it 41 m long?"}]})
    assert [(source.id, source.text) for source in found.sources] == [("1", BRIDGE), ("2", TOLL)]
    assert found.question == "Is it 41 m long?"
    tagged = f'<documents><document index="7"><title>b</title>{BRIDGE}</document></documents>\nHow long?'
    (source,) = sent({"messages": [{"role": "user", "content": tagged}]}).sources
    assert (source.id, BRIDGE in source.text) == ("7", True)


def test_the_newest_turn_keeps_its_numbers() -> None:
    turns = [f"[1] {BRIDGE}\n\nHow long?", "40 m [1]", f"[1] {TOLL}\n\nWhich toll?"]
    roles = ("user", "assistant", "user")
    found = sent({"messages": [{"role": r, "content": t} for r, t in zip(roles, turns, strict=True)]})
    assert {source.id: source.text for source in found.sources} == {"1": TOLL, "1 (2)": BRIDGE}


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["messages", "content", "type", "text", "role", "source", "results", "document"]
                ),
                inner | st.sampled_from(["document", "tool", "tool_result", "search_result", "user"]),
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
def test_any_request_has_sources_with_ids_that_differ(body: Any) -> None:
    found = sent({"messages": body, "contents": body, "input": body, "system": body, "documents": body})
    ids = [source.id for source in found.sources]
    assert len(ids) == len({*ids})
    assert all(isinstance(source, RequestSource) for source in found.sources)


def test_the_pattern_takes_time_that_grows_with_the_text() -> None:
    import re
    import time

    began = time.process_time()
    for hostile in ("[1] ", "<document ", "<document>", "<doc><source>", "[1] a\n", "\n \t", "[1] a <"):
        sum(1 for _ in re.finditer(NUMBERED, hostile * 20_000))
    assert time.process_time() - began < 5


def test_the_command_line_reads_a_response_and_writes_another_vendors(tmp_path: Path) -> None:
    path = tmp_path / "message.json"
    path.write_text(json.dumps(COHERE))
    for words in ([], ["--from", "cohere"]):
        run = CliRunner().invoke(app, ["--home", str(tmp_path), "verify", str(path), *words, "--json"])
        assert "toll" in run.stdout, run.output
    run = CliRunner().invoke(app, ["--home", str(tmp_path), "verify", str(path), "--to", "gemini"])
    assert "groundingSupports" in json.loads(run.stdout)["candidates"][0]["groundingMetadata"]
    bad = CliRunner().invoke(app, ["--home", str(tmp_path), "verify", str(path), "--from", "gemini"])
    assert bad.exit_code == 2
    assert "groundingMetadata" in bad.stderr


CHUNK = {"retrievedContext": {"title": "a", "text": "It is long."}}
SEGMENT = {"segment": {"startIndex": 0, "endIndex": 1}, "groundingChunkIndices": [0]}


@pytest.mark.parametrize(
    ("parts", "chunks", "supports", "told"),
    [
        ([{"text": "a"}] * 200_000, [], [], "more than 10,000 parts"),
        ([{"text": "a" * 2_000_000}], [], [], "more than 1,000,000 characters"),
        (
            [{"text": "a"}],
            [{"retrievedContext": {"title": "a", "text": f"It is {n} m long."}} for n in range(20_000)],
            [],
            "more than 1,000 sources",
        ),
        ([{"text": "a" * 100_000}], [CHUNK], [SEGMENT] * 100_000, "more than 10,000 segments"),
    ],
    ids=["parts", "characters", "sources", "segments"],
)
def test_a_response_with_more_than_can_be_checked_is_refused_at_once(
    parts: list[Any], chunks: list[Any], supports: list[Any], told: str
) -> None:
    grounding = {"groundingChunks": chunks, "groundingSupports": supports}
    candidate = {"content": {"role": "model", "parts": parts}, "groundingMetadata": grounding}
    began = time.process_time()
    with pytest.raises(UsageError, match=told):
        read_saved_response({"candidates": [candidate]}, "gemini")
    assert time.process_time() - began < 1

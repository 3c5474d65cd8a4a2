"""The real OpenAI client against a real socket: answers, citations, streams, errors."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from citewell.knowledge import KnowledgeBase

pytestmark = pytest.mark.enable_socket

QUESTION = [{"role": "user", "content": "When did the bridge open?"}]


@pytest.fixture
def client(address: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{address}/v1", api_key="anything", max_retries=0)


def test_a_completion_carries_its_citations(client: openai.OpenAI, kb: KnowledgeBase, address: str) -> None:
    answer: Any = client.chat.completions.create(model="citewell", messages=QUESTION)  # type: ignore[call-overload]
    message = answer.choices[0].message
    assert message.content == "The bridge opened in 1932."
    (note,) = message.annotations
    cited = note.url_citation
    assert message.content[cited.start_index : cited.end_index] == "The bridge opened in 1932."
    assert cited.url.startswith(f"{address}/documents/view?id=bridge.md&version=sha256")
    quote = note.citewell
    text = kb.document("bridge.md", quote["document_version"]).text
    assert text[quote["start"] : quote["end"]] == quote["quote"]
    assert answer.citewell["decision"] == "ANSWER"
    assert kb.audit.record(answer.id).shown_response == message.content


def test_streamed_content_is_sealed_and_carries_the_same_citations(client: openai.OpenAI) -> None:
    whole: Any = client.chat.completions.create(model="citewell", messages=QUESTION)  # type: ignore[call-overload]
    text, notes, kinds, last = "", [], [], None
    for chunk in client.chat.completions.create(model="citewell", messages=QUESTION, stream=True):  # type: ignore[call-overload]
        extra = getattr(chunk, "citewell", None)
        if extra and "event" in extra:
            kinds.append(extra["event"])
            assert not text, "content came before the answer was sealed"
        delta: Any = chunk.choices[0].delta
        text += delta.content or ""
        notes += getattr(delta, "annotations", None) or []
        last = chunk
    assert text == whole.choices[0].message.content
    plain = [note.model_dump() for note in whole.choices[0].message.annotations]
    assert [note["url_citation"] for note in notes] == [note["url_citation"] for note in plain]
    assert kinds[0] == "search_results"
    assert "verdict" in kinds
    assert last is not None
    assert last.choices[0].finish_reason == "stop"
    assert last.citewell["decision"] == "ANSWER"


def test_marks_and_sources_for_clients_that_show_no_annotations(client: openai.OpenAI) -> None:
    answer: Any = client.chat.completions.create(model="citewell-cited", messages=QUESTION)  # type: ignore[call-overload]
    message = answer.choices[0].message
    assert message.content.startswith("The bridge opened in 1932. [1]")
    assert "[1] bridge.md: “The bridge opened in 1932.”" in message.content
    cited = message.annotations[0].url_citation
    assert message.content[cited.start_index : cited.end_index] == "The bridge opened in 1932."


def test_what_cannot_be_answered_says_what_is_missing(client: openai.OpenAI) -> None:
    asked = [{"role": "user", "content": [{"type": "text", "text": "Who baked the cake?"}]}]
    answer: Any = client.chat.completions.create(model="citewell", messages=asked)  # type: ignore[call-overload]
    message = answer.choices[0].message
    assert answer.citewell["decision"] == "ABSTAIN"
    assert "Not answered from the documents: Who baked the cake?" in message.content
    assert message.annotations == []


def test_turns_of_a_conversation_are_one_session(client: openai.OpenAI, kb: KnowledgeBase) -> None:
    first: Any = client.chat.completions.create(model="citewell", messages=QUESTION)  # type: ignore[call-overload]
    turns = [
        *QUESTION,
        {"role": "assistant", "content": "In 1932."},
        {"role": "user", "content": "And the toll?"},
    ]
    second: Any = client.chat.completions.create(model="citewell", messages=turns)  # type: ignore[call-overload]
    assert first.citewell["session_id"] == second.citewell["session_id"]
    assert len(kb.trace(first.citewell["session_id"])) == 2


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"model": "gpt-4o"}, 404),
        ({"n": 2}, 400),
        ({"messages": [{"role": "assistant", "content": "hello"}]}, 400),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]}, 400),
        ({"messages": [{"role": "user", "content": "?"}]}, 400),
        ({"messages": []}, 422),
        ({"extra_body": {"citewell": {"top_k": 99}}}, 422),
    ],
)
def test_what_cannot_be_asked_is_an_error_the_sdk_knows(
    client: openai.OpenAI, wrong: Any, status: int
) -> None:
    with pytest.raises(openai.APIStatusError) as caught:
        client.chat.completions.create(**{"model": "citewell", "messages": QUESTION, **wrong})
    assert caught.value.status_code == status


def test_the_models_are_listed_and_an_unknown_key_is_refused(client: openai.OpenAI, keys: Any) -> None:
    assert [model.id for model in client.models.list()] == ["citewell", "citewell-cited"]
    keys("alice")
    with pytest.raises(openai.AuthenticationError):
        client.models.list()

"""The real OpenAI client against a real socket: answers, citations, streams, errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from citewell.knowledge.home import KnowledgeBase

pytestmark = pytest.mark.enable_socket

QUESTION = [{"role": "user", "content": "When did the bridge open?"}]


@pytest.fixture
def client(address: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{address}/v1", api_key="anything", max_retries=0) as made:
        yield made


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
    assert kinds[0] == "stage"
    assert next(kind for kind in kinds if kind != "stage") == "search_results"
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


def ask(client: openai.OpenAI, *turns: str, answers: str = "In 1932.", model: str = "citewell") -> Any:
    """Asks the last of ``turns``, with the others as history."""
    said: list[Any] = [{"role": "system", "content": "Be brief."}]
    for turn in turns:
        said += [{"role": "user", "content": turn}, {"role": "assistant", "content": answers}]
    found: Any = client.chat.completions.create(model=model, messages=said[:-1])
    return found.citewell


OPENING, NEXT, THEN, LIT = (
    "When did the bridge open?",
    "And the toll?",
    "Who built it?",
    "How is the lamp lit?",
)


def test_two_chats_with_the_same_opening_are_two_sessions(client: openai.OpenAI, kb: KnowledgeBase) -> None:
    one, other = ask(client, OPENING), ask(client, OPENING)
    assert one["session_id"] != other["session_id"]
    assert kb.parts.feedback.of(one["request_id"]) == ()
    # They diverge, and each remains its own session.
    first, second = ask(client, OPENING, NEXT), ask(client, OPENING, LIT)
    assert {first["session_id"], second["session_id"]} == {one["session_id"], other["session_id"]}
    assert ask(client, OPENING, NEXT, THEN)["session_id"] == first["session_id"]
    assert ask(client, OPENING, LIT, THEN)["session_id"] == second["session_id"]
    assert [turn.query for turn in kb.trace(first["session_id"])] == [OPENING, NEXT, THEN]
    assert [turn.query for turn in kb.trace(second["session_id"])] == [OPENING, LIT, THEN]


def test_a_turn_that_is_asked_again_stays_in_its_session(client: openai.OpenAI, kb: KnowledgeBase) -> None:
    chat = [ask(client, *turns) for turns in ((OPENING,), (OPENING, NEXT), (OPENING, NEXT))]
    chat.append(ask(client, OPENING, NEXT, THEN))
    assert len({turn["session_id"] for turn in chat}) == 1


def test_a_chat_that_began_elsewhere_is_one_session(client: openai.OpenAI) -> None:
    turns = [ask(client, OPENING, NEXT), ask(client, OPENING, NEXT, THEN)]
    assert turns[0]["session_id"] == turns[1]["session_id"]
    assert ask(client, OPENING, NEXT, answers="In 1900.")["session_id"] != turns[0]["session_id"]


def test_earlier_turns_may_hold_what_cannot_be_asked(client: openai.OpenAI) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}
    said: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]},
        {"role": "assistant", "content": None},
        *QUESTION,
    ]
    answer: Any = client.chat.completions.create(model="citewell", messages=said)
    assert answer.citewell["decision"] == "ANSWER"


def test_nobody_gets_into_the_chat_of_somebody_else(client: openai.OpenAI, address: str, keys: Any) -> None:
    def user(name: str) -> openai.OpenAI:
        key = keys(name)["Authorization"].partition(" ")[2]
        return openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0)

    alice, mallory = user("alice"), user("mallory")
    hers = ask(alice, OPENING)["session_id"]
    planted: Any = mallory.chat.completions.create(
        model="citewell",
        messages=QUESTION,  # type: ignore[arg-type]
        extra_body={"citewell": {"session_id": hers[:-8] + "00000000"}},
    )
    assert ask(mallory, OPENING, NEXT)["session_id"] not in (hers, planted.citewell["session_id"])
    assert ask(alice, OPENING, NEXT)["session_id"] == hers


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

"""The guardrail in the real LiteLLM, whose own stand-in answers; no API is called."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import citewell
from citewell.audit.question import AuditQuery
from citewell.core.errors import ConfigError, UsageError

from .conftest import BRIDGE, FALSE, QUESTION, TRUE

pytestmark = pytest.mark.filterwarnings("ignore")  # LiteLLM's own

MESSAGES = [{"role": "user", "content": f"[1] {BRIDGE}\n\n{QUESTION}"}]


@pytest.fixture
def litellm(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # otherwise it is fetched at import
    found = pytest.importorskip("litellm", reason="the [litellm] extra is not installed: make extras")
    yield found
    found.callbacks = []


def guardrail(home: Path, policy: str, unchecked: str = "pass") -> Any:
    from citewell.integrations.litellm import CitewellGuardrail

    home.mkdir(exist_ok=True)
    (home / "citewell.toml").write_text(f'[proxy]\npolicy = "{policy}"\nunchecked = "{unchecked}"\n')
    return CitewellGuardrail(home=home, guardrail_name="citewell", event_hook="post_call")


async def completed(litellm: Any, guard: Any, answer: str, messages: Any = MESSAGES) -> Any:
    litellm.callbacks = [guard]
    return await litellm.acompletion(
        model="openai/gpt-x",
        messages=messages,
        user="alice",
        mock_response=answer,
        guardrails=["citewell"],
    )


async def streamed(litellm: Any, guard: Any, answer: str) -> list[Any]:
    litellm.callbacks = []
    chunks = await litellm.acompletion(
        model="openai/gpt-x", messages=MESSAGES, mock_response=answer, stream=True
    )
    given = {"messages": MESSAGES, "model": "gpt-x"}
    return [one async for one in guard.async_post_call_streaming_iterator_hook(None, chunks, given)]


def text(chunks: list[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def test_an_answer_is_annotated_and_sealed(tmp_path: Path, litellm: Any) -> None:
    found = asyncio.run(completed(litellm, guardrail(tmp_path, "annotate"), TRUE))
    assert found.choices[0].message.content == TRUE
    mark = found.model_dump()["citewell"]
    assert mark["status"] == "VERIFIED"
    assert mark["claims"][0]["citations"][0]["source"] == "1"
    with citewell.open(tmp_path) as kb:
        record = kb.audit.record(mark["record"])
        assert (record.user, record.user_query, record.shown_response) == ("alice", QUESTION, TRUE)


def test_an_answer_of_the_responses_api_is_annotated(tmp_path: Path, litellm: Any) -> None:
    from litellm.types.llms.openai import ResponsesAPIResponse

    part = {"type": "output_text", "text": TRUE, "annotations": []}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    given = ResponsesAPIResponse(id="r", created_at=1, output=[item], model="gpt-x")
    guard = guardrail(tmp_path, "annotate")
    asked = {"input": f"[1] {BRIDGE}\n\n{QUESTION}"}
    found = asyncio.run(guard.async_post_call_success_hook(asked, None, given)).model_dump()
    assert found["citewell"]["status"] == "VERIFIED"
    assert found["output"][0]["content"][0]["annotations"][0]["type"] == "url_citation"


def test_settings_that_contradict_each_other_are_refused(tmp_path: Path, litellm: Any) -> None:
    with pytest.raises(ConfigError, match="withholds nothing"):
        guardrail(tmp_path, "annotate", "withhold")


def test_a_false_answer_is_withheld(tmp_path: Path, litellm: Any) -> None:
    guard = guardrail(tmp_path, "withhold", "withhold")
    found = asyncio.run(completed(litellm, guard, FALSE))
    assert "1947" not in found.model_dump_json()
    assert found.choices[0].finish_reason == "content_filter"
    chunks = asyncio.run(streamed(litellm, guard, FALSE))
    assert "1947" not in "".join(chunk.model_dump_json() for chunk in chunks)
    assert "withheld" in text(chunks)
    unread = asyncio.run(completed(litellm, guard, TRUE, [{"role": "user", "content": QUESTION}]))
    assert "no sources" in unread.choices[0].message.content
    assert text(asyncio.run(streamed(litellm, guard, TRUE))) == TRUE

    async def other() -> Any:
        yield b"event: content_block_delta\n\n"

    async def passed() -> list[Any]:
        return [one async for one in guard.async_post_call_streaming_iterator_hook(None, other(), {})]

    with pytest.raises(UsageError, match="cannot be checked"):
        asyncio.run(passed())


def test_a_stream_passes_with_its_check_or_only_observed(tmp_path: Path, litellm: Any) -> None:
    for policy, statuses in (("annotate", ["CONTRADICTED"]), ("observe", [])):
        chunks = asyncio.run(streamed(litellm, guardrail(tmp_path, policy), FALSE))
        assert text(chunks) == FALSE
        marks = [chunk.model_dump().get("citewell") for chunk in chunks]
        assert [mark["status"] for mark in marks if mark] == statuses
    with citewell.open(tmp_path) as kb:
        assert [record.failure_reason for record in kb.audit.query(AuditQuery()).records] == [
            "hallucination_detected"
        ] * 2

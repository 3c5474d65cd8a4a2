"""The tools for agents, called by the real frameworks as a model would; no model is called."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from .conftest import BRIDGE, FALSE, QUESTION, TRUE


def test_pydantic_ai_agents_ask_and_verify(kb: Any) -> None:
    pytest.importorskip("pydantic_ai", reason="the [pydantic-ai] extra is not installed: make extras")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    from citewell.integrations.pydantic_ai import citewell_tools

    wanted = [
        ToolCallPart("citewell_ask", {"question": "?!"}),
        ToolCallPart("citewell_ask", {"question": QUESTION}),
        ToolCallPart("citewell_verify", {"answer": FALSE, "sources": [BRIDGE]}),
    ]
    calls = iter([*([one] for one in wanted), [TextPart("done")]])
    agent = Agent(FunctionModel(lambda messages, info: ModelResponse(next(calls))), tools=citewell_tools(kb))
    result = asyncio.run(agent.run(QUESTION))
    parts = [part for message in result.all_messages() for part in message.parts]
    returned = [part for part in parts if isinstance(part, ToolReturnPart)]
    assert [part.outcome for part in returned] == ["retried", "success", "success"]
    asked, verified = (part.content for part in returned[1:])
    assert asked["decision"] == "ANSWER"
    (citation,) = asked["citations"]
    document = kb.document(citation["document_id"])
    assert document.text[citation["start"] : citation["end"]] == citation["quote"]
    assert kb.audit.record(asked["request_id"]).user_query == QUESTION
    assert [claim["status"] for claim in verified["claims"]] == ["CONTRADICTED"]


def test_dspy_programs_ask_verify_and_retrieve(kb: Any) -> None:
    dspy = pytest.importorskip("dspy", reason="the [dspy] extra is not installed: make extras")
    from dspy.utils import DummyLM

    from citewell.integrations.dspy import CitewellRetriever, citewell_tools

    tools = citewell_tools(kb)
    steps = [
        {"next_thought": "a", "next_tool_name": "citewell_ask", "next_tool_args": {"question": QUESTION}},
        {
            "next_thought": "b",
            "next_tool_name": "citewell_verify",
            "next_tool_args": {"answer": TRUE, "sources": [BRIDGE]},
        },
        {"next_thought": "c", "next_tool_name": "finish", "next_tool_args": {}},
        {"reasoning": "d", "answer": "1932"},
    ]
    with dspy.context(lm=DummyLM(steps)):
        found = dspy.ReAct("question -> answer", tools=tools)(question=QUESTION)
    assert found.trajectory["observation_0"]["decision"] == "ANSWER"
    assert "1932" in found.trajectory["observation_0"]["citations"][0]["quote"]
    assert found.trajectory["observation_1"]["claims"][0]["status"] == "VERIFIED"
    retrieved = CitewellRetriever(kb)(query=QUESTION)
    (place,) = retrieved.places
    assert kb.document(place["document_id"]).text[place["start"] : place["end"]] == retrieved.passages[0]

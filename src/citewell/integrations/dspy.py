"""DSPy: tools with which a program asks a home and checks an answer, and a module that retrieves from it."""

from __future__ import annotations

from typing import Any

from dspy import Module, Prediction, Tool

from citewell.integrations import tools
from citewell.integrations.passages import metadata


def citewell_tools(kb: Any, **options: Any) -> list[Tool]:
    """``citewell_ask`` and ``citewell_verify`` for ``kb``, an open home, as in ``dspy.ReAct(...,
    tools=citewell_tools(kb))``; ``options`` as for :meth:`KnowledgeBase.ask`."""
    return [Tool(one) for one in tools.agent_tools(kb, **options)]


class CitewellRetriever(Module):
    """Called with a ``query``, predicts ``passages``, the relevant (or ``every``) texts of ``kb``, an open
    home, and ``places``, where each stands; ``options`` as for :meth:`KnowledgeBase.search`."""

    def __init__(self, kb: Any, *, every: bool = False, **options: Any) -> None:
        super().__init__()
        self._kb, self._every, self._options = kb, every, options

    def forward(self, query: str) -> Prediction:
        found = [one for one in self._kb.search(query, **self._options) if one.relevant or self._every]
        return Prediction(
            passages=[one.chunk.content for one in found], places=[metadata(one) for one in found]
        )

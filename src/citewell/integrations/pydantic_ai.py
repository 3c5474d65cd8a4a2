"""pydantic-ai: tools with which an agent asks a home and checks what it has written."""

from __future__ import annotations

from functools import wraps
from typing import Any

from pydantic_ai import ModelRetry, Tool

from citewell.core.errors import UsageError
from citewell.integrations import tools


def citewell_tools(kb: Any, **options: Any) -> list[Tool[Any]]:
    """``citewell_ask`` and ``citewell_verify`` for ``kb``, an open home; ``options`` as for
    :meth:`KnowledgeBase.ask`. A question or answer that cannot be used goes back to the model with the
    reason; any other error ends the run."""
    return [Tool(_retried(one), takes_ctx=False) for one in tools.agent_tools(kb, **options)]


def _retried(work: tools.Tool) -> tools.Tool:
    @wraps(work)
    def called(*args: Any, **given: Any) -> dict[str, Any]:
        try:
            return work(*args, **given)
        except UsageError as error:
            raise ModelRetry(str(error)) from error

    return called

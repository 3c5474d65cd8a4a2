"""LangChain: a retriever over a home's passages; a runnable and a callback that check a chain's answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda

from citewell.answering.verifying import VerifyReport
from citewell.core.errors import UsageError
from citewell.integrations.passages import checked, metadata


class CitewellRetriever(BaseRetriever):
    """Relevant passages from ``kb``, an open home; ``options`` as for :meth:`KnowledgeBase.search`. With
    ``every`` also those below the threshold, as marked in their metadata."""

    kb: Any
    options: dict[str, Any] = {}
    every: bool = False

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [
            Document(page_content=one.chunk.content, id=one.chunk.chunk_id, metadata=metadata(one))
            for one in self.kb.search(query, **self.options)
            if one.relevant or self.every
        ]


def _text(output: Any, key: str) -> str:
    if isinstance(output, dict) and key not in output:
        raise UsageError(f"the chain's output has no {key!r}", hint="pass answer=KEY")
    said = output[key] if isinstance(output, dict) else output
    return said if isinstance(said, str) else str(said.content)


def verifier(
    *, answer: str = "answer", documents: str = "context", question: str = "input", **options: Any
) -> RunnableLambda[dict[str, Any], dict[str, Any]]:
    """A runnable that adds ``verification``, a VerifyReport, to a chain's output. The arguments are the keys
    of that output; ``options`` as for :func:`citewell.answering.verifying.verify`."""

    def check(output: dict[str, Any]) -> dict[str, Any]:
        report = checked(_text(output, answer), output[documents], str(output.get(question) or ""), **options)
        return {**output, "verification": report}

    return RunnableLambda(check, name="citewell_verifier")


MOST_KEPT = 1_000


class _Run(NamedTuple):
    id: UUID
    inputs: Any
    found: list[Sequence[Document]]


class CitewellCallback(BaseCallbackHandler):
    """Checks the answer of each outermost run in which a retriever ran, against what it returned.

    ``reports`` holds the newest MOST_KEPT by run id. ``answer`` and ``question`` are the keys of the output
    and the input, if these are not texts; ``options`` as for :func:`citewell.answering.verifying.verify`. If
    the check fails, the run fails.
    """

    raise_error = True

    def __init__(self, *, answer: str = "answer", question: str = "input", **options: Any) -> None:
        self.reports: dict[UUID, VerifyReport] = {}
        self._answer, self._question, self._options = answer, question, options
        self._runs: dict[UUID | None, _Run] = {}

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        self._runs[run_id] = self._runs.get(parent_run_id) or _Run(run_id, inputs, [])

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        if run := self._runs.get(parent_run_id):
            self._runs[run_id] = run

    def on_retriever_end(
        self, documents: Sequence[Document], *, parent_run_id: UUID | None = None, **_: Any
    ) -> None:
        if run := self._runs.get(parent_run_id):
            run.found.append(documents)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, inputs: Any = None, **_: Any) -> None:
        run = self._ended(run_id)
        if run and run.found and outputs is not None:  # None: its stream was closed
            asked = run.inputs if inputs is None else inputs  # a stream has its inputs at its end
            asked = asked.get(self._question) if isinstance(asked, dict) else asked
            documents = [document for found in run.found for document in found]
            text = _text(outputs, self._answer)
            self.reports[run_id] = checked(
                text, documents, asked if isinstance(asked, str) else "", **self._options
            )
            for old in list(self.reports)[:-MOST_KEPT]:
                self.reports.pop(old, None)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self._ended(run_id)

    def _ended(self, id: UUID) -> _Run | None:
        """The run, if it is an outermost one; forgets it and all within it."""
        run = self._runs.get(id)
        if run is None or run.id != id:
            return None
        for own in [own for own, one in list(self._runs.items()) if one.id == id]:
            del self._runs[own]
        return run

"""LangChain: a retriever over a home's passages, and a runnable that checks a chain's answer."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda

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


def verifier(
    *, answer: str = "answer", documents: str = "context", question: str = "input", **options: Any
) -> RunnableLambda[dict[str, Any], dict[str, Any]]:
    """A runnable that adds ``verification``, a VerifyReport, to a chain's output. The arguments are the keys
    of that output; ``options`` as for :func:`citewell.answering.verifying.verify`."""

    def check(output: dict[str, Any]) -> dict[str, Any]:
        said = output[answer]
        text = said if isinstance(said, str) else str(said.content)
        report = checked(text, output[documents], str(output.get(question) or ""), **options)
        return {**output, "verification": report}

    return RunnableLambda(check, name="citewell_verifier")

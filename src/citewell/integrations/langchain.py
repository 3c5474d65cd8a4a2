"""LangChain: passages of a home as a retriever, and a runnable that checks what a chain answered."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda

from citewell.integrations.passages import checked, metadata


class CitewellRetriever(BaseRetriever):
    """Relevant passages of ``kb``, a home that is open; ``options`` as for :meth:`KnowledgeBase.search`. With
    ``every`` also those below the threshold, marked so in their metadata."""

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
    """A runnable that adds ``verification``, a VerifyReport, to the output of a chain: the arguments name its
    members; ``options`` as for :func:`citewell.answering.verifying.verify`."""

    def check(output: dict[str, Any]) -> dict[str, Any]:
        said = output[answer]
        text = said if isinstance(said, str) else str(said.content)
        report = checked(text, output[documents], str(output.get(question) or ""), **options)
        return {**output, "verification": report}

    return RunnableLambda(check, name="citewell_verifier")

"""LlamaIndex: a query engine and a retriever over a home, and an evaluator of responses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.response.schema import Response
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from citewell.core.records import Status
from citewell.integrations.passages import checked, metadata, reasons


class CitewellRetriever(BaseRetriever):
    """Relevant passages from ``kb``, an open home; ``options`` as for :meth:`KnowledgeBase.search`. A node's
    score is its relevance, a probability. With ``every`` also those below the threshold."""

    def __init__(self, kb: Any, *, every: bool = False, **options: Any) -> None:
        super().__init__()
        self._kb, self._every, self._options = kb, every, options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(id_=one.chunk.chunk_id, text=one.chunk.content, metadata=metadata(one)),
                score=one.relevance,
            )
            for one in self._kb.search(query_bundle.query_str, **self._options)
            if one.relevant or self._every
        ]


class CitewellQueryEngine(CustomQueryEngine):
    """Answers from ``kb``, an open home, on record; ``options`` as for :meth:`KnowledgeBase.ask`. The source
    nodes are the cited quotes, each with the probability that it supports its claim."""

    kb: Any
    options: dict[str, Any] = {}

    def custom_query(self, query_str: str) -> Response:
        answer = self.kb.ask(query_str, **self.options)
        nodes = {
            (one.chunk_id, one.start, one.end): NodeWithScore(
                node=TextNode(
                    id_=f"{one.chunk_id}:{one.start}-{one.end}",
                    text=one.quote,
                    metadata={
                        "document_id": one.document_id,
                        "document_version": one.document_version,
                        "start": one.start,
                        "end": one.end,
                        "page": one.page,
                        "section": " › ".join(one.section_path),
                    },
                ),
                score=(one.verdict or claim.verdict).support,
            )
            for claim in answer.claims
            if claim.shown
            for one in claim.citations
        }
        about = {
            "decision": answer.decision.value,
            "missing": list(answer.missing),
            "request_id": answer.request_id,
        }
        return Response(response=answer.text, source_nodes=list(nodes.values()), metadata=about)

    async def acustom_query(self, query_str: str) -> Response:
        return await asyncio.to_thread(self.custom_query, query_str)


class CitewellEvaluator(BaseEvaluator):
    """Passes if every claim of the response is verified against the contexts; the score is the probability
    that all of it is supported. ``options`` as for :func:`citewell.answering.verifying.verify`."""

    def __init__(self, **options: Any) -> None:
        self._options = options

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        """There are none."""

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **_: Any,
    ) -> EvaluationResult:
        report = checked(response or "", contexts or (), query or "", **self._options)
        unchecked = report.status is Status.UNCHECKED
        return EvaluationResult(
            query=query,
            response=response,
            contexts=contexts,
            passing=None if unchecked else report.status is Status.VERIFIED,
            score=report.supported,
            feedback=reasons(report),
            invalid_result=unchecked,
            invalid_reason="nothing could be checked" if unchecked else None,
        )

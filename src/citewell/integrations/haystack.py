"""Haystack 2: components that retrieve passages from a home and check a generator's replies."""

from __future__ import annotations

from typing import Any

from haystack import Document, component

from citewell.integrations.passages import checked, metadata, reasons


@component
class CitewellRetriever:
    """Relevant (or ``every``) passages of ``kb``, an open home; ``options`` as in KnowledgeBase.search."""

    def __init__(self, kb: Any, *, every: bool = False, **options: Any) -> None:
        self._kb, self._every, self._options = kb, every, options

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, list[Document]]:
        return {
            "documents": [
                Document(
                    id=f"{one.chunk.document_id}:{one.chunk.chunk_id}",
                    content=one.chunk.content,
                    meta=metadata(one),
                    score=one.relevance,
                )
                for one in self._kb.search(query, **self._options)
                if one.relevant or self._every
            ]
        }


@component
class CitewellVerifier:
    """Checks each reply against the documents. ``supported``: the probability that all of it is supported,
    None if nothing could be checked; ``feedback``: the claims that are not verified; ``reports``: in full."""

    def __init__(self, **options: Any) -> None:
        self._options = options

    @component.output_types(reports=list[Any], supported=list[Any], feedback=list[str])
    def run(self, replies: list[Any], documents: list[Document], query: str = "") -> dict[str, list[Any]]:
        texts = [reply if isinstance(reply, str) else str(reply.text) for reply in replies]
        reports = [checked(text, documents, query, **self._options) for text in texts]
        return {
            "reports": reports,
            "supported": [report.supported for report in reports],
            "feedback": [reasons(report) for report in reports],
        }

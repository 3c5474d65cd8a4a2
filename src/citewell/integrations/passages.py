"""Shared by the adapters: a passage's metadata, and checking an answer against documents of any framework.

Independent of the frameworks: their documents are read by attribute name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from citewell.answering.verifying import VerifyReport, verify
from citewell.core.records import Passage, Status


def metadata(passage: Passage) -> dict[str, Any]:
    """Enough to locate the quote again: document, version and offsets in code points."""
    chunk = passage.chunk
    return {
        "document_id": chunk.document_id,
        "document_version": chunk.document_version,
        "start": chunk.start_offset,
        "end": chunk.end_offset,
        "page": chunk.page,
        "section": " › ".join(chunk.section_path),
        "title": chunk.title,
        "relevance": passage.relevance,
        "relevant": passage.relevant,
    }


def framework_text(document: Any) -> str:
    """The text of a string, or of a document or node of LangChain, LlamaIndex or Haystack."""
    if isinstance(document, str):
        return document
    inner = getattr(document, "node", document)
    for name in ("page_content", "text", "content"):
        if isinstance(found := getattr(inner, name, None), str):
            return found
    raise TypeError(f"{type(document).__name__} is not a document with text")


def checked(answer: str, documents: Iterable[Any], question: str = "", **options: Any) -> VerifyReport:
    """The documents are sources 1, 2, ... in order, cited as ``[1]`` in an answer; ``options`` as for
    :func:`citewell.answering.verifying.verify`."""
    return verify(answer, [framework_text(document) for document in documents], question or None, **options)


def share_verified(report: VerifyReport) -> float | None:
    """None if the answer makes no claim."""
    verified = sum(claim.verdict.status is Status.VERIFIED for claim in report.claims)
    return verified / len(report.claims) if report.claims else None


def reasons(report: VerifyReport) -> str:
    """Each claim that is not verified, with its verdict; or that there is none."""
    bad = [claim for claim in report.claims if claim.verdict.status is not Status.VERIFIED]
    told = [f"{one.verdict.status}: {one.text} ({one.verdict.reason})" for one in bad]
    return "\n".join(told) if report.claims else "the answer makes no claim"

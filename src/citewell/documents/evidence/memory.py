"""Evidence for one call: what ``verify()`` keeps its caller-supplied sources in.

In: documents. Out: the same documents, hash checked on every read. Nothing outlives the process.
"""

from __future__ import annotations

from citewell.core.records import Document
from citewell.documents.evidence.catalogue import absent, check_text, refuse_second_text


class MemoryEvidence:
    """:class:`citewell.core.ports.EvidenceStore` without a home."""

    def __init__(self) -> None:
        self._documents: dict[tuple[str, str], Document] = {}
        self._by_version: dict[str, Document] = {}

    def put(self, document: Document) -> None:
        """Keeps a version; the same again changes nothing. Raises EvidenceError for a different text."""
        check_text(document)
        kept = self._documents.setdefault((document.document_id, document.version), document)
        refuse_second_text(kept.text_hash, kept.reader, document)
        self._by_version.setdefault(document.version, kept)

    def get(self, version: str, document_id: str = "") -> Document:
        """The version as stored. Raises EvidenceError if it is missing or its hash does not match."""
        found = self._documents.get((document_id, version)) if document_id else self._by_version.get(version)
        if found is None:
            raise absent(version, document_id)
        return check_text(found)

"""The catalogue entries and checks shared by both evidence stores, and the in-memory store for one call.

In: documents. Out: catalogue entries and the same documents, or EvidenceError. Nothing here outlives the
process.
"""

from __future__ import annotations

from citewell.core.errors import EvidenceError
from citewell.core.identity import hash_text
from citewell.core.records import Document, Record

STORED, INDEXED, WITHDRAWN = "stored", "indexed", "withdrawn"


class CatalogueEntry(Record, frozen=True, kw_only=True):
    """The newest version of one document. ``bytes`` is the size of its canonical text in UTF-8;
    ``state`` is ``stored`` (kept, not yet retrieved), ``indexed`` or ``withdrawn`` (readable, not
    retrieved; ``reason`` says why)."""

    document_id: str
    version: str
    title: str
    state: str
    ingested_at: str
    uri: str
    bytes: int
    pages: int
    acl: tuple[str, ...]
    tags: tuple[str, ...]
    reason: str = ""


class StoredVersion(Record, frozen=True, kw_only=True):
    """One version as stored: ``hash`` covers everything stored for it, "" once it is erased; ``fault`` says
    what in the row does not match it."""

    document_id: str
    version: str
    caller_supplied: bool
    hash: str
    fault: str = ""


def check_text(document: Document) -> Document:
    """The document, if its text is the text that was hashed. Raises EvidenceError."""
    found = hash_text(document.text)
    if found != document.text_hash:
        raise EvidenceError(
            f"the stored text of {document.document_id} {document.version} has the hash {found}, "
            f"not {document.text_hash}",
            hint="the evidence was changed after it was stored: restore it from a backup",
        )
    return document


def missing_version(version: str, document_id: str) -> EvidenceError:
    """The error for a version that is not stored."""
    name = f"{document_id} {version}" if document_id else version
    return EvidenceError(
        f"there is no evidence {name}", hint="ingest the document again, or check that this is the right home"
    )


def refuse_second_text(kept_hash: str, kept_reader: str, offered: Document) -> None:
    """One version has one text. Raises EvidenceError for a different reading of the same bytes."""
    if kept_hash != offered.text_hash:
        raise EvidenceError(
            f"{offered.document_id} {offered.version} was stored as read by {kept_reader}; "
            f"{offered.reader} reads a different text from the same bytes",
            hint="citations refer to the first text; to use the new one, ingest the file under another --id",
        )


class MemoryEvidence:
    """:class:`citewell.core.ports.EvidenceStore` in memory, without a home."""

    def __init__(self) -> None:
        # By id and version; the first of a version is also without an id.
        self._documents: dict[tuple[str, str], Document] = {}

    def put(self, document: Document) -> None:
        """Stores a version; storing it again changes nothing. Raises EvidenceError for a different text."""
        check_text(document)
        kept = self._documents.setdefault((document.document_id, document.version), document)
        refuse_second_text(kept.text_hash, kept.reader, document)
        self._documents.setdefault(("", document.version), kept)

    def get(self, version: str, document_id: str = "") -> Document:
        """The version as stored. Raises EvidenceError if it is missing or its hash does not match."""
        found = self._documents.get((document_id, version))
        if found is None:
            raise missing_version(version, document_id)
        return check_text(found)

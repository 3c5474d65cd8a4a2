"""Document versions and caller-supplied text, for ever: what a citation resolves through."""

from citewell.documents.evidence.catalogue import CatalogueEntry, MemoryEvidence
from citewell.documents.evidence.sqlite import SqliteEvidence

__all__ = ["CatalogueEntry", "MemoryEvidence", "SqliteEvidence"]

"""Document versions and caller-supplied text, for ever: what a citation resolves through."""

from citewell.documents.evidence.catalogue import CatalogueEntry
from citewell.documents.evidence.memory import MemoryEvidence
from citewell.documents.evidence.sqlite import SqliteEvidence

__all__ = ["CatalogueEntry", "MemoryEvidence", "SqliteEvidence"]

"""Document versions and caller-supplied text, for ever: what a citation resolves through."""

from citewell.evidence.catalogue import CatalogueEntry
from citewell.evidence.memory import MemoryEvidence
from citewell.evidence.sqlite import SqliteEvidence

__all__ = ["CatalogueEntry", "MemoryEvidence", "SqliteEvidence"]

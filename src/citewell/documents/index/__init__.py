"""Versioned, searchable chunks."""

from citewell.documents.index.lance import LanceIndex
from citewell.documents.index.snapshot import BM25, VIEWS, VIEWS_VERSION, Snapshot

__all__ = ["BM25", "VIEWS", "VIEWS_VERSION", "LanceIndex", "Snapshot"]

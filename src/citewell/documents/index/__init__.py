"""Versioned, searchable chunks."""

from citewell.documents.index.isolated import IsolatedIndex
from citewell.documents.index.lance import LanceIndex
from citewell.documents.index.snapshot import BM25, Snapshot
from citewell.documents.index.views import VIEWS, VIEWS_VERSION

ChunkIndex = LanceIndex | IsolatedIndex
"""One table for everybody, or one for each access list."""

__all__ = ["BM25", "VIEWS", "VIEWS_VERSION", "ChunkIndex", "IsolatedIndex", "LanceIndex", "Snapshot"]

"""Versioned, searchable chunks."""

from citewell.documents.index.lance import LanceIndex
from citewell.documents.index.snapshot import BM25, Snapshot
from citewell.documents.index.views import VIEWS, VIEWS_VERSION

__all__ = ["BM25", "VIEWS", "VIEWS_VERSION", "LanceIndex", "Snapshot"]

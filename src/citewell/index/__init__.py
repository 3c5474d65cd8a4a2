"""Versioned, searchable chunks."""

from citewell.index.lance import LanceIndex
from citewell.index.snapshot import BM25, Snapshot
from citewell.index.views import VIEWS, VIEWS_VERSION

__all__ = ["BM25", "VIEWS", "VIEWS_VERSION", "LanceIndex", "Snapshot"]

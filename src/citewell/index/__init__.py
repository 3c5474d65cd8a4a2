"""Versioned, searchable chunks."""

from citewell.index.lance import LanceIndex
from citewell.index.snapshot import BM25, Listed, Snapshot
from citewell.index.views import VIEWS, VIEWS_VERSION, embedded_text

__all__ = ["BM25", "VIEWS", "VIEWS_VERSION", "LanceIndex", "Listed", "Snapshot", "embedded_text"]

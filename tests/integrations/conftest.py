"""A home of one document about a bridge, with the embedded models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import citewell
from citewell.knowledge.home import KnowledgeBase

BRIDGE, TOLL = "The bridge opened in 1932 after six years of work.", "The toll was abolished in 1958."
QUESTION = "When did the bridge open?"
TRUE, FALSE = "The bridge opened in 1932 [1].", "The bridge opened in 1947 [1]."


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    (tmp_path / "bridge.txt").write_text(f"{BRIDGE}\n\n{TOLL}\n")
    with citewell.open(tmp_path / "home") as made:
        made.ingest(tmp_path / "bridge.txt")
        yield made

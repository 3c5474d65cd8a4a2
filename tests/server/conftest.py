"""A home whose pass is a fast stand-in, and a client that speaks to its application in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from citewell.knowledge import KnowledgeBase, open
from citewell.server import create_app


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    home = tmp_path / "home"
    home.mkdir()
    with open(home) as knowledge_base:
        yield knowledge_base


@pytest.fixture
def client(kb: KnowledgeBase) -> Iterator[TestClient]:
    """As the owner's browser or program would: over loopback."""
    with TestClient(create_app(kb), base_url="http://127.0.0.1:8000") as found:
        yield found

"""A home of one document about a bridge, with the embedded models."""

from __future__ import annotations

import asyncio
import warnings
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


@pytest.fixture(scope="session", autouse=True)
def _loop_of_the_frameworks() -> Iterator[None]:
    """Frameworks that run coroutines in a loop of their own leave it open, current in the main thread."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            asyncio.get_event_loop_policy().get_event_loop().close()
        except RuntimeError:  # there is none
            return
    asyncio.set_event_loop(None)

"""A home of one document about a bridge, with the embedded models."""

from __future__ import annotations

import asyncio
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
def _loops_of_the_frameworks() -> Iterator[None]:
    """Frameworks drop event loops without closing them; which one is collected when is not ours to say. All
    are kept here and closed at the end."""
    policy = type(asyncio.get_event_loop_policy())
    make = policy.new_event_loop
    made: list[asyncio.AbstractEventLoop] = []

    def kept(self: asyncio.AbstractEventLoopPolicy) -> asyncio.AbstractEventLoop:
        made.append(make(self))
        return made[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "new_event_loop", kept)
        yield
    asyncio.set_event_loop(None)
    for loop in made:
        if not loop.is_running():
            loop.close()

"""A home of two short documents with exact, instant stub models, and clients of its application."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient

from citewell.core.access import Role
from citewell.core.identity import hash_text
from citewell.core.ports import Extraction, Reading
from citewell.core.records import Maker
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open
from citewell.models.fake import FakeEntailer, HashEmbedder
from citewell.server import create_app
from citewell.server.keys import ApiKeys, Scope

BRIDGE = "# The bridge\n\nThe bridge opened in 1932. The toll was abolished in 1958.\n"
LAMP = "# The lighthouse\n\nThe lamp of the lighthouse is lit at dusk by an automatic switch.\n"
SECRET = "# The merger\n\nThe merger with Acme will be announced in March.\n"
QUESTION = "When did the bridge open?"
LOOPBACK = "http://127.0.0.1:8000"

_WORD = re.compile(r"\w+")
_DULL = frozenset(
    [
        "the",
        "of",
        "in",
        "a",
        "is",
        "was",
        "did",
        "when",
        "what",
        "who",
        "how",
        "by",
        "at",
        "with",
        "will",
        "be",
    ]
)


def _stems(text: str) -> set[str]:
    return {word[:4] for word in _WORD.findall(text.lower()) if word not in _DULL}


def _share(question: str, text: str) -> float:
    wanted = _stems(question)
    return len(wanted & _stems(text)) / len(wanted) if wanted else 0.0


class WordRanker:
    """Certain where a passage has half the question's words."""

    maker = Maker(name="fake/word-ranker", hash=hash_text("word-ranker"))

    def rank(self, question: str, passages: Sequence[str]) -> list[float]:
        return [0.95 if _share(question, passage) >= 0.5 else 0.05 for passage in passages]


class SentenceReader:
    """The sentence with most of the question's words."""

    maker = Maker(name="fake/sentence-reader", hash=hash_text("sentence-reader"))

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        return [self._one(question, passage) for passage in passages]

    def _one(self, question: str, passage: str) -> Reading:
        sentences = [(m.start(), m.end()) for m in re.finditer(r"[^.\n]+\.", passage)]
        best = max(sentences, key=lambda at: _share(question, passage[at[0] : at[1]]), default=None)
        if best is None or _share(question, passage[best[0] : best[1]]) < 0.5:
            return Reading(candidates=(), no_answer=0.97)
        start = best[0] + len(passage[best[0] : best[1]]) - len(passage[best[0] : best[1]].lstrip())
        return Reading(candidates=(Extraction(start=start, end=best[1], probability=0.95),), no_answer=0.03)


def with_stand_ins(kb: KnowledgeBase) -> KnowledgeBase:
    """``kb`` with word-based stub models, so that a pass takes milliseconds."""
    models = {
        "embedder": HashEmbedder(),
        "ranker": WordRanker(),
        "extractor": SentenceReader(),
        "entailer": FakeEntailer(),
        "answer_check": None,
    }
    kb._parts.__dict__.update(models)
    return kb


def filled(folder: Path) -> Path:
    """A home under ``folder`` with the documents above, one of them for the group ``board`` alone."""
    sources = folder / "docs"
    sources.mkdir()
    for name, text in {"bridge.md": BRIDGE, "lamp.md": LAMP, "merger.md": SECRET}.items():
        (sources / name).write_text(text)
    with with_stand_ins(open(folder / "home")) as kb:
        kb.ingest(sources / "bridge.md", sources / "lamp.md")
        kb.ingest(sources / "merger.md", acl=["board"])
    return folder / "home"


@pytest.fixture(scope="session")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ingested once; every test gets a copy."""
    return filled(tmp_path_factory.mktemp("pattern"))


@pytest.fixture
def home(pattern: Path, tmp_path: Path) -> Path:
    return shutil.copytree(pattern, tmp_path / "home")


@pytest.fixture
def kb(home: Path) -> Iterator[KnowledgeBase]:
    with with_stand_ins(open(home)) as knowledge_base:
        yield knowledge_base


@pytest.fixture
def client(kb: KnowledgeBase) -> Iterator[TestClient]:
    """As the owner's browser or program would connect: over loopback, before any key was made."""
    with TestClient(create_app(kb), base_url=LOOPBACK, raise_server_exceptions=False) as found:
        yield found


@contextmanager
def listening(kb: KnowledgeBase, **options: Any) -> Iterator[str]:
    """The address of a real server on loopback, ``options`` being uvicorn's; tests need ``enable_socket``."""
    options = {"port": 0, "log_config": None, "access_log": False, "timeout_graceful_shutdown": 5, **options}
    server = uvicorn.Server(uvicorn.Config(create_app(kb), **options))
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(30)


@pytest.fixture
def address(kb: KnowledgeBase) -> Iterator[str]:
    with listening(kb) as found:
        yield found


class Keys:
    """Makes keys in a home; ``keys("alice", Role.AUDITOR)`` returns the headers with a new one."""

    def __init__(self, home: Path) -> None:
        self.store = ApiKeys(home)

    def __call__(
        self, user: str, *roles: Role, groups: Sequence[str] = (), scopes: Sequence[Scope] = ()
    ) -> dict[str, str]:
        _, text = self.store.create(user, groups=groups, roles=roles or (Role.ASKER,), scopes=scopes)
        return {"Authorization": f"Bearer {text}"}


@pytest.fixture
def keys(home: Path) -> Iterator[Keys]:
    made = Keys(home)
    yield made
    made.store.close()

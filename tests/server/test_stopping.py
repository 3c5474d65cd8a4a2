"""Clients that hang up, work that does not end, and health during a large check: over a real socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from citewell.audit.search import Finder
from citewell.core.config import Config, Server
from citewell.documents import drawing
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open
from citewell.models.fake import FakeEntailer, HashEmbedder
from citewell.server import create_app
from citewell.server.limits import Busy, WorkQueue

from .conftest import LOOPBACK, QUESTION, listening, with_stand_ins
from .test_documents import one_page_pdf

JSON_LINES = {"Content-Type": "application/x-ndjson"}

pytestmark = pytest.mark.enable_socket

_STUCK = """
import sys, threading, time
from pathlib import Path
from citewell.server import serving
from citewell.server.limits import WorkQueue
serving.GRACE_S, serving.LAST_S = 1, 1
begun = WorkQueue.__init__
def stuck(self, *given, **named):
    begun(self, *given, **named)
    self.submit(lambda: time.sleep(600))
    print("stuck", flush=True)
WorkQueue.__init__ = stuck
from citewell.core.config import Config, Server
serving.serve(Path(sys.argv[1]), Config(server=Server(port=0)))
"""


def test_the_process_ends_after_its_grace_whatever_still_runs(home: Path) -> None:
    command = [sys.executable, "-c", _STUCK, home]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"stuck\n"
            time.sleep(3)
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        finally:
            process.kill()


def test_work_that_nobody_waits_for_any_more_is_not_begun() -> None:
    work, held, begun = WorkQueue(1, 5), threading.Event(), threading.Event()
    work.submit(held.wait)

    with pytest.raises(Busy):
        asyncio.run(work.run(begun.set, left=lambda: True))
    held.set()
    assert work.close()
    assert not begun.is_set()


def test_work_whose_caller_was_cancelled_is_not_begun() -> None:
    work, held, begun = WorkQueue(1, 5), threading.Event(), threading.Event()
    work.submit(held.wait)

    async def cancelled() -> None:
        await asyncio.wait_for(work.run(begun.set), 0.1)

    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())
    held.set()
    assert work.close()
    assert not begun.is_set()


def test_closing_says_that_something_is_still_running() -> None:
    work, held = WorkQueue(1, 5), threading.Event()
    work.submit(held.wait)
    assert not work.close(within=0.1)
    held.set()


def test_health_answers_while_a_large_answer_is_checked(address: str) -> None:
    answer = " ".join(f"The sales of plant {n} rose to ${3 * n} million in 2019." for n in range(30))
    source = " ".join(f"The sales of plant {n} in Ohio rose to ${2 * n} million in 2018." for n in range(400))
    body = json.dumps({"answer": answer, "sources": [source]})
    with httpx.Client(base_url=address, timeout=120) as client:
        checking = threading.Thread(target=client.post, args=("/v1/verify",), kwargs={"content": body})
        checking.start()
        time.sleep(1)
        slowest = 0.0
        for _ in range(5):
            started = time.monotonic()
            assert httpx.get(f"{address}/healthz", timeout=30).status_code == 200
            slowest = max(slowest, time.monotonic() - started)
        assert checking.is_alive(), "the check was over before health was asked"
        assert slowest < 5
        checking.join()


def test_a_page_of_digits_is_answered_at_once(address: str) -> None:
    started = time.monotonic()
    body = {"answer": "The bridge opened in 1932 [1].", "sources": ["1" * 300_000]}
    assert httpx.post(f"{address}/v1/verify", json=body, timeout=120).status_code == 200
    assert time.monotonic() - started < 20


class _Slow(FakeEntailer):
    """Takes half a second per batch, and counts the batches."""

    def __init__(self) -> None:
        super().__init__()
        self.batches = 0

    def entail(self, *given: Any) -> Any:
        self.batches += 1
        time.sleep(0.5)
        return super().entail(*given)


LINES = "\n".join(
    json.dumps({"claim": f"The toll was {n} cents in May.", "sources": ["The toll was low then."]})
    for n in range(60)
)


def test_a_check_whose_client_has_gone_ends(kb: KnowledgeBase) -> None:
    slow = _Slow()
    kb._parts.__dict__["entailer"] = slow
    with listening(kb) as url:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{url}/v1/verify", content=LINES, headers=JSON_LINES, timeout=2)
        time.sleep(2)
        before = slow.batches
        time.sleep(2)
        assert slow.batches == before < 30


def test_a_check_ends_when_its_time_is_over_and_says_so(home: Path) -> None:
    config = Config(server=Server(timeout_s=1.5))
    with with_stand_ins(open(home, config=config)) as kb:
        kb._parts.__dict__["entailer"] = _Slow()
        with listening(kb) as url:
            began = time.monotonic()
            reply = httpx.post(f"{url}/v1/verify", content=LINES, headers=JSON_LINES, timeout=60)
    assert time.monotonic() - began < 10
    assert reply.status_code == 503
    assert "longer than server.timeout_s" in reply.json()["title"]


_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
READS = ["/v1/audit", "/v1/audit/counts", "/v1/audit/counts?by=hour", "/v1/audit/export", "/audit", "/health"]


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Every log query runs forever, in one statement; the event is set when one has ended after all."""
    ended = threading.Event()

    def profiles(self: Finder, rows: Any, query: object) -> Any:
        try:
            return rows.execute(_ENDLESS).fetchone()
        finally:
            ended.set()

    monkeypatch.setattr(Finder, "_profiles", profiles)
    return ended


@pytest.mark.parametrize("address", READS)
def test_a_read_of_the_log_ends_when_its_time_is_over_and_says_so(
    home: Path, endless: threading.Event, address: str
) -> None:
    with with_stand_ins(open(home, config=Config(server=Server(timeout_s=1.0)))) as kb:
        with TestClient(create_app(kb), base_url=LOOPBACK) as client:
            reply = client.get(address)
            assert client.get("/healthz").status_code == 200
        assert kb.log.size()
    assert reply.status_code == 503
    assert "longer than server.timeout_s" in reply.text
    assert endless.is_set()


def test_a_read_of_the_log_whose_client_has_gone_ends(kb: KnowledgeBase, endless: threading.Event) -> None:
    with listening(kb) as url:
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(f"{url}/v1/audit/export", timeout=2)
        assert endless.wait(30)


def test_a_question_is_answered_while_checks_have_all_their_threads(kb: KnowledgeBase) -> None:
    kb._parts.__dict__["entailer"] = _Slow()
    with listening(kb) as url, httpx.Client(base_url=url, timeout=60) as client:
        checks = [threading.Thread(target=_posted, args=(url,), daemon=True) for _ in range(4)]
        for one in checks:
            one.start()
        time.sleep(1)
        began = time.monotonic()
        assert client.post("/v1/ask", json={"question": QUESTION}).status_code == 200
        assert time.monotonic() - began < 10
        assert any(one.is_alive() for one in checks)


def _posted(url: str) -> None:
    with contextlib.suppress(httpx.HTTPError):
        httpx.post(f"{url}/v1/verify", content=LINES, headers=JSON_LINES, timeout=15)


def test_nobody_has_all_the_threads() -> None:
    work, gate = WorkQueue(3, 10), threading.Event()
    for _ in range(3):
        work.submit(gate.wait, "many")
    assert work.submit(lambda: "mine", "few").result(5) == "mine"
    gate.set()
    assert work.close()


def test_an_upload_whose_client_has_gone_ends_and_leaves_nothing(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed, batches = HashEmbedder.embed, list[int]()

    def slowly(self: HashEmbedder, texts: Any) -> Any:
        batches.append(len(texts))
        time.sleep(1)
        return embed(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed", slowly)
    text = "\n\n".join(f"# Plant {n}\n\n" + f"The sales of plant {n} rose. " * 40 for n in range(1_500))
    with listening(kb) as url:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{url}/v1/documents", files={"file": ("long.md", text)}, timeout=8)
        time.sleep(3)
        before = len(batches)
        time.sleep(3)
        assert len(batches) == before
        small = {"file": ("small.md", "# Ferry\n\nIt sails at noon.\n")}
        assert httpx.post(f"{url}/v1/documents", files=small, timeout=60).status_code == 200
        kept = [entry.document_id for entry in kb.documents()]
    assert "uploads/small.md" in kept
    assert "uploads/long.md" not in kept
    assert kb.log.check().ok


def test_an_upload_ends_when_its_time_is_over_and_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = HashEmbedder.embed

    def slowly(self: HashEmbedder, texts: Any) -> Any:
        time.sleep(0.5)
        return embed(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed", slowly)
    text = "\n\n".join(f"# Plant {n}\n\n" + f"The sales of plant {n} rose. " * 40 for n in range(1_000))
    with with_stand_ins(open(home, config=Config(server=Server(upload_s=2.0)))) as kb:
        with TestClient(create_app(kb), base_url=LOOPBACK) as client:
            reply = client.post("/v1/documents", files={"file": ("long.md", text)})
        kept = [entry.document_id for entry in kb.documents()]
        assert kb.log.check().ok
    assert reply.status_code == 503
    assert "longer than server.upload_s" in reply.json()["title"]
    assert "raise server.upload_s" in reply.json()["hint"]
    assert "uploads/long.md" not in kept


def test_pages_that_draw_slowly_keep_no_reader_waiting_and_end_with_their_client(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ferry.pdf").write_bytes(one_page_pdf("The ferry leaves from Oland."))
    kb.ingest(tmp_path / "ferry.pdf")
    slow = [sys.executable, "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(drawing, "command", lambda module: slow)
    running: list[subprocess.Popen[bytes]] = []
    begun = subprocess.Popen.__init__

    def noted(self: subprocess.Popen[bytes], *given: Any, **named: Any) -> None:
        running.append(self)
        begun(self, *given, **named)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    page = {"id": "ferry.pdf", "number": 1}

    def ask(url: str, scale: float) -> None:
        with contextlib.suppress(httpx.ReadTimeout):
            httpx.get(f"{url}/v1/documents/page.png", params={**page, "scale": scale}, timeout=8)

    with listening(kb) as url:
        askers = [threading.Thread(target=ask, args=(url, 1 + number / 100)) for number in range(60)]
        for asker in askers:
            asker.start()
        time.sleep(2)
        started = time.monotonic()
        assert httpx.get(f"{url}/v1/documents", timeout=30).status_code == 200
        assert time.monotonic() - started < 4
        for asker in askers:
            asker.join()
        time.sleep(2)
        assert running
        assert all(process.poll() is not None for process in running)

"""Many workers of one home on PostgreSQL: a client that loses its connection may resume at any of them, and
each reports what all of them did."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from httpx import Response

from citewell.audit.question import AuditQuery
from citewell.core.access import Caller, Role
from citewell.core.config import Audit, Config
from citewell.core.errors import LogError
from citewell.core.records import Draft, DraftClaim, Maker, Quote
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open
from citewell.knowledge.traces import Relay
from citewell.server import create_app, streams

from .conftest import LOOPBACK, Keys, with_stand_ins

PROGRAM = "from citewell.cli import main; main()"

BODY = {"question": "When did the bridge open?", "stream": True, "session_id": "s1"}
WAIT_S = 60.0


class Slow:
    """Streams one claim, and continues when released."""

    maker = Maker(name="fake/slow", hash="sha256:slow", prompt_hash="sha256:p")

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def stream(self, request: Any, emit: Callable[[Draft], None]) -> Draft:
        emit(self._draft(request, "The bridge was made of glass."))
        assert self.go_on.wait(WAIT_S)
        draft = self._draft(request, "The bridge opened in 1932.")
        emit(draft)
        return draft

    def generate(self, request: Any) -> Draft:
        return self._draft(request, "The bridge opened in 1932.")

    def _draft(self, request: Any, text: str) -> Draft:
        quotes = (Quote(source=request.passages[0].chunk.chunk_id, text="The bridge opened in 1932."),)
        claim = DraftClaim(text=text, start=0, end=len(text), quotes=quotes, aspect=request.aspects[0])
        return Draft(text=text, raw=text, claims=(claim,), maker=self.maker)


class Worker:
    """One worker: its home, its writer, a client of its application."""

    def __init__(self, home: Path, url: str) -> None:
        self.kb = with_stand_ins(open(home, config=Config(audit=Audit(database=url))))
        self.writer = Slow()
        self.kb.parts.__dict__["generator"] = self.writer
        self.client = TestClient(create_app(self.kb), base_url=LOOPBACK, raise_server_exceptions=False)


@pytest.fixture
def workers(pattern: Path, tmp_path: Path, clean_server: str) -> Iterator[tuple[Worker, Worker]]:
    home = tmp_path / "home"
    made = (Worker(home, clean_server), Worker(home, clean_server))
    made[0].kb.ingest(*((pattern.parent / "docs" / name) for name in ("bridge.md", "lamp.md")))
    with made[0].client, made[1].client:
        yield made
        for worker in made:
            worker.writer.go_on.set()
    for worker in made:
        worker.kb.close()


def told(response: Response) -> list[tuple[str, str, str]]:
    """Returns (kind, id, data) of each event."""
    return re.findall(r"event: (\w+)\nid: (\S+)\ndata: (.*)\n\n", response.text)


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def begun(kb: KnowledgeBase) -> str:
    """The request whose claim has been streamed."""

    def ids() -> list[tuple[str]]:
        with kb.parts.traces.database.reading() as rows:  # type: ignore[union-attr]
            return rows.execute("SELECT request_id FROM events WHERE kind = 'claim'").fetchall()  # type: ignore[no-any-return]

    until(ids)
    return ids()[0][0]


def test_a_stream_goes_on_in_another_worker(workers: tuple[Worker, Worker]) -> None:
    one, other = workers
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(one.client.post, "/v1/ask", json=BODY)
        request = begun(other.kb)
        where, last = f"/v1/ask/{request}/events", {"Last-Event-ID": f"{request}:2"}
        whole = pool.submit(other.client.get, where)
        rest = pool.submit(other.client.post, "/v1/ask", json=BODY, headers=last)
        time.sleep(0.5)
        assert not whole.done()  # it waits for the worker that answers
        one.writer.go_on.set()
        events = told(first.result(WAIT_S))
        assert [kind for kind, _, _ in events][-1] == "done"
        assert {"claim", "correction", "verdict"} <= {kind for kind, _, _ in events}
        assert told(whole.result(WAIT_S)) == events
        assert told(rest.result(WAIT_S)) == events[2:]
    # Also afterwards, for a late client; and nothing was asked twice.
    assert told(other.client.get(where, headers=last)) == events[2:]
    assert other.kb.audit.counts(AuditQuery()).total == 1


def test_only_who_asked_hears_it(workers: tuple[Worker, Worker]) -> None:
    one, other = workers
    store = Keys(one.kb.home)
    alice, bob = store("alice", groups=["board"]), store("bob", groups=["board"])
    one.writer.go_on.set()
    heard = one.client.post("/v1/ask", json=BODY, headers=alice)
    request = heard.headers["x-request-id"]
    where = f"/v1/ask/{request}/events"
    assert told(other.client.get(where, headers=alice)) == told(heard)
    waiting = "req_" + "c" * 24
    one.client.app.state.site.streams.open(  # type: ignore[attr-defined]
        waiting, Caller(user="alice", groups=("board",))
    ).end()
    there = f"/v1/ask/{waiting}/events"
    assert other.client.get(there, headers=alice).status_code == 200
    assert other.client.get(there, headers=store("alice", groups=["staff", "board"])).status_code == 200
    assert other.client.get(there, headers=store("alice", Role.ADMIN)).status_code == 200
    assert other.client.get(there, headers=store("alice")).status_code == 404
    for_bob = other.client.get(where, headers=bob)
    assert (for_bob.status_code, for_bob.content) == (
        404,
        other.client.get("/v1/ask/req_0/events", headers=bob).content,
    )
    store.store.close()


def test_a_worker_that_died_is_not_waited_for(
    workers: tuple[Worker, Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = workers
    relay = Relay(one.kb.parts.traces.database)  # type: ignore[union-attr]
    relay.begin("req_" + "a" * 24, "owner", groups=None, keep_s=300)
    monkeypatch.setattr(streams, "GONE_S", 2.0)  # it must still be there at the first look
    where = f"/v1/ask/req_{'a' * 24}/events"
    gone = told(other.client.get(where))
    assert [kind for kind, _, _ in gone] == ["error"]
    assert "has stopped" in gone[0][2]
    assert other.client.get(where).status_code == 404  # no record, and nobody is working on one


def test_a_worker_says_that_it_lives_while_it_thinks(
    workers: tuple[Worker, Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = workers
    monkeypatch.setattr(streams, "ALIVE_S", 0.1)
    monkeypatch.setattr(streams, "GONE_S", 3.0)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(one.client.post, "/v1/ask", json=BODY)
        request = begun(other.kb)
        second = pool.submit(other.client.get, f"/v1/ask/{request}/events")
        time.sleep(4.0)
        assert not second.done()
        one.writer.go_on.set()
        assert told(second.result(WAIT_S)) == told(first.result(WAIT_S))


def test_what_is_over_or_forgotten_is_told_from_the_record_or_not_at_all(
    workers: tuple[Worker, Worker],
) -> None:
    one, other = workers
    one.writer.go_on.set()
    request = one.client.post("/v1/ask", json=BODY).headers["x-request-id"]
    relay = Relay(one.kb.parts.traces.database)  # type: ignore[union-attr]
    relay.begin("req_" + "b" * 24, "owner", groups=None, keep_s=-1)  # the next question, much later
    again = told(other.client.get(f"/v1/ask/{request}/events"))
    assert all(name.endswith("r") for _, name, _ in again)
    assert again[-1][0] == "done"
    second = one.client.post("/v1/ask", json=BODY).headers["x-request-id"]
    other.kb.audit.erase("owner")
    with one.kb.parts.traces.database.reading() as rows:  # type: ignore[union-attr]
        kept = rows.execute("SELECT request_id FROM events").fetchall()
    assert second not in {name for (name,) in kept}


def test_a_database_that_cannot_take_the_events_does_not_fail_the_answer(
    workers: tuple[Worker, Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Relay, request_id: str, events: Any) -> None:
        raise LogError("no room", hint="make some")

    one, _ = workers
    one.writer.go_on.set()
    monkeypatch.setattr(Relay, "tell", refused)
    heard = one.client.post("/v1/ask", json=BODY)
    events = told(heard)
    assert events[-1][0] == "done"


@pytest.mark.slow
@pytest.mark.enable_socket
def test_each_of_several_workers_tells_what_all_did(clean_server: str, tmp_path: Path) -> None:
    """The real command; one of its processes is killed and restarted."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    (tmp_path / "home").mkdir()
    words = ["--home", str(tmp_path / "home"), "serve", "--port", str(port), "--workers", "2"]
    environment = {
        **os.environ,
        "CITEWELL_AUDIT_DATABASE": clean_server,
        "CITEWELL_SERVER_RATE_PER_MINUTE": "0",
    }
    environment.pop("PROMETHEUS_MULTIPROC_DIR", None)
    url = f"http://127.0.0.1:{port}"

    def alive() -> bool:
        try:
            return httpx.get(f"{url}/healthz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def counted(name: str) -> float:
        """As reported by one worker; each request uses a new connection."""
        text = httpx.get(f"{url}/metrics", timeout=30).text
        found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
        assert found, text
        return float(found[1])

    absent = 'citewell_requests_total{method="GET",route="none",status="404"}'
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            until(alive)
            for _ in range(40):
                assert httpx.get(f"{url}/nowhere", timeout=30).status_code == 404
            assert [counted(absent) for _ in range(6)] == [40.0] * 6
            assert counted("citewell_queue") == 0.0
            assert counted("citewell_log_entries") >= 0.0
            workers = subprocess.run(
                ["ps", "--no-headers", "-o", "pid", "--ppid", str(server.pid)],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
            os.kill(int(workers[-1]), signal.SIGKILL)
            until(alive)
            assert counted(absent) == 40.0
        finally:
            server.terminate()
            server.wait(60)

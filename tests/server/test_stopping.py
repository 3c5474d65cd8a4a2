"""Clients that hang up, work that does not end, and health beside a large check: over a real socket."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from citewell.server.limits import Busy, Work

pytestmark = pytest.mark.enable_socket

_STUCK = """
import sys, threading, time
from pathlib import Path
from citewell.server import serving
from citewell.server.limits import Work
serving.GRACE_S, serving.LAST_S = 1, 1
begun = Work.__init__
def stuck(self, *given, **named):
    begun(self, *given, **named)
    self.submit(lambda: time.sleep(600))
    print("stuck", flush=True)
Work.__init__ = stuck
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
    work, held, begun = Work(1, 5), threading.Event(), threading.Event()
    work.submit(held.wait)

    async def gone() -> bool:
        return False

    with pytest.raises(Busy):
        asyncio.run(work.run(begun.set, wanted=gone))
    held.set()
    assert work.close()
    assert not begun.is_set()


def test_closing_says_that_something_is_still_running() -> None:
    work, held = Work(1, 5), threading.Event()
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

"""A client that sends half a request and waits blocks nobody else."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from citewell.core.config import Config
from citewell.knowledge.home import KnowledgeBase
from citewell.server import serving
from citewell.server.serving import Connection

from .conftest import listening

pytestmark = pytest.mark.enable_socket

HALF_HEAD = b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nX-"
HALF_BODY = HALF_HEAD.replace(b"GET /v1/models", b"POST /v1/ask") + (
    b"A: b\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
)
Open = Callable[[bytes], socket.socket]


class Short(Connection):
    HEAD_S = 0.5
    BODY_S = 0.5
    BYTES_PER_S = 1_000.0
    UNFINISHED = 5


@pytest.fixture
def address(kb: KnowledgeBase) -> Iterator[str]:
    with listening(kb, http=Short, limit_concurrency=10) as found:
        yield found


@pytest.fixture
def half(address: str) -> Iterator[Open]:
    """``half(data)``: a new connection on which only ``data`` was sent."""
    with ExitStack() as opened:

        def send(data: bytes) -> socket.socket:
            place = urlsplit(address)
            found = opened.enter_context(socket.create_connection((str(place.hostname), place.port), 10))
            found.sendall(data)
            return found

        yield send


def models(address: str) -> int:
    return httpx.get(f"{address}/v1/models", timeout=10).status_code


def test_half_sent_requests_do_not_keep_others_out(address: str, half: Open) -> None:
    waiting = [half(HALF_HEAD if number % 2 else HALF_BODY) for number in range(30)]
    assert models(address) == 200
    assert len(waiting) == 30


@pytest.mark.parametrize("sent", [b"", HALF_HEAD])
def test_a_request_whose_head_does_not_come_is_answered_408(address: str, half: Open, sent: bytes) -> None:
    connection = half(sent)
    assert connection.recv(1000).startswith(b"HTTP/1.1 408 ")
    assert connection.recv(1000) == b""


def test_dripping_does_not_help(address: str, half: Open) -> None:
    connection = half(HALF_HEAD)
    began = time.monotonic()
    with suppress(OSError):
        while time.monotonic() - began < 5:
            connection.sendall(b"a")
            time.sleep(0.05)
    assert time.monotonic() - began < 4


def test_a_body_that_does_not_come_is_cut_off(address: str, half: Open) -> None:
    connection = half(HALF_BODY)
    began = time.monotonic()
    try:
        left = connection.recv(1000)
    except ConnectionResetError:
        left = b""
    assert not left.startswith(b"HTTP/1.1 200")
    assert time.monotonic() - began < 5


def test_a_body_that_comes_slowly_and_keeps_coming_is_taken(address: str) -> None:
    body = b'{"question": "When did the bridge open?"}' + b" " * 4000

    async def slowly() -> int:
        async def parts() -> Any:
            for start in range(0, len(body), 500):
                yield body[start : start + 500]
                await asyncio.sleep(0.2)

        headers = {"Content-Type": "application/json"}
        async with httpx.AsyncClient(timeout=60) as client:
            return (await client.post(f"{address}/v1/ask", content=parts(), headers=headers)).status_code

    assert asyncio.run(slowly()) == 200


def test_a_connection_is_used_again(address: str) -> None:
    with httpx.Client(timeout=10) as client:
        assert client.get(f"{address}/v1/models").status_code == 200
        time.sleep(0.7)
        assert client.get(f"{address}/v1/models").status_code == 200


def test_the_server_uses_it(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr("uvicorn.run", lambda app, **options: given.update(options))
    monkeypatch.setattr(serving, "application", lambda home, config: None)
    serving.serve(home, Config())
    assert given["http"] is Connection
    assert given["limit_concurrency"] > Connection.UNFINISHED

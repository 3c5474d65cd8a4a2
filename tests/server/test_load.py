"""Many clients at once, clients that hang up, and an API description that holds: over a real socket."""

from __future__ import annotations

import asyncio
import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings

from citewell.audit.question import AuditQuery
from citewell.core.config import Config, Server
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open
from citewell.server import create_app

from .conftest import LOOPBACK, listening, with_stand_ins

pytestmark = pytest.mark.enable_socket

HOST = {"Host": "127.0.0.1:8000"}
QUESTION = {"question": "When did the bridge open?"}


def records(kb: KnowledgeBase) -> int:
    return kb.audit.queries.counts(AuditQuery()).total


@pytest.mark.slow
def test_two_hundred_at_once_lose_nothing(home: Path) -> None:
    # The default rate limit per caller is for people; this is two hundred of them under one name.
    config = Config(server=Server(rate_per_minute=0))
    with with_stand_ins(open(home, config=config)) as kb, listening(kb) as address:
        ask_all(kb, address)


def ask_all(kb: KnowledgeBase, address: str) -> None:
    async def ask(client: httpx.AsyncClient, number: int) -> str:
        body = {**QUESTION, "session_id": f"s{number}", "stream": number % 4 == 0}
        response = await client.post("/v1/ask", json=body)
        assert response.status_code == 200, response.text
        return response.headers["x-request-id"]

    async def everybody() -> list[str]:
        limits = httpx.Limits(max_connections=200)
        async with httpx.AsyncClient(base_url=address, timeout=300, limits=limits) as client:
            return list(await asyncio.gather(*(ask(client, number) for number in range(200))))

    wait_until_ready(address)
    found = asyncio.run(everybody())
    assert len(set(found)) == 200
    assert records(kb) == 200
    assert all(kb.audit.record(request_id).response_decision == "ANSWER" for request_id in found[::20])
    assert kb.log.check().ok


def wait_until_ready(address: str) -> None:
    """Models are loaded once, at startup."""
    deadline = time.monotonic() + 60
    while httpx.get(f"{address}/readyz").status_code != 200 and time.monotonic() < deadline:
        time.sleep(0.05)


def test_who_hangs_up_is_answered_and_sealed_all_the_same(address: str, kb: KnowledgeBase) -> None:
    body = b'{"question": "When did the bridge open?", "stream": true}'
    host = urlsplit(address).netloc
    with socket.create_connection((host.split(":")[0], int(host.split(":")[1]))) as line:
        line.sendall(
            b"POST /v1/ask HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s"
            % (host.encode(), len(body), body)
        )
        line.recv(64)  # it has begun
    deadline = time.monotonic() + 30
    while not records(kb) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert records(kb) == 1


def test_the_interface_describes_itself(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    assert {"/v1/ask", "/v1/verify", "/v1/chat/completions", "/v1/audit"} <= set(document["paths"])
    schemas = document["components"]["schemas"]
    answer = document["paths"]["/v1/ask"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/Answer"}
    assert {"claims", "decision", "confidence"} <= set(schemas["Answer"]["properties"])

    def references(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
            return own.union(*map(references, value.values()))
        return set().union(*map(references, value)) if isinstance(value, list) else set()

    assert {name.rpartition("/")[2] for name in references(document)} <= set(schemas)
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert operation.get("description"), path


@pytest.mark.slow
def test_no_request_that_fits_the_document_breaks_the_server(kb: KnowledgeBase) -> None:
    app = create_app(kb)
    with TestClient(app, base_url=LOOPBACK):
        schema = schemathesis.openapi.from_asgi("/openapi.json", app, headers=HOST)
        broken: list[str] = []

        def tried(case: Any) -> None:
            response = case.call(headers=HOST)
            if response.status_code >= 500:
                broken.append(f"{case.method} {case.path}: {response.status_code} {response.text[:200]}")

        for result in schema.get_all_operations():
            cases = result.ok().as_strategy()
            settings(
                max_examples=15,
                deadline=None,
                derandomize=True,
                database=None,
                phases=(Phase.explicit, Phase.generate),
                suppress_health_check=list(HealthCheck),
            )(given(cases)(tried))()
        assert broken == []

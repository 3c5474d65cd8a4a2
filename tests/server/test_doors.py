"""Who is let in, under which name, from which page."""

from __future__ import annotations

from fastapi.testclient import TestClient


def test_the_process_says_that_it_lives(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}


def test_a_name_that_is_not_ours_is_refused(client: TestClient) -> None:
    refused = client.get("/healthz", headers={"host": "attacker.example:8000"})
    assert refused.status_code == 421
    assert refused.json()["hint"] == "add it to server.hosts"

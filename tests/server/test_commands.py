"""`citewell keys`, the refusals of `citewell serve`, and one whole pass with the shipped models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from citewell.cli import app
from citewell.knowledge.opening import open
from citewell.server import create_app

from .conftest import BRIDGE, LAMP, LOOPBACK


def run(*words: str | Path) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_key_is_shown_once_listed_without_its_secret_and_revoked(home: Path) -> None:
    made = run("--home", home, "keys", "create", "--user", "alice", "--group", "board", "--role", "auditor")
    assert made.exit_code == 0, made.output
    (text,) = made.stdout.split()
    assert "cannot be shown again" in made.stderr
    with open(home) as kb, TestClient(create_app(kb), base_url=LOOPBACK) as client:
        headers = {"Authorization": f"Bearer {text}"}
        assert client.get("/v1/models", headers=headers).status_code == 200
        (key,) = json.loads(run("--home", home, "keys", "list", "--json").stdout)["keys"]
        assert (key["user"], key["groups"], key["roles"]) == ("alice", ["board"], ["auditor"])
        assert key["last_used_at"]
        assert text.split("_", 2)[2] not in run("--home", home, "keys", "list").stdout
        assert run("--home", home, "keys", "revoke", key["key_id"]).exit_code == 0
        assert client.get("/v1/models", headers=headers).status_code == 401


def test_a_list_without_keys_says_whether_there_were_any(home: Path) -> None:
    assert "anybody on this machine has the owner's rights" in run("--home", home, "keys", "list").stdout
    assert run("--home", home, "keys", "create", "--user", "alice").exit_code == 0
    for lost in home.glob("access.sqlite*"):
        lost.unlink()
    told = run("--home", home, "keys", "list").stdout
    assert "nobody is let in" in told
    assert "backup" in told
    assert "owner's rights" not in told


@pytest.mark.parametrize(
    "words",
    [
        ["--user", "a", "--role", "king"],
        ["--user", "a", "--scope", "everything"],
        ["--user", "a", "--expires", "soon"],
        ["--user", "  "],
        [],
    ],
)
def test_a_key_that_makes_no_sense_is_a_usage_error(home: Path, words: list[str]) -> None:
    result = run("--home", home, "keys", "create", *words)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(
    ("words", "says"),
    [(["--host", "0.0.0.0"], "keys create"), (["--workers", "2"], "audit.database")],  # noqa: S104
)
def test_what_is_not_safe_is_not_served(home: Path, words: list[str], says: str) -> None:
    result = run("--home", home, "serve", *words)
    assert result.exit_code == 1
    assert says in result.stderr


def test_no_home_is_not_served(tmp_path: Path) -> None:
    assert "citewell ingest" in run("--home", tmp_path / "none", "serve").stderr


@pytest.mark.slow
def test_the_shipped_models_answer_over_http_with_a_quote_that_is_the_source(tmp_path: Path) -> None:
    (tmp_path / "bridge.md").write_text(BRIDGE)
    (tmp_path / "lamp.md").write_text(LAMP)
    with open(tmp_path / "home") as kb:
        kb.ingest(tmp_path / "bridge.md", tmp_path / "lamp.md")
        with TestClient(create_app(kb), base_url=LOOPBACK) as client:
            assert kb.warm() is None
            answer = client.post("/v1/ask", json={"question": "When did the bridge open?"}).json()
            assert answer["decision"] in {"ANSWER", "PARTIAL"}, answer["confidence"]["reasons"]
            cited = answer["claims"][0]["citations"][0]
            where = {"id": cited["document_id"], "start": cited["start"], "end": cited["end"]}
            assert client.get("/v1/documents/text", params=where).json()["text"] == cited["quote"]
            assert "1932" in answer["text"]

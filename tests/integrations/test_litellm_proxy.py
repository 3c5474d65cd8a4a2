"""The guardrail in LiteLLM's own proxy server, as the documentation configures it; no model is called."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import citewell
from citewell.audit.question import AuditQuery

from .conftest import BRIDGE, FALSE, QUESTION, TRUE

pytest.importorskip("fastapi_sso", reason="LiteLLM's proxy is only in build/apart: make extras")
httpx = pytest.importorskip("httpx")
pytestmark = pytest.mark.enable_socket

DOCS = (Path(__file__).parents[2] / "docs" / "adapters" / "litellm.md").read_text()
(GUARDRAILS,) = re.findall(r"```yaml\n(guardrails:.*?)```", DOCS, re.S)
KEY = "sk-" + "0123456789abcdef" * 4
MODELS = """
model_list:
  - model_name: right
    litellm_params: {model: openai/gpt-x, api_key: none, mock_response: %s}
  - model_name: wrong
    litellm_params: {model: openai/gpt-x, api_key: none, mock_response: %s}
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    (home / "citewell.toml").write_text('[proxy]\npolicy = "annotate"\n')
    config = home / "config.yaml"
    models = MODELS % (json.dumps(TRUE), json.dumps(FALSE))
    config.write_text(models + GUARDRAILS.replace("/srv/citewell", str(home)))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [Path(sys.executable).with_name("litellm"), "--config", config, "--host", "127.0.0.1", "--port"]
    environment = os.environ | {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY}
    with (home / "litellm.log").open("w") as log:
        server = subprocess.Popen([*command, str(port)], env=environment, cwd=home, stdout=log, stderr=log)
        try:
            until = time.monotonic() + 120
            while time.monotonic() < until and server.poll() is None and not alive(port):
                time.sleep(0.5)
            assert alive(port), (home / "litellm.log").read_text()[-2000:]
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(30)


def alive(port: int) -> bool:
    try:
        return bool(httpx.get(f"http://127.0.0.1:{port}/health/liveliness").is_success)
    except httpx.HTTPError:
        return False


def asked(address: str, model: str, **more: Any) -> Any:
    messages = [{"role": "user", "content": f"[1] {BRIDGE}\n\n{QUESTION}"}]
    body = {"model": model, "messages": messages, "user": "alice", **more}
    headers = {"Authorization": f"Bearer {KEY}"}
    return httpx.post(f"{address}/v1/chat/completions", json=body, headers=headers, timeout=60)


def test_the_proxys_answers_are_annotated_and_sealed_streamed_or_not(address: str, home: Path) -> None:
    found = {model: asked(address, model).json() for model in ("right", "wrong")}
    assert [one["choices"][0]["message"]["content"] for one in found.values()] == [TRUE, FALSE]
    assert [one["citewell"]["status"] for one in found.values()] == ["VERIFIED", "CONTRADICTED"]
    lines = asked(address, "wrong", stream=True).text.splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    assert "".join(one["choices"][0]["delta"].get("content") or "" for one in events) == FALSE
    assert [one["citewell"]["status"] for one in events if "citewell" in one] == ["CONTRADICTED"]
    with citewell.open(home) as kb:
        records = kb.audit.query(AuditQuery()).records
        assert sorted(record.failure_reason for record in records) == ["", *["hallucination_detected"] * 2]
        assert kb.audit.record(found["right"]["citewell"]["record"]).user == "alice"

"""The documented assertion for promptfoo: its request, sent to our server; and run by promptfoo itself."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import uvicorn
import yaml
from fastapi.testclient import TestClient

from citewell.server import create_app

from .conftest import BRIDGE, FALSE, QUESTION, TRUE

DOCS = (Path(__file__).parents[2] / "docs" / "adapters" / "promptfoo.md").read_text()
(SCRIPT,) = re.findall(r"```js\n(.*?)```", DOCS, re.S)
(CONFIG,) = re.findall(r"```yaml\n(.*?)```", DOCS, re.S)
MODULES = Path(__file__).parents[2] / "build/promptfoo/node_modules"
PROMPTFOO = MODULES / "promptfoo/dist/src/entrypoint.js"
VARS = {"question": QUESTION, "sources": [BRIDGE]}


@pytest.mark.parametrize(("answer", "status"), [(TRUE, "VERIFIED"), (FALSE, "CONTRADICTED")])
def test_the_documented_request_gets_the_members_that_the_assertion_reads(
    kb: Any, answer: str, status: str
) -> None:
    (address,) = re.findall(r"'http://127.0.0.1:8000(/[^']+)'", SCRIPT)
    (method,) = re.findall(r"method: '(\w+)'", SCRIPT)
    (headers,) = re.findall(r"headers: \{ '([\w-]+)': '([\w/]+)' \}", SCRIPT)
    (members,) = re.findall(r"JSON\.stringify\(\{ (.+) \}\)", SCRIPT)
    values = {"output": answer, **{f"vars.{name}": value for name, value in VARS.items()}}
    body = {name: values[value] for name, value in re.findall(r"(\w+): ([\w.]+)", members)}
    with TestClient(create_app(kb), base_url="http://127.0.0.1:8000") as client:
        reply = client.request(method, address, content=json.dumps(body), headers=[headers])
    assert reply.status_code == 200
    assert [(one["verdict"]["status"], one["text"]) for one in reply.json()["claims"]] == [
        (status, answer.replace(" [1]", ""))
    ]


@pytest.mark.enable_socket
@pytest.mark.skipif(not PROMPTFOO.exists(), reason="promptfoo is not installed here: make extras")
def test_promptfoo_passes_and_fails_answers_with_the_documented_files(kb: Any, tmp_path: Path) -> None:
    (tmp_path / "citewell.js").write_text(SCRIPT)
    asked = {"prompts": ["{{answer}}"], "providers": ["echo"]}  # the provider answers with the prompt
    tests = [{"vars": {**VARS, "answer": answer}} for answer in (TRUE, FALSE, "Hm?")]
    config = tmp_path / "promptfooconfig.yaml"
    config.write_text(json.dumps({**asked, **yaml.safe_load(CONFIG), "tests": tests}))
    server = uvicorn.Server(uvicorn.Config(create_app(kb), port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    told = subprocess.run(
        [
            MODULES / ".bin" / "node",
            PROMPTFOO,
            "eval",
            "--no-cache",
            "--no-share",
            "-c",
            config,
            "-o",
            "out.json",
        ],
        cwd=tmp_path,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
            "CITEWELL_URL": f"http://127.0.0.1:{port}/v1/verify",
            "PROMPTFOO_DISABLE_TELEMETRY": "1",
            "PROMPTFOO_DISABLE_UPDATE": "1",
            "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    server.should_exit = True
    thread.join(30)
    assert (tmp_path / "out.json").exists(), told.stdout + told.stderr
    results = json.loads((tmp_path / "out.json").read_text())["results"]["results"]
    graded = {one["vars"]["answer"]: one["gradingResult"] for one in results}
    good, bad, empty = (graded[answer] for answer in (TRUE, FALSE, "Hm?"))
    assert (good["pass"], good["score"]) == (True, 1)
    assert (bad["pass"], bad["score"]) == (False, 0)
    assert "1947" in bad["reason"]
    assert empty["pass"] is False

"""The documented assertion for promptfoo: its request, sent to our server; and run by Node, where it is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient

from citewell.server import create_app

from .conftest import BRIDGE, FALSE, QUESTION, TRUE

DOCS = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text()
(SCRIPT,) = re.findall(r"```js\n(.*?)```", DOCS, re.S)
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
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
def test_the_documented_assertion_passes_and_fails_in_node(kb: Any, tmp_path: Path) -> None:
    (tmp_path / "citewell.js").write_text(SCRIPT)
    server = uvicorn.Server(uvicorn.Config(create_app(kb), port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    given = json.dumps([TRUE, FALSE, ""])
    run = (
        f"Promise.all({given}.map((one) => require('./citewell.js')(one, {{ vars: {json.dumps(VARS)} }})))"
        ".then((found) => console.log(JSON.stringify(found)))"
    )
    told = subprocess.run(
        ["node", "-e", run],
        cwd=tmp_path,
        env={"CITEWELL_URL": f"http://127.0.0.1:{port}/v1/verify"},
        capture_output=True,
        text=True,
        check=False,
    )
    server.should_exit = True
    thread.join(30)
    good, bad, empty = json.loads(told.stdout or told.stderr)
    assert (good["pass"], good["score"]) == (True, 1)
    assert (bad["pass"], bad["score"]) == (False, 0)
    assert "1947" in bad["reason"]
    assert empty["pass"] is False

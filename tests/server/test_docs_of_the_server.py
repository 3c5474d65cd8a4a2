"""The commands of docs/server.md, typed as printed, against a live server."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "server.md"


@pytest.mark.enable_socket
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_every_curl_of_the_page_works(address: str, tmp_path: Path) -> None:
    (script,) = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), flags=re.M | re.S)
    assert "http://127.0.0.1:8000" in script
    done = subprocess.run(
        ["bash", "-ex", "-c", script.replace("http://127.0.0.1:8000", address)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for kind in ("search_results", "claim", "verdict", "decision", "done"):
        assert f"event: {kind}" in done.stdout
    assert (tmp_path / "audit.csv").read_text().startswith("Record,")
    assert '"annotations"' in done.stdout

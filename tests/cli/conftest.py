"""A command runner, and a home with two short documents ingested by the real command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from citewell.cli import app

Run = Callable[..., Result]

NIKE = """# Annual report 2023

Nike was founded in 1964 by Bill Bowerman and Phil Knight in Eugene, Oregon.

## Revenue

Revenue was 51,217 million dollars in fiscal year 2023, ten percent more than the year before.
"""
OTHER = """# Lighthouse keeping

The lamp of the lighthouse at Cape Meares is lit at dusk by an automatic switch.
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """``run("ask", "...")`` as if typed in an empty folder, with no outside configuration."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CITEWELL_HOME", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)  # it would draw progress bars nobody sees
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared by the tests of a module, which only read or append."""
    folder = tmp_path_factory.mktemp("knowledge")
    (folder / "reports").mkdir()
    (folder / "reports" / "nike.md").write_text(NIKE)
    (folder / "reports" / "light.md").write_text(OTHER)
    result = CliRunner().invoke(app, ["--home", str(folder / "home"), "ingest", str(folder / "reports")])
    assert result.exit_code == 0, result.output
    return folder / "home"

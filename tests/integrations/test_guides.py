"""The examples of the adapters' pages and for migrating, with the real packages: what they print is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "migrating.md", *sorted((DOCS / "adapters").glob("*.md"))]
BLOCKS = {page: re.findall(r"^```py\n(.*?)^```", page.read_text(), flags=re.M | re.S) for page in PAGES}
ELSEWHERE = {"README.md", "promptfoo.md", "litellm.md", "langfuse-and-phoenix.md"}
"""No example in Python, or one that needs a server: the tests of these adapters run it."""


def test_every_adapter_has_an_example() -> None:
    assert [page.name for page in PAGES if not BLOCKS[page] and page.name not in ELSEWHERE] == []


@pytest.mark.filterwarnings("ignore")  # the frameworks' own
@pytest.mark.parametrize(
    "code",
    [
        pytest.param(code, id=f"{page.stem}-{number}")
        for page, blocks in BLOCKS.items()
        if page.name not in ELSEWHERE
        for number, code in enumerate(blocks)
    ],
)
def test_an_example_prints_what_it_says(
    code: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for framework in re.findall(r"^(?:from|import) (?!citewell)([\w.]+)", code, flags=re.M):
        pytest.importorskip(framework, reason=f"{framework} is not installed here: make extras")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "documentation", "exec"), {"__name__": "documentation"})  # noqa: S102
    assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*\)  # (.+)$", code, flags=re.M)

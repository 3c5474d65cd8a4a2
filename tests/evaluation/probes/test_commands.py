"""``citewell eval probe`` at the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.llm_server import Asked, Reply, Said, serving
from typer.testing import CliRunner

from citewell.cli.program import app

CASES = [
    {
        "id": "lisbon",
        "question": "When did the Lisbon office open?",
        "sources": [{"id": "a.txt", "text": "The Lisbon office opened in 2014. It rains in winter."}],
    }
]


def run(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(map(json.dumps, CASES)))
    return path


def test_the_writer_is_probed_without_a_home(tmp_path: Path, cases: Path) -> None:
    home, out = str(tmp_path / "none"), tmp_path / "report.json"
    words = ("eval", "probe", "faithfulness", str(cases), "--home", home)
    code, told, _ = run(*words, "--out", str(out))
    assert code == 0
    assert "faithful          The Lisbon office opened in 2014" in told
    assert "post_rationalised  0.00" in told
    code, told, _ = run(*words, "--json")
    assert code == 0
    assert json.loads(told) == json.loads(out.read_bytes())


def test_a_probe_that_measured_nothing_is_no_success(tmp_path: Path, cases: Path) -> None:
    words = ("eval", "probe", "faithfulness", str(cases), "--home", str(tmp_path / "none"))
    code, told, aside = run(*words, "--budget", "1")
    assert code == 1
    assert "lisbon: over the budget" in told
    assert "0 of 1 samples probed" in aside


def test_what_unicode_calls_the_end_of_a_line_ends_no_case(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    told = CASES[0] | {"question": "When did the\u2028Lisbon office open?"}
    path.write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    assert run("eval", "probe", "faithfulness", str(path), "--home", str(tmp_path / "none"))[0] == 0


@pytest.mark.parametrize("words", [("faithfulness",), ("faithfulness", "missing.jsonl"), ("detectors",)])
def test_what_cannot_be_probed_is_a_usage_error(tmp_path: Path, words: tuple[str, ...]) -> None:
    code, _, told = run("eval", "probe", *words, "--home", str(tmp_path / "none"))
    assert code == 2
    assert "cannot be read" in told or "Missing argument" in told


@pytest.mark.enable_socket
@pytest.mark.parametrize("memory", [False, True])
def test_a_model_behind_a_server_is_probed_by_one_option(
    tmp_path: Path, cases: Path, monkeypatch: pytest.MonkeyPatch, memory: bool
) -> None:
    """The scripted model says what its source says, or what it remembers."""

    def play(asked: Asked, before: int) -> Reply:
        sentence = asked.sources[0].split(". ")[0].rstrip(".") + "."
        claim = "The Lisbon office opened in 2014." if memory else sentence
        return Reply([Said(1, sentence, claim)])

    with serving(play) as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        words = ("eval", "probe", "faithfulness", str(cases), "--writer", "openai:scripted", "--budget", "9")
        code, told, _ = run(*words, "--home", str(tmp_path / "none"), "--json")
        calls = len(server.asked)
    assert code == 0
    report = json.loads(told)
    assert report["calls"] == calls <= 9
    findings = {one["finding"] for one in report["citations"]}
    assert findings == {"post-rationalised" if memory else "faithful"}

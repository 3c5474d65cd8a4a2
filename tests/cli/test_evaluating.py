"""``citewell eval run | compare | gate`` as typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

CASES = """{"id": "who", "question": "Who founded Nike?", "expected": "Bill Bowerman and Phil Knight"}
{"id": "moon", "question": "Which planet does the crew visit?", "abstain": "nowhere said"}
"""
KEPT = "[[rule]]\n[rule.measures]\nright_outcome = { min = 1.0 }\n"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text(CASES)
    return path


def test_a_run_its_comparison_and_its_gate(run: Run, home: Path, cases: Path, tmp_path: Path) -> None:
    first = run("--home", home, "eval", "run", cases, "--out", "a.json", "--json")
    assert first.exit_code == 0, first.output
    said = json.loads(first.stdout)
    assert {"name", "value", "n", "unscored", "low", "high", "maker"} <= set(said["measures"][0])
    assert [case["id"] for case in said["cases"]] == ["who", "moon"]
    assert said == json.loads((tmp_path / "a.json").read_text())

    second = run("--home", home, "eval", "run", cases, "--out", "b.json", "--html", "b.html")
    assert second.exit_code == 0
    assert "Who founded Nike?" in (tmp_path / "b.html").read_text()
    assert "right_outcome" in second.stdout
    assert "2 cases, 0 failed, 2 not reviewed" in second.stdout
    assert "not measured: " in second.stdout
    files = [json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json")]
    assert files[0].pop("timings") != files[1].pop("timings")
    assert files[0] == files[1]

    compared = run("eval", "compare", "a.json", "b.json")
    assert compared.exit_code == 0
    assert "2 cases in both, 0 flipped, 0 left out" in compared.stdout
    assert "by chance alone" in compared.stdout
    assert "latency_ms_p95@total" in compared.stdout
    assert json.loads(run("eval", "compare", "a.json", "b.json", "--json").stdout)["flips"] == []

    (tmp_path / "kept.toml").write_text(KEPT)
    kept = run("eval", "gate", "a.json", "--thresholds", "kept.toml")
    assert (kept.exit_code, kept.stdout.splitlines()[-1]) == (0, "1 of 1 thresholds met")
    (tmp_path / "missed.toml").write_text(KEPT + '"nDCG@10" = { min = 0.1 }\n')
    missed = run("eval", "gate", "a.json", "--thresholds", "missed.toml", "--json")
    assert missed.exit_code == 5
    assert [check["holds"] for check in json.loads(missed.stdout)["checks"]] == [True, False]
    (tmp_path / "other.toml").write_text('[[rule]]\nmodel = "m"\n[rule.measures]\nf1 = { min = 0 }\n')
    other = run("eval", "gate", "a.json", "--thresholds", "other.toml")
    assert other.exit_code == 5
    assert "nothing was checked" in other.stderr


def test_recorded_answers_need_no_home(run: Run, cases: Path, tmp_path: Path) -> None:
    source = "Nike was founded by Bill Bowerman and Phil Knight."
    lines = [
        {"id": "who", "answer": f"{source[:-1]} [1].", "sources": [source]},
        {"id": "nobody", "answer": "x", "sources": []},
    ]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = run("eval", "run", cases, "--answers", "answers.jsonl", "--json")
    assert done.exit_code == 1, "a case failed"
    assert "unscored: moon: UsageError: no answer was recorded" in done.stderr
    assert "1 recorded answers match no case" in done.stderr
    assert json.loads(done.stdout)["cases"][0]["right"] is True


def test_a_result_that_was_cut_off_is_refused(run: Run, cases: Path, tmp_path: Path) -> None:
    run("eval", "run", cases, "--answers", cases, "--out", "whole.json")
    whole = (tmp_path / "whole.json").read_text()
    (tmp_path / "cut.json").write_text(whole[: len(whole) // 2])
    (tmp_path / "kept.toml").write_text(KEPT)
    done = run("eval", "gate", "cut.json", "--thresholds", "kept.toml")
    assert done.exit_code == 2
    assert "cut.json is not a whole result of `citewell eval run`" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "none.jsonl"), "none.jsonl cannot be read"),
        (("run", "bad.jsonl"), "bad.jsonl, line 1 is not JSON"),
        (("compare", "bad.jsonl", "bad.jsonl"), "is not a result of"),
        (("gate", "bad.jsonl", "--thresholds", "none.toml"), "cannot be read as TOML"),
    ],
)
def test_bad_input_is_one_line(run: Run, tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    (tmp_path / "bad.jsonl").write_text("nonsense")
    done = run("eval", *words)
    assert done.exit_code == 2
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("option", ["--out", "--html"])
@pytest.mark.parametrize("place", ["folder", "cases.jsonl/file.json"])
def test_what_cannot_be_written_is_told_before_anything_is_asked(
    run: Run, cases: Path, tmp_path: Path, option: str, place: str
) -> None:
    (tmp_path / "folder").mkdir()
    done = run("--home", "none", "eval", "run", cases, option, place)
    assert done.exit_code == 2
    assert f"{place} cannot be written" in done.stderr
    assert "name a file" in done.stderr


def test_a_home_that_is_not_there_is_one_line(run: Run, cases: Path) -> None:
    done = run("eval", "run", cases)
    assert done.exit_code == 1
    assert "no knowledge base at .citewell" in done.stderr

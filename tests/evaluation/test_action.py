"""The GitHub Action, as far as it can be tested without GitHub: its shell steps, run as on a runner."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
SOURCE = "Nike was founded in 1964 by Bill Bowerman and Phil Knight."
CASES = '{"id": "who", "question": "Who founded Nike?", "expected": "Bill Bowerman and Phil Knight"}\n'
RULE = "[[rule]]\n[rule.measures]\nright_outcome = {{ min = {} }}\n"


class Runner:
    """Runs the action's shell steps in a folder: inputs as given to it, outputs as it sets them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.told = folder, ""
        self.outputs: dict[str, str] = {}
        bin_ = folder / "bin"
        bin_.mkdir()
        (bin_ / "citewell").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m citewell.cli "$@"\n')
        (bin_ / "citewell").chmod(0o755)

    def run(self, **inputs: str) -> int:
        given = {name: spec.get("default", "") for name, spec in ACTION["inputs"].items()} | inputs
        for step in STEPS:
            condition = re.fullmatch(r"inputs\.([\w-]+) != ''", step.get("if", "inputs.cases != ''"))
            assert condition, step["if"]
            if "run" in step and step["name"] != "Install" and given[condition[1]]:
                code = self._step(step, given)
                if code:
                    return code
        return 0

    def _step(self, step: dict[str, Any], given: dict[str, str]) -> int:
        files = {name: self.folder / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        env = {name: self._value(text, given) for name, text in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("CITEWELL_")},
                **{name: str(path) for name, path in files.items()},
                **env,
                "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        self.told += done.stdout + done.stderr
        if files["GITHUB_OUTPUT"].exists():
            lines = files["GITHUB_OUTPUT"].read_text().splitlines()
            self.outputs |= dict(line.split("=", 1) for line in lines)
        return done.returncode

    @staticmethod
    def _value(text: str, given: dict[str, str]) -> str:
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: given[match[1]], text)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    (tmp_path / "cases.jsonl").write_text(CASES)
    return Runner(tmp_path)


def test_every_input_is_used_and_none_is_pasted_into_a_script() -> None:
    whole = (ROOT / "action.yml").read_text()
    for name in ACTION["inputs"]:
        assert f"inputs.{name} " in whole
    assert not any("${{" in step.get("run", "") for step in STEPS)
    assert all(step["shell"] == "bash" for step in STEPS if "run" in step)


def test_documents_are_read_cases_run_and_thresholds_held(runner: Runner) -> None:
    (runner.folder / "my reports").mkdir()
    (runner.folder / "my reports" / "nike.md").write_text(f"# Nike\n\n{SOURCE}\n")
    (runner.folder / "kept.toml").write_text(RULE.format(1))
    given = {"cases": "cases.jsonl", "documents": "my reports\n\n", "home": "kb", "thresholds": "kept.toml"}
    assert runner.run(**given) == 0, runner.told
    assert runner.outputs == {
        "result": "citewell-eval/run.json",
        "page": "citewell-eval/run.html",
        "passed": "true",
    }
    assert json.loads((runner.folder / runner.outputs["result"]).read_text())["cases"][0]["right"] is True
    assert "right_outcome" in (runner.folder / "GITHUB_STEP_SUMMARY").read_text()


def test_thresholds_that_are_not_kept_fail_the_step(runner: Runner) -> None:
    line = {"id": "who", "answer": "It was Steve Jobs [1].", "sources": [SOURCE]}
    (runner.folder / "answers.jsonl").write_text(json.dumps(line))
    (runner.folder / "t.toml").write_text(RULE.format(1))
    assert runner.run(cases="cases.jsonl", answers="answers.jsonl", thresholds="t.toml") == 1
    assert runner.outputs["passed"] == "false"
    assert "NOT met: right_outcome" in runner.told


def test_a_case_that_fails_fails_the_step_unless_the_thresholds_allow_it(runner: Runner) -> None:
    (runner.folder / "cases.jsonl").write_text(CASES + CASES.replace("who", "other"))
    line = {"id": "who", "answer": f"{SOURCE[:-1]} [1].", "sources": [SOURCE]}
    (runner.folder / "answers.jsonl").write_text(json.dumps(line))
    (runner.folder / "strict.toml").write_text(RULE.format(1))
    (runner.folder / "lenient.toml").write_text(RULE.format(1).replace("[rule.m", "failed = 1\n[rule.m"))
    given = {"cases": "cases.jsonl", "answers": "answers.jsonl"}
    assert runner.run(**given) == 1
    assert "right_outcome" in (runner.folder / "GITHUB_STEP_SUMMARY").read_text()
    assert runner.run(**given, thresholds="strict.toml") == 1
    assert runner.run(**given, thresholds="lenient.toml") == 0, runner.told


def test_a_case_file_that_is_not_there_fails(runner: Runner) -> None:
    assert runner.run(cases="none $(touch pwned).jsonl", home=".") != 0
    assert not (runner.folder / "pwned").exists()

"""The pytest plugin as used by a user's suite: another pytest, in its own folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import citewell

CASES = """{"id": "who", "question": "Who founded Nike?", "expected": "Bill Bowerman and Phil Knight"}
{"id": "wrong", "question": "Who founded Nike?", "expected": "Steve Jobs"}
"""
ON_CASES = """
def test_answers(citewell_case, citewell_outcome):
    assert citewell_outcome.right, citewell_outcome.why
"""
ON_ANSWERS = """
from pytest_citewell import assert_supported

SOURCE = "Nike was founded by Bill Bowerman."

def test_good():
    assert assert_supported("Nike was founded by Bill Bowerman [1].", [SOURCE]).claims

def test_bad():
    assert_supported("Nike was founded in 1999 [1].", [SOURCE])

def test_empty():
    assert_supported("", [SOURCE])
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "nike.md").write_text("# Nike\n\nNike was founded in 1964 by Bill Bowerman and Phil Knight.\n")
    with citewell.open(folder / "home") as kb:
        kb.ingest(folder / "nike.md")
    return folder / "home"


def suite(folder: Path, code: str, *words: str) -> tuple[int, str]:
    """Another process, as the plugin opens stores and models once per session."""
    (folder / "test_it.py").write_text(code)
    (folder / "cases.jsonl").write_text(CASES)
    options = ["-p", "pytest_citewell", "-p", "no:randomly", "-W", "error", "--strict-markers", "-q", *words]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_a_suite_asserts_on_cases(tmp_path: Path, home: Path) -> None:
    code, told = suite(tmp_path, ON_CASES, "--citewell-cases", "cases.jsonl", "--citewell-home", str(home))
    assert code == 1, told
    assert "1 failed, 1 passed" in told
    assert "test_answers[wrong]" in told
    assert "F1 with the expected words" in told


def test_a_test_names_its_own_cases(tmp_path: Path, home: Path) -> None:
    marked = f"import pytest\n\n@pytest.mark.citewell_cases('cases.jsonl'){ON_CASES}"
    _, told = suite(tmp_path, marked, "--citewell-home", str(home), "--collect-only")
    assert "test_answers[who]" in told


def test_without_cases_tests_are_skipped_with_what_to_do(tmp_path: Path) -> None:
    code, told = suite(tmp_path, ON_CASES, "-rs")
    assert code == 0
    assert "no cases: give --citewell-cases FILE" in told


def test_a_slip_in_the_cases_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"id": "a"}')
    code, told = suite(tmp_path, ON_CASES, "--citewell-cases", "bad.jsonl")
    assert code != 0
    assert "bad.jsonl, line 1" in told


def test_a_home_that_is_not_there_is_told(tmp_path: Path) -> None:
    _, told = suite(tmp_path, ON_CASES, "--citewell-cases", "cases.jsonl", "--citewell-home", "none")
    assert "no knowledge base at none" in told


def test_an_answer_is_asserted_to_be_supported(tmp_path: Path) -> None:
    code, told = suite(tmp_path, ON_ANSWERS)
    assert code == 1, told
    assert "2 failed, 1 passed" in told
    assert "1 of 1 claims are not supported" in told
    assert "states nothing" in told


def test_the_plugin_costs_nothing_until_it_is_used() -> None:
    code = "import sys, pytest_citewell; print({name.split('.')[0] for name in sys.modules} & {'citewell'})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

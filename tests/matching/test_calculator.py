"""The calculator is an optional part: it is named in one place."""

from __future__ import annotations

from pathlib import Path

import pytest

import citewell
from citewell.questions import aspects, calculator, parsing
from citewell.questions.evidence import find_evidence

SOURCE = Path(citewell.__file__).parent
QUESTION = "What is the FY2022 current ratio of Acme?"


def test_one_place_names_the_calculator() -> None:
    named = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "citewell.questions.calculation" in path.read_text(encoding="utf-8")
    ]
    assert {name for name in named if "/calculation/" not in name} == {"questions/calculator.py"}


def test_without_it_questions_are_read_by_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = calculator.Calculator()
    monkeypatch.setattr(parsing, "calculator", lambda: nothing)
    monkeypatch.setattr(aspects, "calculator", lambda: nothing)
    monkeypatch.setattr("citewell.questions.evidence.calculator", lambda: nothing)
    parsing.read_question.cache_clear()
    try:
        wanted = parsing.read_question(QUESTION)
        assert aspects.split_aspects(QUESTION) == (QUESTION,)
        assert (wanted.operands, wanted.by_cell, wanted.names) == ((), False, ("Acme",))
        assert find_evidence(wanted, (), None, max_no_answer=0.5) == ()  # type: ignore[arg-type]
    finally:
        parsing.read_question.cache_clear()

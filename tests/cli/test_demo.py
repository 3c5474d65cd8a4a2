"""`make demo` keeps its promise: one question answered correctly, the other refused, the log intact."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import demo


@pytest.mark.slow
def test_the_demo_answers_one_question_and_refuses_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    demo.main()
    printed = capsys.readouterr().out
    answered, _, refused = printed.partition(demo.UNANSWERED)
    assert "\nAnswered.\n" in answered
    assert "\nNot answered.\n" in refused
    assert "whole:" in printed


def test_a_wrong_answer_ends_the_demo_with_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "run", lambda *words, ends=0: "record req_1\nThe threshold is 0.9.")
    with pytest.raises(SystemExit, match="does not say"):
        demo.main()

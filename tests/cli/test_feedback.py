"""From a bad answer to a case file, as a user types it, on a real home."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

QUESTION = "Who founded Nike?"


@pytest.fixture
def asked(home: Path) -> str:
    """The id of one answer."""
    from citewell.knowledge.opening import open as open_home

    with open_home(home) as kb:
        return kb.ask(QUESTION, user="alice").request_id


def test_a_question_asked_again_is_noticed(run, home) -> None:  # type: ignore[no-untyped-def]
    from citewell.knowledge.opening import open as open_home

    with open_home(home) as kb:
        asked = kb.ask(QUESTION, user="alice", session_id="ses_cli").request_id
        kb.ask("Who were the founders of Nike?", user="alice", session_id="ses_cli")
    traces = json.loads(run("--home", home, "trace", "ses_cli", "--json").stdout)["traces"]
    assert traces[0]["flags"] == ["rephrased_query"]
    queue = json.loads(run("--home", home, "review", "list", "--cause", "rephrased_query", "--json").stdout)
    found = next(item for item in queue["items"] if item["request_id"] == asked)
    assert found["causes"] == ["rephrased_query"]
    assert float(found["signals"][0]["meta"]["cosine"]) >= 0.8


def test_from_a_thumb_to_a_case_file(run, home, asked, tmp_path) -> None:  # type: ignore[no-untyped-def]
    def go(*words: object) -> str:
        result = run("--home", home, *words)
        assert result.exit_code == 0, result.output
        return str(result.stdout)

    said = go(
        "feedback", asked, "thumbs_down", "--claim", 1, "--user", "alice", "--meta", "because=one is missing"
    )
    assert "thumbs_down" in said
    assert asked in go("audit", "query", "--flag", "thumbs_down")
    assert asked in go("review")
    assert "verification 1" in go("review", "groups")
    assert re.search(r"thumbs_down +Marked as wrong", go("review", "groups"))
    for shown in (go("review", "list"), go("review", "show", asked)):
        assert "Marked as wrong" in shown
        assert "thumbs_down" not in shown
    assert "nike.md" in go("review", "groups", "--by", "document")
    assert "because=one is missing" in go("review", "show", asked)
    file = tmp_path / "cases.jsonl"
    span = "reports/nike.md=Bill Bowerman and Phil Knight"
    go("review", "accept", asked, "--reviewer", "carol", "--span", span, "--expected", "Bowerman and Knight")
    assert "added 1 case, 0 already there" in go("review", "--to", file)
    assert "added 0 cases, 1 already there" in go("review", "--to", file)
    case = json.loads(file.read_text())
    assert case["spans"] == [{"document": "reports/nike.md", "quote": "Bill Bowerman and Phil Knight"}]
    assert asked not in go("review", "list")
    go("review", "dismiss", asked, "--reviewer", "carol", "--reason", "twice the same")
    assert "Removed 1 case" in go("review", "--to", file)
    assert go("audit", "check").startswith("whole")


@pytest.mark.parametrize(
    "words",
    [
        ("feedback", "req_none", "thumbs_down"),
        ("feedback", "ID", "thumbs_dwn"),
        ("feedback", "ID", "thumbs_down", "--meta", "because"),
        ("feedback", "ID", "thumbs_down", "--meta", "a=1", "--meta", "a=2"),
        ("review", "accept", "ID", "--reviewer", "c", "--span", "no words"),
        ("review", "list", "--state", "closed"),
        ("review", "list", "--since", "yesterday"),
        ("review", "dismiss", "ID", "--reviewer", "c", "--reason", " "),
        ("review", "dismiss", "ID", "--reviewer", "c"),
    ],
)
def test_words_that_are_off(run, home, asked, words) -> None:  # type: ignore[no-untyped-def]
    result = run("--home", home, *(asked if word == "ID" else word for word in words))
    assert result.exit_code == 2, result.output


def test_nothing_that_is_said_or_decided_changes_what_is_found_or_answered(home: Path) -> None:
    from citewell.knowledge.opening import open as open_home

    with open_home(home) as kb:
        before, found = kb.ask(QUESTION, user="bob"), kb.search(QUESTION)
        for user in ("bob", "eve", "mallory"):
            kb.feedback(before.request_id, "thumbs_down", user=user, meta={"because": "never again"})
        kb.review.accept(before.request_id, reviewer="carol", abstain="no answer is right")
        kb.review.dismiss(before.request_id, reviewer="carol", reason="or one is")
        assert kb.search(QUESTION) == found
        after = kb.ask(QUESTION, user="bob")
        assert (after.text, after.claims, after.decision) == (before.text, before.claims, before.decision)
        assert after.passages == before.passages

"""Feedback, reviews, traces and names have tables of their own, which are compared with the log."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from benchmarks.access_world import fake_parts

from citewell.core.config import Config, Retention
from citewell.knowledge.home import KnowledgeBase

TEXT = "# Bridges\n\nThe bridge was paid for by the town.\n"


def opened(home: Path, config: Config | None = None) -> KnowledgeBase:
    return KnowledgeBase(fake_parts(home, config or Config()))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which alice, bob and an unnamed user asked and gave feedback, and carol reviewed."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "bridge.md").write_text(TEXT)
    with opened(folder / "home") as kb:
        kb.ingest(folder / "bridge.md")
        first = kb.ask("Who paid for the bridge?", user="alice", session_id="ses_1").request_id
        second = kb.ask("Who paid for the bridge?", user="bob").request_id
        third = kb.ask("Was the bridge paid for?", session_id="ses_2").request_id
        kb.feedback(first, "thumbs_down", user="alice", meta={"because": "wrong town"})
        kb.feedback(first, "thumbs_up", user="bob", claim=1)
        kb.feedback(third, "thumbs_down")
        kb.review.dismiss(first, reason="it is right", reviewer="carol")
        kb.review.dismiss(first, reason="it is right, I looked", reviewer="carol")
        assert second
        assert kb.log.check().ok, kb.log.check()
    return folder


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "home", tmp_path / "home"))


def change(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def found(home: Path) -> list[tuple[str, str]]:
    with opened(home) as kb:
        return [(one.kind, one.reason) for one in kb.log.check().findings]


SIGNAL = "WHERE person = 'alice'"


@pytest.mark.parametrize(
    ("file", "statement", "kind", "said"),
    [
        ("feedback", f"UPDATE feedback SET signal = 'thumbs_up' {SIGNAL}", "feedback", "signal"),
        ("feedback", f'UPDATE feedback SET meta = \'{{"because": "fine"}}\' {SIGNAL}', "feedback", "meta"),
        ("feedback", f"UPDATE feedback SET person = 'dave' {SIGNAL}", "feedback", "user"),
        ("feedback", f"UPDATE feedback SET documents = '[]' {SIGNAL}", "feedback", "documents"),
        ("feedback", f"DELETE FROM feedback {SIGNAL}", "feedback", "gone from the store"),
        (
            "feedback",
            "INSERT INTO feedback SELECT 99, 'fb_x', request_id, '', 'eve', '2099-01-01T00:00:00Z',"
            f" 'thumbs_down', NULL, '{{}}', 'user', '', '[]' FROM feedback {SIGNAL}",
            "feedback",
            "no entry for it",
        ),
        ("feedback", "UPDATE reviews SET outcome = 'accepted'", "feedback", "outcome"),
        ("feedback", "UPDATE reviews SET reviewer = 'dave'", "feedback", "reviewer"),
        ("feedback", "DELETE FROM reviews", "feedback", "gone from the store"),
        ("traces", "UPDATE traces SET body = replace(body, 'the town', 'an enemy')", "trace", "response"),
        ("traces", "UPDATE traces SET body = replace(body, 'Who paid', 'Who lied')", "trace", "query"),
        ("traces", "UPDATE traces SET body = replace(body, 'thumbs_down', 'thumbs_up')", "trace", "flags"),
        ("keys/subjects", "UPDATE subjects SET name = 'dave' WHERE name = 'bob'", "subject", "another name"),
    ],
    ids=lambda text: text[:70],
)
def test_a_change_by_hand_is_named(home: Path, file: str, statement: str, kind: str, said: str) -> None:
    change(home / f"{file}.sqlite", statement)
    named = [reason for of, reason in found(home) if of == kind]
    assert named, found(home)
    assert any(said in reason for reason in named)


def erase(kb: KnowledgeBase) -> None:
    kb.audit.erase(user="alice")


def erase_reviewer(kb: KnowledgeBase) -> None:
    kb.audit.erase(user="carol")


def accept(kb: KnowledgeBase) -> None:
    (request,) = {item.request_id for item in kb.review.queue().items}
    kb.review.accept(request, expected="the town", reviewer="carol")


@pytest.mark.parametrize("deed", [erase, erase_reviewer, accept])
def test_what_is_forgotten_or_decided_the_right_way_is_no_finding(
    home: Path, deed: Callable[[KnowledgeBase], object]
) -> None:
    with opened(home) as kb:
        deed(kb)
    assert found(home) == []


def test_a_trace_without_an_entry_is_no_finding(home: Path) -> None:
    with closing(sqlite3.connect(home / "traces.sqlite")) as connection:
        body = json.loads(connection.execute("SELECT body FROM traces").fetchone()[0])
        body |= {"request_id": "req_killed", "query": "who was killed"}
        connection.execute(
            "INSERT INTO traces(request_id, session_id, timestamp, body) VALUES('req_killed', 's', 't', ?)",
            (json.dumps(body),),
        )
        connection.commit()
    assert found(home) == []


def test_expired_feedback_is_no_finding(home: Path) -> None:
    with opened(home, Config(retention=Retention(feedback_days=1))) as kb:
        kb._parts.clock = _Later()
        assert kb.audit.expire().expired["feedback"] == 5
    assert [one for one in found(home) if one[0] != "configuration"] == []


class _Later:
    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(days=3)

"""Erasure and retention reach feedback, review decisions, and the cases made from them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.feedback.conftest import Room

from citewell.audit import AuditQuery
from citewell.core.access import Caller, Role
from citewell.core.config import Config, Retention
from citewell.core.environment import stamp
from citewell.core.errors import UsageError
from citewell.core.records import Trace
from citewell.knowledge.feedback import Signal

QUESTION, BECAUSE, OPINION = "the merger with Borealis?", "Borealis is misspelt", "Zephyrus knows better"


@pytest.fixture
def told(room: Room) -> Room:
    """Alice asked, Alice and Bob gave feedback, Carol made a case and dismissed another answer."""
    version = room.document()
    first = room.answered(1, version=version, question=QUESTION)
    second = room.answered(2, version=version, question=QUESTION)
    room.answered(3, version=version, user="bob", session="ses_b", failure="citation_broken")
    room.kb.feedback(first.request_id, "thumbs_down", user="alice", meta={"because": BECAUSE})
    room.kb.feedback(first.request_id, "thumbs_down", user="bob", meta={"because": OPINION})
    room.kb.feedback(f"req_{3:024d}", "thumbs_down", user="alice", meta={"because": BECAUSE})
    room.kb.review.accept(first.request_id, reviewer="carol", expected=BECAUSE)
    room.kb.review.dismiss(second.request_id, reviewer="carol", reason=BECAUSE)
    return room


def test_an_erased_person_s_words_stand_nowhere(told: Room, tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    told.kb.review.write(file)
    before = told.kb.audit.counts(AuditQuery(flag="thumbs_down")).total
    outcome = told.kb.audit.erase("alice")
    assert outcome.forgotten["feedback"] == 3
    assert outcome.forgotten["cases"] == 1
    for words in ("Borealis", "alice"):
        assert told.holds_bytes(words) == []
    assert told.log.check().ok
    assert told.kb.audit.counts(AuditQuery(flag="thumbs_down")).total == before
    assert told.kb.review.cases() == ()
    assert [item.user for item in told.kb.review.queue(state="all").items] == ["bob"]
    assert "Borealis" in file.read_text()
    assert told.kb.review.write(file).removed == 1
    assert file.read_text() == ""


def test_nothing_more_can_be_said_of_theirs(told: Room) -> None:
    told.kb.audit.erase("alice")
    request = f"req_{1:024d}"
    for act in (
        lambda: told.kb.feedback(request, "thumbs_up"),
        lambda: told.kb.review.accept(request, reviewer="carol", expected="x"),
    ):
        with pytest.raises(UsageError, match="erased"):
            act()


def test_a_reviewer_who_is_erased_is_nobody_in_what_they_decided(told: Room) -> None:
    told.kb.review.dismiss(f"req_{3:024d}", reviewer="carol", reason="Carolus finds nothing wrong")
    assert told.holds_bytes("Carolus") != []
    told.kb.audit.erase("carol")
    assert told.holds_bytes("carol") == []
    assert told.holds_bytes("Carolus") == []
    (case,) = told.kb.review.cases()
    assert (case.question, case.reviewed) == (QUESTION, "[erased]")


def test_what_bob_said_is_bob_s(told: Room) -> None:
    told.kb.audit.erase("bob")
    assert told.holds_bytes("Zephyrus") == []
    mine, his = told.store.of(f"req_{1:024d}")
    assert (mine.meta, mine.user) == ({"because": BECAUSE}, "alice")
    assert (his.meta, his.user, his.signal) == ({}, "", Signal.THUMBS_DOWN)


@pytest.mark.parametrize("act", ["erase", "expire"])
def test_words_that_never_reached_the_log_are_taken_out_too(told: Room, act: str) -> None:
    def put(number: int, words: str) -> None:
        now = stamp(told.clock)
        lost = Trace(session_id="ses_9", request_id=f"req_{number:024d}", timestamp=now, query=words)
        told.traces.put(lost)

    put(91, "Boreas was asked about, and then the process was killed")
    told.clock.forward(3600)
    put(92, "Notus is being asked about")
    if act == "expire":
        told.kb.audit.expire(dry_run=True)
        told.kb.audit.expire()
    else:
        assert told.kb.audit.erase("bob").forgotten["traces"] == 1
    assert told.holds_bytes("Boreas") == []
    assert told.holds_bytes("Notus") != []
    assert told.traces.get(f"req_{1:024d}") is not None


def test_feedback_expires_with_its_class(told: Room) -> None:
    told.clock.forward(40 * 86_400)
    config = msgspec.structs.replace(Config(), retention=Retention(feedback_days=30))
    told.parts.__dict__["config"] = config
    assert told.kb.audit.expire(dry_run=True).expired == {"feedback": 5}
    assert len(told.store.of(f"req_{1:024d}")) == 2
    outcome = told.kb.audit.expire()
    assert outcome.expired == {"feedback": 5}
    assert len(outcome.feedback) == 5
    assert told.store.of(f"req_{1:024d}") == ()
    assert told.kb.review.cases() == ()
    assert told.holds_bytes(BECAUSE) == []
    assert told.log.check().ok


def test_an_answer_that_expired_is_in_no_queue(told: Room) -> None:
    told.clock.forward(400 * 86_400)
    told.parts.__dict__["config"] = msgspec.structs.replace(Config(), retention=Retention(answers_days=30))
    told.kb.audit.expire()
    assert told.kb.review.queue(state="all").items == ()


def test_the_session_of_an_erased_person_is_readable_in_nobody_s_entries(told: Room) -> None:
    session = told.log.record(f"req_{1:024d}").session_id
    assert told.kb.trace(session)
    told.kb.as_(Caller(user="carol", roles=(Role.AUDITOR,))).trace(session)
    told.kb.audit.erase("alice")
    assert [entry.seq for entry in told.log.entries() if session in str(told.log.body(entry))] == []
    assert told.holds_bytes(session) == []


def test_a_session_named_as_a_user_is_erased_alone(told: Room) -> None:
    told.answered(4, user="", session="alice", question="what a stranger asked?")
    told.kb.feedback(f"req_{4:024d}", "thumbs_down", meta={"because": "a stranger's opinion"})
    told.kb.audit.erase(session="alice")
    assert told.holds_bytes("a stranger") == []
    assert told.store.of(f"req_{1:024d}")[0].meta == {"because": BECAUSE}
    assert told.log.record(f"req_{1:024d}").user_query == QUESTION


@pytest.mark.parametrize("where", ["log", "traces"])
def test_an_expiry_that_was_cut_short_is_finished_by_the_next_one(
    told: Room, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(*_: object) -> None:
        raise KeyboardInterrupt

    told.clock.forward(400 * 86_400)
    kept = Retention(answers_days=30, feedback_days=30)
    told.parts.__dict__["config"] = msgspec.structs.replace(Config(), retention=kept)
    place, name = (told.log.database, "overwrite") if where == "log" else (told.traces, "forget")
    with monkeypatch.context() as patch:
        patch.setattr(place, name, cut_short)
        with pytest.raises(KeyboardInterrupt):
            told.kb.audit.expire()
    assert told.kb.audit.expire().requests == ()
    assert told.traces.get(f"req_{1:024d}") is None
    assert told.store.of(f"req_{1:024d}") == ()
    for words in (QUESTION, BECAUSE, OPINION):
        assert told.holds_bytes(words) == []
    size = told.log.size()
    told.kb.audit.expire()
    assert told.log.size() == size
    assert told.log.check().ok

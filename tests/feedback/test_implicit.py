"""Implicit signals of a session: on whose answer, within what time, and never at an answer's expense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.feedback.conftest import Room

from citewell.audit import EntryKind
from citewell.core.config import Config
from citewell.core.config import Feedback as Settings
from citewell.knowledge.feedback import Signal

FIRST, AGAIN, OTHER = "Who founded Nike?", "Who are the founders of Nike?", "Where is the library?"


def signals(room: Room, record: Any) -> list[str]:
    return [said.signal.value for said in room.store.of(record.request_id)]


def test_the_answer_before_is_flagged_not_the_new_one(room: Room) -> None:
    first = room.turn(1, FIRST)
    room.clock.forward(60)
    again = room.turn(2, FIRST)
    (said,) = room.store.of(first.request_id)
    assert (said.signal, said.found_by, said.user) == (Signal.REPHRASED_QUERY, "citewell", "")
    assert said.meta == {"rule": "repeated", "following": again.request_id}
    assert room.flags(first) == ("rephrased_query",)
    assert room.flags(again) == ()


def test_how_alike_names_its_maker(tmp_path: Path) -> None:
    room = Room(tmp_path / "home", Config(feedback=Settings(rephrase_cosine=0.3)))
    first = room.turn(1, FIRST)
    room.turn(2, AGAIN)
    (said,) = room.store.of(first.request_id)
    assert said.meta["embedder"] == "fake/hash-embedder"
    assert 0.3 <= float(said.meta["cosine"]) <= 1
    room.kb.close()


@pytest.mark.parametrize(("later", "found"), [(120, ["rephrased_query"]), (121, [])])
def test_only_within_two_minutes(room: Room, later: float, found: list[str]) -> None:
    first = room.turn(1, FIRST)
    room.clock.forward(later)
    room.turn(2, FIRST)
    assert signals(room, first) == found


def test_asked_again_after_another_question(room: Room) -> None:
    first, other = room.turn(1, FIRST), room.turn(2, OTHER)
    room.turn(3, FIRST)
    assert signals(room, first) == ["rephrased_query"]
    assert signals(room, other) == []


def test_a_correction_is_of_the_answer_directly_before(room: Room) -> None:
    first, second = room.turn(1, OTHER), room.turn(2, FIRST, "Bill Bowerman founded it.")
    room.clock.forward(500)
    room.turn(3, "That's wrong, it was Phil Knight")
    assert signals(room, first) == []
    assert signals(room, second) == ["follow_up_correction"]


def test_other_sessions_and_other_users_do_not_count(room: Room) -> None:
    first = room.turn(1, FIRST, user="alice")
    room.turn(2, FIRST, user="mallory")
    room.turn(3, FIRST, user="alice", session="ses_2")
    assert signals(room, first) == []


def test_windows_of_zero_notice_nothing(tmp_path: Path) -> None:
    settings = Settings(rephrase_window_s=0, correction_window_s=0)
    room = Room(tmp_path / "home", Config(feedback=settings))
    first = room.turn(1, FIRST)
    room.turn(2, FIRST)
    room.turn(3, "That's wrong")
    room.clock.forward(10_000)
    assert signals(room, first) == []
    room.kb.close()


def test_what_goes_wrong_is_a_notice_and_no_error(room: Room) -> None:
    class Broken:
        def embed(self, texts: object) -> object:
            raise RuntimeError("out of memory")

    first = room.turn(1, FIRST)
    room.parts.__dict__["embedder"] = Broken()
    second = room.turn(2, AGAIN)
    assert signals(room, first) == []
    notice = room.log.latest(EntryKind.NOTICE)
    assert notice is not None
    told = room.log.body(notice)
    assert told["request_id"] == second.request_id
    assert told["feedback"] == "RuntimeError: out of memory"


def test_the_windows_are_no_part_of_what_answers_depend_on() -> None:
    assert Config().hash == msgspec.structs.replace(Config(), feedback=Settings(rephrase_window_s=5)).hash

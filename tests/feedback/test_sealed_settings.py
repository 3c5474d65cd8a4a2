"""The log has the settings of an action before the action, including those no answer depends on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.feedback.conftest import Room

from citewell.audit.entries import EntryKind
from citewell.core.config import Alerts, Config, Feedback, Retention, Server
from citewell.knowledge.home import KnowledgeBase

REQUEST = f"req_{1:024d}"


def under(secret: str) -> Config:
    return Config(
        escalate=f"tell --token {secret}",
        feedback=Feedback(rephrase_window_s=7.0),
        server=Server(port=9000),
        alerts=Alerts(
            rules=("share of ABSTAIN > 0.5",),
        ),
    )


def sealed(room: Room, kind: EntryKind) -> list[dict[str, object]]:
    return [room.log.body(entry) for entry in room.log.entries(kind)]


def test_a_change_of_what_no_answer_depends_on_is_on_record(tmp_path: Path) -> None:
    for secret in ("S3CRET", "S3CRET", "AN0THER"):
        room = Room(tmp_path / "home", under(secret))
        if not room.log.size():
            room.answered(1)
        room.kb.feedback(REQUEST, "copied")
        room.kb.close()
    room = Room(tmp_path / "home")
    room.kb.feedback(REQUEST, "thumbs_up")
    first, second, third = sealed(room, EntryKind.OPERATION)
    assert first["server"]["port"] == 9000  # type: ignore[index]
    assert first["feedback"]["rephrase_window_s"] == 7  # type: ignore[index]
    assert first["escalate"] != second["escalate"] != third["escalate"] == ""
    assert len(sealed(room, EntryKind.CONFIGURATION)) == 1
    everything = str([room.log.body(entry) for entry in room.log.entries()])
    assert "S3CRET" not in everything
    assert "AN0THER" not in everything
    assert room.log.check().ok
    room.kb.close()


def test_a_receipt_tells_a_stranger_nothing_of_how_the_home_is_run(tmp_path: Path) -> None:
    room = Room(tmp_path / "home", under("S3CRET"))
    room.answered(1, config_hash=under("").hash)
    room.kb.feedback(REQUEST, "copied")
    room.answered(2, config_hash=under("").hash)
    receipt = msgspec.json.encode(room.kb.audit.receipt(f"req_{2:024d}"))
    assert b"broadened_pool" in receipt
    assert b"hooks.example" not in receipt
    room.kb.close()


@pytest.mark.parametrize(
    ("act", "left"),
    [
        (lambda kb: kb.audit.expire(), EntryKind.EXPIRY),
        (lambda kb: kb.audit.erase("alice"), EntryKind.ERASURE),
        (lambda kb: kb.feedback(REQUEST, "copied"), EntryKind.FEEDBACK),
        (lambda kb: kb.audit.note_evaluation({"measure": "calibration card"}), EntryKind.EVALUATION),
    ],
)
def test_what_was_done_comes_after_the_settings_it_was_done_under(
    tmp_path: Path, act: Callable[[KnowledgeBase], object], left: EntryKind
) -> None:
    room = Room(tmp_path / "home", Config(retention=Retention(answers_days=1)))
    room.answered(1)
    room.clock.forward(400 * 86_400)
    act(room.kb)
    kinds = [entry.kind for entry in room.log.entries()]
    assert kinds[1:3] == [EntryKind.CONFIGURATION, EntryKind.OPERATION]
    assert kinds[3] == left
    (settings,) = sealed(room, EntryKind.CONFIGURATION)
    assert settings["config"]["retention"]["answers_days"] == 1  # type: ignore[index]
    room.kb.close()


def test_a_dry_run_of_an_expiry_leaves_no_entry(room: Room) -> None:
    room.answered(1)
    room.kb.audit.expire(dry_run=True)
    assert room.log.size() == 1

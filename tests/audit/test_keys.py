"""Keys that several processes use, lose and get back."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.audit import EntryKind, SqliteLog
from citewell.audit.keys import FolderKeys
from citewell.errors import LogError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.sqlite"


def test_a_running_process_goes_on_when_another_one_rotates_the_key(path: Path) -> None:
    running = SqliteLog(path)
    running.note(EntryKind.NOTICE, {})
    other = SqliteLog(path)
    other.hand_over("yearly")
    running.note(EntryKind.NOTICE, {})
    running.hand_over("again")
    other.note(EntryKind.NOTICE, {})
    assert running.size() == 5
    assert other.check().ok
    assert len(other.keys.published().splitlines()) == 3


def test_a_handover_that_somebody_else_finished_is_a_handover(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, server = SqliteLog(path), SqliteLog(path)
    server.note(EntryKind.NOTICE, {})
    finish = log.keys.take_up

    def late(public: str) -> object:
        # Between the entry of the handover and the new key, another process writes.
        server.keys.take_up(public)
        return finish(public)

    monkeypatch.setattr(log.keys, "take_up", late)
    new = log.hand_over()
    server.note(EntryKind.NOTICE, {})
    log.note(EntryKind.NOTICE, {})
    assert log.check(key=new).ok


def test_a_second_handover_does_not_throw_away_the_key_of_the_first(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = SqliteLog(path)
    log.note(EntryKind.NOTICE, {})
    second = SqliteLog(path, wait_s=0.1)
    make = log.keys.next_signer
    refused = []

    def meanwhile(name: str) -> object:
        made = make(name)
        try:
            second.hand_over()
        except LogError as error:
            refused.append(error)
        return made

    monkeypatch.setattr(log.keys, "next_signer", meanwhile)
    log.hand_over()
    assert len(refused) == 1
    second.hand_over()
    log.note(EntryKind.NOTICE, {})
    assert log.check().ok


def test_a_key_made_by_a_process_that_was_killed_is_published_by_the_next_one(tmp_path: Path) -> None:
    keys = FolderKeys(tmp_path / "keys")
    keys.signer()
    (tmp_path / "keys" / "signing.pub").unlink()
    assert keys.signer().public_text() == keys.published() != ""

"""Keys that several processes use, lose and recover."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.audit.conftest import Make

from citewell.audit import EntryKind, SqliteLog
from citewell.audit.keys import FolderKeys
from citewell.core import files
from citewell.core.errors import LogError, UsageError


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
        # Between the handover entry and the new key, another process writes.
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
    monkeypatch.setattr(files, "WAIT_S", 0.1)
    log = SqliteLog(path)
    log.note(EntryKind.NOTICE, {})
    second = SqliteLog(path)
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


def backed_up(path: Path, safe: Path, make: Make) -> SqliteLog:
    """A closed log of one record, its keys backed up in ``safe``."""
    log = SqliteLog(path)
    log.append(make(1))
    log.keys.back_up(safe)
    log.close()
    return log


def test_what_fails_without_the_keys_does_not_stand_in_the_way_of_their_backup(
    path: Path, tmp_path: Path, make: Make
) -> None:
    log = backed_up(path, tmp_path / "safe", make)
    shutil.rmtree(tmp_path / "keys")
    without = SqliteLog(path)
    without.keys.blind("a session that somebody looks for")
    with pytest.raises(LogError, match="restore"):
        without.append(make(2))
    assert without.keys.find("alice") is None
    assert without.restore_keys(tmp_path / "safe")
    assert without.record(make(1).request_id) == make(1)
    assert without.keys.blind("ses_1") == log.keys.blind("ses_1")
    without.append(make(2))
    assert without.check().ok


def test_people_are_not_made_anew_where_only_their_keys_are_lost(
    path: Path, tmp_path: Path, make: Make
) -> None:
    backed_up(path, tmp_path / "safe", make)
    for file in (tmp_path / "keys").glob("subjects.sqlite*"):
        file.unlink()
    without = SqliteLog(path)
    with pytest.raises(LogError, match="audit key restore"):
        without.append(make(2))
    assert without.restore_keys(tmp_path / "safe")
    without.append(make(2))
    assert [record.user for record in map(without.record, (make(1).request_id, make(2).request_id))] == [
        "alice",
        "alice",
    ]


def test_people_who_came_after_the_backup_keep_their_keys(tmp_path: Path) -> None:
    keys = FolderKeys(tmp_path / "keys")
    keys.signer()
    old, blinded = keys.subject("alice"), keys.blind("ses_1")
    keys.back_up(tmp_path / "safe")
    keys.destroy("alice")
    new, carol = keys.subject("alice"), keys.subject("carol")
    (tmp_path / "keys" / "signing.key").unlink()
    assert keys.restore(tmp_path / "safe", {new.id, carol.id}, lambda _: True)
    assert (keys.find("alice"), keys.find("carol")) == (new, carol)
    assert keys.key(old.id) is None
    assert FolderKeys(tmp_path / "keys").blind("ses_1") == blinded


def test_a_backup_older_than_a_rotation_brings_people_back_and_leaves_the_key_to_be_replaced(
    path: Path, tmp_path: Path, make: Make
) -> None:
    log = SqliteLog(path)
    log.append(make(1))
    log.keys.back_up(tmp_path / "old")
    log.hand_over("yearly")
    log.close()
    shutil.rmtree(tmp_path / "keys")
    without = SqliteLog(path)
    assert not without.restore_keys(tmp_path / "old")
    assert without.record(make(1).request_id) == make(1)
    with pytest.raises(LogError, match="not in") as refused:
        without.append(make(2))
    assert "--lost" in str(refused.value.hint)
    with pytest.raises(UsageError, match="another log or is older"):
        without.restore_keys(tmp_path / "old")
    without.replace_lost_key("the disk died")
    without.append(make(2))
    assert without.record(make(2).request_id) == make(2)
    assert without.check().ok


def test_the_backup_of_another_log_is_refused_and_does_not_stand_in_the_way(
    path: Path, tmp_path: Path, make: Make
) -> None:
    backed_up(path, tmp_path / "safe", make)
    other = tmp_path / "other"
    other.mkdir()
    backed_up(other / "audit.sqlite", tmp_path / "foreign", make)
    shutil.rmtree(tmp_path / "keys")
    without = SqliteLog(path)
    with pytest.raises(UsageError, match="another log"):
        without.restore_keys(tmp_path / "foreign")
    assert without.restore_keys(tmp_path / "safe")
    without.append(make(2))
    assert without.record(make(1).request_id) == make(1)
    with pytest.raises(UsageError, match="are complete"):
        without.restore_keys(tmp_path / "safe")


@pytest.mark.parametrize("harm", ["foreign", "stale", "torn"])
def test_a_wrong_signing_key_stands_neither_in_the_way_of_the_right_one_nor_of_a_new_one(
    path: Path, tmp_path: Path, make: Make, harm: str
) -> None:
    log = SqliteLog(path)
    log.append(make(1))
    log.keys.back_up(tmp_path / "stale")
    log.hand_over("yearly")
    log.keys.back_up(tmp_path / "safe")
    log.close()
    other = tmp_path / "other"
    other.mkdir()
    backed_up(other / "audit.sqlite", tmp_path / "foreign", make)
    key = tmp_path / "keys" / "signing.key"
    for mend in ("restore", "lost"):
        if harm == "torn":
            key.write_text("PRIVATE+KEY+", encoding="utf-8")
        else:
            shutil.rmtree(tmp_path / "keys")
            shutil.copytree(tmp_path / harm, tmp_path / "keys")
        wrong = key.read_text(encoding="utf-8")
        again = SqliteLog(path)
        with pytest.raises(LogError):
            again.append(make(2))
        if mend == "restore":
            assert again.restore_keys(tmp_path / "safe")
            assert again.record(make(1).request_id) == make(1)
        else:
            again.replace_lost_key("the disk died")
        again.append(make(2 if mend == "restore" else 3))
        assert again.check().ok
        again.close()
        # It may be the only copy of another log's key.
        assert wrong in [file.read_text(encoding="utf-8") for file in key.parent.glob("signing.key.*")]


def test_a_key_in_force_is_not_lost(path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    log = SqliteLog(path)
    log.append(make(1))
    with pytest.raises(UsageError, match="already a signing key"):
        log.replace_lost_key("no")

    def die(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(log.keys, "take_up", die)
    with pytest.raises(KeyboardInterrupt):
        log.hand_over()
    with pytest.raises(UsageError, match="already a signing key"):
        SqliteLog(path).replace_lost_key("the handover is only unfinished")


@pytest.mark.parametrize("harm", ["gone", "torn"])
def test_a_handover_that_was_cut_short_is_finished_without_the_old_key(
    path: Path, make: Make, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    log = SqliteLog(path)
    log.append(make(1))

    def die(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(log.keys, "take_up", die)
    with pytest.raises(KeyboardInterrupt):
        log.hand_over()
    log.close()
    old = path.parent / "keys" / "signing.key"
    if harm == "gone":
        old.unlink()
    else:
        old.write_text("PRIVATE+KEY+", encoding="utf-8")
    again = SqliteLog(path)
    again.append(make(2))
    again.hand_over()
    assert again.check().ok
    assert len(again.keys.published().splitlines()) == 3


def test_a_key_that_is_not_the_logs_is_not_published(path: Path, tmp_path: Path, make: Make) -> None:
    log = backed_up(path, tmp_path / "safe", make)
    other = tmp_path / "other"
    other.mkdir()
    backed_up(other / "audit.sqlite", tmp_path / "foreign", make)
    shutil.copy(tmp_path / "foreign" / "signing.key", tmp_path / "keys")
    again = SqliteLog(path)
    with pytest.raises(LogError, match="is not in") as refused:
        again.append(make(2))
    assert "--lost" in str(refused.value.hint)
    assert again.keys.published() == log.keys.published()
    assert len(again.keys.published().splitlines()) == 1


def test_a_key_is_not_said_to_be_destroyed_while_it_stands_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "WAIT_S", 0.1)
    keys = FolderKeys(tmp_path / "keys")
    key = keys.subject("alice").key
    reader = sqlite3.connect(tmp_path / "keys" / "subjects.sqlite")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM subjects").fetchall()
    for _ in range(2):
        with pytest.raises(LogError, match="still reading"):
            keys.destroy("alice")
    reader.close()
    keys.destroy("alice")
    assert not [file for file in (tmp_path / "keys").iterdir() if key in file.read_bytes()]


def test_keys_come_back_where_the_log_is_about_nobody(path: Path, tmp_path: Path) -> None:
    """From then on, people may be named in it, too."""
    log = SqliteLog(path)
    log.note(EntryKind.NOTICE, {"n": 1})
    log.keys.back_up(tmp_path / "safe")
    log.close()
    shutil.rmtree(tmp_path / "keys")
    again = SqliteLog(path)
    assert again.restore_keys(tmp_path / "safe")
    again.note(EntryKind.NOTICE, {"n": 2}, subject="alice")
    assert again.check().ok


def test_a_backup_from_before_a_person_is_no_reason_to_replace_the_signing_key(tmp_path: Path) -> None:
    keys = FolderKeys(tmp_path / "keys")
    keys.signer()
    keys.back_up(tmp_path / "old")
    lost = {"sub_lost"}
    with pytest.raises(UsageError, match="older than a missing person") as refused:
        keys.restore(tmp_path / "old", lost, lambda _: True)
    assert "--lost" not in str(refused.value.hint)


def test_a_second_backup_brings_people_whom_the_first_had_not(tmp_path: Path) -> None:
    keys = FolderKeys(tmp_path / "keys")
    keys.signer()
    alice = keys.subject("alice")
    keys.back_up(tmp_path / "old")
    bob = keys.subject("bob")
    keys.back_up(tmp_path / "new")
    fresh = FolderKeys(tmp_path / "fresh")
    for backup in ("old", "new"):
        assert fresh.restore(tmp_path / backup, {alice.id, bob.id}, lambda _: True)
    assert (fresh.find("alice"), fresh.find("bob")) == (alice, bob)

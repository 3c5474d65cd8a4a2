"""What was acknowledged survives kill -9 and a power cut, and the tests of that can fail."""

from __future__ import annotations

import shutil
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from benchmarks.audit_crash import cut_off, killed

from citewell.audit import EntryKind, SqliteLog
from citewell.core.errors import LogError, LogIntegrityError

compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler for the recorder")


@pytest.mark.slow
def test_killed_processes_lose_nothing_they_acknowledged() -> None:
    outcome = killed(8)
    assert outcome["acknowledged"] > 0
    assert (outcome["lost"], outcome["broken"]) == (0, 0)


@pytest.mark.slow
@compiler
def test_a_power_cut_loses_nothing_that_was_acknowledged() -> None:
    outcome = cut_off(60, entries=60)
    assert outcome["acknowledged"] > 30
    assert (outcome["lost"], outcome["broken"]) == (0, 0)


@pytest.mark.slow
@compiler
def test_a_log_that_does_not_sync_is_caught_by_the_power_cut() -> None:
    assert cut_off(60, entries=60, careless=True)["lost"] > 0


def test_waiting_writers_share_a_commit(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.note(EntryKind.NOTICE, {})
    threads = [threading.Thread(target=log.note, args=(EntryKind.NOTICE, {"n": n})) for n in range(30)]
    groups = []
    write = log._writer.write

    def counted(group):  # type: ignore[no-untyped-def]
        groups.append(len(group))
        return write(group)

    log._writer.write = counted  # type: ignore[method-assign,assignment]
    with log._turn:
        for thread in threads:
            thread.start()
        while len(log._groups._queue) < 29:
            pass
    for thread in threads:
        thread.join()
    # The first writer did not wait for the others.
    assert groups == [1, 29]
    assert [entry.seq for entry in log.entries()] == list(range(1, 32))
    assert log.check().ok


def test_one_bad_entry_does_not_take_its_group_with_it(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.append(make(1))
    errors = []

    def append(number: int) -> None:
        try:
            log.append(make(number))
        except LogError as error:
            errors.append((number, str(error)))

    threads = [threading.Thread(target=append, args=(number,)) for number in (2, 1, 3)]
    with log._turn:
        # The first leads alone; the others form the group that one of them spoils.
        first = threading.Thread(target=append, args=(4,))
        first.start()
        while not log._groups._busy or log._groups._queue:
            pass
        for thread in threads:
            thread.start()
        while len(log._groups._queue) < 3:
            pass
    first.join()
    for thread in threads:
        thread.join()
    assert [number for number, _ in errors] == [1]
    assert log.size() == 4
    assert log.check().ok


def test_a_clock_that_jumps_back_is_noted_and_orders_nothing(tmp_path: Path) -> None:
    class Jumping:
        hours = iter((9, 10, 8, 11))

        def now(self) -> datetime:
            return datetime(2026, 11, 21, next(self.hours), tzinfo=UTC)

    log = SqliteLog(tmp_path / "audit.sqlite", clock=Jumping())
    for number in range(4):
        log.note(EntryKind.NOTICE, {"number": number})
    assert [log.body(entry)["number"] for entry in log.entries()] == [0, 1, 2, 3]
    assert [entry.timestamp[11:13] for entry in log.entries()] == ["09", "10", "08", "11"]
    report = log.check()
    assert report.ok
    assert any("an earlier time" in note for note in report.notes)


def test_nothing_is_added_to_a_log_that_is_not_as_it_was_signed(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.note(EntryKind.NOTICE, {})
    with log.database.writing() as rows:
        rows.execute("UPDATE tree SET hash = ? WHERE place = 0", (bytes(32),))
    log.note(EntryKind.NOTICE, {"text": "this process still knows the tree"})
    log.close()
    with pytest.raises(LogIntegrityError, match="does not match its signed"):
        SqliteLog(tmp_path / "audit.sqlite").note(EntryKind.NOTICE, {})


def test_a_log_whose_signing_key_is_gone_says_how_to_get_it_back(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.note(EntryKind.NOTICE, {})
    log.close()
    (tmp_path / "keys" / "signing.key").unlink()
    again = SqliteLog(tmp_path / "audit.sqlite")
    with pytest.raises(LogError, match="restore"):
        again.note(EntryKind.NOTICE, {})
    assert again.size() == 1
    new = again.replace_lost_key("the disk died")
    again.note(EntryKind.NOTICE, {})
    assert again.check(key=new).ok


def test_a_handover_that_was_cut_short_is_finished_by_the_next_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.note(EntryKind.NOTICE, {})

    def die(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(log.keys, "take_up", die)
    with pytest.raises(KeyboardInterrupt):
        log.hand_over()
    other = SqliteLog(tmp_path / "audit.sqlite")
    other.note(EntryKind.NOTICE, {})
    assert other.check().ok
    assert not (tmp_path / "keys" / "signing.next").exists()
    assert len(other.keys.published().splitlines()) == 2

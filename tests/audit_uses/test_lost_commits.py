"""A COMMIT whose reply is lost: its writes exist once, and waiting callers are told the truth."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from benchmarks.sample_records import some_record

from citewell.audit import EntryKind
from citewell.audit.database import Database, Rows, migrate
from citewell.audit.keys import FolderKeys
from citewell.audit.log import Log
from citewell.audit.writer import UnsettledError
from citewell.core.errors import LogError


class Line:
    """Drops the connection at the next COMMIT: ``before`` it, ``after`` it, or after it for good."""

    def __init__(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self.drops = ""
        writing = database.writing

        @contextmanager
        def dropping() -> Iterator[Rows]:
            if self.drops == "gone":
                raise LogError("the server cannot be reached")
            with writing() as rows:
                yield rows
                drops = self.drops
                self.drops = {"for good": "gone"}.get(drops, "")
                if drops == "before":
                    raise LogError("the server closed the connection")
            if drops:
                raise LogError("the server closed the connection")

        monkeypatch.setattr(database, "writing", dropping)


@pytest.fixture
def log(database: Database, tmp_path: Path) -> Log:
    migrate(database)
    log = Log(database, FolderKeys(tmp_path / "keys"))
    log.append(some_record(1))
    return log


def together(log: Log, numbers: range) -> list[LogError]:
    """Writes one record or note per number from threads that share a COMMIT; returns the errors they got."""
    errors: list[LogError] = []

    def write(number: int) -> None:
        try:
            if number % 2:
                log.append(some_record(number))
            else:
                log.note(EntryKind.NOTICE, {"number": number})
        except LogError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in numbers]
    with log._turn:
        # The first leads alone; the others form the group after it.
        threads[0].start()
        while not log._groups._busy or log._groups._queue:
            pass
        for thread in threads[1:]:
            thread.start()
        while len(log._groups._queue) < len(threads) - 1:
            pass
    for thread in threads:
        thread.join()
    return errors


def stands(log: Log) -> list[object]:
    """The request id or number of each entry."""
    bodies = map(log.body, log.entries())
    return sorted(str(body.get("request_id") or body["number"]) for body in bodies)


@pytest.mark.parametrize("drops", ["before", "after"])
def test_entries_stand_once_whenever_the_connection_was_lost(
    log: Log, drops: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Line(log.database, monkeypatch)
    put = log._writer._put

    def second(rows: Rows, group: list[object], *signers: object) -> object:
        # The first, on its own, goes through.
        if len(group) > 1:
            line.drops = drops
        return put(rows, group, *signers)  # type: ignore[arg-type]

    monkeypatch.setattr(log._writer, "_put", second)
    assert together(log, range(2, 7)) == []
    assert stands(log) == sorted(["2", "4", "6", *(f"req_{number:024d}" for number in (1, 3, 5))])
    log.append(some_record(7))
    assert log.size() == 7
    assert log.check().ok


def test_nobody_is_told_that_nothing_was_written_where_nobody_can_tell(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Line(log.database, monkeypatch)
    put = log._writer._put

    def second(rows: Rows, group: list[object], *signers: object) -> object:
        if len(group) > 1:
            line.drops = "for good"
        return put(rows, group, *signers)  # type: ignore[arg-type]

    monkeypatch.setattr(log._writer, "_put", second)
    errors = together(log, range(2, 7))
    assert [type(error) for error in errors] == [UnsettledError] * 4
    line.drops = ""
    assert log.size() == 6
    log.append(some_record(7))
    assert log.check().ok


@pytest.mark.parametrize("drops", ["before", "after"])
def test_a_handover_is_told_as_it_is_whenever_the_connection_was_lost(
    log: Log, drops: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = Line(log.database, monkeypatch)
    line.drops = drops
    if drops == "before":
        with pytest.raises(LogError, match="closed the connection"):
            log.hand_over()
    else:
        assert log.keys.published().splitlines()[-1] != log.hand_over()
    assert len(list(log.entries(EntryKind.KEY))) == (drops == "after")
    log.append(some_record(2))
    assert log.check().ok

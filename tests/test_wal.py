"""Opening one new SQLite file from several processes at once."""

from __future__ import annotations

import multiprocessing
import sqlite3
from pathlib import Path

import pytest

from citewell.core.files import open_wal

PROCESSES, ROUNDS = 4, 30


def _open_all(folder: str, start, failures) -> None:  # type: ignore[no-untyped-def]
    for number in range(ROUNDS):
        start.wait()
        try:
            connection = open_wal(Path(folder) / f"{number}.sqlite")
            connection.execute("CREATE TABLE IF NOT EXISTS t(a)")
            connection.close()
        except sqlite3.Error as error:
            failures.put(f"{number}: {error}")


def test_processes_that_open_a_new_file_at_once_all_get_it(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    start, failures = spawn.Barrier(PROCESSES), spawn.SimpleQueue()
    children = [
        spawn.Process(target=_open_all, args=(str(tmp_path), start, failures)) for _ in range(PROCESSES)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * PROCESSES
    assert failures.empty(), failures.get()


def test_it_is_durable_and_overwrites_what_it_deletes(tmp_path: Path) -> None:
    connection = open_wal(tmp_path / "a.sqlite")
    asked = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in PRAGMAS}
    connection.close()
    assert asked == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1}


PRAGMAS = ("journal_mode", "synchronous", "secure_delete")


def test_what_is_no_database_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(sqlite3.DatabaseError):
        open_wal(tmp_path / "a.sqlite")

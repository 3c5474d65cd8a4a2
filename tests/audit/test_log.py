"""The log accepts entries from any number of writers, loses none it acknowledged, and reports failures."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from citewell.audit import EntryKind, SqliteLog
from citewell.core import files
from citewell.core.errors import LogError, UsageError

WRITER = """
import sys
from pathlib import Path
from citewell.audit import EntryKind, SqliteLog
log = SqliteLog(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    digest = log.note(EntryKind.NOTICE, {"writer": sys.argv[2], "number": number, "text": "x" * 500})
    print(number, digest, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)], stdout=subprocess.PIPE, text=True
    )


def fill(log: SqliteLog, subject: str = "") -> None:
    for number in range(1000):
        log.note(EntryKind.NOTICE, {"text": "x" * 3000}, subject=subject.format(number))


def sequence(path: Path) -> list[int]:
    return [entry.seq for entry in SqliteLog(path).entries()]


def test_appended_record_comes_back(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    log = SqliteLog(tmp_path / "audit.sqlite")
    digest = log.append(make(1))
    assert log.record("req_" + "0" * 23 + "1") == make(1)
    assert log.get("req_" + "0" * 23 + "1").hash == digest


def test_durable_settings(tmp_path: Path) -> None:
    SqliteLog(tmp_path / "audit.sqlite")
    connection = sqlite3.connect(tmp_path / "audit.sqlite")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_unknown_record_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="req_none"):
        SqliteLog(tmp_path / "audit.sqlite").get("req_none")


def test_error_record_is_an_entry_of_its_own_kind(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.append(make(1, error="GeneratorError: no"))
    assert [entry.kind for entry in log.entries()] == [EntryKind.ERROR]


def test_one_request_cannot_be_sealed_twice(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.append(make(1))
    with pytest.raises(LogError):
        log.append(make(1))
    log.append(make(2))
    assert sequence(tmp_path / "audit.sqlite") == [1, 2]
    assert log.check().ok


def test_threads_share_a_log(tmp_path: Path) -> None:
    path = tmp_path / "audit.sqlite"
    log = SqliteLog(path)
    threads = [
        threading.Thread(target=lambda: [log.note(EntryKind.NOTICE, {"n": n}) for n in range(20)])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sequence(path) == list(range(1, 161))
    assert log.check().ok


def test_processes_share_a_log(tmp_path: Path) -> None:
    path = tmp_path / "audit.sqlite"
    writers = [writer(path, name, 40) for name in "abc"]
    for process in writers:
        process.communicate()
        assert process.returncode == 0
    assert sequence(path) == list(range(1, 121))
    assert SqliteLog(path).check().ok


@pytest.mark.slow
def test_killed_writers_lose_nothing_they_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "audit.sqlite"
    acknowledged: list[str] = []
    for round_ in range(8):
        process = writer(path, str(round_), 100_000)
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        until = time.monotonic() + 0.05 + 0.02 * round_
        while time.monotonic() < until:
            lines.append(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        lines += process.communicate()[0].splitlines(keepends=True)
        acknowledged += [line.split()[1] for line in lines if line.endswith("\n")]
    log = SqliteLog(path)
    entries = list(log.entries())
    assert set(acknowledged) <= {entry.hash for entry in entries}
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert len({(entry.body) for entry in entries}) == len(entries)
    assert log.check().ok


def test_full_disk_is_an_error_and_leaves_the_log_whole(tmp_path: Path) -> None:
    path = tmp_path / "audit.sqlite"
    log = SqliteLog(path)
    log.note(EntryKind.NOTICE, {"n": 1})
    with log.database.writing() as rows:
        (pages,) = rows.execute("PRAGMA page_count").fetchone() or (0,)
        rows.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(LogError, match="disk space"):
        fill(log)
    size = log.size()
    assert log.check().ok
    with log.database.writing() as rows:
        rows.execute("PRAGMA max_page_count = 100000")
    log.note(EntryKind.NOTICE, {"n": 2})
    assert sequence(path) == list(range(1, size + 2))


def test_a_full_disk_under_the_keys_says_so(log_path: Path) -> None:
    log = SqliteLog(log_path)
    with log.keys.people().writing() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
    size = log.size()
    with pytest.raises(LogError, match="free some disk space"):
        fill(log, subject="somebody {}")
    assert log.check().ok
    assert log.size() >= size
    log.close()


def test_locked_log_is_a_retryable_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WAIT_S", 0.05)
    path = tmp_path / "audit.sqlite"
    log = SqliteLog(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LogError, match="another process") as caught:
        log.note(EntryKind.NOTICE, {})
    assert caught.value.retryable
    other.close()
    log.note(EntryKind.NOTICE, {})


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="writable"):
        SqliteLog(tmp_path / "none" / "audit.sqlite")


def test_file_that_is_no_log(tmp_path: Path) -> None:
    (tmp_path / "audit.sqlite").write_bytes(b"not a database, but long enough to look like one" * 50)
    with pytest.raises(LogError, match="not a database"):
        SqliteLog(tmp_path / "audit.sqlite")


def test_log_of_a_newer_citewell_is_refused(log_path: Path) -> None:
    connection = sqlite3.connect(log_path)
    connection.execute("INSERT INTO schema_steps(step) VALUES(99)")
    connection.commit()
    connection.close()
    with pytest.raises(LogError, match="newer"):
        SqliteLog(log_path)


def test_readonly_needs_a_log(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="no audit log"):
        SqliteLog(tmp_path / "audit.sqlite", readonly=True)

"""A log of this format stays readable and checkable. Add one file per format; never change a published one.

The files are SQL dumps of a six-entry log and its people's keys, and its public keys. Bob's key was destroyed
without a log entry.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from citewell.audit import SqliteLog
from citewell.audit.entries import KEY_MISSING
from citewell.audit.issuing import issue
from citewell.audit.receipt_check import check_receipt
from citewell.audit.receipts import receipt_bytes

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("version", ["format1"])
def test_an_older_log_is_read_and_checked(version: str, tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir()
    for name, path in (("log", "audit.sqlite"), ("subjects", "keys/subjects.sqlite")):
        connection = sqlite3.connect(tmp_path / path)
        connection.executescript((GOLDEN / f"{version}_{name}.sql").read_text())
        connection.close()
    log = SqliteLog(tmp_path / "audit.sqlite")
    published = (GOLDEN / f"{version}_signing.pub").read_text()
    assert log.check(key=published).ok
    assert log.check(key=published.splitlines()[0]).ok
    assert log.size() == 6
    assert log.record(f"req_{1:024d}").user_query == "question 1?"
    assert log.record(f"req_{2:024d}").user_query == KEY_MISSING
    assert log.body(log.at(6)) == {"score": 0.5, "text": "after the handover"}
    assert log.prove(2).size == 6
    receipt = issue(log, f"req_{1:024d}")
    assert receipt.answer["question"] == "question 1?"
    assert check_receipt(receipt_bytes(receipt), key=published).origin

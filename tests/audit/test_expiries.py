"""An expiry removes what may expire and nothing else: what the log is checked with stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.sample_records import some_record

from citewell.audit import EntryKind, SqliteLog
from citewell.audit.__main__ import main
from citewell.audit.expiries import CLASSES
from citewell.audit.export import export
from citewell.audit.indexing import profiles_kept
from citewell.core.config import Config
from citewell.knowledge.sealing import seal_configuration

LASTING = {1: "configuration", 2: "ingest", 4: "key", 5: "erasure"}


@pytest.fixture
def log(tmp_path: Path) -> SqliteLog:
    """A log whose entry 3 is an answer; the others are what it is checked with."""
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.note(EntryKind.CONFIGURATION, {"prompts": {}, "citewell": "1"})
    log.note(EntryKind.INGEST, {"documents": []})
    log.append(some_record(1))
    log.hand_over("yearly")
    log.note(EntryKind.ERASURE, {"subject": "sub_1", "entries": 1, "outcome": "ordered"})
    return log


def expiry(log: SqliteLog, *entries: int, take_out: bool = True, **other: Any) -> None:
    body = {"class": "answers", "entries": list(entries), "profiles": [], "records": [], **other}
    log.note(EntryKind.EXPIRY, body)
    if take_out:
        with log.database.writing() as rows:
            for seq in entries:
                rows.execute("UPDATE entries SET body = NULL WHERE seq = ?", (seq,))
                rows.execute("DELETE FROM private WHERE seq = ?", (seq,))


def named(log: SqliteLog) -> set[tuple[str, int]]:
    return {(finding.kind, finding.seq) for finding in log.check().findings}


def test_what_may_expire_are_kinds_of_entries() -> None:
    kinds = [kind for kinds in CLASSES.values() for kind in kinds]
    assert {EntryKind(kind) for kind in kinds} == {
        *(EntryKind.ANSWER, EntryKind.ERROR, EntryKind.READ, EntryKind.FEEDBACK, EntryKind.EVALUATION),
        *(EntryKind.NOTICE, EntryKind.RECHECK, EntryKind.RECALL),
    }


def test_an_answer_may_expire(log: SqliteLog) -> None:
    expiry(log, 3)
    assert log.check().ok


@pytest.mark.parametrize("seq", LASTING)
def test_what_the_log_is_checked_by_may_not(
    log: SqliteLog, seq: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expiry(log, seq)
    assert {("expiry", 6), ("withheld", seq)} <= named(log)
    export(log, tmp_path / "export")
    log.close()
    for path in (tmp_path / "export", tmp_path / "audit.sqlite"):
        assert main([str(path)]) == 5
        said = capsys.readouterr().out
        assert f"expiry: entry 6: it names entry {seq} of kind {LASTING[seq]}, which never expires" in said
        assert f"withheld: entry {seq}" in said


def test_an_expiry_is_named_before_anything_is_taken_out(log: SqliteLog) -> None:
    expiry(log, 1, take_out=False)
    assert named(log) == {("expiry", 6)}


def test_a_stranger_is_told_of_content_that_is_gone_without_a_word(
    log: SqliteLog, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with log.database.writing() as rows:
        rows.execute("UPDATE entries SET body = NULL WHERE seq = 3")
    log.close()
    assert main([str(tmp_path / "audit.sqlite")]) == 5
    assert "withheld: entry 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"entries": [7]}, "did not exist yet"),
        ({"entries": ["1) OR (1=1"]}, "not everything it names"),
        ({"entries": None}, "names no entries"),
        ({"class": "reads"}, "under reads, but its kind is answer"),
        ({"records": [[2, 0]]}, "entries that it does not name"),
    ],
    ids=str,
)
def test_a_forged_expiry_is_named_and_stops_no_question(
    log: SqliteLog, other: dict[str, Any], why: str
) -> None:
    expiry(log, 3, take_out=False, **other)
    found = log.check().findings
    assert ("expiry", 6) in {(finding.kind, finding.seq) for finding in found}
    assert any(why in finding.reason for finding in found)
    assert profiles_kept(log) == {}


def test_a_log_whose_configuration_and_key_were_taken_out_is_still_written(log: SqliteLog) -> None:
    seal_configuration(log, Config())
    settings = [entry.seq for entry in log.entries(EntryKind.CONFIGURATION)]
    expiry(log, *settings, 4)
    again = SqliteLog(log.path)
    seal_configuration(again, Config())
    again.append(some_record(2))
    last = again.latest(EntryKind.CONFIGURATION)
    assert last is not None
    assert last.body is not None
    assert {("withheld", 4), *(("withheld", seq) for seq in settings)} <= named(again)

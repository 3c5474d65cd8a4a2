"""Every row of the tamper table: when done to a log, it is detected and named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from benchmarks.audit_tamper import ENTRIES, FILE, ROWS, THEFTS, Row, judge, run, scene
from benchmarks.audit_tamper_home import ROWS as HOME_ROWS

from citewell.audit import SqliteLog


def test_the_table_holds_at_least_the_51_that_were_asked_for() -> None:
    assert len(ROWS) + len(THEFTS) + len(HOME_ROWS) >= 51


@pytest.mark.parametrize("row", [*ROWS, *THEFTS], ids=lambda row: f"{row.kind}-{row.who}")
def test_the_deed_is_named_or_known_to_be_beyond_naming(row: Row) -> None:
    alone, kept = run(row)
    if not row.named:
        assert alone.ok, alone
        assert kept.ok, kept
        return
    report = kept if row.outside else alone
    assert row.named in {finding.kind for finding in report.findings}
    assert all(finding.reason for finding in report.findings)
    assert not kept.ok, "a kept checkpoint hides what is found without"


@pytest.mark.parametrize("row", [row for row in ROWS if row.outside], ids=lambda row: row.kind)
def test_what_an_owner_does_is_seen_from_outside_alone(row: Row, tmp_path: Path) -> None:
    made = scene(tmp_path)
    row.deed(made)
    inside = {finding.kind for finding in judge(made, outside=False).findings}
    assert not inside & {
        "edited",
        "deleted",
        "inserted",
        "reordered",
        "rewritten",
        "rolled-back",
        "truncated",
    }


def test_two_kept_checkpoints_tell_how_far_a_log_was_put_back(tmp_path: Path) -> None:
    made = scene(tmp_path)
    early = SqliteLog(made.early, keys=SqliteLog(tmp_path / FILE).keys)
    kept = [early.checkpoint(), made.kept]
    next(row for row in ROWS if row.who == "owner, gone on").deed(made)
    report = SqliteLog(tmp_path / FILE).check(outside=kept, key=made.key)
    assert [(found.kind, found.seq) for found in report.findings] == [("rolled-back", early.size() + 1)]


def test_a_log_that_only_grew_holds_against_every_checkpoint(tmp_path: Path) -> None:
    made = scene(tmp_path)
    shutil.copy(tmp_path / FILE, tmp_path / "copy.sqlite")
    assert judge(made, outside=True).size == ENTRIES
    assert judge(made, outside=True).ok


def test_a_published_key_of_somebody_else_does_not_pass(tmp_path: Path) -> None:
    made = scene(tmp_path)
    (tmp_path / "other").mkdir()
    other = SqliteLog(tmp_path / "other" / FILE)
    other.checkpoint()
    made.key = other.keys.published()
    assert {finding.kind for finding in judge(made, outside=False).findings} == {"checkpoint"}


def test_a_handover_of_the_key_is_followed(tmp_path: Path) -> None:
    made = scene(tmp_path)
    log = SqliteLog(tmp_path / FILE)
    log.hand_over("yearly")
    assert log.check(key=made.key, outside=[made.kept]).ok
    log.hand_over("again")
    assert log.check(key=made.key, outside=[made.kept]).ok
    newest = log.keys.published().splitlines()[-1]
    assert log.check(key=newest).ok


def test_a_retired_key_signs_nothing_more(tmp_path: Path) -> None:
    made = scene(tmp_path)
    old = made.signer()
    log = SqliteLog(tmp_path / FILE)
    log.hand_over("stolen")
    log.close()
    made.rebuild(old)
    # The handover's own checkpoint counts by the new key, which signs it along with the old one.
    assert not judge(made, outside=False).ok
    made.run(
        f"INSERT INTO entries SELECT {ENTRIES + 2}, 'notice', timestamp, '', '{{}}', ''"
        f" FROM entries WHERE seq = {ENTRIES}"
    )
    made.rebuild(old)
    (found,) = judge(made, outside=False).findings
    assert found.kind == "checkpoint"
    assert "retired" in found.reason

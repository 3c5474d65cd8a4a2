"""Whatever is put into one cell of a log, the check ends with a report, and so does a third party's."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from benchmarks.sample_records import some_record
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from citewell.audit import CheckReport, EntryKind, Finding, SqliteLog
from citewell.audit.__main__ import main
from citewell.core.errors import EvidenceError
from citewell.core.records import Document


class Nothing:
    """An empty evidence store."""

    def put(self, document: Document) -> None:
        raise NotImplementedError

    def get(self, version: str, document_id: str = "") -> Document:
        raise EvidenceError(f"{document_id} is not stored")


CELLS = [
    *(("entries", name) for name in ("seq", "kind", "timestamp", "subject", "body", "body_hash")),
    *(("private", name) for name in ("seq", "subject", "sealed")),
    *(("requests", name) for name in ("request_id", "seq")),
    *(("tree", name) for name in ("level", "place", "hash")),
    *(("head", name) for name in ("size", "checkpoint")),
    *(("published", name) for name in ("size", "witness", "timestamp", "checkpoint", "error")),
]
INVALID = "CAST(x'ff7b' AS TEXT)"
"""SQLite text that is not valid UTF-8."""
VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-3, 20),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["{", "{}", "[]", "[" * 5000, "key", "expiry", "erasure", "configuration"]),
    st.binary(max_size=40),
    st.sampled_from([bytes(32), b'{"entries": [1]}']),
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with an entry of every kind that the check itself reads, one of them expired."""
    folder = tmp_path_factory.mktemp("sound")
    log = SqliteLog(folder / "audit.sqlite")
    log.note(EntryKind.CONFIGURATION, {"prompts": {"answer": "sha256:p"}, "citewell": "1"})
    log.note(EntryKind.INGEST, {"documents": [{"document_id": "a", "version": "v", "text_hash": "h"}]})
    for number in range(1, 4):
        log.append(some_record(number))
    log.hand_over("yearly")
    log.note(EntryKind.EXPIRY, {"entries": [3], "profiles": [], "records": []})
    log.note(EntryKind.ERASURE, {"subject": "sub_0", "outcome": "done"})
    with log.database.writing() as rows:
        rows.execute("UPDATE entries SET body = NULL WHERE seq = 3")
        rows.execute("DELETE FROM private WHERE seq = 3")
        rows.execute("INSERT INTO published VALUES(4, 'w', 't', 'c', '')")
    log.note(EntryKind.CONFIGURATION, {"prompts": {"answer": "sha256:q"}, "citewell": "1"})
    log.database.overwrite()
    log.close()
    return folder


def check(folder: Path) -> CheckReport:
    log = SqliteLog(folder / "audit.sqlite", readonly=True)
    try:
        return log.check(evidence=Nothing(), prompts={"answer": "sha256:q"}, release="1")
    finally:
        log.close()


@pytest.fixture(scope="module")
def folder(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("tampered")
    shutil.copytree(sound / "keys", copy / "keys")
    return copy


def put(sound: Path, folder: Path, table: str, name: str, place: int, value: object) -> bool:
    """Writes one cell of a fresh copy; False if the database itself refuses the value."""
    shutil.copy(sound / "audit.sqlite", folder / "audit.sqlite")
    with closing(sqlite3.connect(folder / "audit.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        key = {"requests": "request_id", "tree": "level * 1000 + place", "published": "witness"}.get(
            table, "one" if table == "head" else "seq"
        )
        at = f"{key} = (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET {place % count})"
        said, values = (INVALID, ()) if value == INVALID else ("?", (value,))
        try:
            connection.execute(f"UPDATE {table} SET {name} = {said} WHERE {at}", values)
        except sqlite3.Error:
            return False
    return True


def test_the_log_is_sound_but_for_its_documents(sound: Path) -> None:
    assert {finding.kind for finding in check(sound).findings} == {"evidence"}


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(CELLS), st.integers(0, 20), VALUES | st.just(INVALID))
def test_a_check_ends_with_a_report(
    sound: Path, folder: Path, cell: tuple[str, str], place: int, value: object
) -> None:
    assume(put(sound, folder, *cell, place, value))
    report = check(folder)
    assert report.ok is not bool(report.findings)
    assert main([str(folder / "audit.sqlite")]) in (0, 5)


@pytest.mark.parametrize("value", [7, b"{}", b'{"entries": [3]}', INVALID], ids=repr)
@pytest.mark.parametrize("name", ["kind", "timestamp", "subject", "body", "body_hash"])
def test_an_entry_with_a_cell_of_another_type_is_named(
    sound: Path, folder: Path, name: str, value: object
) -> None:
    for seq in (1, 2, 3, 7, 8, 9):
        assert put(sound, folder, "entries", name, seq - 1, value)
        assert ("edited", seq) in {(finding.kind, finding.seq) for finding in check(folder).findings}
        assert main([str(folder / "audit.sqlite")]) == 5


def test_the_last_configuration_taken_out_is_named_and_no_prompt_is_blamed(sound: Path, folder: Path) -> None:
    assert put(sound, folder, "entries", "body", 8, None)
    report = check(folder)
    assert [finding for finding in report.findings if finding.kind != "evidence"] == [
        Finding("withheld", 9, "its content is gone, but configuration entries never expire")
    ]
    assert any("prompt files not checked" in line for line in report.skipped)

"""Each covert change to a sealed log is found, named, and located at the right entry."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from citewell.audit import AuditQuery, CheckReport, EntryKind, Queries, SqliteLog
from citewell.audit.__main__ import main
from citewell.audit.entries import Texts, decrypt, encrypt
from citewell.audit.keys import FolderKeys
from citewell.audit.postings import Postings
from citewell.audit.sqlite import SqliteDatabase
from citewell.core.errors import EvidenceError, LogIntegrityError
from citewell.core.identity import hash_bytes, hash_text
from citewell.core.records import Document

TEXT = "Revenue was 12 million. Costs were 7 million."
COLUMNS = "kind, timestamp, subject, body, body_hash"


class OneDocument:
    """An evidence store that holds one text."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def put(self, document: Document) -> None:
        raise NotImplementedError

    def get(self, version: str, document_id: str = "") -> Document:
        if self.text is None:
            raise EvidenceError(f"{document_id} is not stored")
        return Document(
            document_id=document_id,
            version=version,
            text=self.text,
            text_hash=hash_text(self.text),
            reader="t",
            media_type="text/plain",
        )


def tamper(path: Path, *statements: str) -> CheckReport:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return check(path)


def check(path: Path) -> CheckReport:
    log = SqliteLog(path, readonly=True)
    try:
        return log.check(evidence=OneDocument(TEXT), prompts={})
    finally:
        log.close()


def named(report: CheckReport) -> list[tuple[str, int]]:
    assert report.ok is not bool(report.findings)
    assert all(finding.reason for finding in report.findings)
    return [(finding.kind, finding.seq) for finding in report.findings]


def rehash(path: Path, seq: int) -> str:
    """The statement with which a tamperer who knows the format makes entry ``seq`` consistent with itself."""
    with closing(sqlite3.connect(path)) as connection:
        (body,) = connection.execute("SELECT body FROM entries WHERE seq = ?", (seq,)).fetchone()
    return f"UPDATE entries SET body_hash = '{hash_bytes(body.encode())}' WHERE seq = {seq}"


def test_untouched_log_is_whole(log_path: Path) -> None:
    report = check(log_path)
    assert report.ok
    assert report.size == 5
    assert len(report.skipped) == 1


def test_empty_log_is_whole(tmp_path: Path) -> None:
    SqliteLog(tmp_path / "audit.sqlite").close()
    report = check(tmp_path / "audit.sqlite")
    assert (report.ok, report.size) == (True, 0)


def test_a_log_that_was_emptied_is_not_whole(log_path: Path) -> None:
    emptied = [f"DELETE FROM {table}" for table in ("entries", "tree", "head")]
    assert named(tamper(log_path, *emptied)) == [("truncated", 1)]
    # The only remaining trace of the entries is the key that signed them.
    assert named(tamper(log_path, "DELETE FROM private", "DELETE FROM requests")) == [("truncated", 1)]


def test_a_stranger_is_told_of_an_emptied_log_too(log_path: Path) -> None:
    tamper(log_path, *(f"DELETE FROM {table}" for table in ("entries", "tree", "head")))
    assert main([str(log_path)]) == 5


@pytest.mark.parametrize("seq", [1, 3, 5])
def test_edited_body(log_path: Path, seq: int) -> None:
    report = tamper(
        log_path, f"UPDATE entries SET body = replace(body, 'extractive', 'EXTRACTIVE') WHERE seq = {seq}"
    )
    assert named(report) == [("edited", seq)]


@pytest.mark.parametrize("column", ["timestamp", "subject", "body_hash"])
def test_edited_column(log_path: Path, column: str) -> None:
    report = tamper(log_path, f"UPDATE entries SET {column} = 'x' WHERE seq = 3")
    assert named(report) == [("edited", 3)]


def test_body_that_means_the_same_is_still_an_edit(log_path: Path) -> None:
    report = tamper(log_path, "UPDATE entries SET body = body || ' ' WHERE seq = 2")
    assert named(report) == [("edited", 2)]


def test_body_that_is_no_json(log_path: Path) -> None:
    assert ("edited", 2) in named(tamper(log_path, "UPDATE entries SET body = '{' WHERE seq = 2"))


def test_edit_with_its_own_hash_made_anew(log_path: Path) -> None:
    tamper(log_path, "UPDATE entries SET body = replace(body, 'extractive', 'EXTRACTIVE') WHERE seq = 3")
    assert named(tamper(log_path, rehash(log_path, 3))) == [("edited", 3)]


def test_deleted_middle(log_path: Path) -> None:
    assert named(tamper(log_path, "DELETE FROM entries WHERE seq = 3")) == [("deleted", 3)]


def test_deleted_middle_and_renumbered(log_path: Path) -> None:
    report = tamper(
        log_path,
        "DELETE FROM entries WHERE seq = 3",
        "UPDATE entries SET seq = 3 WHERE seq = 4",
        "UPDATE entries SET seq = 4 WHERE seq = 5",
    )
    assert named(report) == [("deleted", 3)]


def test_deleted_first(log_path: Path) -> None:
    assert named(tamper(log_path, "DELETE FROM entries WHERE seq = 1")) == [("deleted", 1)]


def test_inserted_between(log_path: Path) -> None:
    report = tamper(
        log_path,
        "UPDATE entries SET seq = 6 WHERE seq = 5",
        "UPDATE entries SET seq = 5 WHERE seq = 4",
        "UPDATE entries SET seq = 4 WHERE seq = 3",
        f"INSERT INTO entries(seq, {COLUMNS}) SELECT 3, 'read', timestamp, '', '{{}}', 'sha256:0'"
        " FROM entries WHERE seq = 4",
    )
    assert named(report) == [("inserted", 3)]


def test_inserted_between_with_its_own_hash_made(log_path: Path) -> None:
    tamper(
        log_path,
        "UPDATE entries SET seq = 6 WHERE seq = 5",
        "UPDATE entries SET seq = 5 WHERE seq = 4",
        "UPDATE entries SET seq = 4 WHERE seq = 3",
        f"INSERT INTO entries(seq, {COLUMNS}) SELECT 3, 'read', timestamp, '', '{{}}', 'sha256:0'"
        " FROM entries WHERE seq = 4",
    )
    assert named(tamper(log_path, rehash(log_path, 3))) == [("inserted", 3)]


@pytest.mark.parametrize("seq", [0, -4])
def test_inserted_before_the_first(log_path: Path, seq: int) -> None:
    statement = f"INSERT INTO entries(seq, {COLUMNS}) VALUES({seq}, 'read', 't', '', '{{}}', 'h')"
    assert named(tamper(log_path, statement)) == [("inserted", seq)]


def test_inserted_far_behind_the_last(log_path: Path) -> None:
    statement = f"INSERT INTO entries(seq, {COLUMNS}) VALUES(900719925474099, 'read', 't', '', '{{}}', 'h')"
    assert ("inserted", 900719925474099) in named(tamper(log_path, statement))


def test_reordered(log_path: Path) -> None:
    report = tamper(
        log_path,
        "UPDATE entries SET seq = 99 WHERE seq = 2",
        "UPDATE entries SET seq = 2 WHERE seq = 4",
        "UPDATE entries SET seq = 4 WHERE seq = 99",
    )
    kinds = named(report)
    assert {kind for kind, _ in kinds} == {"reordered"}
    assert {seq for _, seq in kinds} <= {2, 3, 4}


def test_reordered_neighbours(log_path: Path) -> None:
    report = tamper(
        log_path,
        "UPDATE entries SET seq = 99 WHERE seq = 4",
        "UPDATE entries SET seq = 4 WHERE seq = 5",
        "UPDATE entries SET seq = 5 WHERE seq = 99",
    )
    assert {kind for kind, _ in named(report)} == {"reordered"}


def test_duplicated(log_path: Path) -> None:
    statement = f"INSERT INTO entries(seq, {COLUMNS}) SELECT 6, {COLUMNS} FROM entries WHERE seq = 2"
    assert named(tamper(log_path, statement)) == [("duplicated", 6)]


def test_duplicated_with_a_chain_made_to_fit(log_path: Path) -> None:
    tamper(
        log_path,
        f"INSERT INTO entries(seq, {COLUMNS}) SELECT 6, kind, timestamp || '0', subject, body, 'h'"
        " FROM entries WHERE seq = 2",
    )
    assert ("duplicated", 6) in named(tamper(log_path, rehash(log_path, 6)))


@pytest.mark.parametrize(
    "statement", ["UPDATE entries SET body = NULL WHERE seq = 3", "DELETE FROM private WHERE seq = 3"]
)
def test_content_taken_out_without_a_word(log_path: Path, statement: str) -> None:
    assert named(tamper(log_path, statement)) == [("withheld", 3)]


def test_two_deeds_are_both_named(log_path: Path) -> None:
    report = tamper(
        log_path, "DELETE FROM entries WHERE seq = 2", "UPDATE entries SET timestamp = 'x' WHERE seq = 4"
    )
    assert named(report) == [("deleted", 2), ("edited", 4)]


def test_evidence_changed_under_a_quote(log_path: Path) -> None:
    log = SqliteLog(log_path)
    report = log.check(evidence=OneDocument(TEXT.replace("12", "21")), prompts={})
    assert named(report) == [("evidence", seq) for seq in range(1, 6)]


def test_evidence_gone(log_path: Path) -> None:
    log = SqliteLog(log_path)
    assert {kind for kind, _ in named(log.check(evidence=OneDocument(None), prompts={}))} == {"evidence"}


def test_evidence_changed_where_nothing_is_quoted_yet(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "audit.sqlite")
    source = {"document_id": "a", "version": "v", "text_hash": hash_text(TEXT)}
    log.note(EntryKind.INGEST, {"documents": [source]})
    assert log.check(evidence=OneDocument(TEXT), prompts={}).ok
    assert named(log.check(evidence=OneDocument(TEXT + " "), prompts={})) == [("evidence", 1)]


def test_prompt_file_changed(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.note(EntryKind.CONFIGURATION, {"prompts": {"answer": "sha256:p", "gate": "sha256:g"}})
    same = {"answer": "sha256:p", "gate": "sha256:g", "new": "sha256:n"}
    assert log.check(evidence=OneDocument(TEXT), prompts=same).ok
    assert named(log.check(evidence=OneDocument(TEXT), prompts=same | {"gate": "x"})) == [("prompt", 1)]
    assert named(log.check(evidence=OneDocument(TEXT), prompts={"answer": "sha256:p"})) == [("prompt", 1)]


def test_prompt_changed_in_the_open_is_no_tampering(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "audit.sqlite")
    for digest in ("sha256:p", "sha256:q"):
        log.note(EntryKind.CONFIGURATION, {"prompts": {"answer": digest}})
    assert log.check(evidence=OneDocument(TEXT), prompts={"answer": "sha256:q"}).ok


def test_what_was_not_looked_at_is_said(log_path: Path) -> None:
    report = SqliteLog(log_path).check()
    assert report.ok
    assert len(report.skipped) == 3


def reseal(path: Path, seq: int, change: Callable[[Texts], object]) -> None:
    """As someone with the keys would: decrypt the texts, change them, encrypt them again."""
    log = SqliteLog(path)
    entry = log.at(seq)
    key = log.keys.key(entry.subject)
    assert key is not None
    with closing(sqlite3.connect(path)) as connection:
        (sealed,) = connection.execute("SELECT sealed FROM private WHERE seq = ?", (seq,)).fetchone()
        salt, texts = decrypt(sealed, key, entry.body_hash, entry.subject)
        change(texts)
        made = encrypt(texts, salt, key, entry.body_hash, entry.subject)
        connection.execute("UPDATE private SET sealed = ? WHERE seq = ?", (made, seq))
        connection.commit()
    log.close()


@pytest.mark.parametrize(
    "change",
    [
        lambda texts: texts.update({"/user_query": "may I sell my shares?"}),
        lambda texts: texts.pop("/user_query"),
        lambda texts: texts.update({"/decision": "ANSWER"}),
        lambda texts: texts.update({"/claims/99/text": "said nobody"}),
        lambda texts: texts.update({"nowhere": "said nobody"}),
    ],
    ids=["another", "none", "where none was", "beyond the end", "no pointer"],
)
def test_personal_texts_forged_by_somebody_with_the_keys(
    log_path: Path, change: Callable[[Texts], object]
) -> None:
    reseal(log_path, 3, change)
    assert named(check(log_path)) == [("edited", 3)]
    log = SqliteLog(log_path)
    with pytest.raises(LogIntegrityError, match="not the ones that were sealed"):
        log.body(log.at(3))
    queries = Queries(log, Postings(SqliteDatabase(log_path.parent / "index.sqlite")))
    with pytest.raises(LogIntegrityError, match="not the ones that were sealed"):
        queries.page(AuditQuery())


@pytest.mark.parametrize("sealed", ["x'00'", "zeroblob(100)", "'text'", "7"])
def test_personal_texts_made_unreadable(log_path: Path, sealed: str) -> None:
    assert named(tamper(log_path, f"UPDATE private SET sealed = {sealed} WHERE seq = 3")) == [("edited", 3)]
    log = SqliteLog(log_path)
    with pytest.raises(LogIntegrityError, match="not the ones that were sealed"):
        log.body(log.at(3))


def test_personal_texts_given_to_somebody_else(log_path: Path) -> None:
    assert named(tamper(log_path, "UPDATE private SET subject = 'x' WHERE seq = 3")) == [("edited", 3)]


def test_without_the_keys_it_is_said_that_personal_texts_were_not_looked_at(log_path: Path) -> None:
    log = SqliteLog(log_path, readonly=True, keys=FolderKeys(log_path.parent / "elsewhere"))
    report = log.check(
        evidence=OneDocument(TEXT), prompts={}, key=FolderKeys(log_path.parent / "keys").published()
    )
    assert report.ok
    assert any("personal texts of 5 entries not checked" in line for line in report.skipped)


def request(number: int) -> str:
    return f"req_{number:024d}"


def test_a_request_that_leads_to_another_record_is_refused_and_named(log_path: Path) -> None:
    statement = f"UPDATE requests SET seq = 2 WHERE request_id = '{request(1)}'"
    assert named(tamper(log_path, statement)) == [("side-table", 1), ("side-table", 2)]
    log = SqliteLog(log_path)
    with pytest.raises(LogIntegrityError, match="does not belong to request"):
        log.record(request(1))
    assert log.record(request(2)).request_id == request(2)


@pytest.mark.parametrize(
    ("statement", "seq"),
    [
        (f"DELETE FROM requests WHERE request_id = '{request(3)}'", 3),
        ("INSERT INTO requests VALUES('req_x', 4)", 4),
        (f"UPDATE requests SET request_id = 'req_x' WHERE request_id = '{request(5)}'", 5),
        (f"UPDATE requests SET seq = 'x' WHERE request_id = '{request(5)}'", 5),
    ],
)
def test_requests_are_derived_again(log_path: Path, statement: str, seq: int) -> None:
    assert named(tamper(log_path, statement)) == [("side-table", seq)]


def test_a_changed_size_is_named(log_path: Path) -> None:
    assert named(tamper(log_path, "UPDATE head SET size = 3")) == [("side-table", 0)]


def test_a_request_for_what_is_no_record_is_named(log_path: Path) -> None:
    SqliteLog(log_path).note(EntryKind.NOTICE, {})
    assert named(tamper(log_path, "INSERT INTO requests VALUES('req_x', 6)")) == [("side-table", 6)]


def test_a_missing_key_is_told_from_one_that_was_destroyed_on_record(log_path: Path) -> None:
    log = SqliteLog(log_path)
    pseudonym = log.keys.destroy("alice")
    assert any("not available" in line for line in check(log_path).skipped)
    log.note(EntryKind.ERASURE, {"subject": pseudonym, "outcome": "done"})
    assert not any("not available" in line for line in check(log_path).skipped)

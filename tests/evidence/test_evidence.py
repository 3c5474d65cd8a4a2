"""Documents stay stored, read back unchanged, and reveal any change."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from citewell.core.errors import EvidenceError
from citewell.core.identity import hash_bytes, hash_text
from citewell.core.ports import EvidenceStore
from citewell.core.records import Document, Found, Page
from citewell.documents.evidence.catalogue import MemoryEvidence
from citewell.documents.evidence.sqlite import SqliteEvidence


def made(text: str, document_id: str = "a/b.txt", **fields: object) -> Document:
    values: dict[str, object] = {
        "document_id": document_id,
        "version": hash_bytes(text.encode()),
        "text": text,
        "text_hash": hash_text(text),
        "reader": "text/1",
        "media_type": "text/plain",
    }
    return Document(**(values | fields))  # type: ignore[arg-type]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteEvidence]:
    with SqliteEvidence(tmp_path / "home" / "evidence.sqlite") as opened:
        yield opened


@pytest.fixture(params=["sqlite", "memory"])
def either(request: pytest.FixtureRequest, store: SqliteEvidence) -> EvidenceStore:
    return store if request.param == "sqlite" else MemoryEvidence()


def test_a_version_reads_back_as_it_was_stored(either: EvidenceStore) -> None:
    document = made(
        "Größe: 1\t2 🙂\n",
        ingested_at="2026-01-02T03:04:05Z",
        title=Found(value="T", origin="metadata"),
        pages=(Page(number=1, start=0, end=4, width=612.0, height=792.0),),
    )
    either.put(document)
    either.put(document)
    assert either.get(document.version) == document
    assert either.get(document.version, "a/b.txt") == document


def test_what_is_not_there_is_an_error_with_a_hint(either: EvidenceStore) -> None:
    either.put(made("one"))
    for version, document_id in (("sha256:0", ""), (made("one").version, "other")):
        with pytest.raises(EvidenceError) as caught:
            either.get(version, document_id)
        assert caught.value.hint


def test_text_that_does_not_match_its_hash_is_not_stored(either: EvidenceStore) -> None:
    with pytest.raises(EvidenceError):
        either.put(made("one", text_hash=hash_text("two")))


def test_one_version_keeps_its_first_text(either: EvidenceStore) -> None:
    either.put(made("one"))
    other = made("another reading", version=made("one").version, reader="text/2")
    with pytest.raises(EvidenceError, match="text/1"):
        either.put(other)
    assert either.get(other.version).text == "one"


def test_equal_bytes_in_two_places_stay_two(either: EvidenceStore) -> None:
    either.put(made("same", "a"))
    either.put(made("same", "b"))
    assert either.get(made("same").version, "a").document_id == "a"
    assert either.get(made("same").version, "b").document_id == "b"


def test_versions_form_a_chain_and_the_old_stays_readable(store: SqliteEvidence) -> None:
    old, new = made("old"), made("new")
    store.put(old)
    store.mark_indexed("a/b.txt", old.version)
    store.put(new)
    assert store.versions("a/b.txt") == [old.version, new.version]
    assert store.get(new.version).supersedes == old.version
    assert store.get(old.version).text == "old"
    latest = store.latest("a/b.txt")
    assert latest is not None
    assert latest.text == "new"
    assert [(e.version, e.state) for e in store.catalogue()] == [(new.version, "stored")]


def test_a_file_put_back_as_it_was_is_the_newest_again(store: SqliteEvidence) -> None:
    store.put(made("old"))
    store.put(made("new"))
    store.put(made("old"))
    latest = store.latest("a/b.txt")
    assert latest is not None
    assert latest.text == "old"


def test_states_go_from_stored_to_indexed_to_withdrawn_and_back(store: SqliteEvidence) -> None:
    document = made("one", acl=("finance",), tags=("t",))
    store.put(document)
    assert store.catalogue()[0].state == "stored"
    store.mark_indexed(document.document_id, document.version)
    store.put(document)
    assert store.catalogue()[0].state == "indexed"
    store.withdraw(document.document_id, "file deleted")
    entry = store.catalogue()[0]
    assert (entry.state, entry.reason, entry.acl, entry.tags) == (
        "withdrawn",
        "file deleted",
        ("finance",),
        ("t",),
    )
    assert store.get(document.version).text == "one"
    store.put(document)
    assert store.catalogue()[0].state == "stored"


def test_permissions_may_change_without_a_new_version(store: SqliteEvidence) -> None:
    store.put(made("one", acl=("a",)))
    store.put(made("one", acl=("b",)))
    latest = store.latest("a/b.txt")
    assert latest is not None
    assert latest.acl == ("b",)
    assert len(store.versions("a/b.txt")) == 1


def test_only_the_newest_version_can_be_marked(store: SqliteEvidence) -> None:
    old = made("old")
    store.put(old)
    store.put(made("new"))
    with pytest.raises(EvidenceError):
        store.mark_indexed("a/b.txt", old.version)
    with pytest.raises(EvidenceError):
        store.withdraw("unknown", "no reason")


def test_caller_supplied_text_is_kept_but_not_listed(store: SqliteEvidence) -> None:
    document = made("theirs", "SOURCE_1", caller_supplied=True)
    store.put(document)
    assert store.catalogue() == []
    assert store.get(document.version).caller_supplied


def test_a_changed_text_is_noticed_on_every_read(store: SqliteEvidence) -> None:
    document = made("revenue was 10")
    store.put(document)
    forged = msgspec.structs.replace(store.get(document.version), text="revenue was 99")
    with sqlite3.connect(store.path) as outside:
        outside.execute("UPDATE versions SET body = ?", (zlib.compress(msgspec.msgpack.encode(forged)),))
    outside.close()
    with pytest.raises(EvidenceError, match="hash"):
        store.get(document.version)


@pytest.mark.parametrize("body", [b"", b"junk", zlib.compress(b"junk")])
def test_a_damaged_body_is_an_error_not_a_document(store: SqliteEvidence, body: bytes) -> None:
    document = made("one")
    store.put(document)
    with sqlite3.connect(store.path) as outside:
        outside.execute("UPDATE versions SET body = ?", (body,))
    outside.close()
    with pytest.raises(EvidenceError):
        store.get(document.version)


def test_a_stored_version_cannot_be_deleted_by_mistake(store: SqliteEvidence) -> None:
    store.put(made("one"))
    outside = sqlite3.connect(store.path)
    with pytest.raises(sqlite3.IntegrityError, match="stays"):
        outside.execute("DELETE FROM versions")
    outside.close()


def test_a_text_is_not_said_to_be_erased_while_it_stands_in_a_file(store: SqliteEvidence) -> None:
    store.put(made("one"))
    store._connection.execute("PRAGMA busy_timeout = 100")
    reader = sqlite3.connect(store.path)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM versions").fetchall()
    for _ in range(2):
        with pytest.raises(EvidenceError, match="still reading"):
            store.erase("a/b.txt", made("one").version)
    reader.close()
    store.erase("a/b.txt", made("one").version)


def test_it_is_there_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "evidence.sqlite"
    with SqliteEvidence(path) as store:
        store.put(made("one"))
    with SqliteEvidence(path) as store:
        assert store.get(made("one").version).text == "one"


def test_every_commit_is_synced(store: SqliteEvidence) -> None:
    assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_foreign_or_newer_file_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "x.sqlite"
    foreign.write_bytes(b"not a database at all" * 100)
    with pytest.raises(EvidenceError):
        SqliteEvidence(foreign)
    newer = tmp_path / "y.sqlite"
    connection = sqlite3.connect(newer)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(EvidenceError, match="99"):
        SqliteEvidence(newer)

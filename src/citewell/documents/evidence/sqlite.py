"""Evidence in one SQLite file: every document version ever stored, readable for ever.

In: documents. Out: the same documents, hash checked on every read, and a catalogue of what is
stored, indexed or withdrawn. A commit is on disk when a call returns (WAL, synchronous=FULL).
``versions`` is append-only; what can change (state, permissions, tags, which version is current)
is in ``heads``. Knows nothing about chunks or the index.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from citewell.core.errors import EvidenceError
from citewell.core.files import empty_wal, make_folder, open_wal
from citewell.core.identity import hash_bytes
from citewell.core.records import Document
from citewell.documents.evidence.catalogue import (
    INDEXED,
    STORED,
    WITHDRAWN,
    CatalogueEntry,
    StoredVersion,
    check_text,
    missing_version,
    refuse_second_text,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE versions (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            document_id TEXT NOT NULL, version TEXT NOT NULL, text_hash TEXT NOT NULL,
            reader TEXT NOT NULL, ingested_at TEXT NOT NULL, supersedes TEXT NOT NULL,
            caller_supplied INTEGER NOT NULL, title TEXT NOT NULL, uri TEXT NOT NULL,
            bytes INTEGER NOT NULL, pages INTEGER NOT NULL, body BLOB,
            UNIQUE (document_id, version))""",
        "CREATE INDEX versions_version ON versions (version)",
        """CREATE TABLE heads (
            document_id TEXT PRIMARY KEY, version TEXT NOT NULL, state TEXT NOT NULL,
            reason TEXT NOT NULL, acl TEXT NOT NULL, tags TEXT NOT NULL,
            FOREIGN KEY (document_id, version) REFERENCES versions (document_id, version))""",
        """CREATE TRIGGER versions_stay BEFORE DELETE ON versions
        BEGIN SELECT RAISE(ABORT, 'a stored version stays'); END""",
    ),
    (
        """CREATE TABLE derived (
            kind TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, name))""",
    ),
)


class SqliteEvidence:
    """:class:`citewell.core.ports.EvidenceStore` in the file ``path``, created if missing.

    Safe to share between threads and to open in several processes. Raises EvidenceError if the
    file is not an evidence store or was made by a newer Citewell.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        make_folder(path.parent)
        with self._reporting():
            self._connection = open_wal(path)
        try:
            with self._reporting():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def put(self, document: Document) -> None:
        """Stores a version and makes it the newest of its document, ``stored`` until it is indexed.

        Storing the same version again (resumed or restored) changes only permissions, tags and state.
        ``supersedes`` and ``ingested_at`` are filled in if empty. Raises EvidenceError for a different text.
        """
        check_text(document)
        with self._writing() as connection:
            key = document.document_id, document.version
            kept = connection.execute(
                "SELECT text_hash, reader FROM versions WHERE document_id = ? AND version = ?", key
            ).fetchone()
            head = connection.execute(
                "SELECT version, state FROM heads WHERE document_id = ?", (document.document_id,)
            ).fetchone()
            if kept is None:
                self._insert(connection, document, head[0] if head else "")
            else:
                refuse_second_text(kept[0], kept[1], document)
            same = head is not None and head[0] == document.version and head[1] == INDEXED
            row = (*key, INDEXED if same else STORED, _packed(document.acl), _packed(document.tags))
            connection.execute("INSERT OR REPLACE INTO heads VALUES (?, ?, ?, '', ?, ?)", row)

    def get(self, version: str, document_id: str = "") -> Document:
        """The version as stored, withdrawn or not. Raises EvidenceError if it is missing, was erased,
        cannot be read, or its text is not the text that was hashed."""
        found = self._read(
            """SELECT document_id, text_hash, body FROM versions
               WHERE version = ? AND ? IN ('', document_id) ORDER BY seq LIMIT 1""",
            version,
            document_id,
        )
        if not found:
            raise missing_version(version, document_id)
        return _unpacked(version, *found[0])

    def latest(self, document_id: str) -> Document | None:
        """The newest version with its current permissions and tags; None if never stored."""
        for version, acl, tags in self._read(
            "SELECT version, acl, tags FROM heads WHERE document_id = ?", document_id
        ):
            kept = self.get(version, document_id)
            return msgspec.structs.replace(kept, acl=_strings(acl), tags=_strings(tags))
        return None

    def versions(self, document_id: str) -> list[str]:
        """Every version of the document, oldest first; empty if never stored."""
        rows = self._read("SELECT version FROM versions WHERE document_id = ? ORDER BY seq", document_id)
        return [version for (version,) in rows]

    def catalogue(self) -> list[CatalogueEntry]:
        """The newest version of each ingested document, sorted by id; caller-supplied texts are left out."""
        rows = self._read(
            """SELECT h.document_id, h.version, v.title, h.state, v.ingested_at, v.uri, v.bytes,
                      v.pages, h.acl, h.tags, h.reason
               FROM heads h JOIN versions v USING (document_id, version)
               WHERE v.caller_supplied = 0 ORDER BY h.document_id"""
        )
        entries = [dict(zip(CatalogueEntry.__struct_fields__, row, strict=True)) for row in rows]
        return [
            CatalogueEntry(**entry | {"acl": _strings(entry["acl"]), "tags": _strings(entry["tags"])})
            for entry in entries
        ]

    def record_hash(self, version: str, document_id: str) -> str:
        """The hash of everything stored for a version, title and tables included; "" once it was erased.
        Raises EvidenceError if it is missing."""
        for (body,) in self._read(
            "SELECT body FROM versions WHERE document_id = ? AND version = ?", document_id, version
        ):
            return _record_hash(document_id, version, body)
        raise missing_version(version, document_id)

    def inspect(self) -> Iterator[StoredVersion]:
        """Every version, oldest first, caller-supplied ones too. Tampering is reported, not raised."""
        seq = 0
        while rows := self._read(
            "SELECT seq, document_id, version, text_hash, caller_supplied, title, uri, body"
            " FROM versions WHERE seq > ? ORDER BY seq LIMIT 20",
            seq,
        ):
            yield from (_inspected(*row[1:]) for row in rows)
            seq = rows[-1][0]

    def access(self, document_ids: Iterable[str] | None = None) -> dict[str, tuple[str, ...] | None]:
        """The current access list of each of these documents that is stored, or of all; None for a text that
        a caller supplied."""
        asked = """SELECT h.document_id, h.acl, v.caller_supplied
                   FROM heads h JOIN versions v USING (document_id, version)"""
        if document_ids is None:
            rows = self._read(asked)
        else:
            named = " WHERE h.document_id IN (SELECT value FROM json_each(?))"
            rows = self._read(asked + named, _packed(document_ids))
        return {document_id: None if supplied else _strings(acl) for document_id, acl, supplied in rows}

    def share(self, document_id: str, acl: Iterable[str]) -> None:
        """Replaces the access list, for every version. Raises EvidenceError if never stored."""
        self._update("acl = ?", _packed(acl), document_id=document_id)

    def caller_supplied(self, versions: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
        """Those of the ``(document_id, version)`` pairs that a caller supplied."""
        asked = "SELECT 1 FROM versions WHERE document_id = ? AND version = ? AND caller_supplied = 1"
        return {key for key in versions if self._read(asked, *key)}

    def erase(self, document_id: str, version: str) -> None:
        """Erases a version's text for good; its hash stays, and reading it reports that it was erased.

        For legal erasure only: every citation of it then reads GONE. Raises EvidenceError.
        """
        with self._writing() as connection:
            connection.execute(
                "UPDATE versions SET body = NULL, title = '', uri = '' WHERE document_id = ? AND version = ?",
                (document_id, version),
            )
            connection.execute("DELETE FROM derived WHERE name = ?", (document_id,))
        with self._lock, self._reporting():
            emptied = empty_wal(self._connection)
        if not emptied:
            told = f"evidence {self.path}: another process is still reading the erased text"
            raise EvidenceError(told, hint="stop it and run the command again")

    def derived(self, kind: str, names: Iterable[str] | None = None) -> dict[str, bytes]:
        """What was derived from documents and stored with them, by document id; for all if none are named."""
        rows = self._read("SELECT name, body FROM derived WHERE kind = ?", kind)
        wanted = None if names is None else set(names)
        return {name: body for name, body in rows if wanted is None or name in wanted}

    def derive(self, kind: str, bodies: Mapping[str, bytes]) -> None:
        """Replaces everything stored for this kind."""
        with self._writing() as connection:
            connection.execute("DELETE FROM derived WHERE kind = ?", (kind,))
            rows = [(kind, name, body) for name, body in bodies.items()]
            connection.executemany("INSERT INTO derived VALUES (?, ?, ?)", rows)

    def mark_indexed(self, document_id: str, version: str) -> None:
        """Marks the version's chunks as being in the index. Raises EvidenceError unless it is the newest."""
        self._update("state = ?, reason = ''", INDEXED, document_id=document_id, version=version)

    def withdraw(self, document_id: str, reason: str) -> None:
        """Marks the document as not to be retrieved; every version stays readable."""
        self._update("state = ?, reason = ?", WITHDRAWN, reason, document_id=document_id)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def __enter__(self) -> SqliteEvidence:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _insert(self, connection: sqlite3.Connection, document: Document, previous: str) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        filled = msgspec.structs.replace(
            document, supersedes=document.supersedes or previous, ingested_at=document.ingested_at or now
        )
        connection.execute(
            "INSERT INTO versions VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                filled.document_id,
                filled.version,
                filled.text_hash,
                filled.reader,
                filled.ingested_at,
                filled.supersedes,
                filled.caller_supplied,
                filled.title.value if filled.title else "",
                filled.uri,
                len(filled.text.encode("utf-8")),
                len(filled.pages),
                zlib.compress(msgspec.msgpack.encode(filled), 6),
            ),
        )

    def _update(self, what: str, *values: str, document_id: str, version: str = "") -> None:
        with self._writing() as connection:
            changed = connection.execute(
                f"UPDATE heads SET {what} WHERE document_id = ? AND ? IN ('', version)",
                (*values, document_id, version),
            )
            if changed.rowcount != 1:
                raise missing_version(version or "(any version)", document_id)

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA foreign_keys = ON")
        with self._writing() as connection:
            done = connection.execute("PRAGMA user_version").fetchone()[0]
            if done > len(MIGRATIONS):
                told = f"{self.path} has layout {done}, but this Citewell only knows up to {len(MIGRATIONS)}"
                raise EvidenceError(told, hint="upgrade citewell")
            for statement in chain.from_iterable(MIGRATIONS[done:]):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    def _read(self, query: str, *values: object) -> list[Any]:
        with self._lock, self._reporting():
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        # The connection commits at the end, or rolls back.
        with self._lock, self._reporting(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            hint = "free disk space, and check that the file is intact and writable"
            raise EvidenceError(f"the evidence store {self.path} failed: {error}", hint=hint) from error


def _packed(values: Iterable[str]) -> str:
    return msgspec.json.encode(tuple(values)).decode("utf-8")


def _strings(packed: str) -> tuple[str, ...]:
    return msgspec.json.decode(packed, type=tuple[str, ...])


def _record_hash(document_id: str, version: str, body: bytes | None) -> str:
    if body is None:
        return ""
    try:
        return hash_bytes(zlib.decompress(body))
    except zlib.error as error:
        raise _unreadable(document_id, version, f"cannot be read: {error}") from error


def _inspected(
    document_id: str, version: str, text_hash: str, supplied: int, title: str, uri: str, body: bytes | None
) -> StoredVersion:
    digest = fault = ""
    if body is not None:
        # A text that cannot be read is reported when it is read.
        with contextlib.suppress(EvidenceError):
            document = _unpacked(version, document_id, text_hash, body)
            digest = _record_hash(document_id, version, body)
            own_title = document.title.value if document.title else ""
            if (title, uri, bool(supplied)) != (own_title, document.uri, document.caller_supplied):
                fault = "its title, address or kind in the catalogue differs from the stored document's"
    return StoredVersion(
        document_id=document_id, version=version, caller_supplied=bool(supplied), hash=digest, fault=fault
    )


def _unreadable(document_id: str, version: str, told: str) -> EvidenceError:
    hint = "the evidence was changed after it was stored: restore it from a backup"
    return EvidenceError(f"the stored body of {document_id} {version} {told}", hint=hint)


def _unpacked(version: str, document_id: str, text_hash: str, body: bytes | None) -> Document:
    if body is None:
        hint = "its hash is kept and citations of it read GONE; to add the file again, use another --id"
        raise EvidenceError(f"the text of {document_id} {version} was erased", hint=hint)
    try:
        document = msgspec.msgpack.decode(zlib.decompress(body), type=Document)
    except (zlib.error, msgspec.DecodeError) as error:
        raise _unreadable(document_id, version, f"cannot be read: {error}") from error
    if (document.document_id, document.version, document.text_hash) != (document_id, version, text_hash):
        raise _unreadable(document_id, version, "belongs to another version")
    return check_text(document)

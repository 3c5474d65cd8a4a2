"""Evidence in one SQLite file: every document version ever stored, readable for ever.

In: documents. Out: the same documents, hash checked on every read, and a catalogue of what is
stored, indexed or withdrawn. A commit is on the disk when a call returns (WAL, synchronous=FULL).
``versions`` is append-only; what can change (state, permissions, tags, which version is current)
is in ``heads``. Knows nothing about chunks or the index.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

import msgspec

from citewell.core.errors import EvidenceError
from citewell.core.files import make_folder
from citewell.core.identity import hash_bytes
from citewell.core.records import Document
from citewell.core.wal import empty_wal, open_wal
from citewell.documents.evidence.catalogue import (
    INDEXED,
    STORED,
    WITHDRAWN,
    CatalogueEntry,
    StoredVersion,
    absent,
    check_text,
    refuse_second_text,
)

_BUSY_S = 30.0


def _first(connection: sqlite3.Connection) -> None:
    connection.execute(
        """CREATE TABLE versions (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            document_id TEXT NOT NULL, version TEXT NOT NULL, text_hash TEXT NOT NULL,
            reader TEXT NOT NULL, ingested_at TEXT NOT NULL, supersedes TEXT NOT NULL,
            caller_supplied INTEGER NOT NULL, title TEXT NOT NULL, uri TEXT NOT NULL,
            bytes INTEGER NOT NULL, pages INTEGER NOT NULL, body BLOB,
            UNIQUE (document_id, version))"""
    )
    connection.execute("CREATE INDEX versions_version ON versions (version)")
    connection.execute(
        """CREATE TABLE heads (
            document_id TEXT PRIMARY KEY, version TEXT NOT NULL, state TEXT NOT NULL,
            reason TEXT NOT NULL, acl TEXT NOT NULL, tags TEXT NOT NULL,
            FOREIGN KEY (document_id, version) REFERENCES versions (document_id, version))"""
    )
    connection.execute(
        """CREATE TRIGGER versions_stay BEFORE DELETE ON versions
        BEGIN SELECT RAISE(ABORT, 'a stored version stays'); END"""
    )


def _second(connection: sqlite3.Connection) -> None:
    connection.execute(
        """CREATE TABLE derived (
            kind TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, name))"""
    )


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_first, _second)


class SqliteEvidence:
    """:class:`citewell.core.ports.EvidenceStore` in the file ``path``, made when missing.

    Safe to share between threads and to open in several processes. Raises EvidenceError when the
    file is not an evidence store or was made by a newer Citewell.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        make_folder(path.parent)
        with self._reporting():
            self._connection = open_wal(path, wait_s=_BUSY_S)
        try:
            with self._reporting():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def put(self, document: Document) -> None:
        """Stores a version and makes it the newest of its document, ``stored`` until it is indexed.

        Storing the same version again (resumed or restored) changes only permissions, tags and state.
        ``supersedes`` and ``ingested_at`` are filled in where empty. Raises EvidenceError for a different
        text.
        """
        check_text(document)
        with self._writing() as connection:
            kept = connection.execute(
                "SELECT text_hash, reader FROM versions WHERE document_id = ? AND version = ?",
                (document.document_id, document.version),
            ).fetchone()
            head = connection.execute(
                "SELECT version, state FROM heads WHERE document_id = ?", (document.document_id,)
            ).fetchone()
            if kept is None:
                self._insert(connection, document, head[0] if head else "")
            else:
                refuse_second_text(kept[0], kept[1], document)
            same = head is not None and head[0] == document.version and head[1] == INDEXED
            connection.execute(
                "INSERT OR REPLACE INTO heads VALUES (?, ?, ?, '', ?, ?)",
                (
                    document.document_id,
                    document.version,
                    INDEXED if same else STORED,
                    _packed(document.acl),
                    _packed(document.tags),
                ),
            )

    def get(self, version: str, document_id: str = "") -> Document:
        """The version as stored, withdrawn or not. Raises EvidenceError when it is not there, was
        erased, cannot be read, or its text is not the text that was hashed."""
        where, values = "version = ?", [version]
        if document_id:
            where, values = where + " AND document_id = ?", [version, document_id]
        with self._reading() as connection:
            row = connection.execute(
                f"SELECT document_id, text_hash, body FROM versions WHERE {where} ORDER BY seq LIMIT 1",
                values,
            ).fetchone()
        if row is None:
            raise absent(version, document_id)
        return _unpacked(version, *row)

    def latest(self, document_id: str) -> Document | None:
        """The newest version with its present permissions and tags; None when never stored."""
        with self._reading() as connection:
            row = connection.execute(
                "SELECT version, acl, tags FROM heads WHERE document_id = ?", (document_id,)
            ).fetchone()
        if row is None:
            return None
        return msgspec.structs.replace(
            self.get(row[0], document_id), acl=_strings(row[1]), tags=_strings(row[2])
        )

    def versions(self, document_id: str) -> list[str]:
        """Every version of the document, oldest first; empty when never stored."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT version FROM versions WHERE document_id = ? ORDER BY seq", (document_id,)
            ).fetchall()
        return [row[0] for row in rows]

    def catalogue(self) -> list[CatalogueEntry]:
        """The newest version of each document that was ingested, by id; texts that callers supplied are left
        out."""
        with self._reading() as connection:
            rows = connection.execute(
                """SELECT h.document_id, h.version, v.title, h.state, v.ingested_at, v.uri, v.bytes,
                          v.pages, h.acl, h.tags, h.reason
                   FROM heads h JOIN versions v USING (document_id, version)
                   WHERE v.caller_supplied = 0 ORDER BY h.document_id"""
            ).fetchall()
        names = CatalogueEntry.__struct_fields__
        entries = []
        for row in rows:
            values = dict(zip(names, row, strict=True))
            values |= {"acl": _strings(values["acl"]), "tags": _strings(values["tags"])}
            entries.append(CatalogueEntry(**values))
        return entries

    def record_hash(self, version: str, document_id: str) -> str:
        """Of all that is stored of a version, title and tables too; "" once it was erased."""
        with self._reading() as connection:
            row = connection.execute(
                "SELECT body FROM versions WHERE document_id = ? AND version = ?", (document_id, version)
            ).fetchone()
        if row is None:
            raise absent(version, document_id)
        return _record_hash(document_id, version, row[0])

    def inspect(self) -> Iterator[StoredVersion]:
        """Every version, oldest first, callers' texts too. Changes made by hand are reported, not raised."""
        seq = 0
        while True:
            with self._reading() as connection:
                rows = connection.execute(
                    "SELECT seq, document_id, version, text_hash, caller_supplied, title, uri, body"
                    " FROM versions WHERE seq > ? ORDER BY seq LIMIT 20",
                    (seq,),
                ).fetchall()
            if not rows:
                return
            yield from (_inspected(*row[1:]) for row in rows)
            seq = rows[-1][0]

    def access(self, document_ids: Iterable[str]) -> dict[str, tuple[str, ...] | None]:
        """Today's access list of each of these that is stored; None for a text that a caller supplied."""
        wanted = list(dict.fromkeys(document_ids))
        with self._reading() as connection:
            rows = connection.execute(
                """SELECT h.document_id, h.acl, v.caller_supplied
                   FROM heads h JOIN versions v USING (document_id, version)
                   WHERE h.document_id IN (SELECT value FROM json_each(?))""",
                (msgspec.json.encode(wanted).decode(),),
            ).fetchall()
        return {document_id: None if supplied else _strings(acl) for document_id, acl, supplied in rows}

    def lists(self) -> dict[str, tuple[str, ...] | None]:
        """Of everything stored, as :meth:`access`."""
        with self._reading() as connection:
            rows = connection.execute(
                """SELECT h.document_id, h.acl, v.caller_supplied
                   FROM heads h JOIN versions v USING (document_id, version)"""
            ).fetchall()
        return {document_id: None if supplied else _strings(acl) for document_id, acl, supplied in rows}

    def share(self, document_id: str, acl: Iterable[str]) -> None:
        """Replaces the access list; holds for every version. Raises EvidenceError when never stored."""
        with self._writing() as connection:
            changed = connection.execute(
                "UPDATE heads SET acl = ? WHERE document_id = ?", (_packed(tuple(acl)), document_id)
            )
            if changed.rowcount != 1:
                raise absent("(any version)", document_id)

    def caller_supplied(self, versions: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
        """Those of these ``(document_id, version)`` that a caller supplied."""
        with self._reading() as connection:
            return {
                key
                for key in versions
                if connection.execute(
                    "SELECT 1 FROM versions WHERE document_id = ? AND version = ? AND caller_supplied = 1",
                    key,
                ).fetchone()
            }

    def erase(self, document_id: str, version: str) -> None:
        """Overwrites a version's text for ever; its hash stays, and reading it says that it was erased.

        For legal erasure only: every citation of it then reads GONE.
        """
        with self._writing() as connection:
            connection.execute(
                "UPDATE versions SET body = NULL, title = '', uri = '' WHERE document_id = ? AND version = ?",
                (document_id, version),
            )
            connection.execute("DELETE FROM derived WHERE name = ?", (document_id,))
        with self._reading() as connection:
            emptied = empty_wal(connection)
        if not emptied:
            raise EvidenceError(
                f"evidence {self.path}: another process is still reading the erased text",
                hint="stop it and run the command again",
            )

    def derived(self, kind: str, names: Iterable[str] | None = None) -> dict[str, bytes]:
        """What was worked out of documents and is kept beside them, by document id; of all when none are
        named."""
        with self._reading() as connection:
            rows = connection.execute("SELECT name, body FROM derived WHERE kind = ?", (kind,)).fetchall()
        wanted = None if names is None else set(names)
        return {name: body for name, body in rows if wanted is None or name in wanted}

    def derive(self, kind: str, bodies: Mapping[str, bytes]) -> None:
        """Replaces all that is kept of this kind."""
        with self._writing() as connection:
            connection.execute("DELETE FROM derived WHERE kind = ?", (kind,))
            rows = [(kind, name, body) for name, body in bodies.items()]
            connection.executemany("INSERT INTO derived VALUES (?, ?, ?)", rows)

    def mark_indexed(self, document_id: str, version: str) -> None:
        """The version's chunks are in the index. Raises EvidenceError unless it is the newest."""
        self._set_state(document_id, INDEXED, "", version=version)

    def withdraw(self, document_id: str, reason: str) -> None:
        """Keeps every version readable and marks the document as not to be retrieved."""
        self._set_state(document_id, WITHDRAWN, reason)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def __enter__(self) -> SqliteEvidence:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _insert(self, connection: sqlite3.Connection, document: Document, previous: str) -> None:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        filled = msgspec.structs.replace(
            document,
            supersedes=document.supersedes or previous,
            ingested_at=document.ingested_at or now,
        )
        connection.execute(
            """INSERT INTO versions (document_id, version, text_hash, reader, ingested_at, supersedes,
                   caller_supplied, title, uri, bytes, pages, body)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
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

    def _set_state(self, document_id: str, state: str, reason: str, *, version: str = "") -> None:
        with self._writing() as connection:
            where, values = "document_id = ?", [state, reason, document_id]
            if version:
                where, values = where + " AND version = ?", [*values, version]
            changed = connection.execute(f"UPDATE heads SET state = ?, reason = ? WHERE {where}", values)
            if changed.rowcount != 1:
                raise absent(version or "(any version)", document_id)

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA foreign_keys = ON")
        with self._writing() as connection:
            done = connection.execute("PRAGMA user_version").fetchone()[0]
            if done > len(MIGRATIONS):
                raise EvidenceError(
                    f"{self.path} has layout {done}, but this Citewell only knows up to {len(MIGRATIONS)}",
                    hint="upgrade citewell",
                )
            for migrate in MIGRATIONS[done:]:
                migrate(connection)
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._reporting():
            yield self._connection

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._reporting():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # the first error is the one to report
                    self._connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise EvidenceError(
                f"the evidence store {self.path} failed: {error}",
                hint="free disk space, and check that the file is intact and writable",
            ) from error


def _packed(values: tuple[str, ...]) -> str:
    return msgspec.json.encode(values).decode("utf-8")


def _strings(packed: str) -> tuple[str, ...]:
    return msgspec.json.decode(packed, type=tuple[str, ...])


def _record_hash(document_id: str, version: str, body: bytes | None) -> str:
    if body is None:
        return ""
    try:
        return hash_bytes(zlib.decompress(body))
    except zlib.error as error:
        raise _unreadable(document_id, version, error) from error


def _inspected(
    document_id: str, version: str, text_hash: str, supplied: int, title: str, uri: str, body: bytes | None
) -> StoredVersion:
    digest = fault = ""
    if body is not None:
        # A text that cannot be read is told by whoever reads it.
        with contextlib.suppress(EvidenceError):
            document = _unpacked(version, document_id, text_hash, body)
            digest = _record_hash(document_id, version, body)
            row = (title, uri, bool(supplied))
            stored = (
                document.title.value if document.title else "",
                document.uri,
                document.caller_supplied,
            )
            if row != stored:
                fault = "its title, address or kind in the catalogue differs from the stored document's"
    return StoredVersion(
        document_id=document_id, version=version, caller_supplied=bool(supplied), hash=digest, fault=fault
    )


def _unreadable(document_id: str, version: str, error: Exception) -> EvidenceError:
    return EvidenceError(
        f"the stored body of {document_id} {version} cannot be read: {error}",
        hint="the evidence was changed after it was stored: restore it from a backup",
    )


def _unpacked(version: str, document_id: str, text_hash: str, body: bytes | None) -> Document:
    if body is None:
        raise EvidenceError(
            f"the text of {document_id} {version} was erased",
            hint="its hash is kept and citations of it read GONE; to add the file again, use another --id",
        )
    try:
        document = msgspec.msgpack.decode(zlib.decompress(body), type=Document)
    except (zlib.error, msgspec.DecodeError) as error:
        raise _unreadable(document_id, version, error) from error
    if (document.document_id, document.version, document.text_hash) != (document_id, version, text_hash):
        raise EvidenceError(
            f"the stored body of {document_id} {version} belongs to another version",
            hint="the evidence was changed after it was stored: restore it from a backup",
        )
    return check_text(document)

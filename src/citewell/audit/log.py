"""The log itself: append-only, each entry durable when ``append`` returns.

In: audit records and notices of events. Out: each entry's hash, once it is durable; entries, proofs. All that
can be prepared is done in the caller's thread, outside any lock: personal texts, hashes, encryption.
Concurrent writers then share one transaction (:mod:`citewell.audit.writer`);
across processes the database admits one writer at a time. A group's entries, tree and signed checkpoint
become durable together or not at all, so sequence numbers have no gaps and even the newest entry is signed.
If ``append`` raises, nothing was written, except for an UnsettledError: the server was lost during a COMMIT.
Entries are ordered by ``seq``; timestamps are kept as given, even if the clock jumped. Independent of how an
answer is made.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.check import check_log
from citewell.audit.checker import CheckReport
from citewell.audit.database import Database, migrate
from citewell.audit.entries import (
    COLUMNS,
    Entry,
    EntryKind,
    decrypt,
    encrypt,
    entry_of,
    kind_condition,
    open_body,
    separate_personal_texts,
)
from citewell.audit.keys import FolderKeys, asker, with_limits
from citewell.audit.merkle import EMPTY, in_base64
from citewell.audit.notes import read_checkpoint
from citewell.audit.signing import checkpoint
from citewell.audit.sqlite import SqliteDatabase
from citewell.audit.writer import Groups, LogWriter, NewEntry, UnsettledError, handovers, head, stored_tree
from citewell.core.environment import SystemClock, stamp
from citewell.core.errors import LogIntegrityError, UsageError
from citewell.core.identity import SALT_BYTES, TAG, canonical_json, hash_bytes
from citewell.core.records import AuditRecord, Record

if TYPE_CHECKING:
    from citewell.core.ports import Clock, EvidenceStore

KEYS_FOLDER = "keys"
GROUP = 512
"""The most entries per transaction."""


class Log:
    """A log in any database. Safe to share between threads and processes.

    ``keys`` holds the keys of people and the signing key. Raises LogError, whose hint says what to do.
    """

    def __init__(self, database: Database, keys: FolderKeys, *, clock: Clock | None = None) -> None:
        self.database, self.keys = database, keys
        self._clock = clock or SystemClock()
        self._writer = LogWriter(database, keys)
        self._turn = threading.Lock()
        self._groups = Groups(self._take_turn, GROUP)
        self.after_append: Callable[[], None] | None = None

    # --- writing ----------------------------------------------------------------------------------

    def append(self, record: AuditRecord) -> str:
        """Seals ``record``; returns its hash once durable. Raises LogError: nothing was then written, or, for
        an UnsettledError, it is unknown.

        Its subject is the user, or the session if no user is named.
        """
        kind = EntryKind.ERROR if record.error else EntryKind.ANSWER
        subject = asker(record.user, record.session_id)
        return self._add(self._seal(kind, record.timestamp, record, subject))

    def note(self, kind: EntryKind, body: Mapping[str, Any], *, subject: str = "") -> str:
        """Seals an event that is not an answer; see :class:`EntryKind`.

        ``subject`` names the person it is about, whose key encrypts the body's personal texts; without one
        the body must hold nothing personal.
        """
        return self._add(self._seal(kind, stamp(self._clock), body, subject))

    def _seal(
        self, kind: EntryKind, timestamp: str, body: AuditRecord | Mapping[str, Any], name: str
    ) -> NewEntry:
        request_id = body.request_id if isinstance(body, AuditRecord) else ""
        if not name:
            stored = canonical_json(body)
            return NewEntry(kind.value, timestamp, "", stored.decode(), hash_bytes(stored), None, request_id)
        self._writer.must_have_keys()
        person = self.keys.subject(name)
        salt = os.urandom(SALT_BYTES)
        stored, texts = separate_personal_texts(body, salt, self.keys.blind)
        body_hash = hash_bytes(stored)
        private = encrypt(texts, salt, person.key, body_hash, person.id)
        return NewEntry(kind.value, timestamp, person.id, stored.decode(), body_hash, private, request_id)

    def _add(self, entry: NewEntry) -> str:
        outcome: Future[bytes] = Future()
        self._groups.add((entry, outcome))
        digest = outcome.result()
        if self.after_append is not None:
            self.after_append()
        return TAG + digest.hex()

    def _take_turn(self, group: Sequence[_Waiting]) -> None:
        try:
            with self._turn:
                hashes = self._writer.write([entry for entry, _ in group])
        except BaseException as error:
            if len(group) > 1 and isinstance(error, Exception) and not isinstance(error, UnsettledError):
                # One bad entry must not fail the others.
                for waiting in group:
                    self._take_turn([waiting])
                return
            for _, outcome in group:
                outcome.set_exception(error)
            if not isinstance(error, Exception):
                raise
        else:
            for (_, outcome), digest in zip(group, hashes, strict=True):
                outcome.set_result(digest)

    def hand_over(self, reason: str = "") -> str:
        """Replaces the signing key, with an entry whose handover and checkpoint the old key signs.

        Returns the new public key, to be published. What the old key signed before stays valid.
        """
        with self._turn:
            return self._writer.hand_over(stamp(self._clock), reason)

    def replace_lost_key(self, reason: str) -> str:
        """A new signing key for a log whose old one is lost: recorded, and signed only by itself.

        Holders of only the old public key will reject checkpoints from now on. Raises UsageError if the old
        key still exists.
        """
        with self._turn:
            return self._writer.replace_lost_key(stamp(self._clock), reason)

    def restore_keys(self, folder: Path) -> bool:
        """Restores missing keys from a backup; people erased according to the log stay erased.

        Returns whether the signing key is there now: a backup older than its last change lacks it. Raises
        UsageError if nothing is missing, or the backup has none of it.
        """
        with self.database.reading() as rows:
            found = rows.execute("SELECT DISTINCT subject FROM entries WHERE subject <> ''").fetchall()
        erased = {str(self.body(entry).get("subject", "")) for entry in self.entries(EntryKind.ERASURE)}
        named = {subject for (subject,) in found} - erased
        return self.keys.restore(folder, named, self._writer.in_force())

    # --- reading ----------------------------------------------------------------------------------

    def get(self, request_id: str) -> Entry:
        """The entry of one answer or error. Raises UsageError if there is none, LogIntegrityError if it
        belongs to another request."""
        with self.database.reading() as rows:
            row = rows.execute("SELECT seq FROM requests WHERE request_id = ?", (request_id,)).fetchone()
        if row is None:
            raise self.absent(request_id)
        entry = self.at(row[0])
        if entry.body is not None and _request_of(entry.body) != request_id:
            raise LogIntegrityError(
                f"entry {entry.seq} does not belong to request {request_id}",
                hint="run `citewell audit check`",
            )
        return entry

    def lacking(self, requests: Collection[str]) -> set[str]:
        """The requests that have no entry, and never had one."""
        asked, lacking = sorted(requests), set(requests)
        for start in range(0, len(asked), 500):
            some = asked[start : start + 500]
            among = ", ".join("?" * len(some))
            with self.database.reading() as rows:
                found = rows.execute(f"SELECT request_id FROM requests WHERE request_id IN ({among})", some)
                lacking.difference_update(request for (request,) in found)
        return lacking

    def absent(self, request_id: str) -> UsageError:
        """The error for a request without a record."""
        return UsageError(
            f"no record {request_id!r}", hint="`citewell audit query` lists the records; or check --home"
        )

    def at(self, seq: int) -> Entry:
        """Entry ``seq``. Raises LogIntegrityError if it is missing."""
        for entry in self.select("seq = ?", (seq,)):
            return entry
        raise LogIntegrityError(f"entry {seq} is missing", hint="run `citewell audit check`")

    def latest(self, kind: EntryKind) -> Entry | None:
        """The last entry of ``kind``, None if there is none."""
        return next(iter(self.select(f"{kind_condition(kind)} ORDER BY seq DESC LIMIT 1")), None)

    def entries(self, kind: EntryKind | None = None, *, after: int = 0) -> Iterator[Entry]:
        """Every entry (of ``kind``) with a seq above ``after``, in order; reads in blocks."""
        among = "" if kind is None else f" AND {kind_condition(kind)}"
        while found := self.select(f"seq > ?{among} ORDER BY seq LIMIT 500", (after,)):
            yield from found
            after = found[-1].seq

    def select(self, condition: str, values: Sequence[Any] = ()) -> list[Entry]:
        """The entries that satisfy an SQL condition, which may be followed by an ORDER BY and a LIMIT."""
        with self.database.reading() as rows:
            found = rows.execute(f"SELECT {COLUMNS} FROM entries WHERE {condition}", values).fetchall()
        return [entry_of(row) for row in found]

    def body(self, entry: Entry) -> dict[str, Any]:
        """The body with its personal texts; unreadable ones are ``ERASED`` or ``KEY_MISSING``.

        Raises LogIntegrityError if texts are not those that were sealed, UsageError if the content has
        expired.
        """
        if entry.body is None:
            raise UsageError(
                f"the content of entry {entry.seq} has expired",
                hint="its hash is still in the log: `citewell audit prove`",
            )
        if not entry.subject:
            body: dict[str, Any] = msgspec.json.decode(entry.body)
            return body
        return open_body(entry.body, entry.body_hash, entry.subject, *self._private(entry))

    def texts(self, entry: Entry) -> tuple[bytes, dict[str, str] | None]:
        """The entry's salt and its personal texts by JSON pointer; (b"", None) if they are unreadable."""
        sealed, key = self._private(entry)
        if sealed is None or key is None:
            return b"", None
        return decrypt(sealed, key, entry.body_hash, entry.subject)

    def _private(self, entry: Entry) -> tuple[object | None, bytes | None]:
        """The encrypted texts of an entry and their key; None for whichever is missing."""
        with self.database.reading() as rows:
            row = rows.execute("SELECT sealed FROM private WHERE seq = ?", (entry.seq,)).fetchone()
        return (None, None) if row is None else (row[0], self.keys.key(entry.subject))

    def record(self, request_id: str) -> AuditRecord:
        """The AuditRecord of one request. Raises UsageError if there is none."""
        return msgspec.convert(self.body(self.get(request_id)), AuditRecord)

    def size(self) -> int:
        """The number of entries."""
        with self.database.reading() as rows:
            return head(rows)[0]

    def checkpoint(self) -> str:
        """The newest signed checkpoint, for outsiders to keep."""
        with self.database.reading() as rows:
            note = head(rows)[1]
            return note or checkpoint(0, EMPTY, self._writer.signing_key(rows, note))

    def published(self) -> str:
        """The public keys to hand out, one per line, oldest first, a retired one with the size up to which it
        is valid."""
        with self.database.reading() as rows:
            return with_limits(self.keys.published(), handovers(rows))

    def prove(self, seq: int) -> InclusionProof:
        """Proof that entry ``seq`` is in the newest checkpoint's tree. Raises UsageError if there is none."""
        with self.database.reading() as rows:
            size, note = head(rows)
            if not 0 < seq <= size:
                raise UsageError(f"there is no entry {seq}", hint=f"the log has {size} entries")
            hashes = in_base64(stored_tree(rows, size).inclusion(seq - 1))
        data = self.at(seq).leaf().data().decode()
        return InclusionProof(leaf=data, index=seq - 1, size=size, hashes=hashes, checkpoint=note)

    def grew_from(self, kept: str) -> Growth:
        """An RFC 9162 consistency proof that the log has only been appended to since the ``kept`` checkpoint.

        Raises UsageError if that is not a checkpoint of this log, LogIntegrityError if the log does not
        continue it: no proof exists then.
        """
        try:
            old = read_checkpoint(kept)
        except ValueError as error:
            raise UsageError(
                f"this is not a checkpoint: {error}", hint="pass the kept file unchanged"
            ) from error
        text = self.checkpoint()
        new = read_checkpoint(text)
        if old.origin != new.origin:
            raise UsageError(
                f"the checkpoint belongs to log {old.origin!r}, but this is {new.origin!r}",
                hint="pass a checkpoint of this log",
            )
        with self.database.reading() as rows:
            tree = stored_tree(rows, new.size)
            if old.size > new.size or tree.root(old.size) != old.root:
                raise LogIntegrityError(
                    f"the log with {new.size} entries does not continue the checkpoint of {old.size}",
                    hint="`citewell audit check --checkpoint FILE` shows what happened",
                )
            hashes = in_base64(tree.consistency(old.size, new.size))
        return Growth(old_size=old.size, size=new.size, hashes=hashes, checkpoint=text)

    def check(
        self,
        *,
        evidence: EvidenceStore | None = None,
        prompts: Mapping[str, str] | None = None,
        release: str = "",
        key: str = "",
        outside: Sequence[str] = (),
    ) -> CheckReport:
        """Recomputes the whole log; see :func:`citewell.audit.check.check_log`.

        ``key`` holds the published keys, by default those in the log's key folder.
        """
        with self.database.reading() as rows:
            return check_log(
                rows,
                self.keys,
                evidence=evidence,
                prompts=prompts,
                release=release,
                key=key or with_limits(self.keys.published(), handovers(rows)),
                outside=outside,
            )

    def close(self) -> None:
        self.database.close()
        self.keys.close()


class InclusionProof(Record, frozen=True, kw_only=True):
    """RFC 6962 inclusion: ``leaf`` is number ``index`` (from 0) of the tree of ``size`` that ``checkpoint``
    signs; ``hashes`` are base64, from the leaf up."""

    leaf: str
    index: int
    size: int
    hashes: tuple[str, ...]
    checkpoint: str


class Growth(Record, frozen=True, kw_only=True):
    """``hashes`` (base64) prove that the tree of ``size`` that ``checkpoint`` signs extends the tree of the
    first ``old_size`` leaves: any RFC 6962 tool can check that with the two roots."""

    old_size: int
    size: int
    hashes: tuple[str, ...]
    checkpoint: str


_Waiting = tuple[NewEntry, "Future[bytes]"]
"""An entry being written, and its outcome: its leaf's hash or an error."""


class SqliteLog(Log):
    """The log of a home: one SQLite file, with the folder ``keys`` next to it unless other keys are given.

    ``readonly`` opens an existing log and changes nothing.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock | None = None,
        keys: FolderKeys | None = None,
        readonly: bool = False,
    ) -> None:
        self.path = Path(path)
        database = SqliteDatabase(self.path, readonly=readonly)
        super().__init__(database, keys or FolderKeys(self.path.parent / KEYS_FOLDER), clock=clock)
        if not readonly:
            migrate(database)


class _Requested(msgspec.Struct):
    request_id: str


def _request_of(body: str) -> str:
    """The request of a stored record; "" if the body is no longer a record."""
    try:
        return msgspec.json.decode(body, type=_Requested).request_id
    except ValueError:
        return ""

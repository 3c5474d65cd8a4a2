"""The log itself: entries are only ever appended, each one durable when ``append`` returns.

In: audit records and notices of what happened. Out: each entry's hash, once it is durable; entries, proofs.
What can be done beforehand is done in the caller's thread, outside any lock: personal texts, hashes,
encryption. Writers that wait at the same time then share one transaction (:mod:`citewell.audit.groups`,
:mod:`citewell.audit.writer`); across processes the database lets one in at a time. A group's entries, tree
and signed checkpoint become durable together or not at all, so sequence numbers have no gaps and the newest
entry is under a signature too. When ``append`` raises, nothing was written, but for an UnsettledError: a
server that was lost in the midst of a COMMIT. Entries are ordered by ``seq``; timestamps are kept as they
were given, also when the clock jumped. Knows nothing about how an answer came about.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.bodies import decrypt, encrypt, open_body, set_apart
from citewell.audit.check import CheckReport, check_log
from citewell.audit.database import Database, Row
from citewell.audit.entries import COLUMNS, Entry, EntryKind, leaf, only
from citewell.audit.groups import Groups
from citewell.audit.keys import FolderKeys, asker, with_limits
from citewell.audit.merkle import EMPTY, in_base64, leaf_hash
from citewell.audit.notes import read_checkpoint
from citewell.audit.schema import migrate
from citewell.audit.signing import checkpoint
from citewell.audit.sqlite import SqliteDatabase
from citewell.audit.writer import Sealed, UnsettledError, Writer, handovers, head, stored_tree
from citewell.core.clock import SystemClock, stamp
from citewell.core.errors import LogIntegrityError, UsageError
from citewell.core.identity import SALT_BYTES, TAG, canonical_json, hash_bytes
from citewell.core.records import AuditRecord, Record

if TYPE_CHECKING:
    from citewell.core.ports import Clock, EvidenceStore

KEYS_FOLDER = "keys"
GROUP = 512
"""Most entries that share a transaction."""


class Log:
    """Over any database. Safe to share between threads and processes.

    ``keys`` holds the keys of people and the signing key. Raises LogError, whose hint says what to do.
    """

    def __init__(self, database: Database, keys: FolderKeys, *, clock: Clock | None = None) -> None:
        self.database, self.keys = database, keys
        self._clock = clock or SystemClock()
        self._writer = Writer(database, keys)
        self._turn = threading.Lock()
        self._groups = Groups(self._take_turn, GROUP)
        self.after_append: Callable[[], None] | None = None

    # --- writing ----------------------------------------------------------------------------------

    def append(self, record: AuditRecord) -> str:
        """Seals ``record``; durable when it returns its hash. Raises LogError: then nothing was written, or
        for an UnsettledError nobody can tell.

        Its subject is the user, or the session when nobody is named.
        """
        kind = EntryKind.ERROR if record.error else EntryKind.ANSWER
        subject = asker(record.user, record.session_id)
        return self._add(self._seal(kind, record.timestamp, record, subject))

    def note(self, kind: EntryKind, body: Mapping[str, Any], *, subject: str = "") -> str:
        """Seals an event that is not an answer; see :class:`EntryKind`.

        ``subject`` names the person it is about, under whose key the body's personal texts are then kept;
        without one the body holds nothing personal.
        """
        return self._add(self._seal(kind, stamp(self._clock), body, subject))

    def _seal(
        self, kind: EntryKind, timestamp: str, body: AuditRecord | Mapping[str, Any], name: str
    ) -> Sealed:
        request_id = body.request_id if isinstance(body, AuditRecord) else ""
        if not name:
            stored = canonical_json(body)
            return Sealed(kind.value, timestamp, "", stored.decode(), hash_bytes(stored), None, request_id)
        self._writer.must_have_keys()
        person = self.keys.subject(name)
        salt = os.urandom(SALT_BYTES)
        stored, texts = set_apart(body, salt, self.keys.blind)
        body_hash = hash_bytes(stored)
        private = encrypt(texts, salt, person.key, body_hash, person.id)
        return Sealed(kind.value, timestamp, person.id, stored.decode(), body_hash, private, request_id)

    def _add(self, entry: Sealed) -> str:
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
                # One bad entry must not take the others with it.
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
        """Replaces the signing key: an entry of which the old key signs both the handover and the checkpoint.

        Gives the new public key, to be published. What the old key signed before stays good.
        """
        with self._turn:
            return self._writer.hand_over(stamp(self._clock), reason)

    def replace_lost_key(self, reason: str) -> str:
        """A new signing key for a log whose old one is gone: recorded, and signed by nobody but itself.

        Whoever holds only the old public key will not accept checkpoints from here on. Raises UsageError
        while the old key is there.
        """
        with self._turn:
            return self._writer.replace_lost_key(stamp(self._clock), reason)

    def restore_keys(self, folder: Path) -> bool:
        """Brings missing keys back from a backup; people whom the log says were erased stay so.

        Whether the key that signs is there now: a backup older than its last change has none. Raises
        UsageError when nothing is missing, or nothing of it is in the backup.
        """
        with self.database.reading() as rows:
            found = rows.execute("SELECT DISTINCT subject FROM entries WHERE subject <> ''").fetchall()
        erased = {str(self.body(entry).get("subject", "")) for entry in self.entries(EntryKind.ERASURE)}
        named = {subject for (subject,) in found} - erased
        return self.keys.restore(folder, named, self._writer.in_force())

    # --- reading ----------------------------------------------------------------------------------

    def get(self, request_id: str) -> Entry:
        """The entry of one answer or error. Raises UsageError when there is none, LogIntegrityError when it
        is of another request."""
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
        """Those of the requests that have no entry, and never had one."""
        asked, lacking = sorted(requests), set(requests)
        for start in range(0, len(asked), 500):
            some = asked[start : start + 500]
            among = ", ".join("?" * len(some))
            with self.database.reading() as rows:
                found = rows.execute(f"SELECT request_id FROM requests WHERE request_id IN ({among})", some)
                lacking.difference_update(request for (request,) in found)
        return lacking

    def absent(self, request_id: str) -> UsageError:
        """What is said of a request that has no record."""
        return UsageError(
            f"no record {request_id!r}", hint="`citewell audit query` lists the records; or check --home"
        )

    def at(self, seq: int) -> Entry:
        """Entry ``seq``. Raises LogIntegrityError when it is not there."""
        for entry in self.select("seq = ?", (seq,)):
            return entry
        raise LogIntegrityError(f"entry {seq} is missing", hint="run `citewell audit check`")

    def latest(self, kind: EntryKind) -> Entry | None:
        """The last entry of ``kind``, None when there is none."""
        return next(iter(self.select(f"{only(kind)} ORDER BY seq DESC LIMIT 1")), None)

    def entries(self, kind: EntryKind | None = None, *, after: int = 0) -> Iterator[Entry]:
        """Every entry (of ``kind``) with a seq above ``after``, in order; reads in blocks."""
        among = "" if kind is None else f" AND {only(kind)}"
        while found := self.select(f"seq > ?{among} ORDER BY seq LIMIT 500", (after,)):
            yield from found
            after = found[-1].seq

    def select(self, condition: str, values: Sequence[Any] = ()) -> list[Entry]:
        """The entries for which an SQL condition holds; an order may follow it."""
        with self.database.reading() as rows:
            found = rows.execute(f"SELECT {COLUMNS} FROM entries WHERE {condition}", values).fetchall()
        return list(map(_entry, found))

    def body(self, entry: Entry) -> dict[str, Any]:
        """The body with its personal texts; those that nobody can read are ``ERASED`` or ``KEY_MISSING``.

        Raises LogIntegrityError when texts are not those that were sealed, UsageError when the content has
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
        """The entry's salt and its personal texts by JSON pointer; (b"", None) where nobody can read them."""
        sealed, key = self._private(entry)
        if sealed is None or key is None:
            return b"", None
        return decrypt(sealed, key, entry.body_hash, entry.subject)

    def _private(self, entry: Entry) -> tuple[object | None, bytes | None]:
        """The encrypted texts of an entry and their key; None for what is not there."""
        with self.database.reading() as rows:
            row = rows.execute("SELECT sealed FROM private WHERE seq = ?", (entry.seq,)).fetchone()
        return (None, None) if row is None else (row[0], self.keys.key(entry.subject))

    def record(self, request_id: str) -> AuditRecord:
        """The AuditRecord of one request. Raises UsageError when there is none."""
        return msgspec.convert(self.body(self.get(request_id)), AuditRecord)

    def size(self) -> int:
        """How many entries there are."""
        with self.database.reading() as rows:
            return head(rows)[0]

    def checkpoint(self) -> str:
        """The newest signed checkpoint: what an outsider keeps."""
        with self.database.reading() as rows:
            note = head(rows)[1]
            return note or checkpoint(0, EMPTY, self._writer.signing_key(rows, note))

    def published(self) -> str:
        """The public keys to hand out, one a line, oldest first, a retired one with the size up to which it
        counts."""
        with self.database.reading() as rows:
            return with_limits(self.keys.published(), handovers(rows))

    def prove(self, seq: int) -> Proof:
        """That entry ``seq`` is in the tree of the newest checkpoint. Raises UsageError for none such."""
        with self.database.reading() as rows:
            size, note = head(rows)
            if not 0 < seq <= size:
                raise UsageError(f"there is no entry {seq}", hint=f"the log has {size} entries")
            hashes = in_base64(stored_tree(rows, size).inclusion(seq - 1))
        data = self.at(seq).leaf().data().decode()
        return Proof(leaf=data, index=seq - 1, size=size, hashes=hashes, checkpoint=note)

    def grew_from(self, kept: str) -> Growth:
        """An RFC 9162 consistency proof that the log only added to the one somebody kept a checkpoint of.

        Raises UsageError for what is no checkpoint of this log, LogIntegrityError when the log does not go on
        from it: then there is no proof.
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
        """Derives the whole log again; see :func:`citewell.audit.check.check_log`.

        ``key`` is the published key, by default the one that lies with the log's own.
        """
        with self.database.reading() as rows:
            return check_log(
                rows,
                keys=self.keys.key,
                names=self.keys.name,
                evidence=evidence,
                prompts=prompts,
                release=release,
                key=key or with_limits(self.keys.published(), handovers(rows)),
                outside=outside,
            )

    def close(self) -> None:
        self.database.close()
        self.keys.close()


class Proof(Record, frozen=True, kw_only=True):
    """RFC 6962 inclusion: ``leaf`` is number ``index`` (from 0) of the tree of ``size`` that ``checkpoint``
    signs; ``hashes`` are base64, from the leaf up."""

    leaf: str
    index: int
    size: int
    hashes: tuple[str, ...]
    checkpoint: str


class Growth(Record, frozen=True, kw_only=True):
    """``hashes`` (base64) lead from the root of the first ``old_size`` leaves to the root that ``checkpoint``
    signs, of ``size``: any RFC 6962 tool checks that with the two roots."""

    old_size: int
    size: int
    hashes: tuple[str, ...]
    checkpoint: str


_Waiting = tuple[Sealed, "Future[bytes]"]
"""An entry on its way into the log, and what became of it: its leaf's hash or an error."""


class SqliteLog(Log):
    """The log of a home: one SQLite file, and the folder ``keys`` beside it unless another is given.

    ``wait_s`` is how long a write waits for another writer. ``readonly`` opens what is there and changes
    nothing.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Clock | None = None,
        keys: FolderKeys | None = None,
        readonly: bool = False,
        wait_s: float = 30.0,
    ) -> None:
        self.path = Path(path)
        database = SqliteDatabase(self.path, readonly=readonly, wait_s=wait_s)
        super().__init__(database, keys or FolderKeys(self.path.parent / KEYS_FOLDER), clock=clock)
        if not readonly:
            migrate(database)


class _Requested(msgspec.Struct):
    request_id: str


def _request_of(body: str) -> str:
    """The request that a stored record is of; "" where it is no record any more."""
    try:
        return msgspec.json.decode(body, type=_Requested).request_id
    except ValueError:
        return ""


def _entry(row: Row) -> Entry:
    seq, kind, timestamp, subject, body, body_hash = row
    digest = leaf_hash(leaf(seq, kind, timestamp, subject, body_hash).data())
    return Entry(
        seq=seq,
        kind=kind,
        timestamp=timestamp,
        subject=subject,
        body=body,
        body_hash=body_hash,
        hash=TAG + digest.hex(),
    )

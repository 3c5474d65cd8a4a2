"""The log itself: entries are only ever appended, each one durable when ``append`` returns.

In: audit records and notices of what happened. Out: each entry's hash, once it is durable. Writers that wait
at the same time share one transaction (group commit); across processes the database lets one in at a time. A
group is one step of the tree: entries, tree and signed checkpoint become durable together or not at all, so
sequence numbers have no gaps and the newest entry is under a signature too. When ``append`` raises, nothing
was written. Entries are ordered by ``seq``; timestamps are kept as they were given, also when the clock
jumped. Knows nothing about how an answer came about.
"""

from __future__ import annotations

import base64
import secrets
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.bodies import decrypt, encrypt, fill_in, set_apart
from citewell.audit.check import CheckReport, check_log
from citewell.audit.checkpoints import checkpoint
from citewell.audit.database import Database, Row, Rows
from citewell.audit.entries import RECORDS, Entry, EntryKind, leaf
from citewell.audit.keys import FolderKeys, Signer
from citewell.audit.merkle import EMPTY, Frontier, Tree, leaf_hash
from citewell.audit.notes import handover, read_checkpoint
from citewell.audit.schema import migrate
from citewell.audit.sqlite import SqliteDatabase
from citewell.clock import SystemClock, stamp
from citewell.errors import LogError, LogIntegrityError, UsageError
from citewell.identity import TAG, canonical_json, hash_bytes, plain
from citewell.records import AuditRecord, Record

if TYPE_CHECKING:
    from citewell.ports import Clock, EvidenceStore

KEYS_FOLDER = "keys"
GROUP = 512
"""Most entries that share a transaction."""

_COLUMNS = "seq, kind, timestamp, subject, body, body_hash"


class Log:
    """The AuditStore over any database. Safe to share between threads and processes.

    ``keys`` holds the keys of people and the signing key. Raises LogError, whose hint says what to do.
    """

    def __init__(self, database: Database, keys: FolderKeys, *, clock: Clock | None = None) -> None:
        self.database, self.keys = database, keys
        self._clock = clock or SystemClock()
        self._queue: deque[_Waiting] = deque()
        self._turn = threading.Lock()
        self._signer: Signer | None = None
        self._newest: tuple[str, Frontier] = ("", Frontier())
        self.after_append: Callable[[], None] | None = None

    # --- writing ----------------------------------------------------------------------------------

    def append(self, record: AuditRecord, *, caller_supplied: Collection[str] = ()) -> str:
        """Seals ``record``; durable when it returns its hash. Raises LogError: then nothing was written.

        Its subject is the user, or the session when nobody is named. ``caller_supplied`` are document
        versions whose quotes are the caller's own text.
        """
        kind = EntryKind.ERROR if record.error else EntryKind.ANSWER
        subject = record.user or record.session_id
        return self._seal(kind, record.timestamp, plain(record), subject, caller_supplied)

    def note(self, kind: EntryKind, body: Mapping[str, Any], *, subject: str = "") -> str:
        """Seals an event that is not an answer; see :class:`EntryKind`.

        ``subject`` names the person it is about, under whose key the body's personal texts are then kept;
        without one the body holds nothing personal.
        """
        return self._seal(kind, stamp(self._clock), plain(dict(body)), subject, ())

    def _seal(
        self, kind: EntryKind, timestamp: str, body: Any, name: str, caller_supplied: Collection[str]
    ) -> str:
        waiting = _Waiting(kind.value, timestamp)
        if name:
            person = self.keys.subject(name)
            salt = secrets.token_bytes(32)
            body, texts = set_apart(body, salt, self.keys.blind, caller_supplied)
            waiting.subject = person.id
            waiting.keep(body)
            waiting.private = encrypt(texts, salt, person.key, waiting.body_hash, person.id)
        else:
            waiting.keep(body)
        self._queue.append(waiting)
        while not waiting.done:
            with self._turn:
                # Whoever had the turn before may have taken this one along.
                if not waiting.done:
                    self._take_turn()
        if waiting.error is not None:
            raise waiting.error
        if self.after_append is not None:
            self.after_append()
        return waiting.hash

    def _take_turn(self) -> None:
        group = [self._queue.popleft() for _ in range(min(GROUP, len(self._queue)))]
        try:
            self._commit(group)
        except BaseException as error:
            if len(group) == 1 or not isinstance(error, Exception):
                for waiting in group:
                    waiting.fail(error)
                if not isinstance(error, Exception):
                    raise
                return
            # One bad entry must not take the others with it.
            for waiting in group:
                try:
                    self._commit([waiting])
                except Exception as own:  # noqa: BLE001 - raised again by the thread that waits for it
                    waiting.fail(own)

    def _commit(self, group: list[_Waiting], *also: Signer, lost: Signer | None = None) -> None:
        """``also`` sign beside the key in force; ``lost`` signs because that is gone."""
        with self.database.writing() as rows:
            size, note = self._head(rows)
            signer = lost or self._signing_key(rows, note)
            frontier = self._frontier(rows, size, note)
            _write_entries(rows, group, frontier.size + 1)
            hashes = self._grow(rows, group, frontier)
            note = self._sign(rows, frontier, signer, *also)
        self._newest = (note, frontier)
        for waiting, digest in zip(group, hashes, strict=True):
            waiting.succeed(TAG + digest.hex())

    def _grow(self, rows: Rows, group: list[_Waiting], frontier: Frontier) -> list[bytes]:
        """Adds the group's leaves to the tree; their hashes."""
        tree_rows: list[Row] = []
        hashes = []
        for seq, waiting in enumerate(group, frontier.size + 1):
            data = leaf(seq, waiting.kind, waiting.timestamp, waiting.subject, waiting.body_hash)
            hashes.append(leaf_hash(data))
            tree_rows += frontier.append(hashes[-1])
        rows.executemany("INSERT INTO tree(level, place, hash) VALUES(?, ?, ?)", tree_rows)
        return hashes

    def _sign(self, rows: Rows, frontier: Frontier, *signers: Signer) -> str:
        """Puts the new state under a checkpoint."""
        note = checkpoint(frontier.size, frontier.root(), *signers)
        rows.execute(
            "INSERT INTO head(one, size, checkpoint) VALUES(1, ?, ?)"
            " ON CONFLICT(one) DO UPDATE SET size = excluded.size, checkpoint = excluded.checkpoint",
            (frontier.size, note),
        )
        return note

    def _frontier(self, rows: Rows, size: int, note: str) -> Frontier:
        """What to append to; from memory when nobody else has written since.

        Raises LogIntegrityError when the tree is not the one that was signed: nothing is added on top of
        that.
        """
        known, frontier = self._newest
        if known != note:
            frontier = stored_tree(rows, size).frontier()
            if frontier.root() != read_checkpoint(note).root:
                raise LogIntegrityError(
                    f"{self.database.where} is not as it was signed", hint="run `citewell audit check`"
                )
        return frontier.copy()

    def hand_over(self, reason: str = "") -> str:
        """Replaces the signing key: an entry of which the old key signs both the handover and the checkpoint.

        Gives the new public key, to be published. What the old key signed before stays good.
        """
        with self._turn:
            with self.database.reading() as rows:
                old = self._signing_key(rows, self._head(rows)[1])
            new = self.keys.next_signer(old.name)
            names = (old.public_text(), new.public_text())
            signature = base64.b64encode(old.sign(handover(*names))).decode()
            body = {"old": names[0], "new": names[1], "signature": signature, "reason": reason}
            self._commit([self._waiting_key(body)], new)
            self._signer = self.keys.take_up(names[1])
        return names[1]

    def replace_lost_key(self, reason: str) -> str:
        """A new signing key for a log whose old one is gone: recorded, and signed by nobody but itself.

        Whoever holds only the old public key will not accept checkpoints from here on. Raises UsageError
        while the old key is there.
        """
        if self.keys.can_sign():
            raise UsageError("the signing key is there", hint="`citewell audit key rotate` replaces it")
        with self._turn:
            new = self.keys.signer()
            body = {"old": "", "new": new.public_text(), "signature": "", "reason": reason}
            self._commit([self._waiting_key(body)], lost=new)
            self._signer = new
        return new.public_text()

    def _waiting_key(self, body: dict[str, str]) -> _Waiting:
        waiting = _Waiting(EntryKind.KEY.value, stamp(self._clock))
        waiting.keep(body)
        return waiting

    def _head(self, rows: Rows) -> tuple[int, str]:
        """Size and signed checkpoint."""
        row = rows.execute("SELECT size, checkpoint FROM head").fetchone()
        return (int(row[0]), str(row[1])) if row else (0, "")

    def _signing_key(self, rows: Rows, note: str) -> Signer:
        """The key in force. A handover that was cut short after its entry was durable is finished here."""
        if self._signer is not None and note == self._newest[0]:
            return self._signer
        row = rows.execute(
            f"SELECT body FROM entries WHERE {_of(EntryKind.KEY)} ORDER BY seq DESC LIMIT 1"
        ).fetchone()
        if self._signer is None and note and not self.keys.can_sign():
            raise LogError(
                f"the signing key of {self.database.where} is not in {self.keys.folder}",
                hint="restore it from its backup, or record that it is lost: `citewell audit key new --lost`",
            )
        signer = self._signer or self.keys.signer()
        if row is not None:
            named = str(msgspec.json.decode(row[0])["new"])
            signer = signer if signer.public_text() == named else self.keys.take_up(named)
        elif note and signer.id not in [identity for _, identity, _ in read_checkpoint(note).signatures]:
            raise LogError(
                f"the key in {self.keys.folder} is not the one that signed {self.database.where}",
                hint="restore the log's own key from its backup",
            )
        self._signer = signer
        return signer

    # --- reading ----------------------------------------------------------------------------------

    def get(self, request_id: str) -> Entry:
        """The entry of one answer or error. Raises UsageError when there is none."""
        with self.database.reading() as rows:
            row = rows.execute("SELECT seq FROM requests WHERE request_id = ?", (request_id,)).fetchone()
        if row is None:
            raise self.absent(request_id)
        return self.at(row[0])

    def absent(self, request_id: str) -> UsageError:
        """What is said of a request that has no record."""
        return UsageError(
            f"no record {request_id!r} in {self.database.where}", hint="`citewell audit query` lists them"
        )

    def at(self, seq: int) -> Entry:
        """Entry ``seq``. Raises LogIntegrityError when it is not there."""
        with self.database.reading() as rows:
            row = rows.execute(f"SELECT {_COLUMNS} FROM entries WHERE seq = ?", (seq,)).fetchone()
        if row is None:
            raise LogIntegrityError(f"entry {seq} is not there", hint="run `citewell audit check`")
        return _entry(row)

    def latest(self, kind: EntryKind) -> Entry | None:
        """The last entry of ``kind``, None when there is none."""
        with self.database.reading() as rows:
            row = rows.execute(
                f"SELECT {_COLUMNS} FROM entries WHERE {_of(kind)} ORDER BY seq DESC LIMIT 1"
            ).fetchone()
        return None if row is None else _entry(row)

    def entries(self, kind: EntryKind | None = None, *, after: int = 0) -> Iterator[Entry]:
        """Every entry (of ``kind``) with a seq above ``after``, in order; reads in blocks."""
        only = "" if kind is None else f" AND {_of(kind)}"
        while True:
            with self.database.reading() as rows:
                found = rows.execute(
                    f"SELECT {_COLUMNS} FROM entries WHERE seq > ?{only} ORDER BY seq LIMIT 500",
                    (after,),
                ).fetchall()
            if not found:
                return
            yield from map(_entry, found)
            after = found[-1][0]

    def body(self, entry: Entry) -> dict[str, Any]:
        """The body with its personal texts; those read as ``ERASED`` when the subject's key is destroyed.

        Raises LogIntegrityError when texts are not what was sealed, UsageError when the content has expired.
        """
        if entry.body is None:
            raise UsageError(
                f"the content of entry {entry.seq} has expired",
                hint="its hash is still in the tree: `citewell audit prove`",
            )
        body: dict[str, Any] = msgspec.json.decode(entry.body)
        return body if not entry.subject else fill_in(body, self.texts(entry)[1])

    def texts(self, entry: Entry) -> tuple[bytes, dict[str, str] | None]:
        """The entry's salt and its personal texts by JSON pointer; (b"", None) once they are erased."""
        key = self.keys.key(entry.subject) if entry.subject else None
        if key is None:
            return b"", None
        with self.database.reading() as rows:
            row = rows.execute("SELECT sealed FROM private WHERE seq = ?", (entry.seq,)).fetchone()
        return (b"", None) if row is None else decrypt(bytes(row[0]), key, entry.body_hash, entry.subject)

    def record(self, request_id: str) -> AuditRecord:
        """The AuditRecord of one request. Raises UsageError when there is none."""
        return msgspec.convert(self.body(self.get(request_id)), AuditRecord)

    def size(self) -> int:
        """How many entries there are."""
        with self.database.reading() as rows:
            return self._head(rows)[0]

    def checkpoint(self) -> str:
        """The newest signed checkpoint: what an outsider keeps."""
        with self.database.reading() as rows:
            note = self._head(rows)[1]
            return note or checkpoint(0, EMPTY, self._signing_key(rows, note))

    def prove(self, seq: int) -> Proof:
        """That entry ``seq`` is in the tree of the newest checkpoint. Raises UsageError for none such."""
        with self.database.reading() as rows:
            size, note = self._head(rows)
            row = rows.execute(f"SELECT {_COLUMNS} FROM entries WHERE seq = ?", (seq,)).fetchone()
            if row is None or not 0 < seq <= size:
                raise UsageError(f"no entry {seq} in {self.database.where}", hint=f"there are {size}")
            proof = stored_tree(rows, size).inclusion(seq - 1)
        data = leaf(row[0], row[1], row[2], row[3], row[5])
        return Proof(
            leaf=data.decode(),
            index=seq - 1,
            size=size,
            hashes=tuple(base64.b64encode(digest).decode() for digest in proof),
            checkpoint=note,
        )

    def check(
        self,
        *,
        evidence: EvidenceStore | None = None,
        prompts: Mapping[str, str] | None = None,
        key: str = "",
        outside: Sequence[str] = (),
    ) -> CheckReport:
        """Derives the whole log again; see :func:`citewell.audit.check.check_log`.

        ``key`` is the published key, by default the one that lies with the log's own.
        """
        key = key or self.keys.published()
        with self.database.reading() as rows:
            return check_log(rows, evidence=evidence, prompts=prompts, key=key, outside=outside)

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


class SqliteLog(Log):
    """The log of a home: one SQLite file, and the folder ``keys`` beside it unless another is given.

    ``wait_s`` is how long a write waits for another writer. ``readonly`` opens what is there and changes
    nothing, not even on a read-only disk.
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


class _Waiting:
    """An entry on its way into the log, and what became of it."""

    def __init__(self, kind: str, timestamp: str) -> None:
        self.kind, self.timestamp, self.subject = kind, timestamp, ""
        self.sealed: Any = None
        self.body, self.body_hash = b"", ""
        self.private: bytes | None = None
        self.hash = ""
        self.error: BaseException | None = None
        self.done = False

    def keep(self, body: Any) -> None:
        self.sealed, self.body = body, canonical_json(body)
        self.body_hash = hash_bytes(self.body)

    def succeed(self, digest: str) -> None:
        self.hash, self.done = digest, True

    def fail(self, error: BaseException) -> None:
        self.error, self.done = error, True


_INSERT_ENTRY = f"INSERT INTO entries({_COLUMNS}) VALUES(?, ?, ?, ?, ?, ?)"


def _write_entries(rows: Rows, group: list[_Waiting], first: int) -> None:
    """Everything of the group but the tree; its sequence numbers begin at ``first``."""
    numbered = list(enumerate(group, first))
    rows.executemany(
        _INSERT_ENTRY,
        [(seq, w.kind, w.timestamp, w.subject, w.body.decode(), w.body_hash) for seq, w in numbered],
    )
    private = [(seq, w.subject, w.private) for seq, w in numbered if w.private is not None]
    if private:
        rows.executemany("INSERT INTO private(seq, subject, sealed) VALUES(?, ?, ?)", private)
    requests = [(w.sealed["request_id"], seq) for seq, w in numbered if w.kind in RECORDS]
    if requests:
        rows.executemany("INSERT INTO requests(request_id, seq) VALUES(?, ?)", requests)


def _of(kind: EntryKind) -> str:
    """Written out, not a parameter: only so is the index by kind, which leaves answers out, of use."""
    return f"kind = '{EntryKind(kind).value}'"


def stored_tree(rows: Rows, size: int) -> Tree:
    """The tree as the database holds it, for as long as ``rows`` lasts."""

    def tile(level: int, number: int, width: int) -> list[bytes]:
        found = rows.execute(
            "SELECT hash FROM tree WHERE level = ? AND place >= ? AND place < ? ORDER BY place",
            (level, number * 256, number * 256 + width),
        ).fetchall()
        if len(found) != width:
            raise LogIntegrityError("the log's tree has holes", hint="run `citewell audit check`")
        return [bytes(digest) for (digest,) in found]

    return Tree(size, tile)


def _entry(row: Row) -> Entry:
    seq, kind, timestamp, subject, body, body_hash = row
    digest = leaf_hash(leaf(seq, kind, timestamp, subject, body_hash))
    return Entry(
        seq=seq,
        kind=kind,
        timestamp=timestamp,
        subject=subject,
        body=body,
        body_hash=body_hash,
        hash=TAG + digest.hex(),
    )

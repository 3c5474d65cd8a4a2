"""Writes sealed entries to the log's tables: a group is one transaction, one tree update, one signature.

In: sealed bodies, the database, the keys. Out: the leaves' hashes, once entries, tree and signed checkpoint
are durable together; or an error, with nothing written unless it is an UnsettledError. Threads that wait at
the same time are served together (:class:`Groups`): the first starts at once, and those that arrive meanwhile
form the next group, led by one of them. Also changes the signing key. Independent of what is in a body.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Generic, NamedTuple, TypeVar

import msgspec

from citewell.audit.database import Database, Row, Rows
from citewell.audit.entries import COLUMNS, EntryKind, kind_condition, leaf
from citewell.audit.keys import FolderKeys, Handover
from citewell.audit.merkle import TILE, Frontier, Tree, leaf_hash
from citewell.audit.notes import TrustedKeys, handover, read_checkpoint
from citewell.audit.signing import Signer, checkpoint
from citewell.core.errors import LogError, LogIntegrityError, UsageError
from citewell.core.identity import canonical_json, hash_bytes


class NewEntry(NamedTuple):
    """An entry without a seq. ``request_id`` is "" if it answers no request, ``private`` None if it is about
    nobody."""

    kind: str
    timestamp: str
    subject: str
    body: str
    body_hash: str
    private: bytes | None = None
    request_id: str = ""


class UnsettledError(LogError):
    """It is unknown whether the entries were written; so they must not be written again unchecked."""

    retryable = False


_Put = tuple[list[bytes], tuple[str, Frontier]]
"""The hashes of a group's leaves, and the newest state once its transaction has ended."""


class LogWriter:
    """Not thread-safe: callers must serialize access."""

    def __init__(self, database: Database, keys: FolderKeys) -> None:
        self.database, self.keys = database, keys
        self._signer: Signer | None = None
        self._newest: tuple[str, Frontier] = ("", Frontier())

    def write(self, group: Sequence[NewEntry], *, lost: Signer | None = None) -> list[bytes]:
        """Returns the leaves' hashes; ``lost`` signs if the key in force is lost. Raises UnsettledError if
        the connection was lost during COMMIT and the outcome is unknown."""
        return self._durable(
            lambda rows: self._put(rows, group, lost or self.signing_key(rows, head(rows)[1]))
        )

    def _durable(self, put: Callable[[Rows], _Put]) -> list[bytes]:
        """The leaves' hashes, once the writes of ``put`` are durable."""
        done: _Put | None = None
        try:
            with self.database.writing() as rows:
                done = put(rows)
        except LogError as error:
            if done is None or not self._stands(*done, error):
                raise
        hashes, self._newest = done
        return hashes

    def _stands(self, hashes: Sequence[bytes], newest: tuple[str, Frontier], error: LogError) -> bool:
        """Whether leaves whose COMMIT failed with ``error`` are in the log after all: the server may have
        committed before the connection was lost."""
        try:
            # As a writer: this waits for a COMMIT still in progress.
            with self.database.writing() as rows:
                stands = tree_hashes(rows, 0, newest[1].size - len(hashes), len(hashes))
        except LogError:
            raise UnsettledError(
                f"{error}; it is unknown whether the entry was written",
                hint="when the log can be reached again, check with `citewell audit query`"
                " before asking again",
            ) from error
        return stands == hashes

    def _put(self, rows: Rows, group: Sequence[NewEntry], *signers: Signer) -> _Put:
        size, note = head(rows)
        frontier = self._frontier(rows, size, note, signers[0])
        _write_entries(rows, group, size + 1)
        hashes = self._grow(rows, group, frontier)
        return hashes, (self._sign(rows, frontier, *signers), frontier)

    def _grow(self, rows: Rows, group: Sequence[NewEntry], frontier: Frontier) -> list[bytes]:
        """Adds the group's leaves to the tree; returns their hashes."""
        tree_rows: list[Row] = []
        hashes = []
        for seq, entry in enumerate(group, frontier.size + 1):
            hashes.append(leaf_hash(leaf(seq, *entry[:3], entry.body_hash).data()))
            tree_rows += frontier.append(hashes[-1])
        rows.executemany("INSERT INTO tree(level, place, hash) VALUES(?, ?, ?)", tree_rows)
        return hashes

    def _sign(self, rows: Rows, frontier: Frontier, *signers: Signer) -> str:
        """Stores a signed checkpoint of the new state."""
        note = checkpoint(frontier.size, frontier.root(), *signers)
        rows.execute(
            "INSERT INTO head(one, size, checkpoint) VALUES(1, ?, ?)"
            " ON CONFLICT(one) DO UPDATE SET size = excluded.size, checkpoint = excluded.checkpoint",
            (frontier.size, note),
        )
        return note

    def _frontier(self, rows: Rows, size: int, note: str, signer: Signer) -> Frontier:
        """The frontier to append to; from memory if nobody else has written since.

        Raises LogIntegrityError if the tree does not match its checkpoint, or ``signer`` is in force but did
        not sign it: nothing is added on top of that.
        """
        known, frontier = self._newest
        if known != note:
            if self._in_force(rows)(signer) and not _signed(note, signer):
                raise LogIntegrityError(
                    f"the newest entries in {self.database.where} are not signed by the current key",
                    hint="run `citewell audit check`",
                )
            frontier = stored_tree(rows, size).frontier()
            if frontier.root() != read_checkpoint(note).root:
                raise LogIntegrityError(
                    f"{self.database.where} does not match its signed checkpoint",
                    hint="run `citewell audit check`",
                )
        return frontier.copy()

    # --- keys -------------------------------------------------------------------------------------

    def signing_key(self, rows: Rows, note: str) -> Signer:
        """The key in force. A handover interrupted after its entry was durable is finished here."""
        if self._signer is not None and note == self._newest[0]:
            return self._signer
        in_force = self._in_force(rows)
        if self._signer is None or not in_force(self._signer):
            self._signer = self.keys.take_up(in_force) if note else self.keys.signer()
            self.keys.retire(handovers(rows))
        return self._signer

    def in_force(self) -> Callable[[Signer], bool]:
        """A predicate for the key that signs this log; for an empty log any key passes."""
        with self.database.reading() as rows:
            return self._in_force(rows)

    def _in_force(self, rows: Rows) -> Callable[[Signer], bool]:
        if named := _named(rows):
            return lambda signer: signer.public_text() == named
        note = head(rows)[1]
        signed = [identity for _, identity, _ in read_checkpoint(note).signatures] if note else []
        return lambda signer: not note or signer.id in signed

    def must_have_keys(self) -> None:
        """Called before people are created in the key folder. Raises LogError if the log has entries but its
        key is missing: it must be restored together with the people."""
        if not self.keys.can_sign():
            with self.database.reading() as rows:
                if head(rows)[1]:
                    self.keys.take_up(self._in_force(rows))

    def hand_over(self, timestamp: str, reason: str) -> str:
        """Writes an entry whose handover and checkpoint the old key signs; returns the new public key."""
        self._durable(lambda rows: self._put_handover(rows, timestamp, reason))
        self._signer = None
        with self.database.writing() as rows:
            return self.signing_key(rows, head(rows)[1]).public_text()

    def _put_handover(self, rows: Rows, timestamp: str, reason: str) -> _Put:
        old = self.signing_key(rows, head(rows)[1])
        # Under the log's lock: a concurrent handover would overwrite the next key.
        new = self.keys.next_signer(old.name)
        names = (old.public_text(), new.public_text())
        signature = base64.b64encode(old.sign(handover(*names))).decode()
        return self._put(rows, [_key_entry(timestamp, *names, signature, reason)], old, new)

    def replace_lost_key(self, timestamp: str, reason: str) -> str:
        """A new key, signed only by itself. Raises UsageError if the one in force still exists."""
        if self.keys.has(self.in_force()):
            raise UsageError("there is already a signing key", hint="`citewell audit key rotate` replaces it")
        new = self.keys.begin_anew()
        self.write([_key_entry(timestamp, "", new.public_text(), "", reason)], lost=new)
        self._signer = new
        return new.public_text()


def _signed(note: str, signer: Signer) -> bool:
    """Whether a checkpoint is signed by this key; an empty log needs none."""
    return not note or not TrustedKeys(signer.public_text()).fault(read_checkpoint(note))


def handovers(rows: Rows) -> list[Handover]:
    """The changes of the signing key, in order."""
    found = rows.execute(
        f"SELECT seq, body FROM entries WHERE {kind_condition(EntryKind.KEY)} AND body IS NOT NULL"
        " ORDER BY seq"
    ).fetchall()
    changes = []
    for seq, body in found:
        # An invalid one retires no key; `check` reports it.
        with suppress(ValueError, LookupError, TypeError):
            said = msgspec.json.decode(body)
            changes.append(Handover(seq, str(said["old"]), str(said["new"])))
    return changes


def _named(rows: Rows) -> str:
    """The public key that the last handover put in force; "" before the first or if its content is gone: the
    newest checkpoint then tells which key it is."""
    row = rows.execute(
        f"SELECT body FROM entries WHERE {kind_condition(EntryKind.KEY)} ORDER BY seq DESC LIMIT 1"
    ).fetchone()
    return str(msgspec.json.decode(row[0])["new"]) if row is not None and row[0] is not None else ""


def _key_entry(timestamp: str, old: str, new: str, signature: str, reason: str) -> NewEntry:
    body = canonical_json({"old": old, "new": new, "signature": signature, "reason": reason})
    return NewEntry(EntryKind.KEY.value, timestamp, "", body.decode(), hash_bytes(body))


def _write_entries(rows: Rows, group: Sequence[NewEntry], first: int) -> None:
    """Writes the group's rows except the tree; its sequence numbers start at ``first``."""
    numbered = list(enumerate(group, first))
    rows.executemany(
        f"INSERT INTO entries({COLUMNS}) VALUES(?, ?, ?, ?, ?, ?)",
        [(seq, *entry[:5]) for seq, entry in numbered],
    )
    private = [(seq, entry.subject, entry.private) for seq, entry in numbered if entry.private is not None]
    if private:
        rows.executemany("INSERT INTO private(seq, subject, sealed) VALUES(?, ?, ?)", private)
    requests = [(entry.request_id, seq) for seq, entry in numbered if entry.request_id]
    if requests:
        rows.executemany("INSERT INTO requests(request_id, seq) VALUES(?, ?)", requests)


def head(rows: Rows) -> tuple[int, str]:
    """Size and signed checkpoint of the newest state; (0, "") for an empty log."""
    row = rows.execute("SELECT size, checkpoint FROM head").fetchone()
    return (int(row[0]), str(row[1])) if row else (0, "")


def stored_tree(rows: Rows, size: int) -> Tree:
    """The tree in the database, valid as long as ``rows``."""

    def tile(level: int, number: int, width: int) -> list[bytes]:
        found = tree_hashes(rows, level, number * TILE, width)
        if len(found) != width:
            raise LogIntegrityError("the log's tree is incomplete", hint="run `citewell audit check`")
        return found

    return Tree(size, tile)


def tree_hashes(rows: Rows, level: int, first: int, count: int) -> list[bytes]:
    """The stored hashes of up to ``count`` places from ``first`` on."""
    found = rows.execute(
        "SELECT hash FROM tree WHERE level = ? AND place >= ? AND place < ? ORDER BY place",
        (level, first, first + count),
    )
    return [bytes(digest) for (digest,) in found]


T = TypeVar("T")


class Groups(Generic[T]):
    """``serve`` gets at most ``most`` items, in order of arrival, in one of the waiting threads; it reports
    to each item its outcome, and raises only what ends that thread."""

    def __init__(self, serve: Callable[[list[T]], None], most: int) -> None:
        self._serve, self._most = serve, most
        self._turn = threading.Condition()
        self._queue: list[_Place[T]] = []
        self._busy = False

    def add(self, item: T) -> None:
        """Returns once the group with ``item`` is done."""
        place = _Place(item)
        with self._turn:
            self._queue.append(place)
        try:
            while not place.done:
                self._wait_or_lead(place)
        except BaseException:
            # Interrupted: withdraw the item unless it is being served.
            with self._turn, suppress(ValueError):
                self._queue.remove(place)
            raise

    def _wait_or_lead(self, place: _Place[T]) -> None:
        with self._turn:
            while self._busy and not place.done:
                self._turn.wait()
            if place.done:
                return
            group, self._queue = self._queue[: self._most], self._queue[self._most :]
            self._busy = True
        try:
            self._serve([one.item for one in group])
        finally:
            with self._turn:
                for one in group:
                    one.done = True
                self._busy = False
                self._turn.notify_all()


class _Place(Generic[T]):
    __slots__ = ("done", "item")

    def __init__(self, item: T) -> None:
        self.item, self.done = item, False

"""What a log entry is and how the tree commits to it.

An entry is a *leaf* and a separate *body*. The leaf is the RFC 8785 JSON of ``body`` (the tagged hash of the
stored body), ``format``, ``kind``, ``seq``, ``subject`` and ``timestamp``; the tree is built from the leaves'
RFC 6962 hashes. So a body can be removed (retention) while leaf, tree and counts stay the same. The stored
body is canonical JSON in which every personal text is a salted hash (see :mod:`citewell.audit.bodies`); its
bytes are hashed as stored, so that checking needs no second serialisation and a body that merely *means* the
same is still detected. Independent of storage, trees and keys.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from citewell.core.records import Record

FORMAT = 1
"""The leaf format. A later one adds a number here and a branch where leaves are read, never a rewrite."""


class EntryKind(StrEnum):
    """``answer`` and ``error`` hold an AuditRecord; the others hold events of the home."""

    ANSWER = "answer"
    ERROR = "error"
    INGEST = "ingest"
    WITHDRAWAL = "withdrawal"
    SHARE = "share"
    CONFIGURATION = "configuration"
    OPERATION = "operation"
    READ = "read"
    NOTICE = "notice"
    FEEDBACK = "feedback"
    EVALUATION = "evaluation"
    ERASURE = "erasure"
    EXPIRY = "expiry"
    RECHECK = "recheck"
    RECALL = "recall"
    KEY = "key"
    ACCESS = "access"


COLUMNS = "seq, kind, timestamp, subject, body, body_hash"
"""The columns of table ``entries``, in the order they are read and written."""


def kind_condition(kind: EntryKind) -> str:
    """A literal, not a parameter, so that the partial index by kind, which omits answers, can be used."""
    return f"kind = '{EntryKind(kind).value}'"


RECORDS = (EntryKind.ANSWER.value, EntryKind.ERROR.value)


class Entry(Record, frozen=True, kw_only=True):
    """``seq`` from 1, without gaps; its leaf is number ``seq - 1`` of the tree.

    ``subject`` is the pseudonym of the person the entry is about ("" for none), ``body`` the stored JSON
    text, None after its retention period; ``hash`` is the leaf's RFC 6962 hash, tagged.
    """

    seq: int
    kind: str
    timestamp: str
    subject: str
    body: str | None
    body_hash: str
    hash: str

    def leaf(self) -> Leaf:
        """The entry's leaf in the tree."""
        return leaf(self.seq, self.kind, self.timestamp, self.subject, self.body_hash)


class Leaf(Record, frozen=True, kw_only=True):
    """What the tree hashes. Fields are in RFC 8785 order, so that the encoding is canonical."""

    body: str
    format: int
    kind: str
    seq: int
    subject: str
    timestamp: str

    def data(self) -> bytes:
        """The bytes that the tree hashes and an export contains: canonical JSON."""
        return msgspec.json.encode(self)


def leaf(seq: int, kind: str, timestamp: str, subject: str, body_hash: str) -> Leaf:
    """The leaf of an entry in the current format."""
    return Leaf(body=body_hash, format=FORMAT, kind=kind, seq=seq, subject=subject, timestamp=timestamp)

"""What one line of the log is and how its hash is made; the checker and the writer share nothing else.

In: sequence number, the previous entry's hash, kind, timestamp and a body as canonical JSON bytes.
Out: the entry's tagged hash. The body's bytes go into the hash as they are stored, so that checking needs no
second serialisation and a body that merely *means* the same is still found out.
Knows nothing about SQLite.
"""

from __future__ import annotations

from enum import StrEnum

from citewell.identity import canonical_json, hash_bytes
from citewell.records import Record

GENESIS = hash_bytes(b"citewell log")
"""What the first entry names as its predecessor."""


class EntryKind(StrEnum):
    """``answer`` and ``error`` hold an AuditRecord; the others hold what happened to the home."""

    ANSWER = "answer"
    ERROR = "error"
    INGEST = "ingest"
    WITHDRAWAL = "withdrawal"
    CONFIGURATION = "configuration"
    READ = "read"
    NOTICE = "notice"


RECORDS = (EntryKind.ANSWER.value, EntryKind.ERROR.value)


class Entry(Record, frozen=True, kw_only=True):
    """``body`` is canonical JSON text; ``hash`` commits to everything else and so to all before it."""

    seq: int
    previous: str
    kind: str
    timestamp: str
    body: str
    hash: str


def entry_hash(seq: int, previous: str, kind: str, timestamp: str, body: bytes) -> str:
    """Tagged hash of the RFC 8785 JSON of ``{body, kind, previous, seq, timestamp}``."""
    rest = canonical_json({"kind": kind, "previous": previous, "seq": seq, "timestamp": timestamp})
    return hash_bytes(b'{"body":' + body + b"," + rest[1:])

"""What a log entry is, how the tree commits to it, and how its personal texts are kept apart, so that they
can be erased.

An entry is a *leaf* and a separate *body*. The leaf is the RFC 8785 JSON of ``body`` (the tagged hash of the
stored body), ``format``, ``kind``, ``seq``, ``subject`` and ``timestamp``; the tree is built from the leaves'
RFC 6962 hashes. So a body can be removed (retention) while leaf, tree and counts stay the same. The stored
body is canonical JSON; its bytes are hashed as stored, so that checking needs no second serialisation and a
body that merely *means* the same is still detected.

In the stored body each personal text is a ``{"sealed": "salted-sha256:..."}``. The texts, by JSON pointer,
are encrypted with the entry's salt under the key of the person it is about: AES-256-GCM, bound to the entry's
body and subject. An erased text reads as ``ERASED``, one whose key is missing as ``KEY_MISSING``; numbers,
ids, statuses and counts stay. Independent of storage and of how the tree grows.
"""

from __future__ import annotations

import base64
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from citewell.audit.merkle import leaf_hash
from citewell.core.errors import LogIntegrityError
from citewell.core.identity import (
    SALTED_TAG,
    TAG,
    canonical_json,
    field_salts,
    opens,
    plain,
    salted_hash,
)
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


def entry_of(row: Sequence[Any]) -> Entry:
    """The entry in a row of ``COLUMNS``."""
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


PUBLIC = frozenset(
    {
        # What made it.
        *("environment", "makers", "maker", "name", "hash", "prompt_hash", "card"),
        *("config_hash", "citewell", "query_embedding_model", "generation_model", "generation_prompt_hash"),
        # What it is about: ids, versions, places.
        *("request_id", "timestamp", "index_version", "chunk_id", "document_id", "document_version"),
        *("version", "section_path", "resolution", "dates", "stage", "subject", "sample", "cases", "measure"),
        "looked_into",
        # Its outcome: words from closed lists.
        *("kind", "status", "label", "proof", "failure", "mode", "decision", "response_decision"),
        *("failure_reason", "signal", "flag", "flags", "class", "outcome", "feedback_id", "found_by"),
    }
)
"""Names of members whose texts, at any depth, are public. Numbers, booleans and nulls always are."""

Place = tuple[Any, Any, str]
"""(holder, key, JSON pointer): ``holder[key]`` is a personal text."""


def member(path: str, name: str) -> str:
    """The JSON pointer (RFC 6901) of a member of the value at ``path``."""
    if "~" in name or "/" in name:
        name = name.replace("~", "~0").replace("/", "~1")
    return f"{path}/{name}"


def steps(pointer: str) -> list[str]:
    """The unescaped steps of a JSON pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def personal_places(body: dict[str, Any]) -> list[Place]:
    """The places of all non-empty personal texts, in order; empty ones reveal nothing."""
    places: list[Place] = []
    _look(body, "", places, public=False)
    return places


def _look(value: Any, path: str, places: list[Place], *, public: bool) -> None:
    names = value if type(value) is dict else range(len(value))
    for name in names:
        item = value[name]
        kind = type(item)
        if kind is tuple:
            value[name] = item = list(item)
        elif kind is not str and kind is not dict and kind is not list:
            continue
        open_ = public or name in PUBLIC or (name == "quote" and _is_documents(value))
        if kind is not str:
            _look(item, member(path, str(name)), places, public=open_)
        elif item and not open_:
            places.append((value, name, member(path, str(name))))


def _is_documents(citation: Mapping[str, Any]) -> bool:
    """A quote is document text, so public, unless its span is unknown: then it is only what a writer claimed.
    No command stores a caller's text as evidence: ``verify`` keeps nothing."""
    start = citation.get("start")
    return type(start) is int and start >= 0


ERASED = "[erased]"
"""Replaces a personal text that was destroyed with its key."""
KEY_MISSING = "[key missing]"
"""Replaces a text whose key is missing; the key may be restored from a backup."""
UNREADABLE: Mapping[str, str] = {
    ERASED: "the person who asked was erased",
    KEY_MISSING: "the key of the person who asked is missing: `citewell audit key restore`",
}
"""Placeholders for unreadable texts, and the reason for each."""

SEALED = "sealed"
NONCE_BYTES = 12

Texts = dict[str, str]


LOOKED_UP = "session_id"
"""The one personal text that can be searched for: stored as a salted hash plus a blinded name."""
BLIND = "blind"


def separate_personal_texts(
    body: Record | Mapping[str, Any], salt: bytes, blind: Callable[[str], str]
) -> tuple[bytes, Texts]:
    """The canonical JSON to seal, and the personal texts by JSON pointer, in the order of their salts."""
    sealed: dict[str, Any] = plain(body)
    looked_up = sealed.get(LOOKED_UP)
    places = personal_places(sealed)
    texts: Texts = {}
    for (holder, key, path), own in zip(places, field_salts(salt, len(places)), strict=True):
        texts[path] = text = holder[key]
        holder[key] = {SEALED: salted_hash(own, text)}
    if looked_up:
        sealed[LOOKED_UP][BLIND] = blind(looked_up)
    return canonical_json(sealed), texts


def open_body(
    stored: str, body_hash: str, subject: str, sealed: object | None, key: bytes | None
) -> dict[str, Any]:
    """Reverses ``separate_personal_texts`` if ``sealed`` (from :func:`encrypt`) and ``key`` are available;
    otherwise see ``UNREADABLE``. Raises LogIntegrityError like :func:`fill_in`."""
    if sealed is None:
        return _without_texts(stored, ERASED)
    if key is None:
        return _without_texts(stored, KEY_MISSING)
    return fill_in(stored, *decrypt(sealed, key, body_hash, subject))


def fill_in(stored: str, salt: bytes, texts: Texts) -> dict[str, Any]:
    """Reverses ``separate_personal_texts``. Raises LogIntegrityError if the salted hashes in ``stored`` are
    not exactly those of ``texts``."""
    body: dict[str, Any] = msgspec.json.decode(stored)
    if len(texts) != stored.count(f'"{SEALED}":"{SALTED_TAG}'):
        raise _otherwise()
    for path, (own, text) in salted_texts(salt, texts).items():
        _put(body, path, own, text)
    return body


def _without_texts(stored: str, instead: str) -> dict[str, Any]:
    def walk(value: Any) -> Any:
        if type(value) is dict:
            if SEALED in value and len(value) <= 2:
                return instead
            return {key: walk(item) for key, item in value.items()}
        if type(value) is list:
            return [walk(item) for item in value]
        return value

    body: dict[str, Any] = walk(msgspec.json.decode(stored))
    return body


def _put(value: Any, pointer: str, salt: bytes, text: str) -> None:
    try:
        *above, last = steps(pointer)
        for step in above:
            value = value[int(step) if type(value) is list else step]
        place = int(last) if type(value) is list else last
        held = opens(salt, text, value[place][SEALED])
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        raise _otherwise() from error
    if not held:
        raise _otherwise()
    value[place] = text


def _otherwise() -> LogIntegrityError:
    return LogIntegrityError(
        "the personal texts of an entry are not the ones that were sealed", hint="run `citewell audit check`"
    )


class _Held(Record, frozen=True, kw_only=True):
    """The plaintext; ``salt`` in base64."""

    salt: bytes
    texts: Texts


def encrypt(texts: Texts, salt: bytes, key: bytes, body_hash: str, subject: str) -> bytes:
    """Nonce and AES-256-GCM ciphertext of salt and texts."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = os.urandom(NONCE_BYTES)
    plain = msgspec.json.encode({"salt": base64.b64encode(salt).decode(), "texts": texts})
    # A claim's text and its verdicts' reasons repeat each other, so this shrinks to a third.
    return nonce + AESGCM(key).encrypt(nonce, zlib.compress(plain, 1), _bound(body_hash, subject))


def decrypt(sealed: object, key: bytes, body_hash: str, subject: str) -> tuple[bytes, Texts]:
    """The entry's salt and texts. Raises LogIntegrityError if they were not encrypted under ``key``; a holder
    of the key can encrypt other texts, which :func:`fill_in` detects."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if not isinstance(sealed, bytes):
        raise _otherwise()
    try:
        plain = AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _bound(body_hash, subject))
        held = msgspec.json.decode(zlib.decompress(plain), type=_Held)
    except (InvalidTag, ValueError, zlib.error) as error:
        raise _otherwise() from error
    return held.salt, held.texts


def salted_texts(salt: bytes, texts: Texts) -> dict[str, tuple[bytes, str]]:
    """By JSON pointer, each text with the salt that opens it, and no other, to a stranger."""
    salts = field_salts(salt, len(texts))
    return {path: (own, text) for (path, text), own in zip(texts.items(), salts, strict=True)}


def _bound(body_hash: str, subject: str) -> bytes:
    return f"{body_hash} {subject}".encode()

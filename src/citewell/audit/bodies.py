"""Separates the personal texts of an entry from its body, so that they can be erased.

In: a body, and the key of the person it is about. Out: the bytes to seal, in which each personal text is a
``{"sealed": "salted-sha256:..."}``, and the texts by JSON pointer with the entry's salt, encrypted under that
key. An erased text reads as ``ERASED``, one whose key is missing as ``KEY_MISSING``; numbers, ids, statuses
and counts stay. :mod:`citewell.audit.personal` defines what is personal. The cipher is AES-256-GCM, bound to
the entry's body and subject. Independent of storage.
"""

from __future__ import annotations

import base64
import os
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from citewell.audit.personal import personal_places, steps
from citewell.core.errors import LogIntegrityError
from citewell.core.identity import (
    SALTED_TAG,
    canonical_json,
    field_salts,
    opens,
    plain,
    salted_hash,
)
from citewell.core.records import Record

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

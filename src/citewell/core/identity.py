"""Canonical JSON (RFC 8785) and tagged hashes: every id in Citewell is made here and nowhere else.

In: values of :mod:`citewell.core.records`, plain JSON values, bytes. Out: ``sha256:`` strings and ids.
Knows nothing about storage.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import rfc8785

TAG = "sha256:"
BLIND_TAG = "hmac-sha256:"
SALTED_TAG = "salted-sha256:"
SALT_BYTES = 32
LARGEST = 2**53
"""From here up, RFC 8785 cannot represent every integer."""


def plain(value: Any) -> Any:
    """The JSON form of a record: dicts, lists, strings, numbers, booleans, None."""
    return msgspec.to_builtins(value)


def canonical_json(value: Any) -> bytes:
    """RFC 8785 bytes of ``value``; key order never matters. Raises ValueError on NaN or infinity."""
    value = plain(value)
    try:
        # The same bytes, about fifty times faster: a record is written for every answer.
        return _SORTED.encode(_written_alike(value))
    except (_WrittenOtherwise, UnicodeEncodeError):
        return rfc8785.dumps(plain(value))


def hash_bytes(data: bytes) -> str:
    """``sha256:`` and 64 hexadecimal digits."""
    return TAG + hashlib.sha256(data).hexdigest()


def hash_file(path: Path) -> str:
    """:func:`hash_bytes` of the file's contents, read in pieces. Raises OSError."""
    with path.open("rb") as file:
        return TAG + hashlib.file_digest(file, "sha256").hexdigest()


def hash_pieces(pieces: Iterable[bytes]) -> str:
    """:func:`hash_bytes` of the pieces, joined."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return TAG + digest.hexdigest()


def hash_text(text: str) -> str:
    """Hash of the text's UTF-8 bytes; lone surrogates cannot occur in canonical text."""
    return hash_bytes(text.encode("utf-8"))


def hash_value(value: Any) -> str:
    """Hash of the canonical JSON of ``value``."""
    return hash_bytes(canonical_json(value))


def keyed_hash(key: bytes, text: str) -> str:
    """``hmac-sha256:`` and 64 hexadecimal digits: a name for ``text`` that only ``key`` can produce."""
    return BLIND_TAG + hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256").hex()


def salted_hash(salt: bytes, text: str) -> str:
    """``salted-sha256:`` and the 64 hexadecimal digits of SHA-256 over ``salt`` (32 bytes) and ``text``.

    Reveals nothing about ``text`` without the salt, and cannot be opened as another text.
    """
    return SALTED_TAG + hashlib.sha256(salt + text.encode("utf-8", "surrogatepass")).hexdigest()


def opens(salt: bytes, text: str, sealed: str) -> bool:
    """Whether ``sealed`` is the hash of ``text`` under ``salt``.

    A salt has exactly 32 bytes: a longer one could absorb the beginning of the text.
    """
    return len(salt) == SALT_BYTES and salted_hash(salt, text) == sealed


def field_salts(salt: bytes, count: int) -> list[bytes]:
    """The salts of an entry's fields, 32 bytes each: disclosing one opens no other field.

    They are parts of one SHAKE-256 output, which reveal nothing about each other without ``salt``.
    """
    stream = hashlib.shake_256(salt).digest(SALT_BYTES * count)
    return [stream[at : at + SALT_BYTES] for at in range(0, len(stream), SALT_BYTES)]


def chunk_id(document_version: str, start: int, end: int, content: str) -> str:
    """The same chunk gets the same id on any machine: version, position and content are hashed."""
    return hash_value({"chunk": [document_version, start, end, content]})


def section_id(document_version: str, start: int, end: int) -> str:
    """The id of a range of a document version that chunks share as their parent."""
    return hash_value({"section": [document_version, start, end]})


def request_id() -> str:
    """A fresh random id, ``req_`` and 24 hexadecimal digits; like a session's, not a hash."""
    return "req_" + secrets.token_hex(12)


def session_id() -> str:
    """A fresh random id, ``ses_`` and 24 hexadecimal digits."""
    return "ses_" + secrets.token_hex(12)


_SORTED = msgspec.json.Encoder(order="sorted")


class _WrittenOtherwise(Exception):
    """msgspec would not write this value as RFC 8785 does."""


def _written_alike(value: Any) -> Any:
    """``value``, its numbers changed in place so that msgspec writes them as RFC 8785 does.

    Raises :class:`_WrittenOtherwise` if it cannot: non-ASCII keys (sorted differently), very large or small
    numbers, NaN.
    """
    if type(value) is tuple:
        value = list(value)
    if type(value) is not dict and type(value) is not list:
        return _number_alike(value)
    containers = [value]
    for container in containers:
        if type(container) is dict:
            if not "".join(container).isascii():
                raise _WrittenOtherwise
            members: Any = container.items()
        else:
            members = enumerate(container)
        for place, item in members:
            kind = type(item)
            if kind is str or item is None:
                continue
            if kind is dict or kind is list:
                containers.append(item)
            elif kind is tuple:
                container[place] = listed = list(item)
                containers.append(listed)
            else:
                container[place] = _number_alike(item)
    return value


def _number_alike(value: Any) -> Any:
    """``value`` in a form that msgspec writes as RFC 8785 does. Raises :class:`_WrittenOtherwise` if none."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is int and -LARGEST < value < LARGEST:
        return value
    if kind is float and -1e15 < value < 1e15:
        if value.is_integer():
            return int(value)
        if not -1e-4 < value < 1e-4:
            return value
    raise _WrittenOtherwise

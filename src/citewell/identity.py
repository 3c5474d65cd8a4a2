"""Canonical JSON (RFC 8785) and tagged hashes: every id in Citewell is made here, nowhere else.

In: values of :mod:`citewell.records`, plain JSON values, bytes. Out: ``sha256:`` strings and ids.
Knows nothing about storage.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from pathlib import Path
from typing import Any

import msgspec
import rfc8785

TAG = "sha256:"
SALTED_TAG = "hmac-sha256:"


def plain(value: Any) -> Any:
    """The JSON form of a record: dicts, lists, strings, numbers, booleans, None."""
    return msgspec.to_builtins(value)


def canonical_json(value: Any) -> bytes:
    """RFC 8785 bytes of ``value``; key order never matters. Raises ValueError on NaN or infinity."""
    value = plain(value)
    try:
        # The same bytes, some twenty times sooner: a record is written for every answer.
        return msgspec.json.encode(_written_alike(value), order="sorted")
    except (_WrittenOtherwise, UnicodeEncodeError):
        return rfc8785.dumps(value)


def hash_bytes(data: bytes) -> str:
    """``sha256:`` and 64 hexadecimal digits."""
    return TAG + hashlib.sha256(data).hexdigest()


def hash_file(path: Path) -> str:
    """:func:`hash_bytes` of what the file holds, read in pieces. Raises OSError."""
    with path.open("rb") as file:
        return TAG + hashlib.file_digest(file, "sha256").hexdigest()


def hash_text(text: str) -> str:
    """Hash of the text's UTF-8 bytes; lone surrogates cannot occur in canonical text."""
    return hash_bytes(text.encode("utf-8"))


def hash_value(value: Any) -> str:
    """Hash of the canonical JSON of ``value``."""
    return hash_bytes(canonical_json(value))


def salted_hash(salt: bytes, text: str) -> str:
    """``hmac-sha256:`` and 64 hexadecimal digits: tells nothing about ``text`` to whom ``salt`` is unknown."""
    return SALTED_TAG + hmac.digest(salt, text.encode("utf-8", "surrogatepass"), "sha256").hex()


def field_salt(salt: bytes, path: str) -> bytes:
    """The salt of one field of an entry, 32 bytes: shown with the field, it opens no other."""
    return hmac.digest(salt, path.encode("utf-8", "surrogatepass"), "sha256")


def chunk_id(document_version: str, start: int, end: int, content: str) -> str:
    """The same chunk gets the same id on any machine: version, position and content are hashed."""
    return hash_value({"chunk": [document_version, start, end, content]})


def section_id(document_version: str, start: int, end: int) -> str:
    """Names a range of a document version that chunks share as their parent."""
    return hash_value({"section": [document_version, start, end]})


def request_id() -> str:
    """A fresh random id, ``req_`` and 24 hexadecimal digits; the only id that is not a hash."""
    return "req_" + secrets.token_hex(12)


def session_id() -> str:
    """A fresh random id, ``ses_`` and 24 hexadecimal digits."""
    return "ses_" + secrets.token_hex(12)


class _WrittenOtherwise(Exception):
    """msgspec would not write this value as RFC 8785 does."""


def _written_alike(value: Any) -> Any:
    """``value`` so that msgspec writes it as RFC 8785 does; raises :class:`_WrittenOtherwise` if it cannot."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return value
    if kind is dict:
        if not all(type(key) is str and key.isascii() for key in value):
            raise _WrittenOtherwise
        return {key: _written_alike(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [_written_alike(item) for item in value]
    if kind is int and -(2**53) < value < 2**53:
        return value
    if kind is float:
        if value.is_integer() and abs(value) < 2**53:
            return int(value)
        if 1e-4 <= abs(value) < 1e15:
            return value
    raise _WrittenOtherwise

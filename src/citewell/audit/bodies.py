"""What of an entry is somebody's own, and how it is set apart so that it can be forgotten.

In: a body as plain JSON and a salt. Out: the body to seal, in which each personal text is a ``{"sealed":
"hmac-sha256:..."}``, and the texts by their JSON pointer, which are encrypted under the key of the person
they are about. Without that key a text reads as ``ERASED``; numbers, ids, statuses and counts stay.

Personal is every text that is not listed here as public: what is forgotten in the list is protected, not
exposed. Knows nothing about storage; the cipher is AES-256-GCM, bound to the entry's body and subject.
"""

from __future__ import annotations

import base64
import secrets
import zlib
from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from citewell.errors import LogIntegrityError
from citewell.identity import field_salt, salted_hash

ERASED = "[erased]"
"""What a personal text reads as once its key is destroyed."""

SEALED = "sealed"
NONCE_BYTES = 12

PUBLIC = frozenset(
    {
        # Whoever and whatever made it.
        *("environment", "makers", "maker", "name", "hash", "prompt_hash", "card"),
        *("config_hash", "citewell", "query_embedding_model", "generation_model", "generation_prompt_hash"),
        # What it is about: ids, versions, places.
        *("request_id", "timestamp", "index_version", "chunk_id", "document_id", "document_version"),
        *("version", "section_path", "resolution", "dates", "stage", "subject", "sample", "cases", "measure"),
        "looked_into",
        # What came of it: words of closed lists.
        *("kind", "status", "label", "proof", "failure", "mode", "decision", "response_decision"),
        *("failure_reason", "signal", "flag", "flags", "class", "outcome", "feedback_id", "found_by"),
    }
)
"""Names of members whose texts, at any depth, are nobody's own. Numbers, booleans and nulls always are."""

Texts = dict[str, str]


LOOKED_UP = "session_id"
"""The one personal text that can be searched for: its salted hash stands beside a blinded name."""
BLIND = "blind"


def set_apart(
    body: Mapping[str, Any], salt: bytes, blind: Callable[[str], str], caller_supplied: Collection[str] = ()
) -> tuple[Any, Texts]:
    """The body to seal, and its personal texts by JSON pointer.

    A quote is the document's, so public, unless its place is unknown (then it is only what a writer claimed)
    or the document is one of the versions ``caller_supplied``.
    """
    texts: Texts = {}

    def walk(value: Any, path: str) -> Any:
        if type(value) is str:
            if not value:
                # That there is nothing tells of nobody, and half of a record's texts are empty.
                return value
            texts[path] = value
            return {SEALED: salted_hash(field_salt(salt, path), value)}
        if type(value) is dict:
            return {
                key: item
                if key in PUBLIC or (key == "quote" and _located(value, caller_supplied))
                else walk(item, f"{path}/{key}")
                for key, item in value.items()
            }
        if type(value) is list or type(value) is tuple:
            return [walk(item, f"{path}/{place}") for place, item in enumerate(value)]
        if value is None or type(value) in (bool, int, float):
            return value
        raise TypeError(f"{path}: a {type(value).__name__} is no JSON value")

    sealed = walk(dict(body), "")
    if body.get(LOOKED_UP):
        sealed[LOOKED_UP][BLIND] = blind(body[LOOKED_UP])
    return sealed, texts


def _located(citation: Mapping[str, Any], caller_supplied: Collection[str]) -> bool:
    start = citation.get("start")
    version = citation.get("document_version")
    return type(start) is int and start >= 0 and version not in caller_supplied


def fill_in(body: Any, texts: Texts | None) -> Any:
    """``set_apart`` undone, in ``body`` itself; every personal text is ``ERASED`` where ``texts`` is None."""
    if texts is not None:
        for path, text in texts.items():
            _put(body, path.split("/")[1:], text)
        return body

    def walk(value: Any) -> Any:
        if type(value) is dict:
            if SEALED in value and len(value) <= 2:
                return ERASED
            return {key: walk(item) for key, item in value.items()}
        if type(value) is list:
            return [walk(item) for item in value]
        return value

    return walk(body)


def _put(value: Any, steps: list[str], text: str) -> None:
    """Descends by the names and numbers of a path; a name that holds a slash takes several steps."""
    while True:
        step, taken = steps[0], 1
        while type(value) is dict and step not in value:
            step, taken = f"{step}/{steps[taken]}", taken + 1
        key: Any = int(step) if type(value) is list else step
        if taken == len(steps):
            value[key] = text
            return
        value, steps = value[key], steps[taken:]


def encrypt(texts: Texts, salt: bytes, key: bytes, body_hash: str, subject: str) -> bytes:
    """Nonce and AES-256-GCM ciphertext of salt and texts."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    plain = msgspec.json.encode({"salt": base64.b64encode(salt).decode(), "texts": texts})
    nonce = secrets.token_bytes(NONCE_BYTES)
    # A claim's text and the reasons of its verdicts repeat each other: a third is left.
    return nonce + AESGCM(key).encrypt(nonce, zlib.compress(plain, 1), _bound(body_hash, subject))


def decrypt(sealed: bytes, key: bytes, body_hash: str, subject: str) -> tuple[bytes, Texts]:
    """The entry's salt and texts. Raises LogIntegrityError when they are not what was encrypted."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        plain = AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _bound(body_hash, subject))
        held = msgspec.json.decode(zlib.decompress(plain))
    except (InvalidTag, ValueError, zlib.error) as error:
        raise LogIntegrityError(
            "an entry's personal texts are not those that were sealed", hint="run `citewell audit check`"
        ) from error
    return base64.b64decode(held["salt"]), held["texts"]


def _bound(body_hash: str, subject: str) -> bytes:
    return f"{body_hash} {subject}".encode()

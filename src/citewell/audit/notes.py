"""Reads and checks signed checkpoints and published keys: C2SP signed-note, tlog-checkpoint, verifier keys.

In: texts. Out: their contents, and whether a signature is accepted. Part of the checker: standard library,
``merkle``, and ``cryptography`` for signatures; without that none is accepted.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from citewell.audit.merkle import EMPTY

NOT_CHECKED = "signature not checked"


@dataclass(frozen=True)
class Checkpoint:
    """A tlog-checkpoint and its signature lines: (key name, four bytes of key id, signature)."""

    origin: str
    size: int
    root: bytes
    signed: bytes
    signatures: tuple[tuple[str, bytes, bytes], ...]


def read_checkpoint(text: str) -> Checkpoint:
    """Reads a C2SP tlog-checkpoint in a signed-note. Raises ValueError with what is wrong with it."""
    body, separator, signatures = text.partition("\n\n")
    lines = body.split("\n")
    if not separator or len(lines) < 3 or not signatures.endswith("\n"):
        raise ValueError("it is not a signed note")
    origin, size, root = lines[:3]
    if not origin or not size.isascii() or not size.isdigit() or (size != "0" and size.startswith("0")):
        raise ValueError("its origin or size is missing")
    found = []
    for line in signatures.removesuffix("\n").split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        raw = _base64(encoded)
        if dash != "\u2014" or not name or len(raw) < 5:
            raise ValueError("it has a line that is not a signature")
        found.append((name, raw[:4], raw[4:]))
    digest = _base64(root)
    if len(digest) != 32 or (size == "0" and digest != EMPTY):
        raise ValueError("its root is not a SHA-256 hash")
    return Checkpoint(origin, int(size), digest, f"{body}\n".encode(), tuple(found))


_BLOCK = re.compile(r"(?:[^\n]+\n)++(?P<signed>\n(?:\u2014 [^\n]+\n)+)?|[^\n]+")


def checkpoints_in(text: str) -> list[str]:
    """The checkpoints in a witness's file, one after another, with or without empty lines in between. Other
    text is kept, to be rejected later."""
    found: list[str] = []
    for block in _BLOCK.finditer(text):
        found += [block.group()] if block["signed"] else block.group().splitlines(keepends=True)
    return found or [text]


def read_key(text: str) -> tuple[str, bytes, bytes]:
    """Reads a verifier key, ``name+id+base64``: its name, id, and 32 bytes of Ed25519. Raises ValueError."""
    name, _, rest = text.strip().partition("+")
    identity, _, encoded = rest.partition("+")
    raw = _base64(encoded)
    known = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
    if not name or len(raw) != 33 or raw[:1] != b"\x01" or known.hex() != identity:
        raise ValueError("it is not an Ed25519 verifier key")
    return name, known, raw[1:]


def verify(public: bytes, signature: bytes, data: bytes) -> bool:
    """Whether this Ed25519 key made ``signature`` over ``data``. Raises ImportError without cryptography."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def handover(old: str, new: str) -> bytes:
    """The bytes that the old key signs to hand over to the new one."""
    return f"citewell signing key\n{old}\n{new}\n".encode()


Key = tuple[str, bytes, bytes]
"""Name, four bytes of key id, 32 bytes of Ed25519."""


def read_published(line: str) -> tuple[Key, int | None]:
    """Reads a line of the published keys, ``KEY`` or ``KEY until SIZE``: a retired key is valid for
    checkpoints of up to SIZE entries. Raises ValueError."""
    text, *rest = line.split()
    if not rest:
        return read_key(text), None
    if len(rest) != 2 or rest[0] != "until" or not (rest[1].isascii() and rest[1].isdigit()):
        raise ValueError("a key may only be followed by `until` and a number")
    return read_key(text), int(rest[1])


class TrustedKeys:
    """The accepted keys: those given, and those that the key in force handed over to within the log. A key
    is valid up to the size at which it was retired according to the given keys or the log itself."""

    def __init__(self, published: str) -> None:
        self._given: dict[Key, int | None] = {}
        self._fault = ""
        for line in published.split("\n"):
            if line.strip():
                try:
                    key, until = read_published(line)
                    self._given[key] = until
                except ValueError as error:
                    self._fault = f"{NOT_CHECKED}: {error}"
        self._until = dict(self._given)
        self._in_force: Key | None = None
        self._retired: set[Key] = set()
        self._changes: set[int] = set()

    def follow(self, seq: int, body: str) -> str:
        """Applies a handover from the log; returns what is wrong with it, "" for nothing."""
        try:
            said = json.loads(body)
            new = read_key(said["new"])
            # If the old key was lost, only those given the new one have reason to trust it.
            old = read_key(said["old"]) if said["old"] else None
            signed = old is None or verify(
                old[2], _base64(said["signature"]), handover(said["old"], said["new"])
            )
        except ImportError:
            return ""
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return f"its handover of the signing key cannot be read: {error!r}"
        fault = "" if signed else "the old signing key did not sign its handover to the new one"
        fault = fault or self._refused(seq, old, new)
        if not fault:
            self._change(seq, old, new)
        return fault

    def _refused(self, seq: int, old: Key | None, new: Key) -> str:
        if old is not None and self._in_force not in (None, old):
            return f"it hands over from {_named(old)}, which is not the signing key in force"
        if new in self._retired or new in (old, self._in_force):
            return f"it puts {_named(new)} in force, which was in force before"
        until = None if old is None else self._given.get(old)
        if old is not None and until is not None and until != seq - 1:
            return (
                f"it hands over from {_named(old)}, which the published keys say was retired at entry {until}"
            )
        return ""

    def _change(self, seq: int, old: Key | None, new: Key) -> None:
        """Puts ``new`` in force; it signs the checkpoint of the handover itself."""
        if old in self._until or new in self._given:
            self._until[new] = self._given.get(new)
        for key, until in self._until.items():
            if key != new:
                self._until[key] = seq - 1 if until is None else min(until, seq - 1)
        self._retired |= {key for key in (old, self._in_force) if key is not None}
        self._in_force = new
        self._changes.add(seq - 1)

    def unborne(self) -> Iterator[tuple[int, str]]:
        """Key changes implied by the given keys but absent from the log: after which entry, and what."""
        for key, until in self._given.items():
            if until is not None and until not in self._changes:
                yield until, f"that {_named(key)} was retired after entry {until}"
        current = [key for key, until in self._given.items() if until is None and not self._superseded(key)]
        if self._in_force is not None and current and not {*current} & {*self._retired, self._in_force}:
            yield min(self._changes), f"that another key handed over to {_named(current[-1])}"

    def fault(self, found: Checkpoint) -> str:
        """Why its signature is not accepted, "" if it is."""
        if self._fault:
            return self._fault
        if not self._until:
            return f"{NOT_CHECKED}: no public key was given"
        try:
            signers, unsound = self._signers(found)
        except ImportError:
            return f"{NOT_CHECKED}: the package cryptography is not installed"
        if unsound:
            return unsound
        if any(self._counts(key, found.size) for key in signers):
            return ""
        for key in signers:
            return (
                f"it covers {found.size} entries and is signed by {_named(key)}, which was retired at entry"
                f" {self._until[key]}"
            )
        return "none of the given keys signed it"

    def by_retired(self, found: Checkpoint) -> bool:
        """Whether it is signed only by keys that are retired according to the given keys."""
        signers, _ = self._signers(found)
        return all(self._given.get(key) is not None or self._superseded(key) for key in signers)

    def _signers(self, found: Checkpoint) -> tuple[list[Key], str]:
        """The trusted keys that signed it, and what is wrong with a signature attributed to one of them."""
        signers = []
        for name, identity, signature in found.signatures:
            known = [key for key in self._until if key[:2] == (name, identity) and name == found.origin]
            sound = [key for key in known if verify(key[2], signature, found.signed)]
            if known and not sound:
                return [], f"the signature of {_named(known[0])} is not valid"
            signers += sound
        return signers, ""

    def _counts(self, key: Key, size: int) -> bool:
        until = self._until[key]
        return until is None or size <= until

    def _superseded(self, key: Key) -> bool:
        """Whether the given keys, oldest first, include a newer one of the same name."""
        return [other for other in self._given if other[0] == key[0]][-1:] != [key]


def _named(key: Key) -> str:
    return f"{key[0]}+{key[1].hex()}"


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{text[:20]!r} is not base64") from error

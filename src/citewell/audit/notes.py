"""Signed checkpoints and published keys, read and checked: C2SP signed-note, tlog-checkpoint and verifier
keys.

In: texts. Out: what they say, and whether a signature counts. Part of the checker: standard library,
``merkle``, and ``cryptography`` when a signature is checked; without that nothing counts.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
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
    """C2SP tlog-checkpoint in a signed-note. Raises ValueError saying what is wrong with it."""
    body, separator, signatures = text.partition("\n\n")
    lines = body.split("\n")
    if not separator or len(lines) < 3 or not signatures.endswith("\n"):
        raise ValueError("it is not a signed note")
    origin, size, root = lines[:3]
    if not origin or not size.isascii() or not size.isdigit() or (size != "0" and size.startswith("0")):
        raise ValueError("it has no origin or no size")
    found = []
    for line in signatures.removesuffix("\n").split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        raw = _base64(encoded)
        if dash != "\u2014" or not name or len(raw) < 5:
            raise ValueError("it has a line that is no signature")
        found.append((name, raw[:4], raw[4:]))
    digest = _base64(root)
    if len(digest) != 32 or (size == "0" and digest != EMPTY):
        raise ValueError("its root is not a SHA-256 hash")
    return Checkpoint(origin, int(size), digest, f"{body}\n".encode(), tuple(found))


def checkpoints_in(text: str) -> list[str]:
    """The checkpoints of a file in which a witness keeps one after the other, with or without an empty line
    between them. What is none stays there to be refused."""
    return re.findall(r"(?:[^\n]+\n)+\n(?:\u2014 [^\n]+\n)+|[^\n]+\n?", text) or [text]


def read_key(text: str) -> tuple[str, bytes, bytes]:
    """A verifier key, ``name+id+base64``: its name, id, and 32 bytes of Ed25519. Raises ValueError."""
    name, _, rest = text.strip().partition("+")
    identity, _, encoded = rest.partition("+")
    raw = _base64(encoded)
    known = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
    if not name or len(raw) != 33 or raw[:1] != b"\x01" or known.hex() != identity:
        raise ValueError("it is no Ed25519 verifier key")
    return name, known, raw[1:]


def verify(public: bytes, signature: bytes, data: bytes) -> bool:
    """Whether ``signature`` over ``data`` is of this Ed25519 key. Raises ImportError without cryptography."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def handover(old: str, new: str) -> bytes:
    """What the old key signs to hand over to the new one."""
    return f"citewell signing key\n{old}\n{new}\n".encode()


class Trusted:
    """The keys that count: those that were given, and those that they handed over to within the log."""

    def __init__(self, published: str) -> None:
        self._keys: dict[tuple[str, bytes], bytes] = {}
        self._fault = ""
        self._latest: set[bytes] = set()
        self._handed_over_at = 0
        self._newest = b""
        for line in published.split("\n"):
            if line.strip():
                try:
                    name, identity, public = read_key(line)
                    self._keys[name, identity] = public
                except ValueError as error:
                    self._fault = f"{NOT_CHECKED}: {error}"

    def follow(self, seq: int, body: str) -> str:
        """Takes in a handover that the log holds; what is wrong with it, "" for nothing."""
        try:
            said = json.loads(body)
            new = read_key(said["new"])
            if not said["old"]:
                # The old key was lost: only who is given the new one has reason to trust it.
                self._latest, self._handed_over_at, self._newest = {new[1]}, seq, new[1]
                return ""
            old = read_key(said["old"])
            signature = _base64(said["signature"])
            holds = verify(old[2], signature, handover(said["old"], said["new"]))
        except ImportError:
            return ""
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return f"its handover of the signing key cannot be read: {error!r}"
        if not holds:
            return "the old signing key did not sign its handover to the new one"
        if self._keys.get(old[:2]) == old[2]:
            self._keys[new[:2]] = new[2]
        self._latest, self._handed_over_at = {old[1], new[1]}, seq
        self._newest = new[1]
        return ""

    def fault(self, found: Checkpoint, *, latest: bool = False) -> str:
        """Why its signature does not count, "" when it does. ``latest``: it must be of the key in force."""
        if self._fault:
            return self._fault
        if not self._keys:
            return f"{NOT_CHECKED}: no public key was given"
        try:
            for name, identity, signature in found.signatures:
                public = self._keys.get((name, identity))
                if public is None or found.origin != name:
                    continue
                if not verify(public, signature, found.signed):
                    return f"the signature of {name}+{identity.hex()} does not hold"
                if latest and self._handed_over_at and identity not in self._in_force(found.size):
                    return f"it is signed by {name}+{identity.hex()}, which had handed over to another key"
                return ""
        except ImportError:
            return f"{NOT_CHECKED}: the package cryptography is not installed"
        return "no key that was given signed it"

    def _in_force(self, size: int) -> set[bytes]:
        """The handover itself is the last thing that the old key signs."""
        return self._latest if size == self._handed_over_at else {self._newest}


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"{text[:20]!r} is not base64") from error

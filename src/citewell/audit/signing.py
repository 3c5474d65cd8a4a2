"""The key that signs a log, and the signed checkpoint of its state: C2SP signed-note, tlog-checkpoint.

In: a key file; origin, size and root. Out: signatures, and the text that outsiders keep. Checked by
:mod:`citewell.audit.notes`, which shares no code with this.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import LogError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ED25519 = b"\x01"
"""The signature type byte of C2SP signed-note."""
LOST_KEY = (
    "restore it from its backup, `citewell audit key restore`, or record its loss and create a new one:"
    " `citewell audit key new --lost`"
)
"""What to do if the signing key is missing."""


class Signer:
    """A named Ed25519 key in C2SP signed-note form: ``PRIVATE+KEY+name+id+key`` in the file."""

    def __init__(self, name: str, seed: bytes) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self.name = name
        self._seed = seed
        self._key: Ed25519PrivateKey = Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._key.public_key().public_bytes_raw()

    @classmethod
    def fresh(cls, name: str) -> Signer:
        return cls(name, secrets.token_bytes(32))

    @classmethod
    def read(cls, path: Path) -> Signer:
        """Raises LogError if the file cannot be read or holds no signing key."""
        try:
            kind, _, name, identity, key = path.read_text(encoding="utf-8").strip().split("+", 4)
            raw = base64.b64decode(key, validate=True)
            signer = cls(name, raw[1:])
            if kind != "PRIVATE" or raw[:1] != ED25519 or signer.id.hex() != identity:
                raise ValueError("its parts do not match")
        except (OSError, ValueError) as error:
            raise LogError(f"signing key {path}: {error}", hint=LOST_KEY) from error
        return signer

    @property
    def id(self) -> bytes:
        """The four bytes that identify the key in a signature line."""
        return hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:4]

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data)

    def public_text(self) -> str:
        """The verifier key, for publication and for ``--key``."""
        return f"{self.name}+{self.id.hex()}+{base64.b64encode(ED25519 + self.public).decode()}"

    def private_text(self) -> str:
        key = base64.b64encode(ED25519 + self._seed).decode()
        return f"PRIVATE+KEY+{self.name}+{self.id.hex()}+{key}\n"


def checkpoint(size: int, root: bytes, *signers: Signer) -> str:
    """Origin, size, root; an empty line; a signature line per signer. The first one's name is the origin."""
    text = f"{signers[0].name}\n{size}\n{base64.b64encode(root).decode()}\n"
    signed = [(one.name, one.id + one.sign(text.encode())) for one in signers]
    return f"{text}\n" + "".join(f"\u2014 {name} {base64.b64encode(raw).decode()}\n" for name, raw in signed)

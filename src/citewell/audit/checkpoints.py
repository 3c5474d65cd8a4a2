"""The log's state in a few signed lines: C2SP tlog-checkpoint in a C2SP signed-note.

In: origin, size and root. Out: the text that outsiders keep. Made here, checked in
:mod:`citewell.audit.checker`, which shares nothing with this.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.audit.keys import Signer


def checkpoint(size: int, root: bytes, *signers: Signer) -> str:
    """Origin, size, root; an empty line; a signature line for each signer, whose name is the origin."""
    text = f"{signers[0].name}\n{size}\n{base64.b64encode(root).decode()}\n"
    lines = [f"\u2014 {one.name} {_base64(one.id + one.sign(text.encode()))}\n" for one in signers]
    return f"{text}\n{''.join(lines)}"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()

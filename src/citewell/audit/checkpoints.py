"""The log's state in a few signed lines: C2SP tlog-checkpoint in a C2SP signed-note.

In: origin, size and root. Out: the text that outsiders keep. Made here, checked in
:mod:`citewell.audit.checker`, which shares nothing with this.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.audit.keys import Signer


def checkpoint(size: int, root: bytes, signer: Signer) -> str:
    """Origin, size, root; an empty line; one signature line. The signer's name is the origin."""
    text = f"{signer.name}\n{size}\n{base64.b64encode(root).decode()}\n"
    signature = base64.b64encode(signer.id + signer.sign(text.encode())).decode()
    return f"{text}\n\u2014 {signer.name} {signature}\n"

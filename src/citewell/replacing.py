"""A file in the place of the one before: whole or not at all.

In: a path and bytes. Out: the file; whoever reads meanwhile finds the one before or this one. Knows nothing
about what files hold.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def replace_file(path: Path, data: bytes, *, synced: bool = False) -> None:
    """Folders above it are made. ``synced``: it is on the disk before it takes the other's place. Each call
    writes under a name of its own first, so that two at once do not mix. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with unfinished.open("xb") as file:
            file.write(data)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)

"""A file in the place of the one before: whole or not at all.

In: a path and bytes. Out: the file; whoever reads meanwhile finds the one before or this one. Knows nothing
about what files hold.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path


def replace_file(path: Path, data: bytes, *, synced: bool = False) -> None:
    """Folders above it are made; where ``path`` is a link, the file that it leads to is replaced, and the new
    one may be read by whom the old one might. ``synced``: it is on the disk before it takes the other's
    place. Each call writes under a name of its own first, so that two at once do not mix. Raises OSError,
    for a device or a file that may not be written too."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    if mode is not None and not (path.is_file() and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "no file that may be written", str(path))
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with unfinished.open("xb") as file:
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.write(data)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)

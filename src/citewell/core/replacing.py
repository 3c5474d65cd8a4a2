"""Replaces a file completely or not at all.

In: a path and bytes. Out: the file; a concurrent reader sees the old file or the new one. Knows nothing
about the contents.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path


def replace_file(path: Path, data: bytes, *, synced: bool = False) -> None:
    """Creates parent folders. If ``path`` is a link, replaces the file it points to; the new file keeps the
    old one's permissions. ``synced``: the new file is on the disk before it replaces the old one. Each call
    writes under a name of its own first, so concurrent calls do not mix. Raises OSError, also for a device or
    a file that may not be written."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    if mode is not None and not (path.is_file() and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "not a file that may be written", str(path))
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

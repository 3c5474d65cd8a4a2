"""Folders and files that only their owner may enter or read, whatever the process's umask says.

In: a path. Out: it is there. What was there before keeps the rights that somebody gave it. Knows nothing
about what is kept in it.
"""

from __future__ import annotations

import os
from pathlib import Path


def make_folder(path: Path) -> None:
    """Those above it are made with the usual rights. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        path.chmod(0o700)


def make_file(path: Path) -> None:
    """Empty, where there was none. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)

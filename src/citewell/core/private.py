"""Folders and files that only their owner may enter or read, whatever the process's umask says.

In: a path. Out: the folder or file exists. What existed before keeps its permissions. Knows nothing about the
contents.
"""

from __future__ import annotations

import os
from pathlib import Path


def make_folder(path: Path) -> None:
    """Parent folders get the usual permissions. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        path.chmod(0o700)


def make_file(path: Path) -> None:
    """Creates an empty file if there is none. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)

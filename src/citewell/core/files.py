"""Creates and replaces files and folders atomically, and opens the SQLite files that several threads and
processes write to; private ones are accessible to their owner alone, whatever the process's umask.

In: a path, bytes. Out: the file or folder, or OSError; a concurrent reader sees the old file or the new one.
Knows nothing about the contents.
"""

from __future__ import annotations

import errno
import os
import secrets
import sqlite3
import stat
import time
from contextlib import suppress
from pathlib import Path


def make_folder(path: Path) -> None:
    """Creates a private folder (parents get default permissions); leaves an existing one. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        path.chmod(0o700)


def make_file(path: Path) -> None:
    """Creates an empty private file if there is none. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def write_private(path: Path, text: str) -> None:
    """Writes a new private file that is complete and durable from the start. Raises FileExistsError."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(unfinished, path)
    finally:
        unfinished.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes the names of new files durable: syncing a file does not sync its folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, data: bytes, *, synced: bool = False) -> None:
    """Creates parent folders. If ``path`` is a link, replaces the file it points to; the new file keeps the
    old one's permissions, or is private if there was none. ``synced``: the new file is on disk before it
    replaces the old one. Each call first writes a temporary file of its own, so concurrent calls do not mix.
    Raises OSError, also for a device or a file that may not be written."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    there = path.exists()
    mode = stat.S_IMODE(path.stat().st_mode) if there else 0o600
    if there and not (path.is_file() and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "not a file that may be written", str(path))
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with unfinished.open("xb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


WAIT_S = 30.0
"""How long a write waits for another writer."""
PAUSE_S = 0.005


def open_wal(path: Path, *, synchronous: str = "FULL") -> sqlite3.Connection:
    """Any thread may use it, one at a time; transactions are begun explicitly. Raises sqlite3.Error.

    If several processes open a new file at once, one turns WAL on; SQLite immediately reports "locked" to the
    others, whatever their timeout (two processes upgrading their locks would deadlock), so they retry.
    """
    # SQLite creates a file with the umask's permissions, and its companion files with those of the file.
    # If the file cannot be created, SQLite reports why.
    with suppress(OSError):
        make_file(path)
    connection = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None, check_same_thread=False)
    until = time.monotonic() + WAIT_S
    try:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() >= until:
                    raise
                time.sleep(PAUSE_S)
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA secure_delete = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def empty_wal(connection: sqlite3.Connection) -> bool:
    """Empties the write-ahead log, which holds deleted data until this returns True; False while another
    connection still reads an older state. Raises sqlite3.Error."""
    row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not row[0]

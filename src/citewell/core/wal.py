"""The one way to open a SQLite file that several threads and processes write to.

In: a path. Out: a connection in WAL mode that waits for other writers and overwrites what it deletes; a new
file is private to its owner. Knows nothing about what is stored.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from citewell.core.files import make_file

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

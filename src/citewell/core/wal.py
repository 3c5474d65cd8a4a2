"""One way to open a SQLite file that several threads and processes write.

In: a path. Out: a connection in WAL mode that waits for other writers and overwrites what it deletes; a new
file is its owner's alone. Knows nothing about what is stored.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from citewell.core.files import make_file

PAUSE_S = 0.005


def open_wal(path: Path, *, wait_s: float = 30.0, synchronous: str = "FULL") -> sqlite3.Connection:
    """Any thread may use it, one at a time; transactions are begun by hand. Raises sqlite3.Error.

    Of several processes that open a new file at once, one turns WAL on; SQLite tells the others "locked" at
    once, whatever their time-out (it sees a deadlock in two that upgrade their locks), so they ask again.
    """
    # SQLite makes a file with the umask's rights, and those beside it with the file's. What stands in the way
    # of making it, it says itself.
    with suppress(OSError):
        make_file(path)
    connection = sqlite3.connect(path, timeout=wait_s, isolation_level=None, check_same_thread=False)
    until = time.monotonic() + wait_s
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
    """What was deleted stands in the log of recent writes until this gives True; False while another
    connection still reads an older state. Raises sqlite3.Error."""
    row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not row[0]

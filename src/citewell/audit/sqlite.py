"""A database in one SQLite file: WAL, ``synchronous=FULL``, one writer at a time.

In: a path. Out: its :class:`citewell.audit.database.Database`. When ``writing`` ends, its writes are on disk;
if it raises, nothing was written. Deleted rows are overwritten (``secure_delete``). A read that nobody waits
for is stopped, even within a statement. Independent of entries.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from errno import ENOSPC
from functools import partial
from pathlib import Path

from citewell.audit.database import Rows
from citewell.core.errors import LogError
from citewell.core.files import empty_wal, open_wal, sync_folder
from citewell.core.metering import must_go_on, unwanted

_HINTS = {
    "SQLITE_FULL": "free some disk space and try again",
    "SQLITE_READONLY": "make the home writable, or choose another with --home",
    "SQLITE_CANTOPEN": "check that the home exists and is writable; copy it first if its disk is read-only",
    "SQLITE_BUSY": "another process is using it; try again",
    "SQLITE_LOCKED": "another process is using it; try again",
    "SQLITE_IOERR": "the disk reported an error; check the disk first",
    "SQLITE_NOTADB": "the file is not a database; restore it from a backup",
    "SQLITE_CORRUPT": "the file is damaged; restore it from a backup and run `citewell audit check`",
}


_PAGES = 4_000
"""Pages (16 MB) of the write-ahead log before they are copied into the file: a commit writes about nine,
mostly the same ones, and copying needs two more syncs. Durability is unaffected."""


_STEPS = 100_000
"""SQLite virtual machine steps, a few milliseconds, between checks whether anybody still waits."""


class SqliteDatabase:
    """Safe to share between threads; any number of processes may open one file.

    ``synchronous`` NORMAL is for data that a power cut may lose. ``readonly`` opens an existing file and
    changes nothing. Raises LogError, whose hint says what to do.
    """

    types: Mapping[str, str] = {"id": "INTEGER", "bytes": "BLOB", "compact": " WITHOUT ROWID"}

    def __init__(self, path: Path, *, readonly: bool = False, synchronous: str = "FULL") -> None:
        self.path = Path(path)
        self.where = str(path)
        self._synchronous = synchronous
        self._write_lock, self._read_lock = threading.Lock(), threading.Lock()
        with as_log_error(self.path):
            self._writer = None if readonly else self._open()
            self._reader = self._open_readonly() if readonly else self._open()
            self._reader.set_progress_handler(lambda: bool(unwanted()), _STEPS)

    @contextmanager
    def reading(self) -> Iterator[Rows]:
        with self._read_lock, as_log_error(self.path):
            must_go_on()
            self._reader.execute("BEGIN")
            try:
                yield self._reader
            except sqlite3.OperationalError:
                must_go_on()  # raises if that interrupted the statement
                raise
            finally:
                # A failed statement may already have ended the transaction.
                if self._reader.in_transaction:
                    self._reader.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        if self._writer is None:
            raise LogError(f"{self.path} is open read-only", hint="open the home for writing")
        with self._write_lock, as_log_error(self.path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                # A full disk may already have rolled the transaction back.
                with suppress(sqlite3.OperationalError):
                    self._writer.execute("ROLLBACK")
                raise

    def tables(self, rows: Rows) -> set[str]:
        return {name for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def overwrite(self) -> None:
        """Empties the write-ahead log; ``secure_delete`` has already overwritten rows in the file."""
        if self._writer is None:
            raise LogError(f"{self.path} is open read-only", hint="open the home for writing")
        with self._write_lock, self._read_lock, as_log_error(self.path):
            emptied = empty_wal(self._writer)
        if not emptied:
            raise LogError(
                f"{self.path}: another process is still reading what was deleted",
                hint="stop that process and run the command again",
            )

    def close(self) -> None:
        with self._write_lock, self._read_lock:
            self._reader.close()
            if self._writer is not None:
                self._writer.close()

    def _open(self) -> sqlite3.Connection:
        fresh = not self.path.exists()
        connection = open_wal(self.path, synchronous=self._synchronous)
        connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES}")
        if fresh:
            sync_folder(self.path.parent)
        return connection

    def _open_readonly(self) -> sqlite3.Connection:
        if not self.path.is_file():
            raise LogError(f"no audit log at {self.path}", hint="check --home, or ask a question first")
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA query_only = ON")
        # Tampered text may not be valid Unicode; it must be reported, not stop the check.
        connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        return connection


@contextmanager
def as_log_error(where: object) -> Iterator[None]:
    """Turns an error of SQLite or the file system into a LogError about ``where``."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, OSError):
            name = "SQLITE_FULL" if error.errno == ENOSPC else "SQLITE_CANTOPEN"
        else:
            name = getattr(error, "sqlite_errorname", "") or ""
        family = "_".join(name.split("_")[:2])
        raise LogError(f"{where}: {error}", hint=_HINTS.get(family, "")) from error

"""The keys of a log, in a separate folder: one per person, and the one that signs checkpoints.

In: a folder. Out: each person's pseudonym and AES-256 key, created on first use and destroyed permanently on
request; the :class:`Signer`, whose key is a file that only its owner may read. A copy of the log without this
folder reveals no personal text. Independent of entries and trees.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Sequence, Set
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from citewell.audit.database import Row
from citewell.audit.signing import LOST_KEY, Signer
from citewell.audit.sqlite import SqliteDatabase, as_log_error
from citewell.core.errors import LogError, UsageError
from citewell.core.files import make_file, make_folder, replace_file, sync_folder, write_private
from citewell.core.identity import keyed_hash
from citewell.core.records import Record

SUBJECTS, PUBLISHED = "subjects.sqlite", "signing.pub"
SIGNING, NEXT = "signing.key", "signing.next"


_SESSION = "session\x00"


def asker(user: str, session_id: str) -> str:
    """The name under which an asker has a key; "" for nobody. A session never equals a user of that name."""
    return user or (session_id and _SESSION + session_id)


def session_in(name: str) -> str:
    """The session behind a name from :func:`asker`; "" for a user's name."""
    return name.removeprefix(_SESSION) if name.startswith(_SESSION) else ""


class Handover(NamedTuple):
    """The log entry that put a new key in force, and both public keys; ``old`` is "" if it was lost."""

    seq: int
    old: str
    new: str


def with_limits(published: str, handovers: Sequence[Handover]) -> str:
    """Published keys, oldest first, each retired one with the log size up to which it is valid: the size
    before the entry that put the next one in force."""
    lines = [line.split() for line in published.splitlines() if line.strip()]
    for seq, old, new in handovers:
        place = next((number for number, words in enumerate(lines) if words[0] == new), 0)
        for number, words in enumerate(lines):
            if len(words) == 1 and (number < place or words[0] == old):
                words += ["until", str(seq - 1)]
    return "\n".join(" ".join(words) for words in lines)


class Subject(Record, frozen=True, kw_only=True):
    """A person as the log knows them: a random pseudonym, and the AES-256 key of their texts."""

    id: str
    key: bytes


class FolderKeys:
    """The keys of a home; destroying a person's key erases the person. Safe to share between threads and
    processes. Raises LogError."""

    def __init__(self, folder: Path, *, origin: str = "") -> None:
        """``origin`` names the log in its checkpoints; if empty, a random name is used."""
        if "+" in origin or any(letter.isspace() for letter in origin):
            raise LogError(f"{origin!r} cannot name a log", hint="use letters, digits, dots and slashes")
        self.folder, self.origin = Path(folder), origin
        self._lock = threading.Lock()
        self._database: SqliteDatabase | None = None
        self._pepper = b""

    def subject(self, name: str) -> Subject:
        """The person ``name``, created durably if unknown. Raises LogError, or ValueError for ""."""
        if not name:
            raise ValueError("a person needs a name")
        known = self.find(name)
        if known is not None:
            return known
        fresh = ("sub_" + secrets.token_hex(12), name, secrets.token_bytes(32))
        with self.people().writing() as rows:
            rows.execute("INSERT INTO subjects(id, name, key) VALUES(?, ?, ?) ON CONFLICT DO NOTHING", fresh)
        # Another process may have been first.
        return self.find(name) or self.subject(name)

    def find(self, name: str) -> Subject | None:
        """The person ``name`` as known now; None if there is none or the key was destroyed."""
        row = self._look_up("SELECT id, key FROM subjects WHERE name = ?", name)
        return None if row is None else Subject(id=row[0], key=row[1])

    def key(self, subject_id: str) -> bytes | None:
        """The key of a pseudonym; None once it is destroyed."""
        row = self._look_up("SELECT key FROM subjects WHERE id = ?", subject_id)
        return None if row is None else bytes(row[0])

    def name(self, subject_id: str) -> str:
        """The name behind a pseudonym; "" once the key is destroyed."""
        row = self._look_up("SELECT name FROM subjects WHERE id = ?", subject_id)
        return "" if row is None else str(row[0])

    def destroy(self, name: str) -> str:
        """Destroys key, name and the link between them. Returns the pseudonym; "" for nobody.

        Raises LogError while the key is still in a file; calling it again resumes.
        """
        if not (self.folder / SUBJECTS).exists():
            return ""
        known, people = self.find(name), self.people()
        if known is not None:
            with people.writing() as rows:
                rows.execute("DELETE FROM subjects WHERE id = ?", (known.id,))
        # Even for nobody: an earlier call may have stopped between the two steps.
        people.overwrite()
        return known.id if known is not None else ""

    def blind(self, text: str) -> str:
        """A name that only this folder's owner can link to ``text``: for lookups, not for reading."""
        if self._pepper:
            return keyed_hash(self._pepper, text)
        with self.people().writing() as rows:
            fresh = (secrets.token_bytes(32),)
            rows.execute("INSERT INTO pepper(one, value) VALUES(1, ?) ON CONFLICT DO NOTHING", fresh)
            ((pepper,),) = rows.execute("SELECT value FROM pepper").fetchall()
        self._pepper = bytes(pepper)
        return keyed_hash(self._pepper, text)

    def can_sign(self) -> bool:
        """Whether there is a signing key, or a file that may become one: see :meth:`take_up`."""
        return any((self.folder / name).exists() for name in (SIGNING, NEXT))

    def signer(self) -> Signer:
        """The signing key, created on first use under the log's origin. Raises LogError."""
        path = self.folder / SIGNING
        if not path.exists():
            with _as_log_error(self.folder):
                self._make_folder()
                # Both are created together, so that one without the other means a loss.
                self.people()
                made = Signer.fresh(self.origin or f"citewell.local/{secrets.token_hex(8)}")
                with suppress(FileExistsError):
                    write_private(path, made.private_text())
        signer = Signer.read(path)
        # Always, not only when created: the creating process may have been killed before this.
        with _as_log_error(self.folder):
            self._publish(signer)
        return signer

    def next_signer(self, name: str) -> Signer:
        """The key that :meth:`take_up` will put in force; replaces any left by an abandoned handover."""
        with _as_log_error(self.folder):
            (self.folder / NEXT).unlink(missing_ok=True)
            made = Signer.fresh(name)
            write_private(self.folder / NEXT, made.private_text())
        return made

    def take_up(self, in_force: Callable[[Signer], bool]) -> Signer:
        """The key for which ``in_force`` holds. If that is the next one, it replaces the old one, which is
        forgotten. Raises LogError if it holds for neither."""
        held = self._held(in_force)
        if held is None:
            if (self.folder / SIGNING).exists():
                # Raises a specific error if it cannot be read.
                Signer.read(self.folder / SIGNING)
            raise LogError(f"the key that signs the log is not in {self.folder}", hint=LOST_KEY)
        signer, name = held
        with _as_log_error(self.folder):
            # No other key: checkers of the log trust the published ones.
            self._publish(signer)
            if name == NEXT:
                os.replace(self.folder / NEXT, self.folder / SIGNING)
                sync_folder(self.folder)
        return signer

    def _publish(self, signer: Signer) -> None:
        """Adds a line to ``signing.pub``, which lists every key that ever signed, oldest first."""
        known = self.published().splitlines()
        if signer.public_text() not in [line.split()[0] for line in known if line.strip()]:
            self._write_published([*known, signer.public_text()])

    def retire(self, handovers: Sequence[Handover]) -> None:
        """Writes to ``signing.pub`` up to what size each key is valid."""
        known = self.published()
        if known != (limited := with_limits(known, handovers)):
            with _as_log_error(self.folder):
                self._write_published(limited.splitlines())

    def _write_published(self, lines: list[str]) -> None:
        replace_file(
            self.folder / PUBLISHED,
            "".join(f"{line}\n" for line in lines).encode(),
            synced=True,
        )
        sync_folder(self.folder)

    def published(self) -> str:
        """The public keys for checking signatures, one per line, oldest first; "" if there are none. A
        retired key is followed by ``until`` and the size up to which it is valid."""
        path = self.folder / PUBLISHED
        return path.read_text(encoding="utf-8").strip() if path.is_file() else ""

    def back_up(self, folder: Path) -> None:
        """Copies everything into a new folder that only its owner may read. Raises UsageError if it exists.

        A holder of the copy can sign in the log's name and read what people asked.
        """
        if folder.exists():
            raise UsageError(f"{folder} already exists", hint="choose a folder that does not exist yet")
        with _as_log_error(folder):
            make_folder(folder)
            for name in (SIGNING, PUBLISHED):
                if (self.folder / name).exists():
                    write_private(folder / name, (self.folder / name).read_text(encoding="utf-8"))
            make_file(folder / SUBJECTS)
            stored, copy = (sqlite3.connect(path) for path in (self.people().path, folder / SUBJECTS))
            with closing(stored), closing(copy):
                stored.backup(copy)

    def has(self, in_force: Callable[[Signer], bool]) -> bool:
        """Whether a key for which ``in_force`` holds is here, perhaps pending the end of a handover."""
        return self._held(in_force) is not None

    def _held(self, in_force: Callable[[Signer], bool]) -> tuple[Signer, str] | None:
        for name in (SIGNING, NEXT):
            with suppress(LogError):
                if in_force(signer := Signer.read(self.folder / name)):
                    return signer, name
        return None

    def begin_anew(self) -> Signer:
        """A new key that replaces any existing one."""
        with _as_log_error(self.folder):
            self._rename_signing()
        return self.signer()

    def _rename_signing(self) -> None:
        """Keeps a signing key that is not this log's: it may be the only copy of another log's key."""
        with suppress(FileNotFoundError):
            (self.folder / SIGNING).rename(self.folder / f"{SIGNING}.{secrets.token_hex(4)}")

    def restore(self, folder: Path, named: Set[str], in_force: Callable[[Signer], bool]) -> bool:
        """Adds what is missing here: people in ``named`` (pseudonyms), and the signing key if ``in_force``
        holds for it. Returns whether such a key is here now; a copy older than a handover has none.

        Raises UsageError if nothing is missing or the copy has none of it, LogError if it cannot be read.
        """
        with _as_log_error(folder):
            people, pepper = _copied(folder / SUBJECTS)
            signer = Signer.read(folder / SIGNING) if (folder / SIGNING).exists() else None
            here, fits = self.has(in_force), signer is not None and in_force(signer)
            known = self._people() & named
            if here and named <= known:
                raise UsageError(
                    f"the keys in {self.folder} are complete", hint="nothing needs to be restored"
                )
            missing = [person for person in people if person[0] in named - known]
            if not missing and (here or not fits):
                missed = "a missing person" if here else "a change of the signing key"
                without = "" if here else "; without one, `citewell audit key new --lost` creates a new key"
                raise UsageError(
                    f"the copy in {folder} belongs to another log or is older than {missed}",
                    hint=f"use a newer backup{without}",
                )
            self._make_folder()
            if missing or not named:
                # If this call is killed, the next one finds an empty file and recreates nobody.
                make_file(self.folder / SUBJECTS)
            if missing:
                self._add_people(missing, [] if known else pepper, named)
            published = folder / PUBLISHED
            if published.exists() and (fits or not self.published()):
                self._write_published(published.read_text(encoding="utf-8").splitlines())
            if signer is not None and fits and not here:
                self._rename_signing()
                write_private(self.folder / SIGNING, signer.private_text())
        return here or fits

    def _people(self) -> set[str]:
        """All pseudonyms; empty if their file does not exist (it is not created)."""
        if not (self.folder / SUBJECTS).exists():
            return set()
        with self.people().reading() as rows:
            return {subject for (subject,) in rows.execute("SELECT id FROM subjects")}

    def _add_people(
        self, people: list[tuple[Any, ...]], pepper: list[tuple[Any, ...]], named: Set[str]
    ) -> None:
        """Adds all of them or, if interrupted, none. ``pepper`` replaces one that no entry was sealed with;
        a person of the same name without entries is removed."""
        with self.people().writing() as rows:
            for person in people:
                row = rows.execute("SELECT id FROM subjects WHERE name = ?", (person[1],)).fetchone()
                if row is not None and row[0] not in named:
                    rows.execute("DELETE FROM subjects WHERE id = ?", row)
            rows.executemany(
                "INSERT INTO subjects(id, name, key) VALUES(?, ?, ?) ON CONFLICT DO NOTHING", people
            )
            rows.executemany("INSERT OR REPLACE INTO pepper(one, value) VALUES(?, ?)", pepper)
        self._pepper = b""

    def close(self) -> None:
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _look_up(self, sql: str, value: str) -> Row | None:
        """Creates nothing: a copy of the log without its keys contains no people."""
        if self._database is None and not (self.folder / SUBJECTS).exists():
            return None
        with self.people().reading() as rows:
            return rows.execute(sql, (value,)).fetchone()

    def _make_folder(self) -> None:
        if not self.folder.is_dir():
            make_folder(self.folder)
            sync_folder(self.folder.parent)

    def people(self) -> SqliteDatabase:
        """The file of people's keys, created unless there is a signing key; LogError if it was lost."""
        with self._lock, _as_log_error(self.folder):
            if self._database is None:
                self._database = self._open()
            return self._database

    def _open(self) -> SqliteDatabase:
        self._make_folder()
        path = self.folder / SUBJECTS
        if self.can_sign() and not path.exists():
            raise LogError(
                f"the file with the keys of people is not in {self.folder}",
                hint="restore them from their backup, `citewell audit key restore`; without a backup,"
                f" create an empty file {SUBJECTS} to start again; earlier personal texts stay unreadable",
            )
        database = SqliteDatabase(path)
        with database.reading() as rows:
            there = database.tables(rows)
        if not there >= {"subjects", "pepper"}:
            with database.writing() as rows:
                rows.execute(
                    "CREATE TABLE IF NOT EXISTS subjects(id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
                    " key BLOB NOT NULL) WITHOUT ROWID"
                )
                rows.execute(
                    "CREATE TABLE IF NOT EXISTS pepper(one INTEGER PRIMARY KEY CHECK(one = 1),"
                    " value BLOB NOT NULL)"
                )
        return database


def _copied(path: Path) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The people and the pepper of a backup; both empty if it has no such file."""
    if not path.exists():
        return [], []
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as source:
        people = source.execute("SELECT id, name, key FROM subjects").fetchall()
        return people, source.execute("SELECT one, value FROM pepper").fetchall()


def _as_log_error(folder: Path) -> AbstractContextManager[None]:
    return as_log_error(f"keys in {folder}")

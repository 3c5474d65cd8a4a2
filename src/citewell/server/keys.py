"""API keys: made, shown once, kept as salted hashes, looked up by their first part.

In: who a key is for and what it may do. Out: the key's text, once; later, from that text, who holds it.
A key is ``cw_``, 12 hexadecimal digits that name it, ``_``, and 256 random bits: no dictionary reaches
those, so one SHA-256 over salt and key is enough, and a stolen file opens nothing. Knows nothing about HTTP.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

import msgspec

from citewell.core.access import Caller, Role
from citewell.core.clock import SystemClock, written
from citewell.core.errors import CitewellError, UsageError
from citewell.core.ports import Clock
from citewell.core.records import Record
from citewell.core.wal import open_wal

KEYS_FILE = "access.sqlite"
PREFIX = "cw_"
_SHAPE = re.compile(r"cw_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_USED_EVERY = timedelta(minutes=1)
"""Last use is written no more often: a request must not wait for the disk because of it."""


class Scope(StrEnum):
    """Parts of the interface that a key can be narrowed to; no scope is all that its roles allow."""

    ASK = "ask"
    VERIFY = "verify"
    READ = "read"
    INGEST = "ingest"
    FEEDBACK = "feedback"
    AUDIT = "audit"
    METRICS = "metrics"
    PAGES = "pages"


class ApiKey(Record, frozen=True, kw_only=True):
    """What is known of a key; its secret is not. Times as :func:`citewell.core.clock.written`, "" for
    never."""

    key_id: str
    user: str
    groups: tuple[str, ...] = ()
    roles: tuple[Role, ...] = (Role.ASKER,)
    scopes: tuple[Scope, ...] = ()
    created_at: str = ""
    expires_at: str = ""
    revoked_at: str = ""
    last_used_at: str = ""

    @property
    def caller(self) -> Caller:
        return Caller(user=self.user, groups=self.groups, roles=self.roles)


class ApiKeys:
    """The keys of one home, in a file that only its owner can read. Safe to share between threads."""

    def __init__(self, home: Path, clock: Clock | None = None) -> None:
        self.path, self.clock = home / KEYS_FILE, clock or SystemClock()
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def create(
        self,
        user: str,
        *,
        groups: Sequence[str] = (),
        roles: Sequence[Role] = (Role.ASKER,),
        scopes: Sequence[Scope] = (),
        lasts: timedelta | None = None,
        seal: Callable[[ApiKey], object] | None = None,
    ) -> tuple[ApiKey, str]:
        """A new key and its text, which nobody can show again. ``seal`` is told of it before it opens
        anything. Raises UsageError without a user, and what ``seal`` raises: then there is no key."""
        if not user.strip():
            raise UsageError("a key belongs to somebody", hint="name them: --user U")
        now = self.clock.now()
        key = ApiKey(
            key_id=secrets.token_hex(6),
            user=user,
            groups=tuple(dict.fromkeys(groups)),
            roles=tuple(dict.fromkeys(roles)) or (Role.ASKER,),
            scopes=tuple(dict.fromkeys(scopes)),
            created_at=written(now),
            expires_at=written(now + lasts) if lasts is not None else "",
        )
        text = f"{PREFIX}{key.key_id}_{secrets.token_urlsafe(32)}"
        salt = secrets.token_bytes(16)
        if seal is not None:
            seal(key)
        with self._using() as connection:
            connection.execute(
                "INSERT INTO keys(key_id, salt, hash, body) VALUES(?, ?, ?, ?)",
                (key.key_id, salt, _hash(salt, text), msgspec.json.encode(key)),
            )
        return key, text

    def check(self, text: str) -> ApiKey | None:
        """The key of this text; None for one that is unknown, expired or revoked."""
        shape = _SHAPE.fullmatch(text)
        if shape is None or not self.path.is_file():
            return None
        with self._using() as connection:
            row = connection.execute(
                "SELECT salt, hash, body FROM keys WHERE key_id = ?", (shape[1],)
            ).fetchone()
        if row is None or not hmac.compare_digest(_hash(row[0], text), row[1]):
            return None
        return self._in_force(msgspec.json.decode(row[2], type=ApiKey))

    def holder(self, key_id: str) -> ApiKey | None:
        """The key that a session was opened with, while it is in force."""
        found = next((key for key in self.all() if key.key_id == key_id), None)
        return self._in_force(found) if found is not None else None

    def all(self) -> list[ApiKey]:
        """Every key ever made, oldest first."""
        if not self.path.is_file():
            return []
        with self._using() as connection:
            rows = connection.execute("SELECT body FROM keys ORDER BY number").fetchall()
        return [msgspec.json.decode(body, type=ApiKey) for (body,) in rows]

    def any(self) -> bool:
        """Whether a key was ever made: one that was revoked does not open the home to everybody."""
        if not self.path.is_file():
            return False
        with self._using() as connection:
            return connection.execute("SELECT 1 FROM keys LIMIT 1").fetchone() is not None

    def revoke(self, key_id: str) -> ApiKey:
        """Raises UsageError for a key that is not there."""
        found = next((key for key in self.all() if key.key_id == key_id), None)
        if found is None:
            raise UsageError(f"no key {key_id!r}", hint="`citewell keys list` names them")
        if found.revoked_at:
            return found
        return self._replace(found, revoked_at=written(self.clock.now()))

    def secret(self) -> bytes:
        """What this home signs its sessions with; made when it is first asked for."""
        with self._using() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO secrets(name, value) VALUES('sessions', ?)", (secrets.token_bytes(32),)
            )
            return bytes(
                connection.execute("SELECT value FROM secrets WHERE name = 'sessions'").fetchone()[0]
            )

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _in_force(self, key: ApiKey) -> ApiKey | None:
        now = self.clock.now()
        if key.revoked_at or (key.expires_at and key.expires_at <= written(now)):
            return None
        if not key.last_used_at or datetime.fromisoformat(key.last_used_at) + _USED_EVERY <= now:
            return self._replace(key, last_used_at=written(now))
        return key

    def _replace(self, key: ApiKey, **changes: str) -> ApiKey:
        changed = msgspec.structs.replace(key, **changes)
        with self._using() as connection:
            connection.execute(
                "UPDATE keys SET body = ? WHERE key_id = ?", (msgspec.json.encode(changed), key.key_id)
            )
        return changed

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open()
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise CitewellError(
                    f"keys {self.path}: {error}", hint="check that the home is writable and has space"
                ) from error

    def _open(self) -> sqlite3.Connection:
        # Made with its rights, so that there is no moment in which others could open it.
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        self.path.chmod(0o600)
        connection = open_wal(self.path)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS keys(number INTEGER PRIMARY KEY, key_id TEXT NOT NULL UNIQUE,"
            " salt BLOB NOT NULL, hash BLOB NOT NULL, body BLOB NOT NULL)"
        )
        connection.execute("CREATE TABLE IF NOT EXISTS secrets(name TEXT PRIMARY KEY, value BLOB NOT NULL)")
        return connection


def _hash(salt: bytes, text: str) -> bytes:
    return hashlib.sha256(salt + text.encode()).digest()

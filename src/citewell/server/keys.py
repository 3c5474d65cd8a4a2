"""API keys: created, shown once, stored as salted hashes, looked up by their first part.

In: a key's owner and permissions. Out: the key's text, once; later, from that text, its holder. A key is
``cw_``, 12 hexadecimal digits that identify it, ``_``, and 256 random bits, which rule out dictionary
attacks: one SHA-256 over salt and key is enough, and a stolen file opens nothing. Knows nothing about HTTP.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import sqlite3
import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from citewell.core.access import Caller, Role
from citewell.core.environment import SystemClock, format_time
from citewell.core.errors import CitewellError, UsageError
from citewell.core.files import open_wal
from citewell.core.ports import Clock
from citewell.core.records import Record

KEYS_FILE = "access.sqlite"
PREFIX = "cw_"
_SHAPE = re.compile(r"cw_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_USED_EVERY = timedelta(minutes=1)
"""Minimum interval between writes of the last use, so that requests do not wait for the disk."""


class Scope(StrEnum):
    """Parts of the interface that a key can be limited to; no scopes means all that its roles allow."""

    ASK = "ask"
    VERIFY = "verify"
    READ = "read"
    INGEST = "ingest"
    FEEDBACK = "feedback"
    AUDIT = "audit"
    METRICS = "metrics"
    PAGES = "pages"


class ApiKey(Record, frozen=True, kw_only=True):
    """A key without its secret. Times as :func:`citewell.core.environment.format_time`, "" for never."""

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

    def in_force(self, now: str) -> bool:
        return not self.revoked_at and not (self.expires_at and self.expires_at <= now)


class ApiKeys:
    """The keys of one home, in a file that only its owner can read. Thread-safe."""

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
        """A new key and its text, which cannot be shown again. ``seal`` is called with it before it becomes
        valid. Raises UsageError without a user, and what ``seal`` raises; then no key is created."""
        if not user.strip():
            raise UsageError("an API key needs an owner", hint="name the owner with --user U")
        now = self.clock.now()
        key = ApiKey(
            key_id=secrets.token_hex(6),
            user=user,
            groups=tuple(dict.fromkeys(groups)),
            roles=tuple(dict.fromkeys(roles)) or (Role.ASKER,),
            scopes=tuple(dict.fromkeys(scopes)),
            created_at=format_time(now),
            expires_at=format_time(now + lasts) if lasts is not None else "",
        )
        text = f"{PREFIX}{key.key_id}_{secrets.token_urlsafe(32)}"
        salt = secrets.token_bytes(16)
        if seal is not None:
            seal(key)
        statement = "INSERT INTO keys(key_id, salt, hash, body) VALUES(?, ?, ?, ?)"
        self._execute(statement, key.key_id, salt, _hash(salt, text), msgspec.json.encode(key))
        return key, text

    def check(self, text: str) -> ApiKey | None:
        """The key with this text; None if unknown, expired or revoked."""
        shape = _SHAPE.fullmatch(text)
        if shape is None or not self.path.is_file():
            return None
        for salt, kept in self._execute("SELECT salt, hash FROM keys WHERE key_id = ?", shape[1]):
            if hmac.compare_digest(_hash(salt, text), kept):
                return self.holder(shape[1])
        return None

    def holder(self, key_id: str) -> ApiKey | None:
        """The key of that id, such as a session's, if it is in force; this counts as its use."""
        for key in self._select("WHERE key_id = ?", key_id):
            now = self.clock.now()
            if key.in_force(format_time(now)):
                if not key.last_used_at or datetime.fromisoformat(key.last_used_at) + _USED_EVERY <= now:
                    used = "UPDATE keys SET last_used_at = ? WHERE key_id = ?"
                    self._execute(used, format_time(now), key_id)
                    key = msgspec.structs.replace(key, last_used_at=format_time(now))
                return key
        return None

    def roles_of(self, user: str, scope: Scope) -> set[Role]:
        """Roles from the user's keys in force with ``scope``; does not count as use of a key."""
        now = format_time(self.clock.now())
        return {
            role
            for key in self.all()
            if key.user == user and key.in_force(now) and (not key.scopes or scope in key.scopes)
            for role in key.roles
        }

    def all(self) -> list[ApiKey]:
        """Every key ever made, oldest first."""
        return self._select()

    def any(self) -> bool:
        """True if a key was ever created: revoking the last one must not open the home to everybody."""
        return self.path.is_file() and bool(self._execute("SELECT 1 FROM keys LIMIT 1"))

    def revoke(self, key_id: str) -> ApiKey:
        """Revokes a key permanently: nothing else writes that column. Raises UsageError if it is unknown."""
        if not self._select("WHERE key_id = ?", key_id):
            raise UsageError(f"there is no key {key_id!r}", hint="`citewell keys list` shows the keys")
        now = format_time(self.clock.now())
        self._execute("UPDATE keys SET revoked_at = ? WHERE key_id = ? AND revoked_at = ''", now, key_id)
        return self._select("WHERE key_id = ?", key_id)[0]

    def secret(self) -> bytes:
        """The secret that signs this home's sessions; created on first use."""
        fresh = secrets.token_bytes(32)
        self._execute("INSERT OR IGNORE INTO secrets(name, value) VALUES('sessions', ?)", fresh)
        return bytes(self._execute("SELECT value FROM secrets WHERE name = 'sessions'")[0][0])

    def end_session(self, nonce: str, ends: int) -> None:
        """Ends a session on sign-out, invalidating its cookie. ``ends``: when it would have expired."""
        self._execute("DELETE FROM signed_out WHERE ends <= ?", int(self.clock.now().timestamp()))
        self._execute("INSERT OR IGNORE INTO signed_out(nonce, ends) VALUES(?, ?)", nonce, ends)

    def has_ended(self, nonce: str) -> bool:
        """True if this session was signed out."""
        return bool(self._execute("SELECT 1 FROM signed_out WHERE nonce = ?", nonce))

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _select(self, where: str = "", *values: object) -> list[ApiKey]:
        if not self.path.is_file():
            return []
        statement = f"SELECT body, revoked_at, last_used_at FROM keys {where} ORDER BY number"
        return [
            msgspec.structs.replace(
                msgspec.json.decode(body, type=ApiKey), revoked_at=revoked, last_used_at=used
            )
            for body, revoked, used in self._execute(statement, *values)
        ]

    def _execute(self, statement: str, *values: object) -> list[Any]:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open()
                return self._connection.execute(statement, values).fetchall()
            except (sqlite3.Error, OSError) as error:
                raise CitewellError(
                    f"keys {self.path}: {error}", hint="check that the home is writable and has free space"
                ) from error

    def _open(self) -> sqlite3.Connection:
        connection = open_wal(self.path)
        self.path.chmod(0o600)  # even if the file was copied here
        connection.execute(
            "CREATE TABLE IF NOT EXISTS keys(number INTEGER PRIMARY KEY, key_id TEXT NOT NULL UNIQUE,"
            " salt BLOB NOT NULL, hash BLOB NOT NULL, body BLOB NOT NULL,"
            " revoked_at TEXT NOT NULL DEFAULT '', last_used_at TEXT NOT NULL DEFAULT '')"
        )
        connection.execute("CREATE TABLE IF NOT EXISTS secrets(name TEXT PRIMARY KEY, value BLOB NOT NULL)")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS signed_out(nonce TEXT PRIMARY KEY, ends INTEGER NOT NULL)"
        )
        return connection


def _hash(salt: bytes, text: str) -> bytes:
    return hashlib.sha256(salt + text.encode()).digest()

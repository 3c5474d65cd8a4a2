"""A signed-in browser: a cookie that names the key it was opened with, and the token its forms carry.

In: a key's id, a secret, the time. Out: a cookie's text; from that text, the key's id again. Nothing is
stored of an open session: it ends with its time, with its key, or when its browser signs out (which
:meth:`citewell.server.keys.ApiKeys.end_session` keeps). Knows nothing about requests.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

import msgspec

COOKIE = "citewell_session"


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """``key_id`` is "" for the owner, who needs no key; ``ends`` in seconds since 1970."""

    key_id: str
    ends: int
    nonce: str


def opened(secret: bytes, key_id: str, now: datetime, hours: float) -> str:
    """The cookie of a new session."""
    ends = int((now + timedelta(hours=hours)).timestamp())
    body = msgspec.json.encode(Session(key_id=key_id, ends=ends, nonce=secrets.token_hex(16)))
    return f"{_text(body)}.{_text(_mac(secret, 'session', body))}"


def read(secret: bytes, cookie: str, now: datetime) -> Session | None:
    """None for a cookie that is not ours, was changed or has ended."""
    body, _, mac = cookie.partition(".")
    try:
        packed = base64.urlsafe_b64decode(body + "==")
        given = base64.urlsafe_b64decode(mac + "==")
        if not hmac.compare_digest(_mac(secret, "session", packed), given):
            return None
        session = msgspec.json.decode(packed, type=Session)
    except ValueError:
        return None
    return session if session.ends > now.timestamp() else None


def token(secret: bytes, session: Session | None) -> str:
    """What every form of this session carries; without a session, the owner's."""
    return _text(_mac(secret, "form", (session.nonce if session else "").encode()))


def _mac(secret: bytes, purpose: str, data: bytes) -> bytes:
    return hmac.digest(secret, purpose.encode() + b"\0" + data, hashlib.sha256)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

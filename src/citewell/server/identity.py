"""Authentication: the holder of a key or token, a signed-in browser, or the owner on this machine.

In: a request. Out: a :class:`citewell.core.access.Caller`, or a Problem (401 unknown, 403 not allowed, 429
too many requests). Knows nothing about what routes do.

Without any key or issuer, a request over loopback is the owner's, but only if it came directly from this
machine: a proxied request is never the owner's.

A signed-in browser has a cookie naming the key that opened the session, and a token carried by its forms.
Open sessions are not stored: one ends when it expires, with its key, or when its browser signs out (which
:meth:`citewell.server.keys.ApiKeys.end_session` records).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import jwt
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from citewell.core.access import Caller, Role
from citewell.core.identity import hash_value
from citewell.server.guards import SAFE
from citewell.server.keys import PREFIX, Scope
from citewell.server.limits import Buckets
from citewell.server.oidc import IssuerError
from citewell.server.problems import Problem, forbidden
from citewell.server.site import Site, site

OWNER = Caller(user="owner", roles=(Role.ADMIN,))
"""Any caller from this machine before a key exists."""
PAGES_FETCH = (Scope.ASK, Scope.READ, Scope.FEEDBACK)
"""Scopes that the pages' own script, images and links need on ``/v1`` for a signed-in user."""
PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-real-ip")
COOKIE = "citewell_session"


@dataclass(frozen=True, kw_only=True)
class KnownCaller:
    """A caller, the name of the credential (never its secret), and the scopes that it is limited to."""

    caller: Caller
    credential: str
    scopes: tuple[Scope, ...] = ()


def require(*roles: Role, scope: Scope | None = None) -> Callable[[Request], Caller]:
    """A dependency: the caller, if they hold one of ``roles`` and the key has ``scope``."""

    def allowed(request: Request) -> Caller:
        found = identify(request)
        if roles and not found.caller.has(*roles):
            raise forbidden(f"you need the role {' or '.join(role.value for role in roles)}")
        if scope is not None and found.scopes and scope not in found.scopes:
            title = "this key does not have permission to do this"
            raise forbidden(f"the key needs the scope {scope.value}", title)
        return found.caller

    return allowed


def identify(request: Request) -> KnownCaller:
    """The caller, determined once per request. Raises Problem if unknown, or for too many requests."""
    held: KnownCaller | None = getattr(request.state, "known", None)
    if held is None:
        held = request.state.known = _known(request, site(request))
        _slowly(site(request).callers, held.credential)
    return held


def sign_in(request: Request, response: Response, key: str) -> Caller | None:
    """Opens a browser session; None for an invalid key, or one without access to the pages."""
    here = site(request)
    found = here.keys.check(key.strip())
    if found is None:
        _slowly(here.strangers, _address(request))
        return None
    if found.scopes and Scope.PAGES not in found.scopes:
        return None
    lasts = timedelta(hours=here.settings.session_hours)
    session = {
        "sub": found.key_id,
        "exp": int((here.keys.clock.now() + lasts).timestamp()),
        "jti": secrets.token_hex(16),
    }
    response.set_cookie(
        COOKIE,
        jwt.encode(session, here.keys.secret(), algorithm="HS256"),
        httponly=True,
        # Lax, so that links in mails and chats open signed in. No GET changes anything, and what does
        # requires the form's token.
        samesite="lax",
        secure=request.url.scheme == "https",
        max_age=int(lasts.total_seconds()),
    )
    return found.caller


def sign_out(request: Request, response: Response) -> None:
    """Ends the session, even for copies of its cookie."""
    here = site(request)
    session = _session(request, here)
    if session is not None:
        here.keys.end_session(session["jti"], session["exp"])
    response.delete_cookie(COOKIE, httponly=True, samesite="lax")


def csrf_token(request: HTTPConnection) -> str:
    """The token that a page's forms and script send back: the session's or, without one, the owner's."""
    here = site(request)
    session = _session(request, here)
    text = f"form\0{session['jti'] if session else ''}"
    return hmac.digest(here.keys.secret(), text.encode(), hashlib.sha256).hex()


def check_csrf(request: HTTPConnection, token: str) -> None:
    """Raises Problem for a form that is not from one of our pages."""
    if not hmac.compare_digest(csrf_token(request).encode(), token.encode()):
        raise forbidden("reload the page and send the form again", "this form has expired")


def _known(request: Request, here: Site) -> KnownCaller:
    kind, _, credential = request.headers.get("authorization", "").partition(" ")
    credential = credential.strip()
    if here.open and not credential.startswith(PREFIX) and not any(map(request.headers.get, PASSED_ON)):
        # Chat clients always send some key; with none ever made, it means nothing.
        return KnownCaller(caller=OWNER, credential="owner")
    if credential:
        if kind.lower() != "bearer":
            raise _nobody("send the key as `Authorization: Bearer KEY`")
        return _bearer(request, here, credential)
    session = _session(request, here)
    key = here.keys.holder(session["sub"]) if session is not None else None
    if key is not None:
        if request.method not in SAFE and request.url.path.startswith("/v1"):
            check_csrf(request, request.headers.get("x-csrf-token", ""))
        # The session adds what the pages need; everything else requires the key's own scopes.
        scopes = (*key.scopes, *PAGES_FETCH) if key.scopes else ()
        return KnownCaller(caller=key.caller, credential=key.key_id, scopes=scopes)
    if request.method not in SAFE:  # a GET is cheap, and leads a browser to the login page
        _slowly(here.strangers, _address(request))
    raise _nobody("send an API key or access token as `Authorization: Bearer ...`")


def _bearer(request: Request, here: Site, credential: str) -> KnownCaller:
    if credential.startswith(PREFIX):
        key = here.keys.check(credential)
        if key is not None:
            return KnownCaller(caller=key.caller, credential=key.key_id, scopes=key.scopes)
    elif (holder := _holder(request, here, credential)) is not None:
        return KnownCaller(caller=holder, credential=f"oidc:{hash_value(holder.user).partition(':')[2][:12]}")
    _slowly(here.strangers, _address(request))
    raise _nobody("the key or token is unknown, expired, revoked, or not for this server")


def _holder(request: Request, here: Site, token: str) -> Caller | None:
    if here.issuer is None:
        return None
    try:
        return here.issuer.caller(token)
    except IssuerError as error:
        _slowly(here.strangers, _address(request))
        title = "the signing keys of the token issuer could not be fetched"
        raise Problem(503, title, hint=error.hint, retryable=True) from error


def _session(request: HTTPConnection, here: Site) -> dict[str, Any] | None:
    """The session's ``sub`` (the key's id), ``exp`` (its end) and ``jti``; None without a cookie, or for one
    that is foreign, altered or expired."""
    cookie = request.cookies.get(COOKIE)
    if not cookie:
        return None
    try:
        session: dict[str, Any] = jwt.decode(
            cookie,
            here.keys.secret(),
            algorithms=["HS256"],
            options={"require": ["sub", "exp", "jti"]},
        )
    except jwt.PyJWTError:
        return None
    return None if here.keys.has_ended(session["jti"]) else session


def _address(request: HTTPConnection) -> str:
    return request.client.host if request.client else ""


def _slowly(buckets: Buckets, who: str) -> None:
    wait = buckets.take(who)
    if wait:
        raise Problem(429, "too many requests", retry_after_s=wait)


def _nobody(hint: str) -> Problem:
    return Problem(401, "authentication is required", hint=hint, headers={"WWW-Authenticate": "Bearer"})

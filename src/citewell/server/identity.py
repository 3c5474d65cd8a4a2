"""Who is at the door: a key, a token, a signed-in browser, or the owner at this machine.

In: a request. Out: a :class:`citewell.core.access.Caller`, or a Problem (401 nobody known, 403 not
allowed, 429
too often). Knows nothing about what routes do.

Without any key and without an issuer, a request over loopback is the owner's. That holds only for one that
came straight from this machine: what a proxy passed on is never the owner's.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from citewell.core.access import Caller, Role
from citewell.core.identity import hash_value
from citewell.server import sessions
from citewell.server.keys import PREFIX, ApiKey, Scope
from citewell.server.limits import Buckets
from citewell.server.oidc import IssuerError
from citewell.server.problems import Problem
from citewell.server.site import Site, site

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
OWNER = Caller(user="owner", roles=(Role.ADMIN,))
"""Whoever comes from this machine before there is a key."""
PAGES_FETCH = (Scope.ASK, Scope.READ, Scope.FEEDBACK)
"""What the pages' own script, pictures and links take from ``/v1`` for whoever signed in."""
PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-real-ip")


@dataclass(frozen=True, kw_only=True)
class Known:
    """A caller, the name of the credential (never its secret), and what that is narrowed to."""

    caller: Caller
    credential: str
    scopes: tuple[Scope, ...] = ()


def caller(request: Request) -> Caller:
    """Whoever asks. Raises Problem for nobody, and for one who comes too often."""
    return known(request).caller


def require(*roles: Role, scope: Scope | None = None) -> Callable[[Request], Caller]:
    """A dependency: the caller, if one of ``roles`` is held and the key reaches to ``scope``."""

    def allowed(request: Request) -> Caller:
        found = known(request)
        if roles and not found.caller.has(*roles):
            raise Problem(
                403,
                "you do not have permission to do this",
                hint=f"you need the role {' or '.join(role.value for role in roles)}",
            )
        if scope is not None and found.scopes and scope not in found.scopes:
            raise Problem(
                403,
                "this key does not have permission to do this",
                hint=f"the key needs the scope {scope.value}",
            )
        return found.caller

    return allowed


def known(request: Request) -> Known:
    """As :func:`caller`, with the credential; found once a request."""
    held: Known | None = getattr(request.state, "known", None)
    if held is None:
        held = request.state.known = _known(request, site(request))
        _slowly(site(request).callers, held.credential)
    return held


def sign_in(request: Request, response: Response, key: str) -> Caller | None:
    """Opens a session for a browser; None for a key that is none or may not use the pages."""
    here = site(request)
    found = here.keys.check(key.strip())
    if found is None:
        _slowly(here.strangers, _address(request))
        return None
    if found.scopes and Scope.PAGES not in found.scopes:
        return None
    cookie = sessions.opened(
        here.keys.secret(), found.key_id, here.keys.clock.now(), here.settings.session_hours
    )
    response.set_cookie(
        sessions.COOKIE,
        cookie,
        httponly=True,
        # Lax: a link in a mail or a chat opens signed in. Nothing that acts is a GET, and what acts takes
        # the form's token.
        samesite="lax",
        secure=request.url.scheme == "https",
        max_age=int(here.settings.session_hours * 3600),
    )
    return found.caller


def sign_out(request: Request, response: Response) -> None:
    """Ends the session, also for whoever kept a copy of its cookie."""
    here = site(request)
    session = _session(request, here)
    if session is not None:
        here.keys.end_session(session.nonce, session.ends)
    response.delete_cookie(sessions.COOKIE, httponly=True, samesite="lax")


def csrf_token(request: HTTPConnection) -> str:
    """What the forms and the script of a page send back."""
    here = site(request)
    return sessions.token(here.keys.secret(), _session(request, here))


def check_csrf(request: HTTPConnection, token: str) -> None:
    """Raises Problem for a form that none of our pages made."""
    if not hmac.compare_digest(csrf_token(request).encode(), token.encode()):
        raise Problem(403, "this form has expired", hint="reload the page and send the form again")


def _known(request: Request, here: Site) -> Known:
    kind, _, credential = request.headers.get("authorization", "").partition(" ")
    credential = credential.strip()
    if here.open and not credential.startswith(PREFIX) and not _passed_on(request):
        # Chat clients insist on a key and send any: with none ever made, it says nothing.
        return Known(caller=OWNER, credential="owner")
    if credential:
        if kind.lower() != "bearer":
            raise _nobody("send the key as `Authorization: Bearer KEY`")
        return _bearer(request, here, credential)
    session = _session(request, here)
    if session is not None:
        key = here.keys.holder(session.key_id)
        if key is not None:
            if request.method not in SAFE and request.url.path.startswith("/v1/"):
                check_csrf(request, request.headers.get("x-csrf-token", ""))
            # The pages go with it; any other door takes the scope that the key itself was given.
            scopes = (*key.scopes, *PAGES_FETCH) if key.scopes else ()
            return Known(caller=key.caller, credential=key.key_id, scopes=scopes)
    if request.method not in SAFE:  # looking in costs nothing, and leads a browser to the door
        _slowly(here.strangers, _address(request))
    raise _nobody("send an API key or access token as `Authorization: Bearer ...`")


def _bearer(request: Request, here: Site, credential: str) -> Known:
    if credential.startswith(PREFIX):
        key: ApiKey | None = here.keys.check(credential)
        if key is not None:
            return Known(caller=key.caller, credential=key.key_id, scopes=key.scopes)
    elif (holder := _holder(request, here, credential)) is not None:
        return Known(caller=holder, credential=f"oidc:{hash_value(holder.user).partition(':')[2][:12]}")
    _slowly(here.strangers, _address(request))
    raise _nobody("the key or token is unknown, expired, revoked, or not for this server")


def _holder(request: Request, here: Site, token: str) -> Caller | None:
    if here.issuer is None:
        return None
    try:
        return here.issuer.caller(token)
    except IssuerError:
        _slowly(here.strangers, _address(request))
        raise


def _session(request: HTTPConnection, here: Site) -> sessions.Session | None:
    cookie = request.cookies.get(sessions.COOKIE)
    found = sessions.read(here.keys.secret(), cookie, here.keys.clock.now()) if cookie else None
    return None if found is None or here.keys.has_ended(found.nonce) else found


def _passed_on(request: HTTPConnection) -> bool:
    return any(name in request.headers for name in PASSED_ON)


def _address(request: HTTPConnection) -> str:
    return request.client.host if request.client else ""


def _slowly(buckets: Buckets, who: str) -> None:
    wait = buckets.take(who)
    if wait:
        headers = {"Retry-After": str(math.ceil(wait))}
        raise Problem(
            429,
            "too many requests",
            hint=f"try again in {math.ceil(wait)} s",
            retryable=True,
            headers=headers,
        )


def _nobody(hint: str) -> Problem:
    return Problem(401, "authentication is required", hint=hint, headers={"WWW-Authenticate": "Bearer"})

"""Checks before authentication, and security headers on every response.

In: ASGI requests. Out: the same, or a problem: for an unknown host name (DNS rebinding), a request forged by
another site's page, a body over its limit. Knows nothing about callers or routes.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.server.problems import TOO_LARGE, Problem, forbidden, response_of

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
UPLOADS = ("/v1/documents", "/documents", "/proxy/")
"""Paths that accept whole files; the last is a prefix."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # no-referrer would make the Origin of our own forms "null"
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
"""Set unless a response has its own."""


def is_loopback(host: str) -> bool:
    """True if only this machine can reach a socket bound to ``host``."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guards:
    """Empty ``hosts`` accepts every name: where a key is always required, a spoofed name gains nothing.
    ``named`` are host names that our own pages may have when a proxy changes the ``Host``. Limits are in
    bytes."""

    def __init__(
        self, app: ASGIApp, *, hosts: Collection[str], named: Collection[str], max_body: int, max_upload: int
    ) -> None:
        self.hosts, self.named = frozenset(hosts), frozenset(named)
        # These limit a body that does not declare its length.
        self.body = RequestBodyLimitMiddleware(app, max_body)
        self.upload = RequestBodyLimitMiddleware(app, max_upload)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        inner = self.upload if path in UPLOADS or path.startswith(UPLOADS[-1]) else self.body
        if scope["type"] != "http":
            await inner(scope, receive, send)
            return
        headers = Headers(scope=scope)
        problem = self._refused(scope["method"], headers) or _too_large(headers, inner.max_body_size)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    sent.setdefault(name, value)
            await send(message)

        await (inner if problem is None else response_of(problem))(scope, receive, guarded)

    def _refused(self, method: str, headers: Headers) -> Problem | None:
        host = headers.get("host", "")
        if self.hosts and _name(host) not in self.hosts:
            return Problem(
                421,
                f"this server does not accept requests for the host {_name(host)[:100]!r}",
                hint="if this host name is right, add it to server.hosts",
            )
        if method in SAFE:
            return None
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", "same-origin")
        # For this machine's own names the port must match too: other programs serve pages here.
        place = _split(origin or "").netloc.lower()
        ours = origin is None or place == host.lower() or _name(place) in self.named
        if not ours or (origin is None and site not in {"same-origin", "none"}):
            title = "this form was sent from another site's page, so nothing was done"
            return forbidden("open this server's own page and send the form from there", title)
        return None


def _too_large(headers: Headers, limit: int) -> Problem | None:
    declared = headers.get("content-length", "0")
    if declared.isdigit() and int(declared) <= limit:
        return None
    return Problem(413, f"the request is larger than {limit} bytes", hint=TOO_LARGE)


def _name(host: str) -> str:
    """The name in ``name:port`` or ``[v6]:port``."""
    return (_split(f"//{host}").hostname or "").lower()


def _split(address: str) -> SplitResult:
    """Its parts; empty for ``null`` and for anything else without any."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")

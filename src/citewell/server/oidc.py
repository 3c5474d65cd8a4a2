"""Bearer tokens (RFC 9068, RFC 7519) of one OpenID Connect issuer, verified by its keys alone.

The keys are fetched from the issuer's own host or the configured address, never from an address in a token.
Only RS256 and ES256: a token cannot choose ``none``, or have a public key used as a shared secret. Knows
nothing about requests.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt

from citewell.core.access import Caller, Role
from citewell.core.config import Server
from citewell.core.errors import CitewellError, ConfigError
from citewell.server.guards import is_loopback

ALGORITHMS = ("RS256", "ES256")
LEEWAY_S = 30
_FRESH_S, _AGAIN_S, _TIMEOUT_S, _MAX_BYTES = 600.0, 30.0, 5.0, 1 << 20
_KEPT_S = 3600.0
"""How long fetched keys are trusted while the issuer cannot be reached."""


class IssuerError(CitewellError):
    """The issuer's keys are unavailable."""

    retryable = True


class Issuer:
    """Created once; fetches keys on first need, every ten minutes, and for an unknown key: at most twice a
    minute, successful or not, so that forged tokens cannot trigger more."""

    def __init__(
        self,
        settings: Server,
        *,
        fetch: Callable[[str], bytes] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not settings.oidc_audience:
            raise ConfigError(
                "server.oidc_audience is empty",
                hint="set it to the audience that the issuer puts into its tokens",
            )
        self._settings, self._fetch, self._clock = settings, fetch or _get, clock
        for address in filter(None, (settings.oidc_issuer, settings.oidc_jwks)):
            _refuse_plain(address)
        self._lock = threading.Lock()
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched_at = self._tried_at = -1e9
        self._failed: IssuerError | None = None

    def caller(self, token: str) -> Caller | None:
        """The token's caller; None if it is forged, expired, or for another audience. Raises IssuerError.

        PyJWT's own key client has no size limit, queries an unreachable issuer for every token, and trusts no
        keys meanwhile."""
        settings = self._settings
        try:
            head = jwt.get_unverified_header(token)
            key = self._key(str(head.get("kid", "")))
            # The algorithm must also match the key's, as each PyJWK is made for one.
            if key is None or head.get("alg") not in ALGORITHMS or key.algorithm_name != head["alg"]:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=settings.oidc_audience,
                issuer=settings.oidc_issuer,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError:
            return None
        user = claim(claims, settings.oidc_user)
        named = _words(claim(claims, settings.oidc_roles))
        roles = [name for name in named if name in set(Role)] or _words(settings.oidc_role)
        if not isinstance(user, str) or not user or not roles:
            return None
        groups = tuple(dict.fromkeys(_words(claim(claims, settings.oidc_groups))))
        return Caller(user=user, groups=groups, roles=tuple(Role(name) for name in roles))

    def _key(self, name: str) -> jwt.PyJWK | None:
        """The key of that id. Raises IssuerError if keys are unavailable and it is not still trusted."""
        held = self._held(name, _FRESH_S)
        if held is not None:
            return held
        held = self._held(name, _KEPT_S)
        # Callers whose key is still trusted do not wait for a fetch.
        if self._lock.acquire(blocking=held is None):
            try:
                if self._clock() - self._tried_at > _AGAIN_S:
                    self._fetch_all()
            finally:
                self._lock.release()
        held = self._held(name, _KEPT_S)
        if held is None and self._failed is not None:
            raise IssuerError(*self._failed.args, hint=self._failed.hint)
        return held

    def _held(self, name: str, age: float) -> jwt.PyJWK | None:
        return self._keys.get(name) if self._clock() - self._fetched_at <= age else None

    def _fetch_all(self) -> None:
        try:
            keys = jwt.PyJWKSet.from_dict(self._json(self._settings.oidc_jwks or self._discovered()))
            self._keys = {
                key.key_id or "": key
                for key in keys
                if key.algorithm_name in ALGORITHMS and key.public_key_use in (None, "sig")
            }
            self._fetched_at, self._failed = self._clock(), None
        except (IssuerError, ConfigError) as error:
            self._failed = IssuerError(error.args[0], hint=error.hint)  # without frames and their sockets
        except jwt.PyJWTError as error:
            self._failed = IssuerError(f"the token issuer publishes no usable keys ({error})")
        finally:
            self._tried_at = self._clock()

    def _discovered(self) -> str:
        """OpenID Connect Discovery 1.0, section 4."""
        issuer = self._settings.oidc_issuer
        about = self._json(issuer.rstrip("/") + "/.well-known/openid-configuration")
        address = str(about.get("jwks_uri", ""))
        if about.get("issuer") != issuer or urlsplit(address).netloc != urlsplit(issuer).netloc:
            raise IssuerError(
                f"{issuer} publishes its keys on another host: {address[:200]!r}",
                hint="if that host is right, set server.oidc_jwks to this address",
            )
        _refuse_plain(address)
        return address

    def _json(self, address: str) -> dict[str, Any]:
        try:
            found = json.loads(self._fetch(address))
        except (OSError, ValueError, RecursionError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise IssuerError(
                f"the signing keys of the token issuer could not be fetched ({error})", hint="try again soon"
            ) from error
        return found if isinstance(found, dict) else {}


def claim(claims: Mapping[str, Any], path: str) -> Any:
    """The claim of that name; failing that, a dot descends into it (``realm_access.roles``)."""
    if path in claims:
        return claims[path]
    first, dot, rest = path.partition(".")
    inner = claims.get(first)
    return claim(inner, rest) if dot and isinstance(inner, Mapping) else None


def _words(value: Any) -> list[str]:
    """A list of strings, from a list or a single string."""
    if isinstance(value, str):
        return [value] if value else []
    return [item for item in value if isinstance(item, str)] if isinstance(value, Sequence) else []


def _refuse_plain(address: str) -> None:
    """Raises ConfigError unless https or loopback: keys sent in the clear can be replaced."""
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise ConfigError(f"{address} is not an https address", hint="use the issuer's https address")


def _get(address: str) -> bytes:
    body = b""
    with httpx2.stream("GET", address, timeout=_TIMEOUT_S) as response:
        response.raise_for_status()  # also for a redirect: keys come only from the configured address
        for piece in response.iter_bytes():
            body += piece
            if len(body) > _MAX_BYTES:
                raise ValueError("the issuer's response is too large")
    return body

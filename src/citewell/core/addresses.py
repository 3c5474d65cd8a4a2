"""Addresses that may hold a secret: how they are named in a record or a message, and how one is told.

In: a URL as it is configured. Out: its name without user, password, query and what else may be a token; what
posting to it went wrong by. Knows nothing about what stands there.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from urllib.parse import urlsplit

FOLDERS = ("file", "git")
PATHS_SHOWN = (*FOLDERS, "s3", "postgresql", "postgres")
"""Their paths name a place. The path of any other address may be all the secret it has, as a webhook's."""
TIMEOUT_S = 10.0


class _Unmoved(urllib.request.HTTPRedirectHandler):
    """A redirected POST would become a GET without its body, to wherever the other end says: refused."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_Unmoved)
_UNREADABLE = "(an address without a scheme)"


def named(address: str) -> str:
    """What may be written down of it, "" for an empty one; an address that cannot be taken apart for certain
    is named by its scheme alone."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return _UNREADABLE
    if not parts.scheme:
        return _UNREADABLE if address else ""
    # An "@" behind the host is one of a password whose "/", "?" or "#" was not written as %2F and so on.
    if parts.scheme not in FOLDERS and "@" in parts.path + parts.query + parts.fragment:
        return f"{parts.scheme}:"
    host = f"//{parts.netloc.rpartition('@')[2]}" if parts.netloc else ""
    return f"{parts.scheme}:{host}{parts.path if parts.scheme in PATHS_SHOWN else ''}"


def post(url: str, data: bytes, content_type: str) -> str:
    """What went wrong, or "": a 2xx answer takes it as kept; a redirect is not followed. Never raises for
    what the other end does, and repeats nothing of the address, nor of what the other end says."""
    if not url.startswith(("https://", "http://")):
        return f"{named(url)} is no http address"
    try:
        request = urllib.request.Request(  # noqa: S310 - of the kinds checked above
            url, data=data, headers={"Content-Type": content_type}, method="POST"
        )
        with _OPENER.open(request, timeout=TIMEOUT_S) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        return f"{named(url)}: HTTP status {error.code}"
    except OSError as error:
        return f"{named(url)}: {type(error).__name__}: {error}"
    except (http.client.HTTPException, ValueError) as error:  # an address that is none, or an answer
        return f"{named(url)}: {type(error).__name__}"
    return ""

"""Addresses that may hold a secret: how a record or a message names them, and how to post to one.

In: a URL as it is configured. Out: its name without user, password, query and anything else that may be a
token; why posting to it failed. Knows nothing about what the address serves.
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from urllib.parse import urlsplit

FOLDERS = ("file", "git")
PATHS_SHOWN = (*FOLDERS, "s3", "postgresql", "postgres")
"""Their paths name a place. The path of any other address may itself be a secret, as a webhook's is."""
TIMEOUT_S = 10.0


class _Unmoved(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: a redirected POST would become a GET without a body, to an address the server
    chose."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_Unmoved)
_UNREADABLE = "(an address without a scheme)"


def named(address: str) -> str:
    """The part of it that may be written down, "" for an empty one; an address that cannot be parsed with
    certainty is named by its scheme alone."""
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
    """What went wrong, or "" for a 2xx response; a redirect is not followed. Never raises for what the server
    does, and repeats nothing of the address or of the server's response."""
    if not url.startswith(("https://", "http://")):
        return f"{named(url)} is not an http address"
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

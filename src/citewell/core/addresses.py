"""Addresses: what is one; and those that may contain a secret: how a record or a message names them, and how
to post to one.

In: a URL as configured. Out: its name without user, password, query and anything else that may be a token;
why posting to it failed. Knows nothing about what the address serves.
"""

from __future__ import annotations

import logging
import re
from urllib.parse import urlsplit

PATHS_SHOWN = ("file", "postgresql", "postgres")
"""Schemes whose paths are safe to show. The path of any other address may be a secret, like a webhook's."""
TIMEOUT_S = 10.0


_UNREADABLE = "(an address without a scheme)"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://")


def is_address(given: object) -> bool:
    """Whether it is a text like ``s3://bucket/reports``. A Path never is: two slashes become one in it."""
    return isinstance(given, str) and _ADDRESS.match(given) is not None


def redact_address(address: str) -> str:
    """The part of it that is safe to write down, "" for an empty one; an address that cannot be parsed with
    certainty is named by its scheme alone."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return _UNREADABLE
    if not parts.scheme:
        return _UNREADABLE if address else ""
    # An "@" after the host belongs to a password whose "/", "?" or "#" was not percent-encoded.
    if parts.scheme != "file" and "@" in parts.path + parts.query + parts.fragment:
        return f"{parts.scheme}:"
    host = f"//{parts.netloc.rpartition('@')[2]}" if parts.netloc else ""
    return f"{parts.scheme}:{host}{parts.path if parts.scheme in PATHS_SHOWN else ''}"


def post(url: str, data: bytes, content_type: str) -> str:
    """What went wrong, or "" for a 2xx response; redirects are not followed. Never raises for what the server
    does, and repeats only the address's safe name, and nothing of the server's response."""
    import httpx2

    logging.getLogger("httpx2").setLevel(logging.WARNING)  # below that it logs whole addresses
    if not url.startswith(("https://", "http://")):
        return f"{redact_address(url)} is not an http address"
    try:
        answer = httpx2.post(url, content=data, headers={"Content-Type": content_type}, timeout=TIMEOUT_S)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        return f"{redact_address(url)}: {type(error).__name__}"
    return "" if answer.is_success else f"{redact_address(url)}: HTTP status {answer.status_code}"

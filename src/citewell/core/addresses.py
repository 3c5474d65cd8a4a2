"""What documents and servers are called: which document ids are allowed, and which source an id names; what
an address is, how a record or a message names one that may contain a secret, and how to post to it.

In: an id from a user, or a URL as configured. Out: what is wrong with the id; the URL without user, password,
query and anything else that may be a token; why posting to it failed. A line break in an id could forge a
line in a list or a log, and a bidirectional control character could display a name other than the stored one.
Knows nothing about documents and about what an address serves.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from urllib.parse import urlsplit

from citewell.core.errors import UsageError

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


# --- document ids ---------------------------------------------------------------------------------

_UNSEEN = re.compile("[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def fault_of(document_id: str) -> str:
    """Describes the first character that an id must not contain; "" if there is none."""
    found = _UNSEEN.search(document_id)
    if found is None:
        return ""
    code = ord(found.group())
    name = unicodedata.name(found.group(), "a control character").lower()
    return f"character {found.start() + 1} is U+{code:04X} ({name})"


def visible_id(document_id: str) -> str:
    """The id without these characters."""
    return _UNSEEN.sub("", document_id)


def check_id(document_id: str) -> None:
    """Raises UsageError for an id with control characters, line breaks or bidirectional controls."""
    if fault := fault_of(document_id):
        raise UsageError(
            f"the id {document_id!a} cannot be used: {fault}",
            hint="use visible characters on one line",
        )


def source_of(document_id: str) -> str:
    """The source of a document: the ingested folder, ``uploads``, or the host or bucket of its address; "" if
    the id names none."""
    first, slash, rest = document_id.partition("/")
    if first.endswith(":") and rest.startswith("/"):
        return f"{first}//{rest[1:].partition('/')[0]}"
    return first if slash else ""

"""The picture of a cited page, from the very bytes that were read when the document came in.

In: a document version. Out: a PNG, kept for the next who looks. A file that is gone or has changed since is
not drawn: a span would be lit on other words. Knows nothing about callers.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from urllib.parse import unquote, urlsplit

from citewell.core.config import Documents
from citewell.core.identity import hash_file
from citewell.core.records import Document
from citewell.documents.drawing import draw_page
from citewell.server.problems import Problem

_KEPT_BYTES = 64 << 20
PDF = "application/pdf"


class Pictures:
    """One server's, with a memory of the last ones. Two are drawn at a time, each in its own process."""

    def __init__(self, limits: Documents) -> None:
        self._limits = limits
        self._kept: OrderedDict[tuple[str, int, float], bytes] = OrderedDict()
        self._size = 0
        self._lock, self._turns = threading.Lock(), threading.Semaphore(2)

    def page(self, document: Document, number: int, scale: float) -> bytes:
        """Raises Problem 404 where there is no page to draw, DocumentError where it cannot be drawn."""
        key = (document.version, number, scale)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        if document.media_type != PDF or all(page.number != number for page in document.pages):
            raise Problem(404, "there is no image of this page", hint="read its text instead")
        path = original(document)
        if path is None:
            raise Problem(
                404,
                "the file of this version is no longer there, so the page cannot be drawn",
                hint="its text was kept; read that instead",
            )
        with self._turns:
            drawn = draw_page(path, number, scale=scale, limits=self._limits)
        with self._lock:
            self._kept[key] = drawn
            self._size += len(drawn)
            while self._size > _KEPT_BYTES:
                self._size -= len(self._kept.popitem(last=False)[1])
        return drawn


def original(document: Document) -> Path | None:
    """The file that the version was read from, while it still holds those bytes."""
    address = urlsplit(document.uri)
    path = Path(unquote(address.path))
    try:
        same = address.scheme == "file" and path.is_file() and hash_file(path) == document.version
    except (OSError, ValueError):
        return None
    return path if same else None

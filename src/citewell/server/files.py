"""Uploaded files, and page images drawn from the uploaded bytes.

An uploaded file is kept unchanged in the home, in a folder named by the hash of its bytes, so that its pages
can be drawn for as long as it is cited. Knows nothing about callers.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from citewell.core.addresses import visible_id
from citewell.core.config import Documents
from citewell.core.files import make_file, make_folder
from citewell.core.identity import TAG, hash_file
from citewell.core.records import Document
from citewell.documents.detect import PAGED
from citewell.documents.drawing import draw_page
from citewell.documents.outcomes import IngestReport
from citewell.knowledge.home import KnowledgeBase
from citewell.server.problems import Problem

UPLOADS = "uploads"
_NAME_BYTES = 180
"""Maximum bytes of a name before its extension: file systems allow some 255 in all."""


def upload(
    kb: KnowledgeBase,
    file: BinaryIO,
    name: str,
    gone: Callable[[], str] = lambda: "",
    *,
    document_id: str = "",
    acl: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> IngestReport:
    """Ingests an uploaded file; ``document_id`` defaults to ``uploads/NAME``. An unreadable file is reported
    and not kept; nor is one that nobody is waiting for any more."""
    folder = kb.home / UPLOADS
    make_folder(folder)
    arriving = folder / f"arriving-{os.urandom(8).hex()}"
    try:
        make_file(arriving)
        with arriving.open("wb") as kept:
            shutil.copyfileobj(file, kept)
        path = folder / hash_file(arriving).removeprefix(TAG) / tame(name)
        taken = path.exists()  # the same bytes and name: another document may use them
        make_folder(path.parent)
        arriving.replace(path)
    finally:
        arriving.unlink(missing_ok=True)
    try:
        name = document_id or f"{UPLOADS}/{tame(name)}"
        report = kb.ingest(path, document_id=name, acl=acl, tags=tags, gone=gone)
        taken = taken or not report.failed
    finally:
        if not taken:
            path.unlink()
    return report


def tame(name: str) -> str:
    """The last part of a file name, without characters unsafe in a shell, a page or a path."""
    last = re.split(r"[/\\]", name)[-1]
    clean = re.sub(r"[<>:\"|?*]", "", visible_id(last)).strip(". ")
    stem, dot, ending = clean.rpartition(".")
    whole = f"{_cut(stem, _NAME_BYTES)}{dot}{_cut(ending, 20)}" if stem else _cut(clean, _NAME_BYTES)
    return whole or "document"


def _cut(text: str, size: int) -> str:
    return text.encode("utf-8", "ignore")[:size].decode("utf-8", "ignore")


def page_image(
    document: Document, number: int, scale: float, limits: Documents, gone: Callable[[], str]
) -> bytes:
    """A PNG, drawn in its own process. Raises Problem 404 if there is no page to draw, DocumentError if
    drawing fails, AbandonedError once ``gone`` returns why nobody is waiting any more."""
    if document.media_type not in PAGED or all(page.number != number for page in document.pages):
        raise Problem(404, "there is no image of this page", hint="read its text instead")
    path = _original(document)
    if path is None:
        title = "the file of this version is no longer there, so the page cannot be drawn"
        raise Problem(404, title, hint="its text was kept; read that instead")
    return draw_page(path, number, scale=scale, limits=limits, gone=gone)


def _original(document: Document) -> Path | None:
    """The file that the version was read from, or None if it has changed since: spans would be marked on
    other words."""
    address = urlsplit(document.uri)
    path = Path(unquote(address.path))
    try:
        same = address.scheme == "file" and path.is_file() and hash_file(path) == document.version
    except (OSError, ValueError):
        return None
    return path if same else None

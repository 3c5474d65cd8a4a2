"""Files that come over the wire: kept as they came, read in the limited worker, one at a time.

In: bytes and a name. Out: the report of their ingest. The file stays in the home, in a folder named by the
hash of its bytes: a page of it can be drawn for as long as it is cited. Knows nothing about callers.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from typing import BinaryIO

from citewell.core.identity import TAG, hash_file
from citewell.core.naming import seen
from citewell.core.private import make_file, make_folder
from citewell.documents.ingesting import IngestReport
from citewell.knowledge.home import KnowledgeBase

FOLDER = "uploads"
_KEPT_BYTES = 180
"""Of a name before its ending: a file system takes some 255."""


def upload(
    kb: KnowledgeBase,
    file: BinaryIO,
    name: str,
    *,
    document_id: str = "",
    acl: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> IngestReport:
    """``document_id`` is ``uploads/NAME`` when none is given. A file that cannot be read is in the report,
    and is not kept."""
    folder = kb.home / FOLDER
    make_folder(folder)
    arriving = folder / f"arriving-{os.urandom(8).hex()}"
    try:
        make_file(arriving)
        with arriving.open("wb") as kept:
            shutil.copyfileobj(file, kept)
        path = folder / hash_file(arriving).removeprefix(TAG) / tame(name)
        known = path.exists()  # the same bytes under the same name: another document may stand on them
        make_folder(path.parent)
        arriving.replace(path)
    finally:
        arriving.unlink(missing_ok=True)
    taken = known
    try:
        report = kb.ingest(path, document_id=document_id or f"{FOLDER}/{tame(name)}", acl=acl, tags=tags)
        taken = taken or not report.failed
    finally:
        if not taken:
            path.unlink()
    return report


def tame(name: str) -> str:
    """The last part of a file name, without what a shell, a page or a path could stumble over."""
    last = re.split(r"[/\\]", name)[-1]
    clean = re.sub(r"[<>:\"|?*]", "", seen(last)).strip(". ")
    stem, dot, ending = clean.rpartition(".")
    whole = f"{_cut(stem, _KEPT_BYTES)}{dot}{_cut(ending, 20)}" if stem else _cut(clean, _KEPT_BYTES)
    return whole or "document"


def _cut(text: str, size: int) -> str:
    return text.encode("utf-8", "ignore")[:size].decode("utf-8", "ignore")

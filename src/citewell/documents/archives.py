"""ZIP archives, which Office files are too: opened only if their unpacked size is bounded.

In: bytes and the limits. Out: an open :class:`zipfile.ZipFile`, or the files inside. Python's zipfile reads
no more than the sizes the directory declares, so their sum bounds what any reader can be made to unpack.
Knows nothing about what is inside.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable
from functools import partial

from citewell.core.config import Documents
from citewell.core.errors import DamagedError, EncryptedError, LimitError

_MOST_PARTS, _MOST_FILES = 20_000, 1_000
_MOST_RATIO, _RATIO_FROM = 150, 64 << 20
_HEAD = 4_096
_HIDDEN = re.compile(r"(?:^|/)(?:\.(?!\.?/)|__MACOSX/)")


def open_archive(data: bytes, limits: Documents) -> zipfile.ZipFile:
    """Raises DamagedError (truncated), EncryptedError or LimitError (a bomb)."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
        raise DamagedError(
            f"its ZIP directory cannot be read ({error}): it was truncated or changed",
            hint="download or save it again",
        ) from error
    parts = archive.infolist()
    if any(part.flag_bits & 0x1 for part in parts):
        raise EncryptedError("it is encrypted", hint="remove the password and save it again")
    unpacked = sum(part.file_size for part in parts)
    most = limits.max_unpacked_mb << 20
    if unpacked > most or len(parts) > _MOST_PARTS:
        raise LimitError(
            f"it would unpack to {unpacked >> 20} MiB in {len(parts)} parts; the limit is "
            f"{limits.max_unpacked_mb} MiB and {_MOST_PARTS} parts",
            hint="if you trust the file, raise documents.max_unpacked_mb or split it",
        )
    if unpacked > _RATIO_FROM and unpacked > _MOST_RATIO * len(data):
        raise LimitError(
            f"it unpacks to {unpacked // max(1, len(data))} times its size, as ZIP bombs do",
            hint="if you trust the file, open it, save it again without empty formatting, or split it",
        )
    return archive


UNPACKING = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError)
"""What reading a part of a damaged archive may raise."""


def packed(data: bytes, limits: Documents) -> list[tuple[str, Callable[[], bytes]]]:
    """The name of each file in an archive, and what unpacks it; without folders and hidden files. Raises what
    :func:`open_archive` raises, and LimitError for too many."""
    archive = open_archive(data, limits)
    files = [part for part in archive.infolist() if not part.is_dir() and not _HIDDEN.search(part.filename)]
    if len(files) > _MOST_FILES:
        raise LimitError(
            f"it contains {len(files)} files; the limit is {_MOST_FILES}",
            hint="unpack it and ingest the folder",
        )
    return [(part.filename, partial(_unpacked, archive, part)) for part in files]


def _unpacked(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(part)
    except UNPACKING as error:
        raise DamagedError(
            f"{part.filename!r} cannot be unpacked ({error})", hint="download or save it again"
        ) from error


def refuse_entities(archive: zipfile.ZipFile) -> None:
    """Office parts never declare a document type; those that do are meant to attack XML readers."""
    for part in archive.infolist():
        if not part.filename.endswith((".xml", ".rels")):
            continue
        try:
            with archive.open(part) as stream:
                head = stream.read(_HEAD)
        except UNPACKING as error:
            raise DamagedError(
                f"its part {part.filename!r} cannot be unpacked ({error})", hint="download or save it again"
            ) from error
        if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
            raise DamagedError(
                f"its part {part.filename!r} declares XML entities, which Office files never do",
                hint="do not trust this file; if it is yours, save it again",
            )

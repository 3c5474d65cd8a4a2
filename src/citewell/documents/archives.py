"""ZIP archives, and Office files, which are ZIP archives: opened only if their unpacked size is bounded.

In: bytes and the limits. Out: an open :class:`zipfile.ZipFile`, the files inside, or an Office file's XML
parts and its :class:`Metadata`, read directly from its part: the libraries that read the rest fill in today's
date and a title if the file has none. Python's zipfile reads no more than the sizes the directory declares,
so their sum bounds what any reader can be made to unpack. Knows nothing about text.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

from citewell.core.config import Documents
from citewell.core.errors import DamagedError, EncryptedError, LimitError
from citewell.documents.metadata import Metadata, found_author, found_date, found_language, found_title

_MOST_PARTS, MOST_FILES = 20_000, 1_000
_MOST_RATIO, _RATIO_FROM = 150, 64 << 20
_HEAD = 4_096
_HIDDEN = re.compile(r"(?:^|/)(?:\.(?!\.?/)|__MACOSX/)")


def open_archive(data: bytes, limits: Documents) -> zipfile.ZipFile:
    """Opens an archive. Raises DamagedError (truncated), EncryptedError or LimitError (a ZIP bomb)."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
        told = f"its ZIP directory cannot be read ({error}): it was truncated or changed"
        raise DamagedError(told, hint="download or save it again") from error
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


def archive_members(data: bytes, limits: Documents) -> list[tuple[str, Callable[[], bytes]]]:
    """The name of each file in an archive and the function that unpacks it; without folders and hidden files.
    Raises as :func:`open_archive`, and LimitError for too many files."""
    archive = open_archive(data, limits)
    files = [part for part in archive.infolist() if not part.is_dir() and not _HIDDEN.search(part.filename)]
    if len(files) > MOST_FILES:
        hint = "unpack it and ingest the folder"
        raise LimitError(f"it contains {len(files)} files; the limit is {MOST_FILES}", hint=hint)
    return [(part.filename, partial(unpack, archive, part)) for part in files]


def unpack(archive: zipfile.ZipFile, part: str | zipfile.ZipInfo, most: int = -1) -> bytes:
    """A part of an archive, or its first ``most`` bytes. Raises DamagedError."""
    try:
        with archive.open(part) as stream:
            return stream.read(most)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError) as error:
        name = part if isinstance(part, str) else part.filename
        raise DamagedError(
            f"its part {name!r} cannot be unpacked ({error})", hint="download or save it again"
        ) from error


def refuse_entities(archive: zipfile.ZipFile, endings: tuple[str, ...] = (".xml", ".rels")) -> None:
    """Raises DamagedError if a part whose name has one of these endings declares a document type: programs
    never write one there, attacks do."""
    for part in archive.infolist():
        head = unpack(archive, part, _HEAD) if part.filename.endswith(endings) else b""
        if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
            told = f"its part {part.filename!r} declares XML entities, which such files never do"
            raise DamagedError(told, hint="do not trust this file; if it is yours, save it again")


_PARTS = re.compile(r"docProps/core\.xml|meta\.xml|.*\.psmdcp", re.S)


def parse_part(archive: zipfile.ZipFile, part: str) -> Any:
    """The root of a part. Raises KeyError if there is none, lxml's error if it is not XML."""
    return root_of(archive.read(part))


def root_of(data: bytes) -> Any:
    """The root of XML, with no external access. Raises lxml's error if it is not XML."""
    from lxml import etree

    safe = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    return etree.fromstring(data, safe)


def office_metadata(archive: zipfile.ZipFile) -> Metadata:
    """An Office file's metadata; empty if it has no such part. Raises lxml's error if that is not XML."""
    part = next(filter(_PARTS.fullmatch, archive.namelist()), None)
    if part is None:
        return Metadata()
    values = {
        str(child.tag).rpartition("}")[2]: child.text or "" for child in parse_part(archive, part).iter()
    }
    return Metadata(
        title=found_title(values.get("title"), "metadata"),
        author=found_author(values.get("creator"), "metadata"),
        language=found_language(values.get("language"), "metadata"),
        saved_at=found_date(values.get("modified") or values.get("date"), "metadata: modified")
        or found_date(values.get("created"), "metadata: created"),
    )

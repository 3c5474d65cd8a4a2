"""EPUB -> Document: the pages of a book in reading order, each read as HTML.

In: bytes of an EPUB, version 2 or 3. Out: one Document with the book's title, authors and date. The table of
contents is navigation and left out; text that a style sheet in the book hides is left out and counted. Knows
nothing about the elements of a page: :mod:`citewell.documents.html` does.
"""

from __future__ import annotations

import posixpath
import zipfile
from typing import Any
from urllib.parse import unquote

from citewell.core.config import Documents
from citewell.core.errors import EncryptedError
from citewell.documents.archives import open_archive, parse_part
from citewell.documents.canonical import Canonical
from citewell.documents.hiding import Hiding
from citewell.documents.html import decode_page, read_page
from citewell.documents.metadata import Metadata, found_author, found_date, found_language, found_title

_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")


def read_epub(data: bytes, limits: Documents) -> Canonical:
    """Reads books without copy protection; raises EncryptedError for others."""
    with open_archive(data, limits) as archive:
        root = parse_part(archive, "META-INF/container.xml").find(".//{*}rootfile").get("full-path")
        package, names = parse_part(archive, root), set(archive.namelist())
        paths = {
            item.get("id"): (_path(posixpath.dirname(root), item.get("href", "")), item.get("media-type", ""))
            for item in package.iter("{*}item")
        }
        # A part that is listed several times is read once, so that a small book cannot become a huge text.
        pages = dict.fromkeys(paths.get(entry.get("idref"), ("", "")) for entry in package.iter("{*}itemref"))
        if not _encrypted(archive, names).isdisjoint(path for path, _ in pages):
            told = "its pages are encrypted by copy protection (DRM)"
            raise EncryptedError(told, hint="ask its publisher for a copy without it")
        out, hiding = Canonical(_metadata(package)), Hiding()
        for path, kind in paths.values():
            if kind == "text/css" and path in names:
                hiding.learn(archive.read(path).decode("utf-8", "replace"))
        for path, kind in pages:
            if path not in names:
                out.note("pages that the book lists but does not contain: {n}")
            elif kind not in _PAGES:
                out.note("pages that are not HTML left out: {n}")
            else:
                text, note = decode_page(archive.read(path))
                out.note(note)
                read_page(text, out, limits, hiding=hiding)
    return out


def _path(folder: str, address: str) -> str:
    """The part of the archive at an address relative to ``folder``; no part for an address elsewhere."""
    return posixpath.normpath(posixpath.join("/", folder, unquote(address.partition("#")[0]))).lstrip("/")


def _encrypted(archive: zipfile.ZipFile, names: set[str]) -> set[str]:
    """The parts that are encrypted; in many books without copy protection, these are their fonts."""
    if _ENCRYPTION not in names:
        return set()
    references = parse_part(archive, _ENCRYPTION).iter("{*}CipherReference")
    return {_path("", reference.get("URI", "")) for reference in references}


def _metadata(package: Any) -> Metadata:
    titles, authors, languages, dates = (
        [element for element in package.iter(f"{{*}}{name}") if element.text]
        for name in ("title", "creator", "language", "date")
    )
    # EPUB 2 says what happened on a date; a date without an event is that of publication.
    published = [
        date.text
        for date in dates
        if not any(name.endswith("event") and event != "publication" for name, event in date.items())
    ]
    saved = [meta.text for meta in package.iter("{*}meta") if meta.get("property") == "dcterms:modified"]
    return Metadata(
        title=found_title(titles[0].text if titles else "", "metadata"),
        author=found_author(", ".join(author.text.strip() for author in authors), "metadata"),
        language=found_language(languages[0].text if languages else "", "metadata"),
        published_at=found_date(published[0] if published else "", "metadata"),
        saved_at=found_date(saved[0] if saved else "", "metadata: modified"),
    )

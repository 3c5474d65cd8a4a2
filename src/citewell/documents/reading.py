"""Bytes -> Document by a table of readers; runs inside the limited worker.

In: the bytes of one file and its name. Out: a Document, or a DocumentError that says what to do.
Knows nothing about processes or stores.
"""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from citewell.core.addresses import visible_id
from citewell.core.config import Documents
from citewell.core.errors import DamagedError, DocumentError, LimitError, UnsupportedError
from citewell.core.records import Document
from citewell.documents import detect as formats
from citewell.documents.archives import archive_members
from citewell.documents.canonical import Canonical, clean
from citewell.documents.data import read_json
from citewell.documents.docx import read_docx
from citewell.documents.epub import read_epub
from citewell.documents.files import too_large
from citewell.documents.html import read_html
from citewell.documents.mail import from_eml, from_msg, read_mail
from citewell.documents.markdown import read_markdown
from citewell.documents.odt import read_odt
from citewell.documents.pptx import read_pptx
from citewell.documents.rtf import read_rtf
from citewell.documents.tables import read_csv, read_xlsx
from citewell.documents.text import read_text


class _Format(NamedTuple):
    """``reader``: the name that documents carry; its number is raised if the same bytes give another text.
    ``made_of_parts``: what to call a format of parts that refer to each other; whatever exception its reader
    raises, a part is damaged."""

    reader: str
    read: Callable[[bytes, Documents], Canonical]
    made_of_parts: str = ""


READERS: Mapping[str, _Format] = {
    formats.HTML: _Format("html/5", read_html),
    formats.MARKDOWN: _Format("markdown/5", read_markdown),
    formats.DOCX: _Format("docx/5", read_docx, "Word document"),
    formats.XLSX: _Format("xlsx/3", read_xlsx, "workbook"),
    formats.CSV: _Format("csv/2", lambda data, limits: read_csv(data)),
    formats.PLAIN: _Format("text/1", lambda data, limits: read_text(data)),
    formats.JSON: _Format("json/1", lambda data, limits: read_json(data)),
    formats.PPTX: _Format("pptx/1", read_pptx, "presentation"),
    formats.ODT: _Format("odt/1", read_odt, "OpenDocument text"),
    formats.RTF: _Format("rtf/1", read_rtf, "RTF file"),
    formats.EPUB: _Format("epub/1", read_epub, "EPUB book"),
    formats.EML: _Format("mail/1", lambda data, limits: read_mail(from_eml(data), limits)),
    formats.MSG: _Format("mail/1", lambda data, limits: read_mail(from_msg(data), limits), "Outlook message"),
}
_Inside = list[tuple[str, Callable[[], bytes]]]
INSIDE: Mapping[str, Callable[[bytes, Documents], _Inside]] = {
    formats.EML: lambda data, limits: from_eml(data).attached,
    formats.MSG: lambda data, limits: from_msg(data).attached,
    formats.ZIP: archive_members,
}
_DEEPEST, _LONGEST_NAME = 3, 200


class _Level(NamedTuple):
    """A file that was unpacked, and the files inside it."""

    uri: str
    data: bytes
    kind: str
    inside: _Inside


class OpenedFile:
    """The bytes of one file, to read it and the files inside it one after another. The containers around the
    part that was read last stay unpacked, so that a file costs its size and not that times its parts."""

    def __init__(self, data: bytes, *, uri: str, limits: Documents) -> None:
        self._data, self._uri, self._limits = data, uri, limits
        self._levels: dict[tuple[int, ...], _Level] = {}

    def read(self, part: Sequence[int] = (), *, document_id: str) -> tuple[Document | None, tuple[str, ...]]:
        """The document at the positions ``part``, one per level of nesting from the outside in, and the names
        of the files inside it; None for an archive, which has no text of its own. Raises as
        :func:`read_bytes`."""
        with _told():
            uri, data, kind, inside = self._level(tuple(part))
            names = tuple(_distinct(name for name, _ in inside))
        if kind == formats.ZIP:
            return None, names
        return read_bytes(data, document_id=document_id, uri=uri, limits=self._limits), names

    def _level(self, part: tuple[int, ...]) -> _Level:
        if part not in self._levels:
            uri, data = self._uri, self._data
            if part:
                uri, unpack = self._level(part[:-1]).inside[part[-1]]
                data = unpack()
            kind = formats.detect(data, uri, self._limits)
            with _told(kind):
                inside = INSIDE[kind](data, self._limits) if kind in INSIDE else []
            if inside and len(part) >= _DEEPEST:
                hint = "unpack the outer archive and ingest the folder"
                raise LimitError(f"it is nested more than {_DEEPEST} archives deep", hint=hint)
            around = {at: level for at, level in self._levels.items() if at == part[: len(at)]}
            self._levels = around | {part: _Level(uri, data, kind, inside)}
        return self._levels[part]


def _distinct(names: Iterable[str]) -> Iterator[str]:
    """The names as parts of ids: on one line, relative, unique."""
    taken: set[str] = set()
    for number, name in enumerate(names, 1):
        steps = visible_id(clean(name)).replace("\\", "/").split("/")
        steps = [step for step in steps if step not in ("", ".", "..")]
        name = "/".join(steps)[-_LONGEST_NAME:] or f"part {number}"
        while name in taken:
            name = f"{number} {name}"
        taken.add(name)
        yield name


def read_bytes(data: bytes, *, document_id: str, uri: str = "", limits: Documents | None = None) -> Document:
    """The Document in ``data``; the same bytes give the same text.

    Raises a DocumentError, always with a hint; any unforeseen exception becomes a DamagedError.
    """
    bounds = limits or Documents()
    if len(data) > bounds.max_file_mb << 20:
        raise too_large(bounds.max_file_mb << 20)
    with _told():
        kind = formats.detect(data, uri or document_id, bounds)
        if kind == formats.ZIP:
            raise UnsupportedError("it is an archive", hint="unpack it and name the file you mean")
        document = read_as(kind, data, bounds, document_id=document_id, uri=uri)
        if not unicodedata.is_normalized("NFC", document.text):
            raise ValueError("its text is not in Unicode NFC")
        return document


def read_as(kind: str, data: bytes, limits: Documents, *, document_id: str, uri: str) -> Document:
    """The Document in ``data``, which is of this media type. Raises a DocumentError."""
    if kind in formats.PAGED:
        from citewell.documents.pdf import read_pdf

        return read_pdf(data, document_id=document_id, uri=uri, media_type=kind)
    form = READERS[kind]
    with _told(kind):
        found = form.read(data, limits)
    return found.document(data, document_id=document_id, uri=uri, reader=form.reader, media_type=kind)


@contextlib.contextmanager
def _told(kind: str = "") -> Iterator[None]:
    """Turns the exceptions of a reader of ``kind`` into a DocumentError."""
    try:
        yield
    except (DocumentError, MemoryError):  # the worker turns the latter into one, as it knows the limit
        raise
    except RecursionError as error:
        raise LimitError(
            "it is nested too deeply to read", hint="this is unusual; reduce the nesting"
        ) from error
    except Exception as error:
        named = f"({type(error).__name__}: {error})"
        hint = "open it in the program it was made with and save it again"
        if kind in READERS and (what := READERS[kind].made_of_parts):
            raise DamagedError(f"its parts do not form a readable {what} {named}", hint=hint) from error
        hint = f"{hint}; if it opens without errors there, please report this"
        raise DamagedError(f"it is malformed in an unexpected way {named}", hint=hint) from error

"""Bytes -> Document by the table of readers: what runs inside the limited worker.

In: the bytes of one file and its name. Out: a Document, or a DocumentError that says what to do.
Knows nothing about processes, files or stores.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from citewell.core.config import Documents
from citewell.core.errors import DamagedError, DocumentError, LimitError
from citewell.core.records import Document
from citewell.documents.detect import CSV, DOCX, HTML, JSON, MARKDOWN, PDF, PLAIN, XLSX, detect
from citewell.documents.docx import DocxReader
from citewell.documents.html import HtmlReader
from citewell.documents.markdown import MarkdownReader
from citewell.documents.metadata import language
from citewell.documents.tables import CsvReader, XlsxReader
from citewell.documents.text import TextReader

if TYPE_CHECKING:
    from citewell.core.ports import Reader


def _pdf(limits: Documents) -> Reader:
    from citewell.documents.pdf.reader import PdfReader

    return PdfReader()


READERS: Mapping[str, Callable[[Documents], Reader]] = {
    PDF: _pdf,
    HTML: HtmlReader,
    MARKDOWN: MarkdownReader,
    DOCX: DocxReader,
    XLSX: XlsxReader,
    CSV: lambda limits: CsvReader(),
    PLAIN: lambda limits: TextReader(),
    JSON: lambda limits: TextReader(JSON),
}


def read_bytes(data: bytes, *, document_id: str, uri: str = "", limits: Documents | None = None) -> Document:
    """The Document that ``data`` holds; the same bytes give the same text.

    Raises a DocumentError, always with a hint: what a reader did not foresee is a DamagedError.
    """
    bounds = limits or Documents()
    if len(data) > bounds.max_file_mb << 20:
        raise LimitError(
            f"the file has {len(data) >> 20} MiB; the limit is {bounds.max_file_mb}",
            hint="split it, or raise documents.max_file_mb",
        )
    try:
        reader = READERS[detect(data, uri or document_id, bounds)](bounds)
        document = reader.read(data, document_id=document_id, uri=uri)
        if not unicodedata.is_normalized("NFC", document.text):
            raise ValueError("its text is not in Unicode NFC")
        if document.language is None:
            document = msgspec.structs.replace(document, language=language(document.text))
        return document
    except DocumentError:
        raise
    except RecursionError as error:
        raise LimitError(
            "it is nested too deeply to read", hint="this is unusual; reduce the nesting"
        ) from error
    except MemoryError as error:
        raise LimitError(
            "reading it needs more memory than allowed", hint="split it, or raise documents.memory_mb"
        ) from error
    except Exception as error:
        raise DamagedError(
            f"it is malformed in an unexpected way ({type(error).__name__}: {error})",
            hint="open it in the program it was made with and save it again;"
            " if it opens without errors there, please report this",
        ) from error

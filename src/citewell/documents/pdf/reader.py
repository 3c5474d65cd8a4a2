"""A PDF's bytes -> a Document, by pypdfium2.

In: bytes. Out: :class:`citewell.core.records.Document`; or one clear error that says what to do. Pages are
opened one after another and freed, so memory grows with the text, not with what the pages draw. Knows nothing
about files, chunks or questions.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from citewell.core.errors import DamagedError, EmptyDocumentError, EncryptedError, LimitError
from citewell.core.identity import hash_bytes, hash_text
from citewell.core.records import Document
from citewell.documents.metadata import language
from citewell.documents.pdf.front import describe
from citewell.documents.pdf.glyphs import read_words
from citewell.documents.pdf.headings import squeezed
from citewell.documents.pdf.layout import Line, read_lines
from citewell.documents.pdf.running import set_running_aside
from citewell.documents.pdf.writing import Size, write

if TYPE_CHECKING:
    import pypdfium2

MAX_PAGES = 20_000
_PASSWORD, _SECURITY = 4, 5


class PdfReader:
    """The reader of ``application/pdf``; pure, so it runs inside the limited worker."""

    name = "pdf/3"

    def read(self, data: bytes, *, document_id: str, uri: str) -> Document:
        """Raises EncryptedError, DamagedError, EmptyDocumentError or LimitError."""
        pdf = _open(data)
        try:
            return self._document(pdf, data, document_id, uri)
        finally:
            pdf.close()

    def _document(self, pdf: pypdfium2.PdfDocument, data: bytes, document_id: str, uri: str) -> Document:
        count = len(pdf)
        if count > MAX_PAGES:
            raise LimitError(f"it has {count} pages; the limit is {MAX_PAGES}", hint="split the file")
        notes: list[str] = []
        pages, sizes, hidden = _pages(pdf, count)
        empty = [index + 1 for index, lines in enumerate(pages) if not lines]
        if len(empty) == count:
            raise EmptyDocumentError(
                f"none of its {count} pages contains visible text{_hidden_words(hidden)}",
                hint="it looks like a scan: run it through OCR that writes visible or searchable text, "
                "then ingest the result",
            )
        if empty:
            notes.append(
                f"{_ranges(empty)} {'contain' if len(empty) > 1 else 'contains'} no text (scanned or blank?)"
            )
        notes.extend(_hidden_notes(hidden))
        own = set_running_aside(pages, [size.height for size in sizes])
        if own.set_aside:
            shown = ", ".join(f"{text!r} x{n}" for text, n in own.set_aside.most_common(8))
            notes.append(f"{sum(own.set_aside.values())} running lines and page numbers left out: {shown}")
        written = write(own.lines, sizes, _outline(pdf))
        front = describe(pdf.get_metadata_dict(), own.lines[:3])
        return Document(
            document_id=document_id,
            version=hash_bytes(data),
            text=written.text,
            text_hash=hash_text(written.text),
            reader=self.name,
            media_type="application/pdf",
            uri=uri,
            title=front.title,
            author=front.author,
            language=language(written.text),
            **front.dates,
            sections=written.sections,
            pages=written.pages,
            boxes=written.boxes,
            tables=written.tables,
            notes=tuple(notes),
        )


def _open(data: bytes) -> pypdfium2.PdfDocument:
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
        count = len(pdf)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in (_PASSWORD, _SECURITY) or "password" in str(error).lower():
            raise EncryptedError(
                "the PDF is encrypted and needs a password", hint="remove the password and ingest it again"
            ) from error
        raise DamagedError(
            f"the PDF cannot be opened ({str(error).rstrip('.')})",
            hint="it may be truncated: download it again, or print it to a new PDF",
        ) from error
    if count == 0:
        raise DamagedError("the PDF has no pages", hint="it may be truncated: download it again")
    return pdf


def _pages(
    pdf: pypdfium2.PdfDocument, count: int
) -> tuple[list[list[Line]], list[Size], dict[str, Counter[int]]]:
    import pypdfium2

    pages: list[list[Line]] = []
    sizes: list[Size] = []
    hidden: dict[str, Counter[int]] = {}
    for index in range(count):
        try:
            page = pdf[index]
        except pypdfium2.PdfiumError:
            hidden.setdefault("on pages that cannot be loaded", Counter())[index + 1] += 1
            pages.append([])
            sizes.append(Size(0.0, 0.0))
            continue
        try:
            words = read_words(page)
        finally:
            page.close()
        for reason, number in words.hidden.items():
            hidden.setdefault(reason, Counter())[index + 1] += number
        pages.append(read_lines(words, index + 1))
        sizes.append(Size(words.width, words.height))
    return pages, sizes, hidden


def _hidden_notes(hidden: dict[str, Counter[int]]) -> list[str]:
    return [
        f"{sum(where.values())} characters left out ({reason}) on {_ranges(sorted(where))}"
        for reason, where in sorted(hidden.items())
    ]


def _hidden_words(hidden: dict[str, Counter[int]]) -> str:
    if not hidden:
        return ""
    counts = ", ".join(f"{sum(where.values())} {reason}" for reason, where in sorted(hidden.items()))
    return f" (characters left out: {counts})"


def _ranges(numbers: list[int]) -> str:
    """[3, 4, 5, 9] -> "pages 3-5, 9"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    shown = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans[:12])
    more = f" and {len(spans) - 12} more ranges" if len(spans) > 12 else ""
    return f"page{'s' if len(numbers) > 1 else ''} {shown}{more}"


def _outline(pdf: pypdfium2.PdfDocument) -> dict[tuple[int, str], int]:
    """(page, squeezed title) -> depth; the bookmarks a filing agent made, when it did."""
    found: dict[tuple[int, str], int] = {}
    for bookmark in pdf.get_toc(max_depth=8):
        title = bookmark.get_title()
        target = bookmark.get_dest()
        index = target.get_index() if target is not None else None
        if index is not None and title:
            found.setdefault((index + 1, squeezed(title)), bookmark.level)
        if len(found) > 20_000:
            break
    return found

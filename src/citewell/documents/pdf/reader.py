"""The bytes of a PDF or a picture -> a Document, with pypdfium2.

In: bytes. Out: :class:`citewell.core.records.Document`; or one clear error that says what to do. Pages are
opened one at a time and freed, so memory grows with the text, not with what the pages draw. Knows nothing
about files, chunks or questions.
Every page is checked twice: what the renderer draws of its text against what was read (:mod:`.ink`), and what
was read against what is in the text. A page that loses more than a few characters is ``incomplete``. A page
that is a picture with hardly any text of its own is read by OCR if that is installed.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from citewell.core.errors import (
    DamagedError,
    DocumentError,
    EmptyDocumentError,
    EncryptedError,
    LimitError,
    OtherKindError,
)
from citewell.core.identity import hash_bytes, hash_text
from citewell.core.records import Document, read_by_ocr
from citewell.core.vocabulary import page_ranges
from citewell.documents import ocr
from citewell.documents.detect import PDF, PICTURES
from citewell.documents.metadata import language
from citewell.documents.pdf.front import describe
from citewell.documents.pdf.glyphs import PageWords, read_words
from citewell.documents.pdf.headings import squeezed
from citewell.documents.pdf.layout import VisualLine, read_lines
from citewell.documents.pdf.running import set_running_aside
from citewell.documents.pdf.scans import Scan, open_picture, placed, read_scan
from citewell.documents.pdf.writing import PdfText, PdfWriter

if TYPE_CHECKING:
    import pypdfium2

READER = "pdf/5"
MAX_PAGES = 20_000
_PASSWORD, _SECURITY = 4, 5
_FREE_TEXT, _FIELD = 3, 20
_MOST_UNREAD, _UNREAD_SHARE = 5, 0.005
"""Characters of a page that may be missing: letters that extend beyond their boxes leave that much ink."""
_HARDLY_ANY = 30
"""Characters of a scan's own text: a page number or a scanner's stamp."""
_NOT_LETTERS = re.compile(r"[\W_]+")


class _Page(NamedTuple):
    """``about``: what was read of the page besides its words; ``read``: their characters; ``scan``: what OCR
    read instead of the page's own text."""

    lines: list[VisualLine]
    about: PageWords
    read: int
    scan: Scan | None = None


def read_pdf(data: bytes, *, document_id: str, uri: str, media_type: str = PDF) -> Document:
    """Reads a PDF or a picture; pure, so it runs inside the limited worker. Raises EncryptedError,
    DamagedError, EmptyDocumentError, LimitError, or OtherKindError for a picture without text."""
    with contextlib.closing(_open(data) if media_type == PDF else open_picture(data)) as pdf:
        count = len(pdf)
        if count > MAX_PAGES:
            raise LimitError(f"it has {count} pages; the limit is {MAX_PAGES}", hint="split the file")
        pages = [_page(pdf, index) for index in range(count)]
        outline = _outline(pdf)
        # What says that it was created today is the PDF that a picture becomes, not the picture.
        info = pdf.get_metadata_dict() if media_type == PDF else {}
    hidden: dict[str, Counter[int]] = {}
    for number, page in enumerate(pages, 1):
        for reason, characters in page.about.hidden.items():
            hidden.setdefault(reason, Counter())[number] += characters
    if not any(page.lines for page in pages):
        raise _without_text(count, hidden, media_type)
    own = set_running_aside([page.lines for page in pages], [page.about.height for page in pages])
    written = PdfWriter(own.lines, outline).run([(page.about.width, page.about.height) for page in pages])
    lost = _lost(pages, own.lines, written)
    notes = _page_notes(pages, lost)
    notes += [
        f"{sum(where.values())} characters left out ({reason}) on {page_ranges(sorted(where))}"
        for reason, where in sorted(hidden.items())
    ]
    if own.set_aside:
        shown = ", ".join(f"{text!r} x{n}" for text, n in own.set_aside.most_common(8))
        lines, characters = sum(own.set_aside.values()), sum(own.characters)
        notes.append(f"{lines} running lines and page numbers left out ({characters} characters): {shown}")
    scans = {number: page.scan for number, page in enumerate(pages, 1) if page.scan}
    return Document(
        document_id=document_id,
        version=hash_bytes(data),
        text=written.text,
        text_hash=hash_text(written.text),
        reader=f"{READER}+{ocr.engine_name()}" if scans else READER,
        media_type=media_type,
        uri=uri,
        language=language(written.text),
        **describe(info, own.lines[:3]),
        sections=written.sections,
        pages=written.pages,
        boxes=placed(written.boxes, written.text, scans),
        tables=written.tables,
        incomplete=tuple(sorted({*lost, *_pictures(pages), *_faint(pages)})),
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
        hint = "it may be truncated: download it again, or print it to a new PDF"
        raise DamagedError(f"the PDF cannot be opened ({str(error).rstrip('.')})", hint=hint) from error
    if count == 0:
        raise DamagedError("the PDF has no pages", hint="it may be truncated: download it again")
    return pdf


def _page(pdf: pypdfium2.PdfDocument, index: int) -> _Page:
    import pypdfium2
    import pypdfium2.raw as raw

    try:
        page = pdf[index]
    except pypdfium2.PdfiumError:
        lost = Counter({"on pages that cannot be loaded": 1})
        return _Page([], PageWords(0.0, 0.0, [], lost, []), 0)
    try:
        if _has_fields(page):
            # What was typed into a form or onto the page becomes part of it, as when printed.
            raw.FPDFPage_Flatten(page.raw, raw.FLAT_NORMALDISPLAY)
            page.close()
            page = pdf[index]
        words = read_words(page)
    finally:
        page.close()
    letters = sum(len(word.text) for word in words.words)
    if words.images and letters <= _HARDLY_ANY and ocr.installed():
        page = pdf[index]  # with its text drawn again
        scan = read_scan(page)
        page.close()
        if scan.letters > 2 * letters:  # else a logo beside a title
            about = words._replace(words=[], unread=0, unmapped=0)
            return _Page(read_lines(scan.words, index + 1), about, scan.letters, scan)
    return _Page(read_lines(words, index + 1), words._replace(words=[]), letters)


def _has_fields(page: pypdfium2.PdfPage) -> bool:
    import pypdfium2.raw as raw

    for index in range(raw.FPDFPage_GetAnnotCount(page.raw)):
        annotation = raw.FPDFPage_GetAnnot(page.raw, index)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
        if kind in (_FREE_TEXT, _FIELD):
            return True
    return False


def _lost(pages: list[_Page], own: list[list[VisualLine]], written: PdfText) -> dict[int, int]:
    """Page -> about how many of its characters are in neither the text nor a note."""
    lost = {}
    for page, lines, place in zip(pages, own, written.pages, strict=True):
        kept = _letters(written.text[place.start : place.end])
        missing = abs(sum(_letters(line.text) for line in lines) - kept)
        if page.about.unread > max(_MOST_UNREAD, _UNREAD_SHARE * page.read):
            missing += page.about.unread
        if missing:
            lost[place.number] = missing
    return lost


def _letters(text: str) -> int:
    return len(_NOT_LETTERS.sub("", text))


def _without_text(count: int, hidden: dict[str, Counter[int]], media_type: str) -> DocumentError:
    if media_type != PDF:
        kind = next(name for name, known in PICTURES.items() if known == media_type)
        told = f"it is {kind} in which OCR found no text"
        return OtherKindError(told, hint="if there is text on it, save it with more pixels")
    counts = ", ".join(f"{sum(where.values())} {reason}" for reason, where in sorted(hidden.items()))
    left_out = f" (characters left out: {counts})" if counts else ""
    told = f"none of its {count} pages contains visible text{left_out}"
    if ocr.installed():
        return EmptyDocumentError(f"{told}, and OCR found none", hint="scan it again with more dots an inch")
    return EmptyDocumentError(
        told, hint=f"it looks like a scan: {ocr.INSTALL} to have it read by OCR, and ingest it again"
    )


def _pictures(pages: list[_Page]) -> list[int]:
    return [number for number, page in enumerate(pages, 1) if page.about.images and not page.read]


def _faint(pages: list[_Page]) -> list[int]:
    return [number for number, page in enumerate(pages, 1) if page.scan and page.scan.faint]


def _page_notes(pages: list[_Page], lost: dict[int, int]) -> list[str]:
    """Notes on what a reader should check on the page itself."""
    notes = []
    if lost:
        notes.append(
            f"about {sum(lost.values())} characters on {page_ranges(sorted(lost))} could not be read: "
            "compare the text with the page before you rely on it"
        )
    if empty := [number for number, page in enumerate(pages, 1) if not page.lines]:
        contain = "contain" if len(empty) > 1 else "contains"
        notes.append(f"{page_ranges(empty)} {contain} no text (scanned or blank?)")
    if pictures := _pictures(pages):
        told = f"{page_ranges(pictures)}: only pictures"
        remedy = f"text inside a picture is read by OCR: {ocr.INSTALL}, and ingest it under another --id"
        notes.append(f"{told}, in which OCR found no text" if ocr.installed() else f"{told}; {remedy}")
    if scanned := [number for number, page in enumerate(pages, 1) if page.scan]:
        told = read_by_ocr(line.confidence for page in pages for line in page.lines)
        notes.append(f"{page_ranges(scanned)}: {told}, by {ocr.engine_name()}")
    if faint := _faint(pages):
        lines = sum(page.scan.faint for page in pages if page.scan)
        notes.append(f"{lines} lines on {page_ranges(faint)} left out: OCR was too uncertain of them")
    if unsure := [number for number, page in enumerate(pages, 1) if page.about.unmapped]:
        characters = sum(page.about.unmapped for page in pages)
        notes.append(
            f"{characters} characters on {page_ranges(unsure)} may be wrong: "
            "their font does not say which characters they are"
        )
    return notes


def _outline(pdf: pypdfium2.PdfDocument) -> dict[tuple[int, str], int]:
    """(page, squeezed title) -> depth, from the bookmarks, if there are any."""
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

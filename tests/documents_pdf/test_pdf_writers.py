"""The lease of the benchmark, set by the PDF writers in a Python environment: what went in comes out."""

from __future__ import annotations

import pytest
from benchmarks.pdf_setters import WRITERS
from benchmarks.pdf_writers import compare

from citewell.core.errors import EmptyDocumentError
from citewell.documents import ocr
from citewell.documents.pdf import read_pdf

SETTERS = {name: writer for name, writer in WRITERS.items() if writer.module and not writer.program}


@pytest.mark.parametrize("name", SETTERS)
def test_words_order_paragraphs_and_headings_are_those_that_went_in(name: str) -> None:
    writer = SETTERS[name]
    if lacking := writer.missing():
        pytest.skip(f"{lacking} is not installed")
    if name.endswith("scanned") and ocr.installed():
        pytest.skip("with OCR, tests/documents_pdf/test_ocr.py reads scanned pages")
    if name.endswith("scanned"):
        with pytest.raises(EmptyDocumentError, match="OCR"):
            read_pdf(writer.write(), document_id="lease.pdf", uri="")
        return
    document = read_pdf(writer.write(), document_id="lease.pdf", uri="")
    reading = compare(document)
    assert (reading.characters, reading.whole, reading.headings) == (1, 1, 1)
    assert reading.order > 0.98
    assert document.incomplete == ()
    assert not any("characters left out" in note for note in document.notes)

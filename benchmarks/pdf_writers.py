"""One lease, typeset by many programs and read back: ``python -m benchmarks.pdf_writers``

In: :mod:`benchmarks.pdf_setters`. Out: for each program, how many of the words come back out of the reader,
in what order, and which headings, paragraphs and rows are whole; and CPU time compared with two other
readers. Programs that are not installed are named and skipped.
"""

from __future__ import annotations

import io
import re
import time
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from benchmarks.pdf_setters import LEASE, WRITERS, Block
from benchmarks.reporting import table, write
from citewell.core.errors import EmptyDocumentError
from citewell.core.records import Document
from citewell.documents.pdf import read_pdf


class Reading(NamedTuple):
    """Shares from 0 to 1 of the original; ``order`` is 1 minus the word edit distance over the number of
    words, ``whole`` the paragraphs and items that are one line, ``headings`` those in a section's path."""

    characters: float
    order: float
    whole: float
    headings: float
    rows: float


def compare(document: Document, blocks: Sequence[Block] = LEASE) -> Reading:
    """How much of ``blocks`` the document holds."""
    wanted, got = " ".join(block.text for block in blocks), document.text
    lines = {_plain(line) for line in got.split("\n")}
    letters, there = _letters(wanted), _letters(got)
    bodies = [block for block in blocks if block.kind in ("prose", "item", "caption")]
    heads = [block.text for block in blocks if block.kind == "heading"]
    rows = [row for block in blocks if block.kind == "table" for row in block.text.split("\n")[1:]]
    paths = {name for section in document.sections for name in section.path}
    words = wanted.split()
    return Reading(
        characters=sum((letters & there).values()) / letters.total(),
        order=1 - distance(words, got.split()) / len(words),
        whole=sum(_plain(block.text) in lines for block in bodies) / len(bodies),
        headings=sum(head in paths for head in heads) / len(heads),
        rows=sum(row in _rows(document) for row in rows) / len(rows),
    )


def _rows(document: Document) -> set[str]:
    """Label and cells of each row whose cells stand under their own heads."""
    found = set()
    for grid in document.tables:
        for row in grid.rows:
            cells = [document.text[cell.start : cell.end] for cell in row.cells]
            if [cell.head for cell in row.cells] == ["Q1", "Q2", "Q3", "Q4"]:
                found.add("\t".join([row.label, *cells]))
    return found


def _plain(text: str) -> str:
    """Words with single spaces; all the signs that programs set for a bullet become one."""
    return re.sub(r"^[-–•∙·] ", "• ", re.sub(" +", " ", text.strip()))


def _letters(text: str) -> Counter[str]:
    return Counter(letter for letter in text if letter.isalnum() or letter in "().,;:")


def distance(wanted: Sequence[str], got: Sequence[str]) -> int:
    """Levenshtein over words, or over the characters of texts."""
    codes = {word: at for at, word in enumerate({*wanted, *got})}
    there = np.array([codes[word] for word in got])
    steps = np.arange(len(got) + 1)
    before = steps.copy()
    for at, word in enumerate(wanted, 1):
        kept = np.minimum(before[1:] + 1, before[:-1] + (there != codes[word]))
        # each cell may also come from its left neighbour: a running minimum over the cells to its left
        before = np.minimum.accumulate(np.concatenate(([at], kept)) - steps) + steps
    return int(before[-1])


def speeds(files: Sequence[bytes]) -> dict[str, float]:
    """CPU milliseconds per page of ``files``: this reader, pypdfium2's text, pdfplumber if installed."""
    import pypdfium2

    def ours(data: bytes) -> None:
        read_pdf(data, document_id="lease.pdf", uri="")

    def text_alone(data: bytes) -> None:
        for page in pypdfium2.PdfDocument(data):
            page.get_textpage().get_text_range()

    def plumber(data: bytes) -> None:
        import pdfplumber

        with pdfplumber.open(io.BytesIO(data)) as pdf:
            for page in pdf.pages:
                page.extract_text()

    readers = {"this reader": ours, "pypdfium2, text alone": text_alone}
    if find_spec("pdfplumber"):
        readers["pdfplumber, text"] = plumber
    pages = sum(len(pypdfium2.PdfDocument(data)) for data in files)
    found = {}
    for name, read in readers.items():
        read(files[0])
        begun = time.process_time()
        for data in files:
            read(data)
        found[name] = 1000 * (time.process_time() - begun) / pages
    return {**found, "pages": pages}


def main() -> None:
    rows, values, missing, files = [], {}, [], []
    for name, writer in WRITERS.items():
        if lacking := writer.missing():
            missing.append(f"{name} ({lacking})")
            continue
        made = writer.write()
        try:
            document = read_pdf(made, document_id="lease.pdf", uri="")
        except EmptyDocumentError:
            rows.append([name, "refused: a scan", *[""] * 5])
            continue
        files.append(made)
        reading = compare(document)
        values[name] = {**reading._asdict(), "incomplete": list(document.incomplete)}
        shares = (f"{share:.3f}".replace("0.", ".", 1) for share in reading)
        rows.append([name, *shares, ", ".join(map(str, document.incomplete)) or "none"])
    heads = ("writer", "characters", "order", "paragraphs", "headings", "table rows", "incomplete pages")
    speed = speeds(files)
    pages = int(speed.pop("pages"))
    body = f"""One lease of {len(LEASE)} blocks, set in {len(rows)} ways and read back: the share of
its characters that are in the text; 1 minus the edit distance of words over their number; the paragraphs,
items and captions that are one line of the text; the numbered headings that are in a section's path; the
table rows whose cells stand under their own heads.

{table(heads, rows)}

{"Not installed: " + ", ".join(missing) + "." if missing else ""}

## CPU milliseconds a page

Over the {pages} pages of these files, one after the other in one process.

{table(("reader", "ms a page"), [[name, f"{value:.1f}"] for name, value in speed.items()])}
"""
    told = {"writers": values, "missing": missing, "cpu_ms_a_page": speed, "pages": pages}
    write("pdf_writers", "PDFs of many writers", body, told)


if __name__ == "__main__":
    main()

"""Running time of every entry point ("door") on hostile texts and files.

    python -m benchmarks.linear_time [--doors NAME ...] [--large] [--files] [--tables]

In: the shapes of :mod:`benchmarks.hostile_shapes`, at 10, 20, 40 and 80 kB, with ``--large`` at 250 kB and
1 MB, with ``--files`` the files of :mod:`benchmarks.hostile_files`, and with ``--tables`` those of
:mod:`benchmarks.hostile_tables` at 250 kB and 1 MB. Out: the CPU-seconds each takes, as
docs/measurements/linear_time.{md,json}; what is not run keeps its results. No model is involved: the entailer
compares words, so that only the exact code around it is measured. ``tests/linear_time`` guards the growth.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import gc
import io
import json
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.hostile_files import (
    FILES,
    MAIL,
    book,
    lines_as_docx,
    lines_as_odt,
    lines_as_pptx,
    lines_as_xlsx,
    worked,
)
from benchmarks.hostile_shapes import PIECES, shapes
from benchmarks.hostile_tables import FORMS, WRITERS
from benchmarks.reporting import RESULTS, table, write
from citewell.answering.verifying import caller_passages, verify
from citewell.core.config import Chunking
from citewell.core.display import harmless
from citewell.core.errors import CitewellError
from citewell.core.sentences import sentence_spans
from citewell.documents.chunking import chunk_document
from citewell.documents.reading import read_bytes
from citewell.documents.statements import read_statements
from citewell.documents.text import caller_document
from citewell.models.fake import FakeEntailer, HashEmbedder
from citewell.questions.aspects import split_aspects
from citewell.questions.parsing import read_question
from citewell.retrieval.quarantine import instructions_in, quarantine_poisoned
from citewell.server.pages.marking import blocks
from citewell.vendors.reading import read_saved_response
from citewell.verification.claims import parse_answer
from citewell.verification.claims.markers import read_markers

SIZES = (10_000, 20_000, 40_000, 80_000)
LARGE = (250_000, 1_000_000)
TABLES = ("long", "wide", "short cells")
GROWN = (1, 4)
"""A file of so many times its elements."""
_FACT = "Sales rose to 5 million in 2020."
_ENTAILER, _EMBEDDER = FakeEntailer(), HashEmbedder()


def _verified(answer: str, source: str) -> object:
    return verify(answer, [source], entailer=_ENTAILER, embedder=_EMBEDDER)


def _poison(text: str) -> object:
    passages = caller_passages([text])
    return quarantine_poisoned("How much did the sales rise in 2020?", passages, passages)


def _as_cells(text: str) -> object:
    out = io.StringIO()
    csv.writer(out).writerows([["item", "2020"], *([line, "1"] for line in text.split("\n"))])
    return _read(out.getvalue().encode(), "csv")


def _read(data: bytes, suffix: str) -> object:
    return read_bytes(data, document_id=f"given.{suffix}")


DOORS: dict[str, Callable[[str], object]] = {
    "verify: the answer": lambda text: _verified(text, _FACT),
    "verify: a source": lambda text: _verified(f"{_FACT} [1]", text),
    "verify: one claim": lambda text: verify(
        text, [_FACT], one_claim=True, entailer=_ENTAILER, embedder=_EMBEDDER
    ),
    "claims of an answer": parse_answer,
    "markers": read_markers,
    "sentences": sentence_spans.__wrapped__,  # bypasses its cache
    "chunking": lambda text: chunk_document(caller_document("given", text), Chunking()),
    "instructions in a passage": instructions_in,
    "poison filter": _poison,
    "a question parsed": read_question,
    "aspects of a question": split_aspects,
    "plain text": lambda text: _read(text.encode(), "txt"),
    "Markdown": lambda text: _read(text.encode(), "md"),
    "RTF": lambda text: _read(b"{\\rtf1 %b}" % text.encode(), "rtf"),
    "HTML": lambda text: _read(f"<html><body><p>{text}".encode(), "html"),
    "EML": lambda text: _read(MAIL + b"\n" + text.encode(), "eml"),
    "EPUB": lambda text: _read(book(escape(text)), "epub"),
    "CSV": lambda text: _read(text.encode(), "csv"),
    "cells of CSV": _as_cells,
    "DOCX": lambda text: _read(lines_as_docx(text), "docx"),
    "XLSX": lambda text: _read(lines_as_xlsx(text), "xlsx"),
    "ODT": lambda text: _read(lines_as_odt(text), "odt"),
    "PPTX": lambda text: _read(lines_as_pptx(text), "pptx"),
    "statements of a document": lambda text: read_statements(caller_document("given", text)),
    "a document on a page": lambda text: blocks(caller_document("given", text), 0, len(text), sentences=True),
    "escaping": harmless,
    "a vendor's marks": lambda text: read_saved_response(
        {"choices": [{"message": {"content": text, "context": {"citations": [{"content": _FACT}]}}}]}
    ),
}


def seconds(door: Callable[[Any], object], text: str | bytes) -> float:
    gc.collect()
    gc.disable()  # garbage left by earlier runs must not count
    started = time.process_time()
    with contextlib.suppress(CitewellError):  # a refusal is a result, and its time counts
        door(text)
    spent = time.process_time() - started
    gc.enable()
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--doors", nargs="+", choices=DOORS, default=[])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--tables", action="store_true")
    given = parser.parse_args()
    path = RESULTS / "linear_time.json"
    read = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    kept: Kept = {key: read.get(key, {}) for key in ("cpu_seconds", "large", "files", "tables")}
    gc.collect()
    gc.freeze()  # what was loaded is not looked through again before each run
    if given.files:
        kept["files"] = {
            name: [seconds(lambda data, to=shape.suffix: worked(data, to), made) for made in _grown(name)]
            for name, shape in FILES.items()
        }
        report(kept)
    if given.tables:
        worked(WRITERS["csv"]([["item", "2020"], ["rent", "1"]]), "csv")  # one-time loading must not count
        for suffix, form in product(WRITERS, TABLES):
            files = [WRITERS[suffix](FORMS[form](size)) for size in LARGE]
            kept["tables"][f"{suffix.upper()}: {form}"] = [
                seconds(lambda data, to=suffix: worked(data, to), made) for made in files
            ]
            report(kept)
    key, sizes = ("large", LARGE) if given.large else ("cpu_seconds", SIZES)
    for name in given.doors or ([] if given.files or given.tables else DOORS):
        DOORS[name](_FACT)  # one-time loading must not count
        texts = {size: shapes(size) for size in sizes}
        kept[key][name] = {
            shape: [seconds(DOORS[name], texts[size][shape]) for size in sizes] for shape in PIECES
        }
        print(name, flush=True)
        report(kept)


def _grown(name: str) -> list[bytes]:
    shape = FILES[name]
    return [shape.make(min(shape.most, times * shape.elements)) for times in GROWN]


Kept = dict[str, dict[str, Any]]


def report(kept: Kept) -> None:
    measured, large = (
        {door: found for door, found in kept[key].items() if door in DOORS}
        for key in ("cpu_seconds", "large")
    )
    files = kept["files"]
    common = [shape for shape in PIECES if all(shape in found for found in measured.values())]
    summed = {
        shape: [sum(measured[d][shape][i] for d in measured) for i in range(len(SIZES))] for shape in common
    }
    heads = [f"{size // 1000} kB" for size in SIZES]
    by_shape = table(
        ["shape", "piece", *heads, "80 kB / 20 kB"],
        [
            [shape, f"`{_written(PIECES[shape])}`", *_cells(times), _ratio(times[1], times[3])]
            for shape, times in summed.items()
        ],
    )
    body = (
        "A text is one piece, repeated to the size. CPU-seconds of one run each, without a model: the "
        "entailer compares words. Work that grows with the text takes four times as long for four times the "
        "text; the square would take sixteen.\n\n"
        f"## Each door, for the shape that slows it most\n\n{_slowest(measured, SIZES, 1)}\n\n"
        f"## Each shape, all doors together\n\n{by_shape}"
    )
    if large:
        body += f"\n\n## A megabyte\n\n{_slowest(large, LARGE, 0)}"
    if files:
        rows = [[name, *_cells(times), _ratio(*times)] for name, times in files.items()]
        body += (
            "\n\n## Files built to be slow\n\nElements nested or repeated, with the number of elements that "
            "`benchmarks/hostile_files.py` gives and four times as many (of nested ones, as many as are not "
            "refused)."
            f"\n\n{table(['file', 'CPU-seconds', 'four times', 'ratio'], rows)}"
        )
    if kept["tables"]:
        rows = [[name, *_cells(times), _ratio(*times)] for name, times in kept["tables"].items()]
        body += (
            "\n\n## Large tables\n\nRead and cut. *Long*: three columns; *wide*: 1,500 columns; *short"
            " cells*: two columns of one character each. A table's size is that of its cells."
            f"\n\n{table(['table', '250 kB', '1000 kB', 'ratio'], rows)}"
        )
    write("linear_time", "Running time on hostile texts", body, {"sizes": SIZES, **kept})


def _slowest(measured: Mapping[str, Mapping[str, Sequence[float]]], sizes: Sequence[int], first: int) -> str:
    """Each door with its slowest shape; the ratio is that of the last size to the ``first``."""
    rows = []
    for name, by_shape in measured.items():
        shape = max(by_shape, key=lambda shape: by_shape[shape][-1])
        times = by_shape[shape]
        rows.append([name, str(len(by_shape)), shape, *_cells(times), _ratio(times[first], times[-1])])
    heads = [f"{size // 1000} kB" for size in sizes]
    return table(["door", "shapes tried", "slowest", *heads, f"{heads[-1]} / {heads[first]}"], rows)


def _cells(times: Sequence[float]) -> list[str]:
    return [f"{value:.2f}" for value in times]


def _ratio(first: float, last: float) -> str:
    return f"{last / first:.1f}" if first > 0.02 else "-"


def _written(piece: str) -> str:
    named = {"\n": "\\n", "\t": "\\t", "|": "\\|", "`": "\u02cb", " ": "\u2423"}
    written = "".join(named.get(letter, letter) for letter in piece)
    return written.replace("](", "] (")  # not a link


if __name__ == "__main__":
    main()

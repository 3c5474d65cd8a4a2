"""Running time of every entry point ("door") on hostile texts: ``python -m benchmarks.linear_time``.

In: the shapes of :mod:`benchmarks.hostile_shapes`, at 10, 20, 40 and 80 kB. Out: the CPU-seconds each door
takes for each shape, as docs/measurements/linear_time.{md,json}. No model is involved: the entailer compares
words, so that only the exact code around it is measured. ``tests/linear_time`` guards the growth.
"""

from __future__ import annotations

import contextlib
import csv
import gc
import io
import time
from collections.abc import Callable

import docx
import openpyxl

from benchmarks.hostile_shapes import PIECES, shapes
from benchmarks.reporting import table, write
from citewell.answering.verifying import caller_passages, verify
from citewell.core.config import Chunking
from citewell.core.errors import CitewellError
from citewell.core.sentences import sentence_spans
from citewell.documents.chunking import chunk_document
from citewell.documents.reading import read_bytes
from citewell.documents.text import caller_document
from citewell.models.fake import FakeEntailer, HashEmbedder
from citewell.questions.aspects import split_aspects
from citewell.questions.parsing import read_question
from citewell.retrieval.quarantine import instructions_in, quarantine_poisoned
from citewell.verification.claims import parse_answer
from citewell.verification.claims.markers import read_markers

SIZES = (10_000, 20_000, 40_000, 80_000)
_FACT = "Sales rose to 5 million in 2020."
_ENTAILER, _EMBEDDER = FakeEntailer(), HashEmbedder()


def _verified(answer: str, source: str) -> object:
    return verify(answer, [source], entailer=_ENTAILER, embedder=_EMBEDDER)


def _poison(text: str) -> object:
    passages = caller_passages([text])
    return quarantine_poisoned("How much did the sales rise in 2020?", passages, passages)


def _as_docx(text: str) -> object:
    document, out = docx.Document(), io.BytesIO()
    for line in text.split("\n")[:2_000]:
        document.add_paragraph(line)
    document.save(out)
    return _read(out.getvalue(), "docx")


def _as_xlsx(text: str) -> object:
    book, out = openpyxl.Workbook(), io.BytesIO()
    for line in text.split("\n")[:2_000]:
        book.active.append([f"'{cell[:30_000]}" for cell in line.split("\t")[:10_000]])
    book.save(out)
    return _read(out.getvalue(), "xlsx")


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
    "CSV": lambda text: _read(text.encode(), "csv"),
    "cells of CSV": _as_cells,
    "DOCX": _as_docx,
    "XLSX": _as_xlsx,
}


def seconds(door: Callable[[str], object], text: str) -> float:
    gc.collect()
    gc.disable()  # garbage left by earlier runs must not count
    started = time.process_time()
    with contextlib.suppress(CitewellError):  # a refusal is a result, and its time counts
        door(text)
    spent = time.process_time() - started
    gc.enable()
    return spent


def main() -> None:
    texts = {size: shapes(size) for size in SIZES}
    measured: dict[str, dict[str, list[float]]] = {}
    for name, door in DOORS.items():
        door(_FACT)  # one-time loading must not count
        measured[name] = {shape: [seconds(door, texts[size][shape]) for size in SIZES] for shape in PIECES}
        print(name, flush=True)
    heads = [f"{size // 1000} kB" for size in SIZES]
    slowest = {
        name: max(by_shape, key=lambda shape: by_shape[shape][-1]) for name, by_shape in measured.items()
    }
    doors = table(
        ["door", "slowest shape", *heads, "80 kB / 20 kB"],
        [
            [name, shape, *_cells(times := measured[name][shape]), _ratio(times)]
            for name, shape in slowest.items()
        ],
    )
    summed = {
        shape: [sum(measured[d][shape][i] for d in DOORS) for i in range(len(SIZES))] for shape in PIECES
    }
    by_shape = table(
        ["shape", "piece", *heads, "80 kB / 20 kB"],
        [
            [shape, f"`{_written(PIECES[shape])}`", *_cells(times), _ratio(times)]
            for shape, times in summed.items()
        ],
    )
    write(
        "linear_time",
        "Running time on hostile texts",
        "A text is one piece, repeated to the size. CPU-seconds of one run each, without a model: the "
        "entailer compares words. Work that grows with the text takes four times as long for 80 kB as for "
        "20 kB; the square would take sixteen.\n\n"
        f"## Each door, for the shape that slows it most\n\n{doors}\n\n"
        f"## Each shape, all doors together\n\n{by_shape}",
        {"sizes": SIZES, "cpu_seconds": measured},
    )


def _cells(times: list[float]) -> list[str]:
    return [f"{value:.2f}" for value in times]


def _ratio(times: list[float]) -> str:
    return f"{times[3] / times[1]:.1f}" if times[1] > 0.02 else "-"


def _written(piece: str) -> str:
    named = {"\n": "\\n", "\t": "\\t", "|": "\\|", "`": "\u02cb", " ": "\u2423"}
    written = "".join(named.get(letter, letter) for letter in piece)
    return written.replace("](", "] (")  # not a link


if __name__ == "__main__":
    main()

"""Twenty scanned pages made from known text, read by OCR: ``python -m benchmarks.ocr``

In: sentences with seeded names, dates and amounts, set in three typefaces and sizes, drawn at 200 dpi,
tilted, blurred, with noise and JPEG losses, as the only picture on a page. Out: the share of characters and
of numbers that are right, of rectangles with ink in them, and CPU time beside the rendering of the page.
"""

from __future__ import annotations

import io
import random
import re
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import pypdfium2
from fpdf import FPDF
from PIL import Image, ImageFilter

from benchmarks.pdf_writers import distance
from benchmarks.reporting import interval, table, write
from citewell.core.records import Document
from citewell.documents.ocr import engine_name, read_picture
from citewell.documents.pdf import read_pdf
from citewell.documents.pdf.scans import SIDE
from citewell.evaluation.intervals import clopper_pearson

PAGES, PARAGRAPHS, PROCESSES = 20, 5, 4
FACES = ("helvetica", "times", "courier", "helvetica")
SIZES = (8, 10, 12)
TILTS = (0.0, 0.7, -1.2, 2.0)
_DPI, _MARGIN = 200, 25.4
_FIGURE = re.compile(r"\d[\d.,/]*\d|\d")
_SENTENCES = (
    "The tenant may end this lease on {day} by giving the landlord at least {n} months' written notice.",
    "Rent of EUR {amount} is due on the first working day of a month; interest of {share}% accrues after it.",
    "{name} Ltd. supplies part no. {part} to the plant in {town} within {n} weeks of a written order.",
    "Net sales rose by {share}% to ${amount} million, while operating expenses fell to ${other} million.",
    "A deposit of £{amount} is held by the scheme and returned within {n} days, less the cost of repairs.",
    "The pump must be switched off before the cover is removed: pressure can exceed {n}.{n} bar at {n}0 °C.",
    "Section {n}.{n} does not apply to staff who joined {name} Ltd. after {day}, unless they were told so.",
    "The board of {name} Ltd. approved the accounts on {day} and proposes a dividend of {share} pence.",
)


class Page(NamedTuple):
    """``spoken``: how it was made. ``paragraphs`` as they went in, ``data`` a PDF."""

    spoken: str
    paragraphs: list[str]
    data: bytes


def page(number: int) -> Page:
    """The same for the same number."""
    draw = random.Random(number)
    face, size, tilt = FACES[number % 4], SIZES[number % 3], TILTS[number // 2 % 4]
    paragraphs = [" ".join(_sentence(draw) for _ in range(2)) for _ in range(PARAGRAPHS)]
    pdf = FPDF(unit="pt", format="A4")
    pdf.add_page()
    pdf.set_margin(72 * _MARGIN / 25.4)
    pdf.set_font(face, size=size)
    for text in paragraphs:
        pdf.multi_cell(0, 1.35 * size, text, align="L", new_x="LMARGIN", new_y="NEXT")
        pdf.ln(size)
    drawn = pypdfium2.PdfDocument(bytes(pdf.output()))[0].render(scale=_DPI / 72, grayscale=True).to_pil()
    drawn = drawn.rotate(tilt, resample=Image.Resampling.BICUBIC, fillcolor=255)
    drawn = drawn.filter(ImageFilter.GaussianBlur(0.6))
    noise = np.random.default_rng(number).normal(0, 8, (drawn.height, drawn.width))
    drawn = Image.fromarray(np.clip(np.asarray(drawn) * 0.92 + 10 + noise, 0, 255).astype(np.uint8))
    drawn.save(held := io.BytesIO(), "JPEG", quality=60)
    scan = FPDF(unit="pt", format="A4")
    scan.add_page()
    scan.image(held, 0, 0, scan.w, scan.h)
    return Page(f"{face} {size} pt, {tilt:g}°", paragraphs, bytes(scan.output()))


def _sentence(draw: random.Random) -> str:
    amount = f"{draw.randint(1, 9)},{draw.randint(100, 999)}.{draw.randint(10, 99)}"
    return draw.choice(_SENTENCES).format(
        day=f"{draw.randint(1, 28)} {draw.choice(('March', 'June', 'October'))} {draw.randint(2019, 2031)}",
        amount=amount,
        other=f"{draw.randint(100, 999)}.{draw.randint(1, 9)}",
        share=f"{draw.randint(1, 19)}.{draw.randint(0, 9)}",
        n=draw.randint(2, 9),
        part=f"{draw.choice('ABKQ')}{draw.choice('WXR')}-{draw.randint(100, 9999)}/{draw.randint(1, 9)}",
        name=draw.choice(("Harlow", "Oakfield", "Linden & Moss", "Brightwater")),
        town=draw.choice(("Leeds", "Zürich", "Aarhus", "Québec")),
    )


def characters_right(wanted: str, got: str) -> float:
    """1 minus the edit distance over the characters that went in; a line's end counts as a blank."""
    wanted, got = " ".join(wanted.split()), " ".join(got.split())
    return 1 - distance(wanted, got) / len(wanted)


def figures_right(wanted: str, got: str) -> list[float]:
    """1.0 for each number of ``wanted`` that ``got`` has, as often as it is there."""
    there = _FIGURE.findall(got)
    found = []
    for figure in _FIGURE.findall(wanted):
        found.append(float(figure in there))
        if figure in there:
            there.remove(figure)
    return found


def at_rectangles(document: Document, scan: bytes) -> list[float]:
    """For each rectangle 1.0 where there is ink in it, 0.0 where it lies on white."""
    drawn = pypdfium2.PdfDocument(scan)[0].render(scale=2, grayscale=True).to_numpy()
    page_ = document.pages[0]
    found = []
    for box in document.boxes:
        rows = slice(int(2 * (page_.height - box.y1)), int(2 * (page_.height - box.y0)) + 1)
        part = drawn[rows, int(2 * box.x0) : int(2 * box.x1) + 1]
        found.append(float(part.size > 0 and part.min() < 128))
    return found


class Measured(NamedTuple):
    """Of one page; ``figures`` and ``inked`` hold 1.0 or 0.0 for each number and each rectangle,
    ``drawing_s`` and ``reading_s`` are CPU time without loading the models."""

    spoken: str
    typed: int
    characters: float
    figures: list[float]
    inked: list[float]
    lowest: float
    whole: int
    drawing_s: float
    reading_s: float


def measure(number: int) -> Measured:
    made = page(number)
    read_picture(np.full((64, 64, 3), 255, dtype=np.uint8), SIDE)  # loads the models
    begun = time.process_time()
    pypdfium2.PdfDocument(made.data)[0].render(scale=SIDE / 842).to_numpy()
    drawn = time.process_time()
    document = read_pdf(made.data, document_id="scan.pdf", uri="")
    read = time.process_time()
    wanted, got = "\n".join(made.paragraphs), document.text
    return Measured(
        spoken=made.spoken,
        typed=len(wanted),
        characters=characters_right(wanted, got),
        figures=figures_right(wanted, got),
        inked=at_rectangles(document, made.data),
        lowest=min((box.confidence for box in document.boxes if box.confidence is not None), default=0.0),
        whole=sum(text in got.split("\n") for text in made.paragraphs),
        drawing_s=drawn - begun,
        reading_s=read - drawn,
    )


def main() -> None:
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        found = []
        for one in pool.map(measure, range(PAGES)):
            found.append(one)
            print(one.spoken, one.characters, flush=True)
    _write(found)


def _write(found: Sequence[Measured]) -> None:
    measures = {
        "characters": interval([one.characters for one in found]),
        "figures": _rate([each for one in found for each in one.figures]),
        "rectangles": _rate([each for one in found for each in one.inked]),
        "cpu_s_a_page": interval([one.reading_s for one in found]),
        "cpu_s_rendering": interval([one.drawing_s for one in found]),
    }
    names = (
        ("characters", "characters right (1 - edit distance / characters), by page"),
        ("figures", "numbers right, each whole"),
        ("rectangles", "rectangles with ink in them"),
        ("cpu_s_a_page", "CPU seconds a page, reading it by OCR"),
        ("cpu_s_rendering", "CPU seconds a page, pypdfium2 rendering it at the same size"),
    )
    rows = [
        [name, f"{one['value']:.4f} [{one['low']:.4f}, {one['high']:.4f}]", str(one["n"])]
        for one, name in ((measures[key], name) for key, name in names)
    ]
    pages = [
        [
            one.spoken,
            f"{one.characters:.4f}",
            f"{len(one.figures) - int(sum(one.figures))} of {len(one.figures)}",
            f"{one.lowest:.2f}",
            f"{one.whole} of {PARAGRAPHS}",
        ]
        for one in found
    ]
    times = sum(one.reading_s for one in found) / sum(one.drawing_s for one in found)
    typed = sum(one.typed for one in found) / len(found)
    body = f"""{len(found)} pages made from known text (seeded), each a picture of 200 dots an inch: tilted by
up to {max(TILTS):g}°, blurred, with noise and JPEG losses, with {typed:,.0f} characters on average. Read by
{engine_name()}.

{table(("measure", "mean and 95 % interval", "n"), rows)}

A page costs {times:.0f} times its rendering, on one thread. These are clean pages of common typefaces: they
say nothing of handwriting, photographs or worn paper.

{table(("page", "characters right", "numbers lost", "lowest confidence", "paragraphs whole"), pages)}
"""
    told = [one._asdict() for one in found]
    write("ocr", "Scanned pages", body, {**measures, "pages": told, "engine": engine_name()})


def _rate(hits: Sequence[float]) -> dict[str, Any]:
    """With the exact interval: all of a sample tells less than all."""
    low, high = clopper_pearson(int(sum(hits)), len(hits))
    return {"value": sum(hits) / len(hits), "n": len(hits), "low": low, "high": high}


if __name__ == "__main__":
    main()

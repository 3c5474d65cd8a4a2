"""Twelve invented pages, each set by two programs, with the labels of what went in.

In: nothing. Out: name, PDF, and for each page its labels in the form of :func:`labelled_pages.labelled`. The
pages have what filings have little of: steps, definitions, nested items, tables of words, spanning heads.
"""

from __future__ import annotations

import html
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Block = tuple[str, str]
"""Kind and text: title, h1, h2, prose, item, sub (an item below an item), term ("Term: text"), table (cells
by "|", rows by newlines, the first row is the heads) and note (a footnote)."""


def _blocks(page: str) -> list[Block]:
    """A page of ``made_pages.txt``: a block a line, of a table a row."""
    kinds = (line.partition(" ") for line in page.strip().replace("\n| ", "\0").split("\n"))
    return [(kind, text.replace("\0", "\n")) for kind, _, text in kinds]


PAGES = [_blocks(page) for page in Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n\n")]
_SIZES = {"title": 17.0, "h1": 13.0, "h2": 11.0, "note": 8.0}
_INDENTS = {"item": 14.0, "sub": 32.0}


def labels(blocks: Sequence[Block]) -> list[str]:
    found = []
    for kind, text in blocks:
        if kind in ("title", "h1", "h2"):
            found.append(f"H {text}")
        elif kind == "table":
            heads, *rows = (row.split("|") for row in text.split("\n"))
            for row in rows:
                found += [
                    f"C {row[0]} | {head} | {cell}" for head, cell in zip(heads[1:], row[1:], strict=True)
                ]
        elif kind != "prose":
            found.append(f"I {text} | {text}")
    return found


def made_pages() -> Iterator[tuple[str, bytes, list[list[str]]]]:
    wanted = [labels(blocks) for blocks in PAGES]
    yield "reportlab", _reportlab(), wanted
    yield "fpdf2", _fpdf2(), wanted


def _reportlab() -> bytes:
    """Justified, in Times, titles centred, items hanging."""
    from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table

    story: list[Any] = []
    for blocks in PAGES:
        for kind, text in blocks:
            if kind == "table":
                story.append(Table([row.split("|") for row in text.split("\n")], hAlign="LEFT", spaceAfter=9))
                continue
            size, indent = _SIZES.get(kind, 10.0), _INDENTS.get(kind, 0.0)
            style = ParagraphStyle(
                kind,
                fontName="Times-Bold" if kind in ("title", "h1", "h2") else "Times-Roman",
                fontSize=size,
                leading=1.2 * size,
                spaceAfter=7,
                leftIndent=indent + (12 if indent else 0),
                firstLineIndent=-12 if indent else 0,
                alignment=TA_CENTER if kind == "title" else TA_JUSTIFY,
            )
            shown = html.escape(text)
            for at, mark in enumerate("¹²", 1):
                shown = shown.replace(mark, f"<super>{at}</super>")
            if kind == "term":
                name, _, rest = shown.partition(": ")
                shown = f"<b>{name}:</b> {rest}"
            story += [Spacer(0, 60)] * (kind == "note") + [Paragraph(shown, style)]
        story.append(PageBreak())
    target = io.BytesIO()
    SimpleDocTemplate(target, invariant=1).build(story)
    return target.getvalue()


def _fpdf2() -> bytes:
    """Ragged, in Helvetica, numbered pages, tables ruled."""
    from fpdf import FPDF

    class Numbered(FPDF):  # type: ignore[misc]
        def footer(self) -> None:
            self.set_y(-15)
            self.set_font("helvetica", size=8)
            self.cell(0, 6, f"Page {self.page_no()}", align="R")

    pdf = Numbered(format="A4")
    for blocks in PAGES:
        pdf.add_page()
        for kind, text in blocks:
            bold, size = kind in ("title", "h1", "h2"), _SIZES.get(kind, 10.0)
            pdf.set_font("helvetica", "B" if bold else "", size)
            shown = text.replace("•", "-").replace("–", "-").replace("—", "-")
            if kind == "table":
                with pdf.table(width=150, align="LEFT") as table:
                    for row in shown.split("\n"):
                        table.row(row.split("|"))
            else:
                if kind == "note":
                    pdf.set_y(max(pdf.get_y(), 240))
                pdf.set_x(pdf.l_margin + _INDENTS.get(kind, 0.0) / 3)
                pdf.multi_cell(0, 0.45 * size, shown, align="L", new_x="LMARGIN", new_y="NEXT")
            pdf.ln(3)
    return bytes(pdf.output())

"""One lease, and the programs that typeset it as a PDF.

In: the blocks of :data:`LEASE`. Out: the bytes of a PDF for each of :data:`WRITERS`. All set the same words;
line breaks, fonts, boxes and drawing order are the program's.
"""

from __future__ import annotations

import html
import io
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

A4 = (595.0, 842.0)
_TEXT = Path(__file__).with_name("lease.txt")


class Block(NamedTuple):
    """``kind``: title, heading, prose, item, caption, table (cells by tabs, rows by newlines)."""

    kind: str
    text: str


def _block(number: int, text: str) -> Block:
    if "|" in text:
        return Block("table", text.replace(" | ", "\t"))
    line = text.replace("\n", " ")
    heading = re.fullmatch(r"\d\. [^.]+", line)
    kind = (
        "heading" if heading else "item" if line[0] in "(•" else "caption" if line[:5] == "Table" else "prose"
    )
    return Block(kind if number else "title", line)


LEASE = tuple(
    _block(number, text)
    for number, text in enumerate(_TEXT.read_text(encoding="utf-8").strip().split("\n\n"))
)


# --- writers ------------------------------------------------------------------------------------


def fpdf2(landscape: bool = False, plain: bool = False) -> bytes:
    """``plain``: typewriter font, double-spaced, with headings that only numbers set apart from prose."""
    from fpdf import FPDF

    pdf = FPDF(orientation="landscape" if landscape else "portrait", format="A4")
    pdf.add_page()
    for kind, text in LEASE:
        size = {"title": 18, "heading": 12}.get(kind, 10.5)
        pdf.set_font(
            "courier" if plain else "helvetica",
            "" if plain else "B" if size > 11 else "",
            10 if plain else size,
        )
        shown = text.replace("•", "-")
        if kind == "table":
            with pdf.table(text_align="RIGHT") as table:
                for row in text.split("\n"):
                    table.row(row.split("\t"))
        else:
            pdf.set_x(pdf.l_margin + (6 if kind == "item" else 0))
            pdf.multi_cell(0, 8.8 if plain else 5.2, shown, align="L", new_x="LMARGIN", new_y="NEXT")
        pdf.ln(5 if plain else 2.5)
    return bytes(pdf.output())


def reportlab(columns: int = 1, size: tuple[float, float] = A4) -> bytes:
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table

    target, margin, gap = io.BytesIO(), 56.0, 24.0
    width = (size[0] - 2 * margin - gap * (columns - 1)) / columns
    frames = [
        Frame(margin + at * (width + gap), margin, width, size[1] - 2 * margin, 0, 0, 0, 0)
        for at in range(columns)
    ]

    def footer(canvas: Any, template: Any) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(margin, 30, "The Lower Mill")
        canvas.drawRightString(size[0] - margin, 30, f"Page {canvas.getPageNumber()}")

    template = BaseDocTemplate(target, pagesize=size, invariant=1)
    template.addPageTemplates([PageTemplate("all", frames, onPage=footer)])
    story: list[Any] = []
    for kind, text in LEASE:
        if kind == "table":
            story.append(Table([row.split("\t") for row in text.split("\n")], spaceAfter=8))
            continue
        bold = kind in ("title", "heading")
        type_size = {"title": 18.0, "heading": 12.0}.get(kind, 10.0)
        style = ParagraphStyle(
            kind,
            fontName="Helvetica-Bold" if bold else "Helvetica",
            fontSize=type_size,
            leading=1.25 * type_size,
            spaceAfter=7,
            leftIndent=16 if kind == "item" else 0,
            keepWithNext=bold,
        )
        story.append(Paragraph(html.escape(text), style))
    template.build(story)
    return target.getvalue()


def cropped() -> bytes:
    """Pages on a larger sheet, cropped to begin 90 points in."""
    import pypdfium2

    inner = pypdfium2.PdfDocument(reportlab())
    for page in inner:
        width, height = page.get_size()
        page.set_mediabox(-90, -70, width + 40, height + 60)
        page.set_cropbox(0, 0, width, height)
    return _saved(inner)


def turned() -> bytes:
    """Landscape sheets that a /Rotate of 90 shows upright: the text runs up the sheet."""
    import pypdfium2
    import pypdfium2.raw as raw

    inner = pypdfium2.PdfDocument(reportlab())
    for page in inner:
        width, height = page.get_size()
        matrix, clip = raw.FS_MATRIX(0, 1, -1, 0, height, 0), raw.FS_RECTF(0, width, height, 0)
        page.set_mediabox(0, 0, height, width)
        page.set_cropbox(0, 0, height, width)
        raw.FPDFPage_TransFormWithClip(page.raw, matrix, clip)
        page.set_rotation(90)
    return _saved(inner)


def cairo() -> bytes:
    """Lines broken by the width of their words, each drawn as glyphs."""
    import cairocffi

    target = io.BytesIO()
    surface = cairocffi.PDFSurface(target, *A4)
    pen, y = cairocffi.Context(surface), 60.0
    for kind, text in LEASE:
        bold = kind in ("title", "heading")
        pen.select_font_face(
            "DejaVu Sans",
            cairocffi.FONT_SLANT_NORMAL,
            [cairocffi.FONT_WEIGHT_NORMAL, cairocffi.FONT_WEIGHT_BOLD][bold],
        )
        size = {"title": 17.0, "heading": 11.5}.get(kind, 9.5)
        pen.set_font_size(size)
        left = 76.0 if kind == "item" else 60.0
        for row in text.split("\n"):
            if kind == "table":
                lines = [
                    [(left + (150 + 70 * at if at else 0), cell) for at, cell in enumerate(row.split("\t"))]
                ]
            else:
                lines = [
                    [(left, line)]
                    for line in _wrapped(row, lambda text: pen.text_extents(text)[4], 535 - left)
                ]
            for line in lines:
                if y > 780:
                    surface.show_page()
                    y = 60.0
                for x, piece in line:
                    pen.move_to(x, y)
                    pen.show_text(piece)
                y += 1.3 * size
        y += 8
    surface.finish()
    return target.getvalue()


def _wrapped(text: str, width: Callable[[str], float], most: float) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if width(longer) > most:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def as_html() -> str:
    parts = []
    for kind, text in LEASE:
        shown = html.escape(text)
        if kind == "table":
            rows = "".join(
                f"<tr>{''.join(f'<td>{cell}</td>' for cell in row.split(chr(9)))}</tr>"
                for row in shown.split("\n")
            )
            parts.append(f"<table>{rows}</table>")
        else:
            tag = {"title": "h1", "heading": "h2"}.get(kind, "p")
            parts.append(f'<{tag} class="{kind}">{shown}</{tag}>')
    style = (
        "@page{size:A4;margin:20mm}body{font:10.5pt/1.4 'DejaVu Serif',serif}h1{font-size:18pt}"
        "h2{font-size:12pt}"
        ".item{margin-left:8mm}td{padding:1mm 5mm}.prose{white-space:pre-wrap}"
    )
    head = f"<head><meta charset='utf-8'><style>{style}</style></head>"
    return f"<!DOCTYPE html><html>{head}<body>{''.join(parts)}</body></html>"


def weasyprint() -> bytes:
    from weasyprint import HTML

    return bytes(HTML(string=as_html()).write_pdf())


def chromium() -> bytes:
    from benchmarks.chromium import FLAGS, PROGRAM

    def command(folder: Path) -> list[str]:
        return [
            PROGRAM,
            *FLAGS,
            f"--user-data-dir={folder}/profile",
            "--no-pdf-header-footer",
            "--print-to-pdf=out.pdf",
            "in.html",
        ]

    return _by_program(as_html(), "in.html", command)


def wkhtmltopdf() -> bytes:
    return _by_program(as_html(), "in.html", lambda folder: ["wkhtmltopdf", "-q", "in.html", "out.pdf"])


def libreoffice() -> bytes:
    return _by_program(
        as_html(), "in.html", lambda folder: _soffice(folder, "in.html", "writer_web_pdf_Export")
    )


def word() -> bytes:
    """A justified Word file, converted to PDF by LibreOffice."""
    import docx

    document = docx.Document()
    for kind, text in LEASE:
        if kind == "table":
            rows = [row.split("\t") for row in text.split("\n")]
            table = document.add_table(len(rows), len(rows[0]))
            for row, cells in zip(table.rows, rows, strict=True):
                for cell, value in zip(row.cells, cells, strict=True):
                    cell.text = value
        elif kind in ("title", "heading"):
            document.add_heading(text, 0 if kind == "title" else 1)
        else:
            paragraph = document.add_paragraph(text)
            paragraph.alignment = docx.enum.text.WD_ALIGN_PARAGRAPH.JUSTIFY
            paragraph.paragraph_format.left_indent = docx.shared.Pt(18 if kind == "item" else 0)
    target = io.BytesIO()
    document.save(target)
    return _by_program(
        target.getvalue(), "in.docx", lambda folder: _soffice(folder, "in.docx", "writer_pdf_Export")
    )


def _soffice(folder: Path, name: str, filter_name: str) -> list[str]:
    profile = f"-env:UserInstallation=file://{folder}/profile"
    return ["soffice", profile, "--headless", "--convert-to", f"pdf:{filter_name}", name]


def latex() -> bytes:
    """Justified and hyphenated, with ligatures and PostScript fonts."""
    special = {"&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$", "_": r"\_", "•": r"\textbullet{}"}
    parts = []
    for kind, text in LEASE:
        shown = "".join(special.get(letter, letter) for letter in text)
        if kind == "table":
            rows = " \\\\\n".join(row.replace("\t", " & ") for row in shown.split("\n"))
            parts.append("\\begin{tabular}{l@{\\hskip 3em}rrrr}\n" + rows + "\n\\end{tabular}\n")
        elif kind in ("title", "heading"):
            size = "\\LARGE" if kind == "title" else "\\large"
            parts.append(f"{{{size}\\bfseries {shown}\\par}}\n")
        else:
            indent = "\\leftskip=1.5em " if kind == "item" else ""
            parts.append(f"{{{indent}{shown}\\par}}\n")
    source = (
        "\\documentclass[11pt]{article}\\usepackage[utf8]{inputenc}"
        "\\usepackage[a4paper,margin=28mm]{geometry}\\parindent=0pt \\parskip=6pt\n\\begin{document}\n"
        + "\n".join(parts)
        + "\n\\end{document}\n"
    )
    return _by_program(source, "out.tex", lambda folder: ["pdflatex", "-interaction=batchmode", "out.tex"])


def groff() -> bytes:
    return _by_program(
        _roff(), "in.ms", lambda folder: ["sh", "-c", "groff -K utf8 -ms -t -Tpdf in.ms > out.pdf"]
    )


def ghostscript() -> bytes:
    """groff's PostScript, distilled."""
    distil = "gs -q -dBATCH -dNOPAUSE -sDEVICE=pdfwrite -sOutputFile=out.pdf in.ps"
    made = f"groff -K utf8 -ms -t -Tps in.ms > in.ps && {distil}"
    return _by_program(_roff(), "in.ms", lambda folder: ["sh", "-c", made])


def _roff() -> str:
    parts = [".nr PS 11\n.nr VS 14\n.nr HM 1i"]
    for kind, text in LEASE:
        if kind == "table":
            parts.append(f".TS\nl r r r r.\n{text}\n.TE")
        elif kind in ("title", "heading"):
            parts.append(f".LP\n.ps {18 if kind == 'title' else 13}\n\\fB{text}\\fP\n.ps")
        else:
            parts.append(f".{'IP' if kind == 'item' else 'LP'}\n{text.replace('•', chr(92) + '(bu')}")
    return "\n".join(parts) + "\n"


def scanned() -> bytes:
    """Images of pages: there is no text, and the reader has to say so."""
    import pypdfium2

    pictures = [page.render(scale=1.5).to_pil() for page in pypdfium2.PdfDocument(reportlab())]
    target = io.BytesIO()
    pictures[0].save(target, "PDF", save_all=True, append_images=pictures[1:])
    return target.getvalue()


class Writer(NamedTuple):
    """``module`` or ``program``: what must be installed."""

    write: Callable[[], bytes]
    module: str = ""
    program: str = ""

    def missing(self) -> str:
        """What is not installed, or ""."""
        if self.module and find_spec(self.module) is None:
            return self.module
        return self.program if self.program and shutil.which(self.program) is None else ""


WRITERS: Mapping[str, Writer] = {
    "fpdf2 (inherited boxes)": Writer(fpdf2, module="fpdf"),
    "fpdf2, landscape": Writer(lambda: fpdf2(landscape=True), module="fpdf"),
    "fpdf2, typewriter, two lines apart": Writer(lambda: fpdf2(plain=True), module="fpdf"),
    "ReportLab": Writer(reportlab, module="reportlab"),
    "ReportLab, two columns": Writer(lambda: reportlab(columns=2), module="reportlab"),
    "ReportLab, small pages": Writer(lambda: reportlab(size=(420.0, 595.0)), module="reportlab"),
    "ReportLab, CropBox with an offset": Writer(cropped, module="reportlab"),
    "ReportLab, turned by /Rotate": Writer(turned, module="reportlab"),
    "ReportLab, scanned": Writer(scanned, module="reportlab"),
    "cairo": Writer(cairo, module="cairocffi"),
    "WeasyPrint": Writer(weasyprint, module="weasyprint"),
    "Chromium": Writer(chromium, program="chromium"),
    "wkhtmltopdf": Writer(wkhtmltopdf, program="wkhtmltopdf"),
    "LibreOffice": Writer(libreoffice, program="soffice"),
    "Word through LibreOffice": Writer(word, program="soffice"),
    "pdfLaTeX": Writer(latex, program="pdflatex"),
    "groff": Writer(groff, program="groff"),
    "Ghostscript": Writer(ghostscript, program="gs"),
}


def _by_program(source: str | bytes, name: str, command: Callable[[Path], list[str]]) -> bytes:
    """Runs ``command`` in a temporary folder and returns the PDF it writes there."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / name).write_bytes(source if isinstance(source, bytes) else source.encode())
        subprocess.run(command(folder), cwd=folder, check=True, capture_output=True, timeout=180)
        return next(folder.glob("*.pdf")).read_bytes()


def _saved(pdf: Any) -> bytes:
    target = io.BytesIO()
    pdf.save(target)
    return target.getvalue()

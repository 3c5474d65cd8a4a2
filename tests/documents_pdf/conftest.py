"""A PDF written by hand, so that a test knows where every word is."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

import pytest

from citewell.core.records import Document
from citewell.documents.pdf import read_pdf

WIDTHS = {" ": 278, ".": 278, ",": 278, "-": 333, "(": 333, ")": 333, "$": 556, "%": 889}


def width(text: str, size: float) -> float:
    """Advance width in Helvetica, in points, close enough to align columns."""
    return sum(WIDTHS.get(letter, 556 if letter.isdigit() else 500) for letter in text) * size / 1000


@dataclass
class Sheet:
    """One page as a content stream; ``say`` puts a line at its baseline."""

    commands: list[str] = field(default_factory=list)
    extra: str = ""

    def say(
        self, x: float, y: float, text: str, *, size: float = 10, bold: bool = False, raw: str = ""
    ) -> Sheet:
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        font = "F2" if bold else "F1"
        self.commands.append(f"q BT {raw} /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({escaped}) Tj ET Q")
        return self

    def right(self, x: float, y: float, text: str, **style: object) -> Sheet:
        size = float(str(style.get("size", 10)))
        return self.say(x - width(text, size), y, text, **style)  # type: ignore[arg-type]

    def draw(self, command: str) -> Sheet:
        self.commands.append(command)
        return self


@dataclass
class Pdf:
    """Pages and an information dictionary -> bytes."""

    pages: list[Sheet] = field(default_factory=list)
    info: dict[str, str] = field(default_factory=dict)
    trailer: str = ""
    box: str = "0 0 612 792"
    inherited: bool = False
    """The box is on the pages' parent node, as fpdf2 and ReportLab write it."""

    def page(self, extra: str = "") -> Sheet:
        self.pages.append(Sheet(extra=extra))
        return self.pages[-1]

    def bytes(self) -> bytes:
        count = len(self.pages)
        kids = " ".join(f"{6 + 2 * i} 0 R" for i in range(count))
        fonts = "<< /Type /Font /Subtype /Type1 /BaseFont /{} /Encoding /WinAnsiEncoding >>"
        entries = " ".join(f"/{key} ({value})" for key, value in self.info.items())
        box = f"/MediaBox [{self.box}]"
        objects = [
            "<< /Type /Catalog /Pages 2 0 R >>",
            f"<< /Type /Pages /Kids [{kids}] /Count {count} {box if self.inherited else ''} >>",
            fonts.format("Helvetica"),
            fonts.format("Helvetica-Bold"),
            f"<< {entries} >>",
        ]
        for index, sheet in enumerate(self.pages):
            stream = "\n".join(sheet.commands)
            objects.append(
                f"<< /Type /Page /Parent 2 0 R {'' if self.inherited else box} {sheet.extra} "
                f"/Contents {7 + 2 * index} 0 R "
                "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> /ExtGState << /Clear << /ca 0 >> >> >> >>"
            )
            objects.append(f"<< /Length {len(stream.encode('cp1252'))} >>\nstream\n{stream}\nendstream")
        body = b"%PDF-1.7\n"
        offsets = []
        for number, text in enumerate(objects, start=1):
            offsets.append(len(body))
            body += f"{number} 0 obj\n{text}\nendobj\n".encode("cp1252")
        table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
        size = len(objects) + 1
        end = f"xref\n0 {size}\n0000000000 65535 f \n{table}"
        end += f"trailer\n<< /Size {size} /Root 1 0 R /Info 5 0 R {self.trailer} >>\n"
        end += f"startxref\n{len(body)}\n%%EOF\n"
        return body + end.encode("cp1252")

    def read(self) -> Document:
        document = read_pdf(self.bytes(), document_id="d.pdf", uri="file:d.pdf")
        assert unicodedata.is_normalized("NFC", document.text)
        return document


@pytest.fixture
def pdf() -> Pdf:
    """An empty PDF to write to."""
    return Pdf()


def prose(sheet: Sheet, lines: list[str], *, x: float = 50, top: float = 740, pitch: float = 12) -> None:
    for index, line in enumerate(lines):
        sheet.say(x, top - index * pitch, line)

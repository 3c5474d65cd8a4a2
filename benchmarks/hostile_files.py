"""Files whose structure, not their text, makes a careless reader slow.

In: a number of elements. Out: the bytes of a file, by name; and the size of what the parsing worker makes
of one. Shared by ``tests/linear_time`` and ``benchmarks/linear_time.py``.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple
from xml.sax.saxutils import escape

import docx
import msgspec

from benchmarks.compound_file import compound
from citewell.core.config import Chunking, Documents
from citewell.documents.chunking import chunk_document
from citewell.documents.reading import OpenedFile

_ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table")
)
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_X = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_WORDS = "word " * 2_000
MAIL = b"From: a@example.org\nTo: b@example.org\nDate: Wed, 4 Mar 2026 23:30:00 -0500\nMessage-ID: <1@b>\n"


class Shape(NamedTuple):
    """A file of ``elements`` elements; ``most`` if more of them are refused."""

    suffix: str
    make: Callable[[int], bytes]
    elements: int
    most: int = 1 << 30


def worked(data: bytes, suffix: str) -> int:
    """Reads and cuts the file and all files inside it, as the parsing worker does: the bytes that it would
    reply. Raises a DocumentError."""
    name = f"given.{suffix}"
    opened, length, waiting = OpenedFile(data, uri=name, limits=Documents()), 0, [()]
    while waiting:
        part = waiting.pop()
        document, inside = opened.read(part, document_id=name)
        chunks = chunk_document(document, Chunking()) if document else []
        length += len(msgspec.msgpack.encode((document, chunks)))
        waiting += [(*part, place) for place in range(len(inside))]
    return length


def _packed(parts: dict[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _odt(body: str) -> bytes:
    text = f"<office:body><office:text>{body}</office:text></office:body>"
    content = f"<office:document-content {_ODF}>{text}</office:document-content>"
    return _packed({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def _pptx(*slides: str) -> bytes:
    shown = "".join(f'<p:sldId r:id="r{n}"/>' for n in range(len(slides)))
    links = "".join(
        f'<Relationship Id="r{n}" Type="{_R}/slide" Target="slides/{n}.xml"/>' for n in range(len(slides))
    )
    parts: dict[str, str | bytes] = {
        "ppt/presentation.xml": f'<p:presentation {_P} xmlns:r="{_R}">{shown}</p:presentation>',
        "ppt/_rels/presentation.xml.rels": f"<Relationships>{links}</Relationships>",
    }
    for number, slide in enumerate(slides):
        parts[f"ppt/slides/{number}.xml"] = f"<p:sld {_A} {_P}><p:spTree>{slide}</p:spTree></p:sld>"
    return _packed(parts)


def _shape(paragraphs: str) -> str:
    return f"<p:sp><p:nvSpPr><p:nvPr><p:ph/></p:nvPr></p:nvSpPr><p:txBody>{paragraphs}</p:txBody></p:sp>"


def _said(text: str, properties: str = "") -> str:
    return f"<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>"


@cache
def _word() -> dict[str, bytes]:
    out = io.BytesIO()
    docx.Document().save(out)
    with zipfile.ZipFile(out) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _docx(body: str, **parts: str) -> bytes:
    made: dict[str, str | bytes] = {**_word()}
    for name, content in {"document": f"<w:body>{body}</w:body>", **parts}.items():
        made[f"word/{name}.xml"] = f'<w:{name} xmlns:w="{_W}">{content}</w:{name}>'
    return _packed(made)


def lines_as_docx(text: str) -> bytes:
    """Each line as a paragraph."""
    tabbed = (
        "<w:tab/>".join(f"<w:t>{_xml(one)}</w:t>" for one in line.split("\t")) for line in text.split("\n")
    )
    return _docx("".join(f"<w:p><w:r>{line}</w:r></w:p>" for line in tabbed))


def lines_as_odt(text: str) -> bytes:
    """Each line as a paragraph."""
    return _odt("".join(f"<text:p>{_xml(line)}</text:p>" for line in text.split("\n")))


def lines_as_pptx(text: str) -> bytes:
    """Each line as a paragraph of one shape."""
    return _pptx(_shape("".join(_said(_xml(line)) for line in text.split("\n"))))


def rows_as_docx(rows: Iterable[Iterable[str]]) -> bytes:
    """A table, a paragraph to a cell."""
    made = (
        "".join(f"<w:tc><w:p><w:r><w:t>{_xml(cell)}</w:t></w:r></w:p></w:tc>" for cell in row) for row in rows
    )
    return _docx(f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in made)}</w:tbl>")


def lines_as_xlsx(text: str) -> bytes:
    """Each line as a row, with a cell between two tabs."""
    rows = (
        "".join(f'<c t="inlineStr"><is><t>{_xml(cell)}</t></is></c>' for cell in line.split("\t"))
        for line in text.split("\n")
    )
    sheet = "".join(f"<row>{row}</row>" for row in rows)
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    return _packed(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
            f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
            f'<Override PartName="/xl/1.xml" ContentType="{types}.worksheet+xml"/></Types>',
            "_rels/.rels": _related("officeDocument", "xl/workbook.xml"),
            "xl/_rels/workbook.xml.rels": _related("worksheet", "1.xml"),
            "xl/workbook.xml": f'<workbook xmlns="{_X}" xmlns:r="{_R}"><sheets>'
            '<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/1.xml": f'<worksheet xmlns="{_X}"><sheetData>{sheet}</sheetData></worksheet>',
        }
    )


def _related(kind: str, target: str) -> str:
    link = f'<Relationship Id="r1" Type="{_R}/{kind}" Target="{target}"/>'
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{link}</Relationships>'


def _xml(text: str) -> str:
    return escape("".join(letter for letter in text if letter >= " "))


def _paragraph(properties: str) -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>a</w:t></w:r></w:p>"


def _numbering(count: int, inside: str = "") -> str:
    levels = "".join(f'<w:lvl w:ilvl="{n}">{inside}<w:lvlText w:val="%1"/></w:lvl>' for n in range(count))
    of = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    return f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>{of}'


def _style(name: str, inside: str) -> str:
    return f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{name}"/>{inside}</w:style>'


def _nested(before: str, inside: str, after: str) -> Callable[[int], str]:
    return lambda count: before * count + inside + after * count


def book(*pages: str) -> bytes:
    """An EPUB; a page is the inside of a paragraph."""
    items = "".join(
        f'<item id="{n}" href="{n}.html" media-type="application/xhtml+xml"/>' for n in range(len(pages))
    )
    spine = "".join(f'<itemref idref="{n}"/>' for n in range(len(pages)))
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<c><rootfile full-path="book.opf"/></c>',
        "book.opf": f"<package>{items}{spine}</package>",
    }
    return _packed(parts | {f"{n}.html": f"<p>{page}</p>" for n, page in enumerate(pages)})


def _boundaries(count: int) -> bytes:
    opened = (b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (n, n) for n in range(count))
    return MAIL + b"".join(opened) + b"\n" * (200 * count)


def _pdf(*pages: bytes) -> bytes:
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(len(pages)))
    made = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, content in enumerate(pages):
        made.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 14400 14400] /Contents %d 0 R "
            b"/Resources << /Font << /F 3 0 R >> >> >>" % (5 + 2 * number)
        )
        made.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content))
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, one in enumerate(made, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(made) + 1, len(out))
    return bytes(out) + b"xref\n0 %d\n0000000000 65535 f \n%b%b" % (len(made) + 1, table, end)


def _drawn(word: bytes, count: int, columns: int) -> bytes:
    """A page of words in columns."""
    placed = (
        b"1 0 0 1 %d %d Tm (%b) Tj" % (20 + n % columns * 280, 14_300 - n // columns * 10, word)
        for n in range(count)
    )
    return b"BT /F 8 Tf %b ET" % b" ".join(placed)


def _attached(count: int) -> bytes:
    """A mail with attachments."""
    parts = b"".join(
        b"--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=%d.txt\n\nwords\n" % n
        for n in range(count)
    )
    return MAIL + b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n' + parts + b"--b--\n"


def _zip(count: int) -> bytes:
    """Texts beside many hidden files."""
    texts: dict[str, str | bytes] = {f"{n}.txt": "words" for n in range(count)}
    return _packed(texts | {f".{n}": "" for n in range(19 * count)})


def _outlook(attached: int, others: int) -> bytes:
    """A message with attachments and with streams that mean nothing."""
    body = "words ".ljust(2048).encode("utf-16-le")
    tree = {"__properties_version1.0": b"\0" * 4096, "__substg1.0_1000001F": body}
    tree |= {f"{n:012d}": b"" for n in range(others)}
    for number in range(attached):
        tree[f"__attach_version1.0_#{number:08X}/__substg1.0_37010102"] = b"words\n".ljust(4096, b"\n")
    return compound(tree)


_ODT_NOTES = _nested("<text:note><text:note-body><text:p>a", "b", "</text:p></text:note-body></text:note>")
_ODT_TABLES = _nested(
    "<table:table><table:table-row><table:table-cell><text:p>b</text:p></table:table-cell><table:table-cell>",
    f"<text:p>{_WORDS}</text:p>",
    "</table:table-cell></table:table-row></table:table>",
)
_DOCX_TABLES = _nested(
    "<w:tbl><w:tr><w:tc>", f"<w:p><w:r><w:t>{_WORDS}</w:t></w:r></w:p>", "</w:tc></w:tr></w:tbl>"
)
_PPTX_CELLS = _nested("<a:tr><a:tc>", _said(_WORDS), "</a:tc></a:tr>")
_PPTX_SHAPES = _nested("<p:sp><p:txBody>", _said(_WORDS), "</p:txBody></p:sp>")

FILES: dict[str, Shape] = {
    "ODT: notes in notes": Shape("odt", lambda n: _odt(f"<text:p>{_ODT_NOTES(n)}</text:p>"), 20, 80),
    "ODT: tables in tables": Shape("odt", lambda n: _odt(_ODT_TABLES(n)), 20, 80),
    "ODT: levels of headings": Shape(
        "odt",
        lambda n: _odt("".join(f'<text:h text:outline-level="{i}">a</text:h>' for i in range(1, n + 1))),
        2_000,
    ),
    "PPTX: cells in cells": Shape(
        "pptx", lambda n: _pptx(f"<p:graphicFrame><a:tbl>{_PPTX_CELLS(n)}</a:tbl></p:graphicFrame>"), 17, 70
    ),
    "PPTX: shapes in shapes": Shape("pptx", lambda n: _pptx(_PPTX_SHAPES(n)), 17, 70),
    "PPTX: levels of a list": Shape(
        "pptx",
        lambda n: _pptx(
            _shape("".join(_said("a", f'<a:pPr lvl="{i}"><a:buAutoNum/></a:pPr>') for i in range(n)))
        ),
        2_000,
    ),
    "PPTX: slides": Shape("pptx", lambda n: _pptx(*[_shape(_said("a"))] * n), 200),
    "DOCX: tables in tables": Shape("docx", lambda n: _docx(_DOCX_TABLES(n)), 15, 60),
    "DOCX: styles based on styles": Shape(
        "docx",
        lambda n: _docx(
            "".join(_paragraph(f'<w:pStyle w:val="s{i}"/>') for i in range(n)),
            styles="".join(_style(f"s{i}", f'<w:basedOn w:val="s{i + 1}"/>') for i in range(n)),
        ),
        300,
    ),
    "DOCX: texts in a run": Shape(
        "docx", lambda n: _docx(f"<w:p><w:r>{'<w:t>a</w:t>' * n}</w:r></w:p>"), 2_000
    ),
    "DOCX: runs in a paragraph": Shape(
        "docx", lambda n: _docx(f"<w:p>{'<w:r><w:t>a</w:t></w:r>' * n}</w:p>"), 2_000
    ),
    "DOCX: levels of a list": Shape(
        "docx",
        lambda n: _docx(
            "".join(
                _paragraph(f'<w:numPr><w:ilvl w:val="{i}"/><w:numId w:val="1"/></w:numPr>') for i in range(n)
            ),
            numbering=_numbering(n),
        ),
        500,
    ),
    "DOCX: levels of a style": Shape(
        "docx",
        lambda n: _docx(
            _paragraph('<w:pStyle w:val="q"/>') * n,
            styles=_style("q", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'),
            numbering=_numbering(n, '<w:pStyle w:val="x"/>'),
        ),
        300,
    ),
    "PDF: words on a page": Shape("pdf", lambda n: _pdf(_drawn(b"word", n, 20)), 1_500),
    "PDF: numbers in a column": Shape("pdf", lambda n: _pdf(_drawn(b"1,234", n, 1)), 350, 1_400),
    "PDF: pages": Shape("pdf", lambda n: _pdf(*(_drawn(b"w%d" % page, 9, 5) for page in range(n))), 40),
    "EPUB: pages": Shape("epub", lambda n: book(*["a"] * n), 100),
    "HTML: empty cells": Shape("html", lambda n: b"<table>" + (b"<tr><td>a" + b"<td>" * n) * 2, 8_000),
    "HTML: wide cells": Shape(
        "html", lambda n: b"<table>" + (b"<tr><td>a" + b"<td colspan=100>b" * n) * 2, 200
    ),
    "HTML: tall cells": Shape(
        "html", lambda n: b"<table><tr>" + b"<td rowspan=100>b" * n + b"<tr><td>a" * 99, 200
    ),
    "EML: a quoted parameter of semicolons": Shape(
        "eml", lambda n: MAIL + b'Content-Type: text/plain;"' + b";" * n + b"\n\nbody", 5_000
    ),
    "EML: parts in parts": Shape("eml", _boundaries, 25, 29),
    "EML: quotations": Shape("eml", lambda n: MAIL + b"\n" + b"> a\nb\n" * n, 1_000),
    "EML: attachments": Shape("eml", _attached, 200, 800),
    "MSG: attachments": Shape("msg", lambda n: _outlook(n, 0), 200, 800),
    "MSG: streams": Shape("msg", lambda n: _outlook(50, n), 2_000),
    "MSG: attachments and streams": Shape("msg", lambda n: _outlook(n, 10 * n), 100, 400),
    "ZIP: files": Shape("zip", _zip, 200, 800),
    "ZIP: files in an archive in it": Shape("zip", lambda n: _packed({"a.zip": _zip(n)}), 200, 800),
    "JSON: values under a long name": Shape(
        "json", lambda n: json.dumps({"k" * n: {str(i): i for i in range(n)}}).encode(), 400
    ),
    "Markdown: sections under a long heading": Shape(
        "md", lambda n: f"# {'a ' * n}\n\n".encode() + b"## b\n\nc.\n\n" * n, 500
    ),
    "CSV: a long head": Shape("csv", lambda n: b"item,%b\n" % (b"a " * n) + b"x,1\n" * n, 1_000),
    "HTML: rows in a long group": Shape(
        "html", lambda n: b"<table><tr><td>a<td>2<tr><td>%b<td>" % (b"a " * n) + b"<tr><td>x<td>1" * n, 500
    ),
    "HTML: heads of unclear columns": Shape(
        "html",
        lambda n: (
            b"<table><thead><tr><th>i<th>%b<tr>%b<tr><td>i%b</table>"
            % (b"<th>b" * n, b"<th>c" * (3 * n), b"<td>1" * (3 * n))
        ),
        500,
    ),
    "HTML: rows of heads": Shape(
        "html",
        lambda n: (
            b"<table><thead>%b<tr>%b</thead><tr><td>i%b</table>"
            % (b"<tr><th><th>b" * n, b"<th>c" * n, b"<td>1" * n)
        ),
        500,
    ),
}

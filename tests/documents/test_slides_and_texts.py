"""Slides, OpenDocument texts and JSON read as they are shown."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from citewell.core.errors import DamagedError
from citewell.core.records import Document
from citewell.documents.reading import read_bytes

A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CORE = '<c:p xmlns:c="urn:c" xmlns:d="urn:d"><d:title>Pumps in 2026</d:title></c:p>'


def packed(parts: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return stream.getvalue()


def relations(*links: tuple[str, str]) -> str:
    rows = (
        f'<Relationship Id="r{n}" Type="{R}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(links)
    )
    return f"<Relationships>{''.join(rows)}</Relationships>"


def shape(kind: str, *paragraphs: str) -> str:
    holder = f"<p:ph{kind and f' type={chr(34)}{kind}{chr(34)}'}/>" if kind != "box" else ""
    text = f"<p:txBody>{''.join(paragraphs)}</p:txBody>"
    return f"<p:sp><p:nvSpPr><p:nvPr>{holder}</p:nvPr></p:nvSpPr>{text}</p:sp>"


def said(text: str, properties: str = "") -> str:
    return f"<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>"


def slide(*shapes: str, show: str = "1") -> str:
    return f'<p:sld {A} {P} show="{show}"><p:spTree>{"".join(shapes)}</p:spTree></p:sld>'


def slides() -> bytes:
    number = '<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>'
    rows = (("Model", "Price"), ("BW-310", "1,360"))
    cells = "".join(f"<a:tr>{''.join(f'<a:tc>{said(c)}</a:tc>' for c in row)}</a:tr>" for row in rows)
    table = f'<p:graphicFrame><a:tbl><a:tblPr firstRow="1"/>{cells}</a:tbl></p:graphicFrame>'
    shown = '<p:sldIdLst><p:sldId r:id="r2"/><p:sldId r:id="r0"/><p:sldId r:id="r1"/></p:sldIdLst>'
    return packed(
        {
            "ppt/presentation.xml": f'<p:presentation {P} xmlns:r="{R}">{shown}</p:presentation>',
            "ppt/_rels/presentation.xml.rels": relations(
                ("slide", "slides/a.xml"), ("slide", "slides/b.xml"), ("slide", "/ppt/slides/c.xml")
            ),
            "ppt/slides/c.xml": slide(
                shape(
                    "body", said("Change the seal:"), said("Close the valve.", number), said("Drain.", number)
                ),
                shape("title", said("Repair")),
                shape("sldNum", said("1")),
            ),
            "ppt/slides/a.xml": slide(shape("ctrTitle", said("Prices")), table, "<p:graphicFrame/>"),
            "ppt/slides/_rels/a.xml.rels": relations(("notesSlide", "../notesSlides/n.xml")),
            "ppt/notesSlides/n.xml": f"<p:notes {A} {P}>{shape('body', said('Net of tax.'))}</p:notes>",
            "ppt/slides/b.xml": slide(shape("title", said("Secret")), show="0"),
            "docProps/core.xml": CORE,
        }
    )


def test_slides_are_read_in_their_order_with_lists_tables_and_notes() -> None:
    document = read_bytes(slides(), document_id="talk.pptx")
    assert document.text == (
        "Repair\n• Change the seal:\n1. Close the valve.\n2. Drain.\n"
        "Prices\nModel\tPrice\nBW-310\t1,360\nNotes: Net of tax.\n"
    )
    assert [section.path for section in document.sections] == [("Repair",), ("Prices",)]
    assert document.tables[0].rows[0].cells[0].head == "Price"
    assert document.title is not None
    assert document.title.value == "Pumps in 2026"
    assert set(document.notes) == {"hidden slides left out: 1", "charts and diagrams left out: 1"}


OPEN = "urn:oasis:names:tc:opendocument:xmlns"
NAMES = " ".join(f'xmlns:{name}="{OPEN}:{name}:1.0"' for name in ("office", "text", "table", "style"))


def open_text(body: str, styles: str = "") -> bytes:
    content = (
        f"<office:document-content {NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return packed({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def test_an_open_document_text_is_read_with_lists_tables_and_notes() -> None:
    styles = (
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"/>'
        '</text:list-style><style:style style:name="H"><style:text-properties text:display="none"/>'
        "</style:style>"
    )
    body = (
        "<text:tracked-changes><text:p>Deleted.</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">Repair</text:h>'
        '<text:p>Change<text:s/>the <text:span text:style-name="H">secret</text:span>seal'
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Part 7.</text:p>"
        "</text:note-body></text:note>:</text:p>"
        '<text:list text:style-name="L"><text:list-item><text:p>Close the valve.</text:p>'
        "<text:list><text:list-item><text:p>Both of them.</text:p></text:list-item></text:list>"
        "</text:list-item>"
        "<text:list-item><text:p>Drain.</text:p></text:list-item></text:list>"
        "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Model</text:p>"
        "</table:table-cell><table:table-cell><text:p>Price</text:p></table:table-cell></table:table-row>"
        "</table:table-header-rows><table:table-row><table:table-cell><text:p>BW-310</text:p></table:table-cell>"
        "<table:table-cell><text:p>1,360</text:p></table:table-cell></table:table-row></table:table>"
    )
    document = read_bytes(open_text(body, styles), document_id="manual.odt")
    assert document.text == (
        "Repair\nChange the seal:\n1. Close the valve.\n• Both of them.\n2. Drain.\n"
        "Model\tPrice\nBW-310\t1,360\nPart 7.\n"
    )
    assert document.tables[0].rows[0].cells[0].head == "Price"
    assert document.notes == ("hidden runs of text left out: 1",)
    with pytest.raises(DamagedError):
        read_bytes(open_text("<text:p>"), document_id="cut.odt")


def json_lines(*records: object) -> Document:
    return read_bytes("\n".join(map(json.dumps, records)).encode(), document_id="a.jsonl")


def test_records_of_json_are_a_table_or_lines_under_their_names() -> None:
    document = json_lines({"model": "BW-310", "price": 1360}, {"model": "BW-420", "price": None, "new": True})
    assert document.text == "model\tprice\tnew\nBW-310\t1360\nBW-420\t\ttrue\n"
    assert [cell.head for row in document.tables[0].rows for cell in row.cells] == ["price", "new"]
    nested = json_lines({"id": 7, "seal": {"steps": ["close", "drain"], "parts": [{"no": 1}, {"no": 2}]}})
    assert nested.text == "id: 7\nseal.steps: close; drain\nseal.parts.no: 1\nseal.parts.no: 2\n"
    with pytest.raises(DamagedError, match="not JSON"):
        read_bytes(b'{"a": 1}\n{"a": \n', document_id="a.jsonl")

"""EPUB books and RTF files read as they are shown."""

from __future__ import annotations

import io
import zipfile

import pytest

from citewell.core.errors import DamagedError, EncryptedError, LimitError
from citewell.core.records import Document
from citewell.documents.reading import read_bytes

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
PARTS = {
    "nav": ("nav.xhtml", "application/xhtml+xml"),
    "one": ("text/one%20a.xhtml#top", "application/xhtml+xml"),
    "two": ("text/two.xhtml", "application/xhtml+xml"),
    "gone": ("text/gone.xhtml", "application/xhtml+xml"),
    "map": ("map.svg", "image/svg+xml"),
    "css": ("book.css", "text/css"),
}


def page(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml">'
        f'<head><title/><link rel="stylesheet" href="../book.css"/></head><body>{body}</body></html>'
    )


def book(spine: str = "nav two one map gone two", **more: str) -> bytes:
    items = "".join(f'<item id="{i}" href="{h}" media-type="{t}"/>' for i, (h, t) in PARTS.items())
    order = "".join(f'<itemref idref="{i}"/>' for i in spine.split())
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:opf="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Pumps</dc:title>'
        "<dc:creator>Ann Low</dc:creator><dc:creator>Bo Ek</dc:creator><dc:language>en-GB</dc:language>"
        '<dc:date opf:event="creation">2020-01-01</dc:date><dc:date>2026-03-01</dc:date></metadata>'
        f"<manifest>{items}</manifest><spine>{order}</spine></package>"
    )
    parts = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package,
        "OEBPS/nav.xhtml": page('<nav epub:type="toc"><ol><li>Repair</li></ol></nav>'),
        "OEBPS/text/one a.xhtml": page("<h1>Prices</h1><p>BW-310 costs 1,360&nbsp;EUR.<a id='x'/></p>"),
        "OEBPS/text/two.xhtml": page("<h1>Repair</h1><p class='unseen'>secret</p><h2>Seal</h2><p>Drain.</p>"),
        "OEBPS/map.svg": "<svg/>",
        "OEBPS/book.css": ".unseen {display: none}",
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip")
        for name, text in (parts | more).items():
            archive.writestr(name, text)
    return stream.getvalue()


def test_a_book_is_read_in_its_order_each_page_once() -> None:
    document = read_bytes(book(), document_id="pumps")
    assert document.text == "Repair\nSeal\nDrain.\nPrices\nBW-310 costs 1,360 EUR.\n"
    assert [section.path for section in document.sections] == [("Repair",), ("Repair", "Seal"), ("Prices",)]
    known = (document.title, document.author, document.language, document.published_at)
    assert [found and found.value for found in known] == ["Pumps", "Ann Low, Bo Ek", "en", "2026-03-01"]
    assert {
        "hidden elements left out: 1",
        "pages that are not HTML left out: 1",
        "pages that the book lists but does not contain: 1",
    } <= set(document.notes)


def locked(part: str) -> str:
    reference = f'<enc:CipherReference xmlns:enc="http://www.w3.org/2001/04/xmlenc#" URI="{part}"/>'
    return f'<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container">{reference}</encryption>'


def test_a_book_whose_pages_are_encrypted_is_refused_and_one_with_encrypted_fonts_is_read() -> None:
    encryption = "META-INF/encryption.xml"
    with pytest.raises(EncryptedError, match="DRM"):
        read_bytes(book(**{encryption: locked("OEBPS/text/one%20a.xhtml")}), document_id="a.epub")
    assert read_bytes(book(**{encryption: locked("OEBPS/font.otf")}), document_id="a.epub").text


@pytest.mark.parametrize(
    "parts",
    [
        {"META-INF/container.xml": "<container/>"},
        {"OEBPS/book.opf": "<package"},
        {"OEBPS/book.opf": '<!DOCTYPE x [<!ENTITY a "ha">]><package/>'},
    ],
)
def test_a_damaged_book_is_said_to_be_damaged(parts: dict[str, str]) -> None:
    with pytest.raises(DamagedError):
        read_bytes(book(**parts), document_id="a.epub")


HEAD = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Times;}{\f1\fcharset204{\*\falt X}Arial Cyr;}"
    r"{\f2\fcharset2 Symbol;}{\f3\fcharset128 MS Mincho;}}"
    r"{\colortbl;\red255\green255\blue255;\red255\green0\blue0;}"
    r"{\stylesheet{Normal;}{\s1\b heading 1;}{\s2 Title;}{\*\cs10 Default;}}"
)


def rich(body: str) -> Document:
    return read_bytes(f"{HEAD}{body}}}".encode("latin-1"), document_id="memo")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"It isn\rquote t 5\~\'80 \endash  \{so\}.\par", "It isn’t 5 € – {so}."),
        (r"{\f1\'cf\'f0\'e8}, {\f3\'82\'a0\'83e}, {\f2 m}g", "При, あテ, µg"),
        (r"\u8364?5 \u8364\'805 \uc2\u8364 ??5 \uc0\u8364 5", "€5 €5 €5 €5"),
        (r"\uc1\u-10179?\u-8704?", "😀"),
        (r"5,120{\super 2} and CO{\sub 2}", "5,120² and CO₂"),
        (r"{\*\unknown no}{\header no\par}{\pict 0ab1}{\field{\*\fldinst HYPERLINK}{\fldrslt link}}", "link"),
        (r"a{\bin4 }{}}}b", "ab"),
        (r"One{\footnote\pard{\super 1} Net.}.\par Two", "One.\nTwo\n¹ Net."),
        (r"{\listtext\f2\'b7\tab}First\par{\pntext 2.\tab}Second", "• First\n2. Second"),
        (
            r"A{\shp{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt In a\par box\par}}{\shprslt twice}}\par",
            "A\nIn a\nbox",
        ),
    ],
)
def test_rich_text_is_read_as_it_is_shown(body: str, text: str) -> None:
    assert rich(body).text.rstrip("\n") == text


def test_what_nobody_sees_in_rich_text_is_left_out_and_counted() -> None:
    seen = r"{\v no}{\cf1 no}{\cf1\highlight2 seen}{\strike no}{\deleted no}\par\pard\cbpat2{\cf1 too}"
    document = rich(seen)
    assert document.text == "seen\ntoo\n"
    assert document.notes == ("hidden runs of text left out: 2", "struck-out runs of text left out: 1")


def test_rich_text_has_headings_and_metadata() -> None:
    info = r"{\info{\title Pump {\i manual}}{\author Ann L\'f6w}{\creatim\yr2025\mo3\dy1}{\doccomm no}}"
    body = r"\s2 Pumps\par\pard\s1 Repair\par\pard Drain.\par\pard\outlinelevel1 Seal\par\pard Wait.\par"
    document = rich(info + body)
    assert document.text == "Pumps\nRepair\nDrain.\nSeal\nWait.\n"
    assert [section.path for section in document.sections][1:] == [
        ("Pumps", "Repair"),
        ("Pumps", "Repair", "Seal"),
    ]
    known = (document.title, document.author, document.published_at)
    assert [found and found.value for found in known] == ["Pump manual", "Ann Löw", "2025-03-01"]


def test_cells_of_a_rich_text_table_stand_in_their_columns() -> None:
    rows = (
        r"\pard\intbl\trowd\trhdr\cellx1000\cellx3000\cellx4000 Model\cell Price\cell Year\cell\row"
        r"\trowd\clvmgf\cellx1000\cellx2000\cellx3010\cellx4000 B3\cell 1,360\par net\cell 7\cell 1\cell\row"
        r"\trowd\clvmrg\cellx1000\cellx2000\cellx3000\cellx4000\cell 3\cell 4\cell 2\cell\row"
    )
    document = rich(rows + r"\pard After.")
    assert document.text == "Model\tPrice\t\tYear\nB3\t1,360 net\t7\t1\n\t3\t4\t2\nAfter.\n"
    first, second = document.tables[0].rows
    assert [cell.head for cell in first.cells] == ["Price", "", "Year"]
    assert (first.label, second.label) == ("B3", "B3")


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (HEAD.encode() + b"Cut sho", DamagedError),
        (b"{\\rtf1 \\ansicpg99999 \\'e4}", DamagedError),
        (b"{\\rtf1 " + b"{" * 5_000, LimitError),
    ],
)
def test_damaged_rich_text_gives_one_clear_error(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        read_bytes(data, document_id="a.rtf")

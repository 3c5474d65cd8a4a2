"""Superscript, subscript and strikethrough do not change what a figure says, in any format."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import docx
import openpyxl
import pytest

from citewell.core.errors import UnsupportedError
from citewell.core.records import Document
from citewell.documents.reading import read_bytes


def read(data: bytes | str, name: str) -> Document:
    return read_bytes(data.encode() if isinstance(data, str) else data, document_id=name)


CASES = [
    ("5<sup>1</sup> million", "5¹ million"),
    ("5,120<sup>2</sup>", "5,120²"),
    ("10<sup>6</sup> and 10<sup>-6</sup> and x<sup>n</sup>", "10⁶ and 10⁻⁶ and xⁿ"),
    ("5,120<sup>1,2</sup>", "5,120¹,²"),
    ("5,120<sup>(1)</sup>", "5,120⁽¹⁾"),
    ("5,120<sup>a</sup> tons", "5,120 a tons"),
    ("<sup>a</sup>Includes leases", "a Includes leases"),
    ("5<sup>b</sup>", "5 b"),
    ("5,120<sup>*</sup>", "5,120*"),
    ("the 20<sup>th</sup> century", "the 20th century"),
    ("CO<sub>2</sub>e and NO<sub>x</sub>", "CO₂e and NOx"),
    ("5<sup>1</sup>/<sub>2</sub> percent", "5¹/₂ percent"),
    ("$19<sup>99</sup>", "$19⁹⁹"),
    ("about <sup>2,000 people who were asked in the year 2020</sup> said", None),
    ("it costs <s>$100</s> $80", "it costs $80"),
    ("it costs <del>$100</del> $80", "it costs $80"),
]


@pytest.mark.parametrize(("markup", "text"), CASES)
@pytest.mark.parametrize("frame", ["<!doctype html><p>{}</p>", "# A\n\n{}\n", "# A\n\n<p>{}</p>\n"])
def test_what_stands_raised_in_html_and_markdown_is_no_part_of_a_figure(
    markup: str, text: str | None, frame: str
) -> None:
    shown = text or "about 2,000 people who were asked in the year 2020 said"
    name = "a.html" if frame.startswith("<") else "a.md"
    assert read(frame.format(markup), name).text.splitlines()[-1] == shown


@pytest.mark.parametrize(
    "mark",
    [
        "<sup>2</sup>",
        "<sup><a href='#n'>2</a></sup>",
        "<span style='vertical-align:super'>2</span>",
        "<font style='font-size:6.5pt;position:relative;top:-3.5pt;vertical-align:baseline'>2</font>",
    ],
)
def test_a_footnotes_mark_in_an_html_cell_is_no_digit(mark: str) -> None:
    page = (
        f"<table><tr><th>Item</th><th>2020</th></tr><tr><td>Sales{mark}</td><td>5,120{mark}</td></tr></table>"
    )
    document = read(f"<!doctype html>{page}<p>after", "a.html")
    assert document.text == "Item\t2020\nSales²\t5,120²\nafter\n"


def test_a_forgotten_end_raises_no_more_than_its_paragraph() -> None:
    document = read("<!doctype html><p>5<sup>1<p>12 tons<table><tr><td>a</td><td>7</td></tr>", "a.html")
    assert "12 tons" in document.text
    assert "7" in document.text


def test_struck_out_text_is_left_out_and_counted() -> None:
    page = "<!doctype html><p>We <s>sold 5</s> sold 6 <span style='text-decoration: line-through'>7</span>."
    assert read(page, "a.html").text == "We sold 6 .\n"
    assert "struck-out elements left out: 2" in read(page, "a.html").notes
    document = read("# A\n\nWe ~~sold 5~~ sold 6 ~tons.\n", "a.md")
    assert document.text == "A\nWe sold 6 ~tons.\n"
    assert "struck-out elements left out: 1" in document.notes


def test_a_line_break_parts_the_figures_of_a_cell() -> None:
    page = "<!doctype html><table><tr><td>Sales<br>Costs</td><td>5,120<br>2</td></tr><tr><td>a<td>b</table>"
    assert read(page, "a.html").text.startswith("Sales Costs\t5,120 2\n")
    assert read("| a | b |\n|---|---|\n| x | 5<br>2 |\n", "a.md").text == "a\tb\nx\t5 2\n"


def test_runs_of_a_word_document() -> None:
    made = docx.Document()
    paragraph = made.add_paragraph("We sold 5")
    paragraph.add_run("1").font.superscript = True
    paragraph.add_run(" million tons of CO")
    paragraph.add_run("2").font.subscript = True
    paragraph.add_run(", not 7").font.strike = True
    paragraph.add_run(" and 5,120")
    paragraph.add_run("a").font.superscript = True
    styled = made.add_paragraph("In all 12")
    mark: Any = made.styles.add_style("Mark", docx.enum.style.WD_STYLE_TYPE.CHARACTER)
    mark.font.superscript = True
    styled.add_run("3", style="Mark")
    stream = io.BytesIO()
    made.save(stream)
    document = read(stream.getvalue(), "a.docx")
    assert document.text == "We sold 5¹ million tons of CO₂ and 5,120 a\nIn all 12³\n"
    assert "struck-out runs of text left out: 1" in document.notes


STRINGS = b"""<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<si><r><t>5,120</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>2</t></r></si>
<si><r><rPr><strike/></rPr><t>7</t></r><r><t>8</t></r></si></sst>"""
TYPE = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"


def test_runs_of_a_workbooks_cells() -> None:
    """Excel keeps the formatted runs of cells in a separate part."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["Item", "2020"], ["Sales", "RUNS0"], ["Costs", "RUNS1"], ["Rent", 9]):
        sheet.append(row)
    sheet["B4"].font = openpyxl.styles.Font(strike=True)
    stream, made = io.BytesIO(), io.BytesIO()
    book.save(stream)
    with zipfile.ZipFile(stream) as plain, zipfile.ZipFile(made, "w") as rich:
        for name in plain.namelist():
            part = re.sub(rb't="inlineStr"><is><t>RUNS(.)</t></is>', rb't="s"><v>\1</v>', plain.read(name))
            override = b'<Override PartName="/xl/sharedStrings.xml" ContentType="' + TYPE + b'"/></Types>'
            rich.writestr(name, part.replace(b"</Types>", override))
        rich.writestr("xl/sharedStrings.xml", STRINGS)
    assert read(made.getvalue(), "a.xlsx").text == "Sheet\nItem\t2020\nSales\t5,120²\nCosts\t8\nRent\n"


@pytest.mark.parametrize("type_", [{"vertAlign": "superscript"}, {"strike": True}])
def test_runs_written_into_the_sheet_itself_are_refused(type_: dict[str, Any]) -> None:
    """As libraries write them: their reader would return 5,1202 for a superscript 2."""
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Sales", CellRichText("5,120", TextBlock(InlineFont(**type_), "2"))])
    stream = io.BytesIO()
    book.save(stream)
    with pytest.raises(UnsupportedError, match="raised, lowered or struck") as refused:
        read(stream.getvalue(), "a.xlsx")
    assert "save it again" in refused.value.hint


def test_cells_with_footnotes_are_figures_still() -> None:
    page = (
        "<table><tr><td>Item</td><td>Tons</td></tr><tr><td>Sales</td><td>5,120<sup>2</sup></td></tr></table>"
    )
    table = read(f"<!doctype html>{page}", "a.html").tables[0]
    assert [cell.head for row in table.rows for cell in row.cells] == ["Tons"]

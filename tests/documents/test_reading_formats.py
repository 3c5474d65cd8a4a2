"""Each format becomes readable text with sections, tables and metadata; omissions are reported."""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import docx
import openpyxl
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import RGBColor
from openpyxl.styles import Font

from citewell.core.identity import hash_bytes, hash_text
from citewell.core.records import Document, Found
from citewell.documents.reading import read_bytes
from citewell.documents.tables import shown_value


def read(data: bytes | str, name: str = "folder/file") -> Document:
    raw = data.encode() if isinstance(data, str) else data
    document = read_bytes(raw, document_id=name)
    assert document.version == hash_bytes(raw)
    assert document.text_hash == hash_text(document.text)
    assert unicodedata.is_normalized("NFC", document.text)
    for table in document.tables:
        for row in table.rows:
            assert document.text[row.start : row.end].split("\t")[0] in (row.label, *_cells(document))
            assert row.label_start < 0 or document.text.startswith(row.label, row.label_start)
            for cell in row.cells:
                assert "\t" not in document.text[cell.start : cell.end] != ""
    return document


def _cells(document: Document) -> list[str]:
    return [
        document.text[c.start : c.end] for table in document.tables for row in table.rows for c in row.cells
    ]


def values(document: Document) -> list[dict[str, str]]:
    """Each table row as head -> value, with the label under "": what a user would read."""
    return [
        {"": row.label} | {cell.head: document.text[cell.start : cell.end] for cell in row.cells}
        for table in document.tables
        for row in table.rows
    ]


PAGE = """<!doctype html><html lang="en-GB"><head><title>Annual report</title>
<meta name="author" content="Ann Bee"><meta property="article:published_time" content="2021-05-06T00:00Z">
<style>.ghost {display: none} p {color: red}</style></head><body>
<h1>Results</h1><p>Hello <b>bold</b> &amp; new<br>second line<p class="ghost">one secret</p>
<p style="font-size:0">two secret</p><p hidden>three secret</p><p style="color:#fff">four secret</p>
<script>var a = "<p>five secret";</script><!-- six secret --><noscript>seven secret</noscript>
<h2>Sales</h2><p>Sales by region (in millions):</p>
<table><tr><th></th><th colspan=2>Year ended</th></tr><tr><th>Item</th><th>2020</th><th>2019</th></tr>
<tr><td>Europe</td><td>1,577</td><td>1,373</td></tr><tr><td rowspan=2>Asia</td><td>(5)</td><td></td></tr>
<tr><td>7</td><td>8</td></tr></table><pre>keep   this
  layout</pre></body></html>"""


def test_html_gives_what_a_visitor_sees() -> None:
    document = read(PAGE)
    assert document.media_type == "text/html"
    assert "secret" not in document.text
    assert document.text.startswith("Results\nHello bold & new\nsecond line\nSales\n")
    assert "keep   this\n  layout\n" in document.text
    assert "hidden elements left out: 4" in document.notes
    assert "comments left out: 1" in document.notes
    assert [section.path for section in document.sections] == [("Results",), ("Results", "Sales")]


@pytest.mark.parametrize(
    "hidden",
    [
        "<p style='color: rgb(255, 255, 255)'>secret</p>",
        "<p style='color:rgba(0,0,0,0)'>secret</p>",
        "<p style='color:#fefefe'>secret</p>",
        "<p style='color:hsl(0,0%,100%)'>secret</p>",
        "<font color=white>secret</font>",
        "<p style='background:#000'><b style='background:#fff'><font color=#FFFFFF>secret</font></b></p>",
    ],
)
def test_html_print_in_white_on_white_is_left_out(hidden: str) -> None:
    document = read(f"<!doctype html><body><p>Seen.</p>{hidden}</body>")
    assert document.text == "Seen.\n"
    assert "hidden elements left out: 1" in document.notes


@pytest.mark.parametrize(
    "seen",
    [
        "<p style='color:#fff;background:#000'>word</p>",
        "<p style='color:#eee000'>word</p>",
        "<div style='background:#000'><p style='background:transparent;color:#fff'>word</p></div>",
        "<table bgcolor=navy><tr><td><font color=white>word</font></td></tr></table>",
        "<style>.x {color: #fff} nav .dk {background: #123}</style><div class=dk><p class=x>word</p></div>",
        "<style>.x {color: #fff} p {background: url(a.png)}</style><p class=x>word</p>",
        "<p style='background-color:#fff;color:#333'>word</p>",
    ],
)
def test_html_print_on_another_ground_is_read(seen: str) -> None:
    assert "word" in read(f"<!doctype html><body><p>Seen.</p>{seen}</body>").text


def test_html_tables_have_heads_units_and_titles() -> None:
    document = read(PAGE)
    assert document.tables[0].title == "Sales by region (in millions)"
    assert document.tables[0].units == "in millions"
    assert values(document) == [
        {"": "Europe", "Year ended 2020": "1,577", "Year ended 2019": "1,373"},
        {"": "Asia", "Year ended 2020": "(5)"},
        {"": "Asia", "Year ended 2020": "7", "Year ended 2019": "8"},
    ]


LIFT = (
    "<!doctype html><body><table><tr><th>Site<th>Quarter<th>Checks</tr>"
    "<tr><td rowspan=2>Lyon<td>Q1<td>14</tr>"
    "<tr><td>Q2<td>19</tr><tr><td rowspan=2>Turin<td>Q1<td>22</tr><tr><td>Q2<td>27</tr>"
    "<tr><td><td>Q3<td>30</tr></table></body>"
)


def test_a_label_over_several_rows_is_that_of_each_and_written_once() -> None:
    document = read(LIFT)
    assert (
        document.text == "Site\tQuarter\tChecks\nLyon\tQ1\t14\n\tQ2\t19\nTurin\tQ1\t22\n\tQ2\t27\n\tQ3\t30\n"
    )
    assert values(document)[1] == {"": "Lyon", "Quarter": "Q2", "Checks": "19"}
    assert [row.label for row in document.tables[0].rows] == ["Lyon", "Lyon", "Turin", "Turin", ""]
    at = document.text.index
    assert [row.label_start for row in document.tables[0].rows] == [-1, at("Lyon"), -1, at("Turin"), -1]


def test_docx_label_over_several_rows_is_that_of_each() -> None:
    made = docx.Document()
    table = made.add_table(3, 3)
    for row, line in zip(
        table.rows, [["Site", "Quarter", "Checks"], ["Lyon", "Q1", "14"], ["", "Q2", "19"]], strict=True
    ):
        for cell, value in zip(row.cells, line, strict=True):
            cell.text = value
    table.cell(1, 0).merge(table.cell(2, 0))
    assert values(saved(made))[1] == {"": "Lyon", "Quarter": "Q2", "Checks": "19"}


def saved(made: Any) -> Document:
    """The document read from a Word document or workbook after saving it."""
    stream = io.BytesIO()
    made.save(stream)
    return read(stream.getvalue())


HEADS = "<tr><th>Name<th>2021<th>2022<th>2023</tr>"


@pytest.mark.parametrize(
    ("rows", "last"),
    [
        (
            "<tr><td>North<td>10<td rowspan=2>20<td>30</tr><tr><td>South<td>11</tr>"
            "<tr><td>East<td>12<td>22<td>32</tr>",
            {"": "East", "2021": "12", "2022": "22", "2023": "32"},
        ),
        (
            "<tr><td rowspan=2>North<td rowspan=2>10<td>20<td>30</tr><tr></tr>"
            "<tr><td>East<td>12<td>22<td>32</tr>",
            {"": "East", "2021": "12", "2022": "22", "2023": "32"},
        ),
        (
            "<tr><td>North<td>10<td>20<td rowspan=2>30</tr><tr><td>South<td>11<td>21</tr>"
            "<tr><td>East<td>12<td>22<td>32</tr>",
            {"": "East", "2021": "12", "2022": "22", "2023": "32"},
        ),
        (
            "<tr><td>North<td rowspan=3>10<td>20<td>30</tr><tr><td>South</tr><tr><td>East<td>22<td>32</tr>",
            {"": "East", "2022": "22", "2023": "32"},
        ),
    ],
)
def test_html_cells_over_several_rows_shift_no_later_row(rows: str, last: dict[str, str]) -> None:
    assert values(read(f"<!doctype html><body><table>{HEADS}{rows}</table></body>"))[-1] == last


def test_html_metadata_says_where_it_was_read() -> None:
    document = read(PAGE)
    assert document.title == Found(value="Annual report", origin="metadata")
    assert document.author == Found(value="Ann Bee", origin="metadata")
    assert document.language == Found(value="en", origin="metadata")
    assert document.published_at == Found(value="2021-05-06", origin="metadata")


def test_html_tables_that_arrange_a_page_are_running_text() -> None:
    document = read(
        "<html><body><table><tr><td>menu</td><td><table><tr><td>a</td><td>1</td></tr>"
        "<tr><td>b</td><td>2</td></tr></table></td></tr></table><p>x</body></html>"
    )
    assert document.text == "menu\na\t1\nb\t2\nx\n"
    assert len(document.tables) == 1


def test_html_in_its_declared_encoding() -> None:
    page = '<html><head><meta charset="iso-8859-1"></head><body><p>Gr\u00f6\u00dfe \u00a35</body></html>'
    assert read(page.encode("cp1252")).text == "Gr\u00f6\u00dfe \u00a35\n"


MARKDOWN = """---
title: "Handbook"
authors:
  - Ann
  - Bo
date: 2020-01-02
---
# Rules

A paragraph
on two lines with a [link](http://x.example).

| Name | 2020 |
|------|-----:|
| Sales | 1,577 |

## Exceptions
- first
- second

```python
def f():
    return 1
```

<p>raw <b>html</b> <!-- gone --></p>
"""


def test_markdown_is_read_with_front_matter_tables_and_code() -> None:
    document = read(MARKDOWN)
    assert document.media_type == "text/markdown"
    assert document.text == (
        "Rules\nA paragraph on two lines with a link.\nName\t2020\nSales\t1,577\nExceptions\n• first\n"
        "• second\ndef f():\n    return 1\nraw html\n"
    )
    assert [section.path for section in document.sections] == [("Rules",), ("Rules", "Exceptions")]
    assert values(document) == [{"": "Sales", "2020": "1,577"}]
    assert document.title == Found(value="Handbook", origin="front matter")
    assert document.author == Found(value="Ann, Bo", origin="front matter")
    assert document.published_at == Found(value="2020-01-02", origin="front matter")


@pytest.mark.parametrize(
    "hiding",
    [
        '12 dollars <span style="display:none">but really **it is** secret</span>.',
        "<div hidden>\n\nThe price is secret.\n\n- secret\n\n```\nsecret\n```\n\n</div>\n\n12 dollars.",
        "<div hidden>\n\n<div>\n\n</div>\n\n# secret\n\n<p>secret</p>\n</div>\n<p>12 dollars.</p>",
        "<style>.x {display: none}</style>\n\n12 dollars <i class=x>secret</i>.",
        "12 dollars <span title='>' hidden/>secret\n\nAnd more.",
        "12 dollars <font style='font-size:0'>secret\n\nsecret</font>.",
        "- 12 dollars\n- <div hidden>\n\n  secret\n\nAnd more.",
        "<p hidden>secret\n\n12 dollars.",
        "12 dollars.\n\n| a | b |\n|---|---|\n| <i hidden>secret</i> | 5 |",
        "12 dollars <div hidden>secret\n\nsecret</div>.",
    ],
)
@pytest.mark.parametrize("end", ["", "\n\nThe end."])
def test_markdown_that_raw_html_hides_is_left_out_and_counted(hiding: str, end: str) -> None:
    document = read(f"# Prices\n\n{hiding}{end}\n", "a.md")
    assert "secret" not in document.text
    assert "12 dollars" in document.text
    assert document.text.endswith("The end.\n") or not end
    assert ("And more." in document.text) == ("And more." in hiding)
    assert any(note.startswith("hidden elements left out") for note in document.notes)


def test_what_raw_html_in_markdown_hides_is_counted_once_for_the_document() -> None:
    document = read(
        "12 dollars.\n\n<div hidden>\n\n<div>\n\n# secret\n\n<p>secret</p>\n\n</div>\n\n</div>\n\n"
        "<p hidden>secret</p>\n\n<!-- a -->\n\nAnd <i hidden>secret</i> more.\n\n<!-- b -->\n",
        "a.md",
    )
    assert document.notes == ("comments left out: 2", "hidden elements left out: 3")


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("title: >\n  The big\n  - handbook\n", "The big - handbook"),
        ("title: |-\n  The big: a\n\n  handbook\nauthor: Ann\n", "The big: a handbook"),
        ("title: >2-  # folded\n  The handbook\n", "The handbook"),
        ("title: The big\n  handbook\n", "The big handbook"),
        ('title: "The big\n  handbook"\n', "The big handbook"),
        ("title: {en: Handbook}\n", None),
        ("title: &name Handbook\n", None),
        ("title: >\nauthor: Ann\n", None),
    ],
)
def test_a_title_on_several_lines_is_read_or_left_out(front: str, title: str | None) -> None:
    document = read(f"---\n{front}---\n\nSome words about the rules.\n", "a.md")
    assert document.text == "Some words about the rules.\n"
    assert document.title == (Found(value=title, origin="front matter") if title else None)


def test_front_matter_of_a_million_lines_is_read_in_time() -> None:
    assert read("---\ntitle: >\n" + "  a\n" * 300_000 + "---\n\nWords.\n", "a.md").text == "Words.\n"
    assert read("---\nauthors:\n" + "- a\n" * 300_000 + "---\n\nWords.\n", "a.md").text == "Words.\n"


def test_docx_is_read_with_headings_tables_and_properties() -> None:
    made = docx.Document()
    made.core_properties.title, made.core_properties.author = "Contract", "Ann Bee"
    made.add_heading("Terms", 1)
    paragraph = made.add_paragraph("Payment is due in 30 days.")
    paragraph.add_run(" hidden").font.hidden = True
    made.add_heading("Prices", 2)
    table = made.add_table(2, 3)
    for row, line in zip(table.rows, [["Item", "2020", "2019"], ["Hire", "$5", "$6"]], strict=True):
        for cell, value in zip(row.cells, line, strict=True):
            cell.text = value
    made.add_paragraph("End.")
    stream = io.BytesIO()
    made.save(stream)
    document = read(stream.getvalue(), "folder/wrong.txt")
    assert (
        document.text == "Terms\nPayment is due in 30 days.\nPrices\nItem\t2020\t2019\nHire\t$5\t$6\nEnd.\n"
    )
    assert [section.path for section in document.sections] == [("Terms",), ("Terms", "Prices")]
    assert values(document) == [{"": "Hire", "2020": "$5", "2019": "$6"}]
    assert document.title == Found(value="Contract", origin="metadata")
    assert "hidden runs of text left out: 1" in document.notes


def test_docx_print_in_white_or_hidden_by_a_style_is_left_out_and_white_on_a_shade_is_read() -> None:
    made = docx.Document()
    paragraph = made.add_paragraph("Payment is due.")
    paragraph.add_run(" secret").font.color.rgb = RGBColor(255, 255, 255)
    for style_name, base in (("Ghost", None), ("Child", "Ghost")):
        style = made.styles.add_style(style_name, WD_STYLE_TYPE.CHARACTER)
        style.base_style = made.styles[base] if base else None
    made.styles["Ghost"].font.hidden = True
    paragraph.add_run(" secret", style="Child")
    pale = made.styles.add_style("Pale", WD_STYLE_TYPE.PARAGRAPH)
    pale.font.color.rgb = RGBColor(254, 254, 254)
    made.add_paragraph("secret", style="Pale").add_run(" Seen.").font.color.rgb = RGBColor(0, 0, 0)
    banner = made.styles.add_style("Banner", WD_STYLE_TYPE.PARAGRAPH)
    banner.font.color.rgb = RGBColor(255, 255, 255)
    banner.element.get_or_add_pPr().append(shade("000000"))
    made.add_paragraph("Prices.", style="Banner")
    table = made.add_table(2, 2)
    for row, line in zip(table.rows, [["Item", "2020"], ["Hire", "5"]], strict=True):
        for cell, value in zip(row.cells, line, strict=True):
            run = cell.paragraphs[0].add_run(value)
            if value == "2020":
                run.font.color.rgb = RGBColor(255, 255, 255)
                cell._tc.get_or_add_tcPr().append(shade("1F497D"))
    stream = io.BytesIO()
    made.save(stream)
    document = read(stream.getvalue())
    assert document.text == "Payment is due.\nSeen.\nPrices.\nItem\t2020\nHire\t5\n"
    assert "hidden runs of text left out: 3" in document.notes


def shade(fill: str) -> Any:
    element = OxmlElement("w:shd")
    element.set(qn("w:val"), "clear")
    element.set(qn("w:fill"), fill)
    return element


SPACES = (
    f'{nsdecls("w")} xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:x="urn:x"'
)


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def word(*blocks: str) -> Document:
    """The document read from a Word document of these blocks, in the markup that Word writes."""
    made = docx.Document()
    for block in blocks:
        made.element.body.insert(len(made.element.body) - 1, parse_xml(block.replace(">", f" {SPACES}>", 1)))
    return saved(made)


LISTS = """<w:numbering {names}><w:abstractNum w:abstractNumId="1">
<w:lvl w:ilvl="0"><w:start w:val="7"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1%2)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="o"/></w:lvl>
</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="1"/>
<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>"""


def test_docx_numbers_of_clauses_and_lists_are_read_as_word_prints_them() -> None:
    made, stream = docx.Document(), io.BytesIO()
    made.part.numbering_part._element = parse_xml(LISTS.format(names=nsdecls("w")))
    made.styles["Heading 1"].element.get_or_add_pPr().get_or_add_numPr().get_or_add_numId().val = 1
    made.add_heading("Break clause", 1)
    for text, number, level in (("Notice.", 1, 1), ("Rent.", 1, 1), ("Keys.", 2, 0), ("Again.", 3, 0)):
        properties = made.add_paragraph(text)._p.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_numId().val, properties.get_or_add_ilvl().val = number, level
    made.add_heading("Costs", 1)
    made.add_paragraph("Words.")
    made.save(stream)
    document = read(stream.getvalue())
    assert document.text == (
        "7. Break clause\n7a) Notice.\n7b) Rent.\n• Keys.\n1. Again.\n2. Costs\nWords.\n"
    )
    assert document.sections[-1].path == ("2. Costs",)


@pytest.mark.parametrize(
    ("font", "number", "shown"),
    [
        ("Symbol", "F0A3", "\u2264"),
        ("Symbol", "00B3", "\u2265"),
        ("Symbol", "F0B1", "\u00b1"),
        ("Symbol", "F06D", "\u00b5"),
        ("Wingdings", "F0FC", "\u2713"),
        ("Wingdings", "F0FE", "\u2611"),
        ("MS Gothic", "2612", "\u2612"),
        ("Wingdings", "F022", "\ufffd"),
        ("Own Font", "F0A3", "\ufffd"),
        ("Symbol", "none", "\ufffd"),
    ],
)
def test_docx_symbols_are_read_or_marked_where_they_cannot_be(font: str, number: str, shown: str) -> None:
    inserted = f'<w:r><w:sym w:font="{font}" w:char="{number}"/></w:r>'
    document = word(f"<w:p>{run('Divers must be ')}{inserted}{run(' 60 years old.')}</w:p>")
    assert document.text == f"Divers must be {shown} 60 years old.\n"
    assert (shown == "\ufffd") == any(note.startswith("symbols in a font") for note in document.notes)


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("<m:r><m:t>F=25 kN</m:t></m:r>", "F=25 kN"),
        ("<m:f><m:num>{25}</m:num><m:den>{2}</m:den></m:f>", "25/2"),
        ("<m:f><m:num>{a+b}</m:num><m:den>{c}</m:den></m:f>", "(a+b)/c"),
        ("{5 }<m:sSup><m:e>{m}</m:e><m:sup>{2}</m:sup></m:sSup>", "5 m\u00b2"),
        ("<m:sSup><m:e>{e}</m:e><m:sup>{kt}</m:sup></m:sSup>", "e^kt"),
        ("<m:rad><m:deg/><m:e>{a+b}</m:e></m:rad>", "\u221a(a+b)"),
        ("{2}<m:d><m:dPr><m:begChr m:val='['/></m:dPr><m:e>{x}</m:e></m:d>", "2[x)"),
        ("{25}<m:r><w:rPr><w:vanish/></w:rPr><m:t>0</m:t></m:r>", "25"),
        ("{25}<w:del>{0}</w:del>", "25"),
    ],
)
def test_docx_formulas_are_read_on_one_line(formula: str, shown: str) -> None:
    formula = re.sub(r"\{(.*?)\}", r"<m:r><m:t>\1</m:t></m:r>", formula)
    document = word(f"<w:p>{run('The load limit is ')}<m:oMath>{formula}</m:oMath>{run('.')}</w:p>")
    assert document.text == f"The load limit is {shown}.\n"


BOX = (
    "<w:r><mc:AlternateContent><mc:Choice><x:txbx><w:txbxContent>{0}</w:txbxContent></x:txbx></mc:Choice>"
    "<mc:Fallback><x:box><w:txbxContent>{0}</w:txbxContent></x:box></mc:Fallback></mc:AlternateContent></w:r>"
).format(f"<w:p>{run('Capacity 5')}</w:p><w:p>{run('0 claims so far')}</w:p>")


def test_docx_text_boxes_follow_what_they_hang_on_and_are_glued_to_nothing() -> None:
    around = f"<w:p>{run('Seats: 4')}{BOX}{run('0')}</w:p>"
    document = word(around, f"<w:p>{run('End.')}</w:p>")
    assert document.text == "Seats: 40\nCapacity 5\n0 claims so far\nEnd.\n"
    cells = "".join(f"<w:tc><w:p>{run(text)}{box}</w:p></w:tc>" for text, box in (("Hall", ""), ("7", BOX)))
    document = word(f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>", f"<w:p>{run('End.')}</w:p>")
    assert document.text == "Hall\t7\nCapacity 5\n0 claims so far\nEnd.\n"


def row_of(*texts: str, properties: str = "", cell: str = "") -> str:
    """A row of a Word table; ``cell`` is the properties of its first cell."""
    first, *others = (f"<w:p>{run(text)}</w:p></w:tc>" for text in texts)
    cells = f"<w:tc><w:tcPr>{cell}</w:tcPr>{first}" + "".join(f"<w:tc>{other}" for other in others)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{cells}</w:tr>"


HALLS = row_of("Hall", "Summer", "Winter")


def test_docx_row_that_begins_further_right_keeps_its_columns() -> None:
    later = row_of("40", "30", properties='<w:gridBefore w:val="1"/>')
    document = word(f"<w:tbl>{HALLS}{row_of('North', '8', '9')}{later}</w:tbl>")
    assert values(document)[1] == {"": "", "Summer": "40", "Winter": "30"}


def test_docx_row_that_is_deleted_is_left_out_and_lends_no_label() -> None:
    deleted, opened, goes_on = "<w:del w:id='1'/>", '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    rows = (
        row_of("North", "1", "2", cell=opened)
        + row_of("South", "3", "4", properties=deleted, cell=opened).replace("</w:p>", f"{BOX}</w:p>", 1)
        + row_of("", "5", "6", cell=goes_on)
        + row_of("", "7", "8", cell=goes_on)
    )
    document = word(f"<w:tbl>{HALLS}{rows}</w:tbl>")
    assert "Capacity" not in document.text
    assert [list(row.values()) for row in values(document)] == [
        ["North", "1", "2"],
        ["", "5", "6"],
        ["", "7", "8"],
    ]


def test_docx_paragraphs_are_one_where_the_mark_between_them_is_deleted() -> None:
    mark = "<w:pPr><w:rPr><w:del w:id='1'/></w:rPr></w:pPr>"
    document = word(
        f"<w:p>{mark}{run('Work needs')}</w:p>",
        f"<w:p>{mark}<w:del w:id='2'>{run('one')}</w:del></w:p>",
        f"<w:p>{run(' two keys.')}</w:p>",
        f"<w:p>{mark}{run('End.')}</w:p>",
        f"<w:tbl>{HALLS}{row_of('North', '8', '9')}</w:tbl>",
    )
    assert document.text == "Work needs two keys.\nEnd.\nHall\tSummer\tWinter\nNorth\t8\t9\n"


def test_xlsx_shows_values_as_the_sheet_does() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Regions"
    for line in (
        ["Sales (in thousands)"],
        ["Item", "2020", "Share"],
        ["Europe", 1234567.5, 0.256],
        ["All", "=B3", 1],
    ):
        sheet.append(line)
    sheet["B3"].number_format, sheet["C3"].number_format = '"$"#,##0.00', "0.0%"
    sheet["XFD1048576"] = "far away"
    hidden = book.create_sheet("Salaries")
    hidden["A1"], hidden.sheet_state = "secret", "hidden"
    stream = io.BytesIO()
    book.save(stream)
    document = read(stream.getvalue())
    assert document.sections[0].path == ("Regions",)
    assert values(document)[0] == {"": "Europe", "2020": "$1,234,567.50", "Share": "25.6%"}
    assert document.tables[0].units == "in thousands"
    assert "secret" not in document.text
    assert "hidden sheets left out: 1" in document.notes
    assert any(note.startswith("formulas without a stored value left out: 1") for note in document.notes)


@pytest.mark.parametrize(
    ("value", "layout", "shown"),
    [
        (1234.56, "#,###.00", "1,234.56"),
        (12.75, "#,###.00", "12.75"),
        (12.75, "#.##", "12.75"),
        (13, "#,##0.##", "13"),
        (1.25, "0.0#", "1.25"),
        (1.2, "0.0##", "1.2"),
        (0.1254, "#.0%", "12.5%"),
        (1_577_000_000, "#,##0,,", "1,577"),
        (1_577_400_000, '#,##0.0,,"M"', "1,577.4M"),
        (2.5, "0", "3"),
        (0.125, "0%", "13%"),
        (25.6, '0.0"%"', "25.6%"),
        (-5.5, '_("$"* #,##0.00_);_("$"* (#,##0.00)', "-$5.50"),
        (5, "[Red][$€-407]#,##0.00", "€5.00"),
        (7, "000", "007"),
        (5.25, "# ?/?", "5.25"),
        (12345.6, "0.00E+00", "12345.6"),
        (5.5, "[<100]0;0.0", "5.5"),
        (12.5, '"about"', "12.5"),
        (10**15, "#,##0.00", "1000000000000000"),
    ],
)
def test_xlsx_number_is_shown_as_its_format_says_or_as_it_is_stored(
    value: float, layout: str, shown: str
) -> None:
    book, stream = openpyxl.Workbook(), io.BytesIO()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Item", "2020"])
    sheet.append(["Europe", value])
    sheet["B2"].number_format = layout
    book.save(stream)
    assert values(read(stream.getvalue())) == [{"": "Europe", "2020": shown}]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_of_any_delimiter_is_a_table_with_heads(delimiter: str) -> None:
    rows = [["Name", "Revenue (in millions)", "Year"], ["Nike", "1577", "2018"], ['"A\nB"', "2", "2019"]]
    document = read("\r\n".join(delimiter.join(row) for row in rows))
    assert document.media_type == "text/csv"
    assert values(document) == [
        {"": "Nike", "Revenue (in millions)": "1577", "Year": "2018"},
        {"": "A B", "Revenue (in millions)": "2", "Year": "2019"},
    ]


PEOPLE = "name,city,team\nAnn,Rome,Red\n"


@pytest.mark.parametrize("blank", ["\n", ",,\n"])
def test_a_blank_row_of_a_csv_makes_no_heads_of_the_row_below(blank: str) -> None:
    document = read(f"{PEOPLE}{blank}Bob,Paris,Blue\nCid,Oslo,Blue\n", "a.csv")
    first, *further = values(document)
    assert first == {"": "Ann", "city": "Rome", "team": "Red"}
    # They may continue the table or start another: better no head than a wrong one.
    assert all(set(row) == {""} for row in further)
    assert "Cid" in document.text


def test_words_over_numbers_after_a_blank_row_of_a_csv_are_heads_again() -> None:
    document = read(f"{PEOPLE}\nitem,made in,price\nHat,Rome,5\nCap,Oslo,6\n", "a.csv")
    assert values(document)[1] == {"": "Hat", "made in": "Rome", "price": "5"}
    document = read("name,role\nAnn,CEO\n\ncountry,capital\nFrance,Paris\n", "a.csv")
    assert all("role" not in row for row in values(document)[1:])


def test_numbers_after_a_blank_row_of_a_csv_keep_their_heads() -> None:
    document = read("region,sales\nNorth,5\n\nSouth,7\nEast,8\n", "a.csv")
    assert values(document)[-1] == {"": "East", "sales": "8"}


@pytest.mark.parametrize(
    ("bold", "second", "last"),
    [
        ([1], [["Bob", "Paris"], ["Cid", "Oslo"]], {"": "Oslo"}),
        ([1, 4], [["item", "made in"], ["Hat", "Oslo"]], {"": "Hat", "made in": "Oslo"}),
        ([], [["item", "price"], ["Hat", 5]], {"": "Hat", "price": "5"}),
        ([], [["Bob", "Paris"], ["Cid", "Oslo"]], {"": "Oslo"}),
    ],
)
def test_a_blank_row_of_a_sheet_gives_no_value_a_wrong_head(
    bold: list[int], second: list[list[str]], last: dict[str, str]
) -> None:
    book, stream = openpyxl.Workbook(), io.BytesIO()
    sheet = book.active
    assert sheet is not None
    for line in (["name", "city"], ["Ann", "Rome"], [], *second):
        sheet.append(line)
    for row in bold:
        for cell in sheet[row]:
            cell.font = Font(bold=True)
    book.save(stream)
    assert values(read(stream.getvalue()))[-1] == last


def test_numbers_after_a_blank_row_of_a_sheet_keep_their_heads() -> None:
    book, stream = openpyxl.Workbook(), io.BytesIO()
    sheet = book.active
    assert sheet is not None
    for line in (["Region", "Sales"], ["North", 5], [], ["South", 7], ["East", 8]):
        sheet.append(line)
    book.save(stream)
    assert values(read(stream.getvalue()))[-1] == {"": "East", "Sales": "8"}


TEXT = """ANNUAL REVIEW

1. Introduction

This paragraph was wrapped by hand at about sixty characters
a line, as old files do, and it is one long-
term paragraph until here.

- one item
- two items

Name     2020   2019
Sales    5      6
Costs    7      8
"""


def test_plain_text_is_unwrapped_and_its_headings_found() -> None:
    document = read(TEXT)
    assert document.media_type == "text/plain"
    assert document.text == (
        "ANNUAL REVIEW\n1. Introduction\nThis paragraph was wrapped by hand at about sixty characters "
        "a line, as old files do, and it is one long-term paragraph until here.\n- one item\n- two items\n"
        "Name\t2020\t2019\nSales\t5\t6\nCosts\t7\t8\n"
    )
    assert [section.path for section in document.sections] == [("ANNUAL REVIEW",), ("1. Introduction",)]
    assert values(document)[0] == {"": "Sales", "2020": "5", "2019": "6"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_text_in_any_unicode_encoding_is_the_same_text(encoding: str) -> None:
    assert read("Gewinn: 5 € für das Jahr.\r\n".encode(encoding)).text == "Gewinn: 5 € für das Jahr.\n"


def test_text_is_nfc_and_without_unseen_characters() -> None:
    document = read("Cafe\u0301 opens\u200b at\u00a09.\u202e\U000e0041\U000e0042")
    assert document.text == "Caf\u00e9 opens at 9.\n"
    assert "invisible characters left out: 4" in document.notes


@pytest.mark.parametrize("name", ["a.md", "a.csv", "a.html"])
def test_a_row_of_unseen_characters_is_no_row(name: str) -> None:
    rows = [["Item", "2019"], ["Shop", "1,200"], ["\u202e", "\u200b"], ["Flat", "1,300"]]
    lines = {
        "a.md": ["| " + " | ".join(row) + " |" for row in (rows[0], ["---", "---"], *rows[1:])],
        "a.csv": [";".join(row) for row in rows],
        "a.html": ["<table>", *("<tr><td>" + "<td>".join(row) for row in rows)],
    }
    document = read("\n".join(lines[name]) + "\n", name)
    assert values(document) == [{"": "Shop", "2019": "1,200"}, {"": "Flat", "2019": "1,300"}]


def test_the_name_decides_only_between_kinds_of_text() -> None:
    assert read("a,b\n1,2\n", "x.txt").media_type == "text/plain"
    assert read("just words\n", "x.md").media_type == "text/markdown"
    assert read(PAGE, "x.txt").media_type == "text/html"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Report\nPublished on July 3, 2020 by us\n", "2020-07-03"),
        ("Report\n3 July 2020\nText follows.\n", "2020-07-03"),
        ("In the year ended July 3, 2020 we sold much.\n", None),
        ("Filed 07/08/2020\n", None),
    ],
)
def test_a_date_of_publication_is_taken_from_the_first_page_only_when_it_is_one(
    text: str, date: str | None
) -> None:
    assert read(text).published_at == (Found(value=date, origin="first page") if date else None)


def office(kind: str) -> bytes:
    """A document or workbook last saved on 4 March 2019."""
    stream = io.BytesIO()
    day = datetime(2019, 3, 4, tzinfo=UTC).replace(tzinfo=None)
    if kind == "docx":
        made = docx.Document()
        made.add_paragraph("Some words.")
        made.core_properties.modified = day
        made.save(stream)
    else:
        book = openpyxl.Workbook()
        assert book.active is not None
        book.active["A1"] = "Some words."
        book.save(stream)
        core = re.compile(rb"(?<=>)[^<]+(?=</dcterms:modified>)")
        return parts(stream.getvalue(), lambda _, data: core.sub(b"2019-03-04T10:00:00Z", data))
    return stream.getvalue()


def parts(data: bytes, change: Callable[[str, bytes], bytes | None]) -> bytes:
    """The archive with each part changed, or omitted where the change is None."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            if (part := change(name, old.read(name))) is not None:
                new.writestr(name, part)
    return made.getvalue()


def without_core(name: str, data: bytes) -> bytes | None:
    if name == "docProps/core.xml":
        return None
    return re.sub(rb'<(?:Relationship|Override)[^>]*"/?docProps/core.xml"[^>]*/>', b"", data)


@pytest.mark.parametrize("kind", ["docx", "xlsx"])
def test_the_day_an_office_file_was_saved_is_named_as_that(kind: str) -> None:
    assert read(office(kind)).published_at == Found(value="2019-03-04", origin="metadata: modified")


@pytest.mark.parametrize("kind", ["docx", "xlsx"])
def test_an_office_file_that_says_nothing_of_itself_gets_no_date_and_no_title(kind: str) -> None:
    """The libraries fill in today's date, a title and an author where a file has none."""
    document = read(parts(office(kind), without_core))
    assert (document.published_at, document.title, document.author) == (None, None, None)


def test_the_day_a_page_was_changed_is_named_as_that() -> None:
    changed = '<meta property="article:modified_time" content="2021-05-06">'
    document = read(f"<!doctype html><html><head>{changed}</head><body><p>Words.</body></html>")
    assert document.published_at == Found(value="2021-05-06", origin="metadata: modified")
    document = read(
        f"<!doctype html><html><head>{changed}</head><body><p>Published on 3 July 2020.</body></html>"
    )
    assert document.published_at == Found(value="2020-07-03", origin="first page")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("de", "de"),
        ("pt-BR", "pt"),
        ("en_GB", "en"),
        ("fil", "fil"),
        ("deu", "de"),
        ("German", None),
        ("und", None),
        ("d", None),
    ],
)
def test_a_language_is_a_code_or_it_is_told_from_the_text(said: str, code: str | None) -> None:
    text = "The company paid the dividend that was announced in the report to all of its owners this year."
    expected = Found(value=code, origin="metadata") if code else read(text).language
    assert read(f'<!doctype html><html lang="{said}"><body><p>{text}</body></html>').language == expected
    front = Found(value=code, origin="front matter") if code else expected
    found = read(f"---\nlang: {said}\n---\n\n{text}\n", "a.md").language
    assert found == front
    made, stream = docx.Document(), io.BytesIO()
    made.add_paragraph(text)
    made.core_properties.language = said
    made.save(stream)
    assert read(stream.getvalue()).language == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "The company paid the dividend that was announced in the report to all of its owners this year.",
            "en",
        ),
        ("Der Vorstand hat beschlossen, die Dividende in diesem Jahr deutlich zu erhöhen.", "de"),
        ("12 345 678", None),
        ("Ok.", None),
    ],
)
def test_language_is_told_or_left_open(text: str, code: str | None) -> None:
    found = read(text).language
    assert (found.value if found else None) == code


def test_markdown_that_opens_with_html_is_read_as_markdown() -> None:
    document = read(
        '<div align="center">\n<img src="logo.png" alt="Logo"><p>Fast <b>things</b></p><br/>\n</div>\n\n'
        "# Speedy\n\nSpeedy makes things fast: see [the docs](docs/x.md).\n\n## Install\n\nRun `pip`.\n",
        "README.md",
    )
    assert document.media_type == "text/markdown"
    assert [section.path for section in document.sections] == [("Speedy",), ("Speedy", "Install")]
    assert "Speedy makes things fast: see the docs." in document.text


@pytest.mark.parametrize(
    "page",
    [
        "<style>.b{background:#036;color:#fff} .b:hover{background:#fff}</style><p class=b>Seen.</p>",
        "<style>.c{color:#fff} .c{color:#000}</style><p class=c>Seen.</p>",
        "<style>@media (prefers-color-scheme:dark){.c{color:#fff}}</style><p class=c>Seen.</p>",
        "<style>.hd{color:#fff}.hd td{background:#036}</style><table><tr class=hd><td>Seen.</table>",
    ],
)
def test_what_a_style_sheet_prints_in_white_is_read(page: str) -> None:
    """Only a style engine knows which rule wins and on what background; most such text is visible."""
    assert "Seen." in read(f"<!doctype html><body>{page}</body>").text


def test_a_format_made_to_be_slow_or_too_fine_gives_the_stored_value() -> None:
    assert shown_value(1.0, "0," + "," * 20_000 + "x") == "1"
    assert shown_value(9.99e14, "0.0000000000%%%") == "999000000000000"


def test_a_long_column_of_single_cells_heads_no_row_with_all_of_itself() -> None:
    """Each such cell used to carry all those above it: 900 kB took a minute and quadratic memory."""
    listed = "".join(f"label {n}\n" for n in range(2_000))
    document = read(f"name,paid\nAnn,5\n{listed}Bob,7\n", "a.csv")
    last = document.tables[0].rows[-1]
    assert last.label == "Bob"
    assert last.group.split(" \u203a ") == [f"label {n}" for n in range(1_994, 2_000)]
    assert sum(len(row.group) for row in document.tables[0].rows) < 200

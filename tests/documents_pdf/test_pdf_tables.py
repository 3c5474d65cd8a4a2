"""Statements: rows, figures, column heads, units, titles and the labels above groups of rows."""

from __future__ import annotations

from typing import Any

from tests.documents_pdf.conftest import width

from citewell.core.records import Document, Row


def row(document: Document, label: str) -> Row:
    return next(row for table in document.tables for row in table.rows if row.label == label)


def figures(document: Document, label: str) -> dict[str, str]:
    return {cell.head: document.text[cell.start : cell.end] for cell in row(document, label).cells}


def statement(pdf: Any) -> Document:
    sheet = pdf.page()
    sheet.say(200, 740, "CONSOLIDATED BALANCE SHEETS", bold=True)
    sheet.say(200, 725, "(In millions, except per share data)")
    sheet.say(425, 700, "December 31,", bold=True)
    sheet.say(405, 686, "2018", bold=True).say(505, 686, "2017", bold=True)
    lines = [
        (50, "Current assets:", "", ""),
        (60, "Cash", "4,059", "1,696"),
        (60, "Loss (gain) on sales", "(1,250)", "86"),
        (60, "Total current assets", "45,243", "31,229"),
        (50, "Goodwill", "78,678", "\x97"),
        (50, "Margin", "12.5", "11"),
    ]
    for index, (x, label, now, then) in enumerate(lines):
        y = 670 - 13 * index
        sheet.say(x, y, label)
        if label == "Cash":
            sheet.say(380, y, "$").say(480, y, "$")
        if now:
            sheet.right(430, y, now.encode("cp1252", "replace").decode("cp1252"))
            sheet.right(530, y, then if then != "\x97" else "—")
        if label == "Margin":
            sheet.say(438, y, "%").say(538, y, "%")
    return pdf.read()  # type: ignore[no-any-return]


def test_rows_are_one_line_with_tabs(pdf: Any) -> None:
    """Dollar signs, brackets and percent signs stay attached to their figure."""
    text = statement(pdf).text
    assert "\nCash\t$4,059\t$1,696\n" in text
    assert "\nLoss (gain) on sales\t(1,250)\t86\n" in text
    assert "\nGoodwill\t78,678\t—\n" in text
    assert "\nMargin\t12.5%\t11%\n" in text


def test_heads_units_and_title_are_found_and_not_injected(pdf: Any) -> None:
    """The head that spans both columns is joined to each year; none of it is repeated in the text."""
    document = statement(pdf)
    assert figures(document, "Cash") == {"December 31, 2018": "$4,059", "December 31, 2017": "$1,696"}
    table = document.tables[0]
    assert table.title == "CONSOLIDATED BALANCE SHEETS"
    assert table.units == "In millions, except per share data"
    assert document.text.count("December 31,") == 1


def test_rows_know_the_label_they_stand_under(pdf: Any) -> None:
    """Indented rows belong to "Current assets"; the next row at the margin does not."""
    document = statement(pdf)
    assert row(document, "Cash").group == "Current assets"
    assert row(document, "Goodwill").group == ""


def test_every_cell_is_where_it_says(pdf: Any) -> None:
    """Rows and cells are ranges of the text; their boxes lie on the page."""
    document = statement(pdf)
    for table in document.tables:
        for found in table.rows:
            line = document.text[found.start : found.end]
            assert "\n" not in line
            assert line.startswith(found.label)
            assert all(found.start <= cell.start < cell.end <= found.end for cell in found.cells)
    found = row(document, "Cash")
    label, *cells = [box for box in document.boxes if found.start <= box.start < found.end]
    assert (label.start, label.end) == (found.start, found.start + len("Cash"))
    assert [(box.start, box.end) for box in cells] == [(cell.start, cell.end) for cell in found.cells]
    assert label.x1 < cells[0].x0 < cells[0].x1 < cells[1].x0
    assert 380 < cells[0].x0 < 430 <= cells[0].x1 + 1


def test_a_label_on_two_lines_is_one_row(pdf: Any) -> None:
    """The wrapped label is joined, and both of its lines keep a box."""
    sheet = pdf.page()
    for index, (label, value) in enumerate([("Revenue", "10"), ("Cost", "20"), ("Tax", "30")]):
        sheet.say(50, 700 - 14 * index, label).right(400, 700 - 14 * index, value).right(
            500, 700 - 14 * index, value
        )
    sheet.say(50, 658, "Effect of exchange rate changes on cash and")
    sheet.say(60, 648, "cash equivalents").right(400, 648, "(41)").right(500, 648, "7")
    document = pdf.read()
    found = row(document, "Effect of exchange rate changes on cash and cash equivalents")
    assert document.text[found.start : found.end].endswith("equivalents\t(41)\t7")
    assert sum(found.start <= box.start < found.end for box in document.boxes) >= 2


def test_dotted_leaders_separate_and_vanish(pdf: Any) -> None:
    """Leaders carry no meaning: the label and the figure remain."""
    sheet = pdf.page()
    for index, label in enumerate(["Subscription", "Product", "Services"]):
        y = 700 - 14 * index
        sheet.say(50, y, label + "." * 60).right(420, y, f"{index + 1},446").right(500, y, f"{index + 5},807")
    assert "Product\t2,446\t6,807\n" in pdf.read().text


def test_years_over_the_labels_complete_bare_years(pdf: Any) -> None:
    """ "Year Ended May 31," in the corner and years above the columns make full heads."""
    sheet = pdf.page()
    sheet.say(50, 700, "Year Ended May 31,").right(400, 700, "2018").right(500, 700, "2017")
    sheet.say(50, 688, "(In thousands)")
    for index, label in enumerate(["Revenues", "Expenses", "Income"]):
        y = 670 - 14 * index
        sheet.say(50, y, label).right(400, y, f"{index + 1},446").right(500, y, f"{index + 5},807")
    document = pdf.read()
    assert figures(document, "Income") == {
        "Year Ended May 31, 2018": "3,446",
        "Year Ended May 31, 2017": "7,807",
    }
    assert document.tables[0].units == "In thousands"


def test_prose_is_not_a_table(pdf: Any) -> None:
    """Figures inside sentences stay in their paragraph."""
    sheet = pdf.page()
    sheet.say(
        50, 700, "Revenue was 4,059 in 2018 and 1,696 in 2017, which is more than the 1,250 of 2016 and"
    )
    sheet.say(50, 688, "of 2015 together.")
    document = pdf.read()
    assert document.tables == ()
    assert "\t" not in document.text


def test_a_years_mark_is_no_figure(pdf: Any) -> None:
    """ "2017 (1)" over a column is its head."""
    sheet = pdf.page()
    sheet.say(390, 720, "Year Ended May 31,", bold=True)
    for at, year in enumerate(("2016", "2017 (1)", "2018")):
        sheet.right(350 + 90 * at, 706, year, bold=True)
    lines = ("Net sales", "107", "135", "177"), ("Profit", "22", "41", "43")
    for row, (label, *figures) in enumerate(lines):
        sheet.say(50, 690 - 14 * row, label)
        for at, figure in enumerate(figures):
            sheet.right(350 + 90 * at, 690 - 14 * row, figure)
    rows = pdf.read().tables[0].rows
    assert [row.label for row in rows] == ["Net sales", "Profit"]
    assert [cell.head for cell in rows[0].cells] == [
        "Year Ended May 31, 2016",
        "Year Ended May 31, 2017(1)",
        "Year Ended May 31, 2018",
    ]


def test_a_title_in_the_middle_of_the_table_heads_no_column(pdf: Any) -> None:
    sheet = pdf.page()
    sheet.say(300 - 0.5 * width("Store Update", 10), 740, "Store Update", bold=True)
    for at, head in enumerate(("Opened", "Closed", "Open at the end")):
        sheet.right(370 + 90 * at, 720, head, bold=True)
    lines = ("First quarter", "10", "12", "177"), ("Second", "22", "41", "43")
    for row, (label, *figures) in enumerate(lines):
        sheet.say(50, 706 - 14 * row, label)
        for at, figure in enumerate(figures):
            sheet.right(370 + 90 * at, 706 - 14 * row, figure)
    document = pdf.read()
    assert [cell.head for cell in document.tables[0].rows[0].cells] == ["Opened", "Closed", "Open at the end"]
    assert [section.path[-1] for section in document.sections if section.path] == ["Store Update"]

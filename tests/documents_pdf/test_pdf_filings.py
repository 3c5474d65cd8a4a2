"""Real filings: what a reader of the statement sees is in the rows, under the right heads."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.records import Document, Found, Table
from citewell.documents.pdf import read_pdf

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def amazon(data: Path) -> Document:
    path = data / "financebench" / "pdfs" / "AMAZON_2019_10K.pdf"
    return read_pdf(path.read_bytes(), document_id=path.name, uri="")


def table(document: Document, title: str, label: str) -> Table:
    return next(
        table
        for table in document.tables
        if table.title == title and any(row.label == label for row in table.rows)
    )


def test_the_income_statement(amazon: Document) -> None:
    """Every year of "Total net sales" is under its own head."""
    found = table(amazon, "CONSOLIDATED STATEMENTS OF OPERATIONS", "Total net sales")
    assert found.units == "in millions, except per share data"
    row = next(row for row in found.rows if row.label == "Total net sales")
    assert {cell.head: amazon.text[cell.start : cell.end] for cell in row.cells} == {
        "Year Ended December 31, 2017": "177,866",
        "Year Ended December 31, 2018": "232,887",
        "Year Ended December 31, 2019": "280,522",
    }


def test_the_balance_sheet_knows_its_groups(amazon: Document) -> None:
    found = table(amazon, "CONSOLIDATED BALANCE SHEETS", "Inventories")
    groups = {row.label: row.group for row in found.rows}
    assert groups["Inventories"] == "Current assets"
    assert groups["Goodwill"] == ""


def test_the_filing_names_itself(amazon: Document) -> None:
    assert amazon.title is not None
    assert amazon.title.value == "AMAZON.COM, INC. Form 10-K for the fiscal year ended December 31, 2019"
    assert amazon.title.origin == "first page"
    assert amazon.published_at == Found(value="2019-12-31", origin="first page: period end")


def test_sections_hang_under_part_and_item(amazon: Document) -> None:
    paths = {section.path for section in amazon.sections}
    assert (
        "PART II",
        "Item 8. Financial Statements and Supplementary Data",
        "CONSOLIDATED STATEMENTS OF CASH FLOWS",
    ) in paths


def test_two_columns_of_a_bank(data: Path) -> None:
    """A page of prose next to a table: the sentence stays whole, the table keeps its rows."""
    import pypdfium2

    path = data / "financebench" / "pdfs" / "JPMORGAN_2021Q1_10Q.pdf"
    whole = pypdfium2.PdfDocument(path)
    part = pypdfium2.PdfDocument.new()
    part.import_pages(whole, [9])
    part.save(target := _Sink())
    document = read_pdf(bytes(target.data), document_id="page", uri="")
    assert "expense from the associated tax credits" in document.text
    assert "Wholesale\t(671)\t2,594\tNM" in document.text


class _Sink:
    """What pypdfium2 saves to."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: bytes) -> int:
        self.data += data
        return len(data)

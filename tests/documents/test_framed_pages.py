"""The boilerplate of a site's pages is left out and counted; lists and definitions read as they are shown."""

from __future__ import annotations

import re

import pytest
from tests.documents.framed_pages import PAGES

from citewell.core.records import Document
from citewell.documents.reading import read_bytes


def read(page: str) -> Document:
    return read_bytes(f"<!doctype html><html>{page}</html>".encode(), document_id="page.html")


@pytest.mark.parametrize("kind", PAGES)
def test_the_frame_is_left_out_and_counted_and_nothing_else_is(kind: str) -> None:
    page = PAGES[kind]
    document = read(page)
    assert "drop" not in document.text
    assert re.sub(r"\W", "", document.text).count("keep") == page.count("keep")
    assert any("left out" in note for note in document.notes) == ("drop" in page)


def test_what_was_left_out_is_told_with_its_amount() -> None:
    page = "<nav><a>Products</a> <a>Support</a></nav><p>Words.</p><footer>© Seller</footer>"
    assert read(f"<body>{page}</body>").notes == (
        "navigation left out: 15 characters",
        "page footers left out: 7 characters",
    )


def test_a_page_that_is_all_frame_is_read() -> None:
    document = read("<body><nav><p>All documents of the firm.</p></nav></body>")
    assert document.text == "All documents of the firm.\n"
    assert document.notes == ()


def test_lists_and_definitions_are_read_as_they_are_shown() -> None:
    assert read(PAGES["plain"]).text.splitlines()[3:14] == [
        "You need two wrenches, keep:",
        "1. Close the valve, keep.",
        "2. Remove the cover, keep:",
        "• loosen both bolts, keep",
        "• lift it, keep",
        "3. Replace the seal, keep.",
        "Head, keep: The height to which it lifts water, keep.",
        "Prices in euros, keep",
        "Model, keep\tPrice, keep",
        "BW-310, keep\t1,360, keep",
        "BW-420, keep\t1,910, keep",
    ]


@pytest.mark.parametrize(
    ("items", "shown"),
    [
        ("<ol start=3><li>c<li value=7>g<li>h</ol>", "3. c\n7. g\n8. h\n"),
        ("<ol type=i start=4><li>a<li>b</ol>", "iv. a\nv. b\n"),
        ("<ol type=A start=26><li>a<li>b</ol>", "Z. a\nAA. b\n"),
        ("<ol><li><h3>Close</h3><p>First.</p></ol>", "1. Close\nFirst.\n"),
        ("<dl><dt>A<dt>B:<dd><p>One.</p><p>Two.</p><dt>C</dl>", "A, B: One.\nTwo.\nC\n"),
        ("<table><tr><th>a<th>b<tr><td>Do<td><ol><li>x<li>y</ol></table>", "a\tb\nDo\t1. x 2. y\n"),
    ],
)
def test_the_numbers_of_a_list_are_those_that_are_shown(items: str, shown: str) -> None:
    assert read(f"<body>{items}</body>").text == shown


def test_the_lists_of_markdown_have_their_numbers() -> None:
    text = "Do this:\n\n3. Close\n3. Open\n   - slowly\n\n     and twice\n"
    document = read_bytes(text.encode(), document_id="a.md")
    assert document.text == "Do this:\n3. Close\n4. Open\n• slowly\nand twice\n"

"""A quote of a table row may leave cells out; it may not bring words along or take cells of two rows."""

from __future__ import annotations

import pytest

from citewell.checking.row_quotes import row_spans
from citewell.records import Passage


@pytest.fixture
def officers(pages) -> Passage:
    return pages.table(
        [
            ("Jane Doe", ["54", "President, Chief Executive Officer"]),
            ("John Roe", ["61", "Chief Financial Officer"]),
        ],
        ["Age", "Position"],
        table="Executive Officers",
        base=500,
    )


def said(passage: Passage, quote: str) -> list[str]:
    base, text = passage.chunk.start_offset, passage.chunk.content
    return [text[start - base : end - base] for start, end in row_spans(quote, passage)]


@pytest.mark.parametrize(
    ("quote", "parts"),
    [
        ("Jane Doe, President, Chief Executive Officer", ["Jane Doe", "President, Chief Executive Officer"]),
        ("Jane Doe | 54", ["Jane Doe", "54"]),
        ("John Roe: 61; Chief Financial Officer.", ["John Roe", "61", "Chief Financial Officer"]),
    ],
)
def test_label_and_cells_are_found_each_in_its_place(officers, quote: str, parts: list[str]) -> None:
    assert said(officers, quote) == parts


@pytest.mark.parametrize(
    "quote",
    [
        "Jane Doe, Chief Financial Officer",  # a cell of another row
        "Jane Doe, Chief Executive Officer",  # half a cell
        "Jane Doe is President, Chief Executive Officer",  # a word of its own
        "54, Jane Doe",  # another order
        "54, President, Chief Executive Officer",  # no label: whose?
        "Jane Doe",  # nothing said
        "Jane Doe 540",  # more digits than the cell
        "",
    ],
)
def test_anything_else_is_no_row(officers, quote: str) -> None:
    assert said(officers, quote) == []

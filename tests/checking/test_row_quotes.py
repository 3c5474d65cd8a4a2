"""A quote of a table row may omit cells; it may not add words or combine cells of two rows."""

from __future__ import annotations

import pytest

from citewell.core.records import Passage
from citewell.verification.checking.citations import row_spans


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
        ("John Roe \u2014 Chief Financial Officer", ["John Roe", "Chief Financial Officer"]),
        ("John Roe \u2026 Chief Financial Officer", ["John Roe", "Chief Financial Officer"]),
        ("John Roe | 61 |", ["John Roe", "61"]),
    ],
)
def test_label_and_cells_are_found_each_in_its_place(officers, quote: str, parts: list[str]) -> None:
    assert said(officers, quote) == parts


@pytest.mark.parametrize(
    "quote",
    [
        "Jane Doe, Chief Financial Officer",  # a cell of another row
        "Jane Doe, Chief Executive Officer",  # half a cell
        "Jane Doe is President, Chief Executive Officer",  # an added word
        "54, Jane Doe",  # wrong order
        "54, President, Chief Executive Officer",  # no label: whose?
        "Jane Doe",  # states nothing
        "Jane Doe 540",  # more digits than the cell
        "Jane Doe -54",  # an added sign
        "Jane Doe \u2014 54",
        "Jane Doe - $54",
        "Jane Doe,, 54",  # two separators
        "Jane Doe/54",
        "",
    ],
)
def test_anything_else_is_no_row(officers, quote: str) -> None:
    assert said(officers, quote) == []


@pytest.mark.parametrize(
    ("label", "cells", "quote"),
    [
        ("Net income", ["525", "210"], "Net income -525"),
        ("Net income", ["525", "210"], "Net income -210"),
        ("Vans", ["1", "234"], "Vans 1,234"),
        ("Hours", ["9", "30"], "Hours 9:30"),
        ("Odds", ["1", "2"], "Odds 1/2"),
    ],
)
def test_no_separator_makes_another_number(pages, label: str, cells: list[str], quote: str) -> None:
    assert said(pages.table([(label, cells)], ["", ""]), quote) == []


@pytest.mark.parametrize(
    ("label", "cells", "quote"),
    [
        ("Net income", ["(", "525", ")"], "Net income 525"),
        ("Net income", ["-", "525", "210"], "Net income, 525"),
        ("Refunds", ["not", "available"], "Refunds, available"),
        ("Jane Doe", ["former", "President"], "Jane Doe: President"),
        ("Jane Doe", ["(Former)", "President"], "Jane Doe: President"),
    ],
)
def test_a_cell_that_turns_the_rest_is_not_left_out(pages, label: str, cells: list[str], quote: str) -> None:
    assert said(pages.table([(label, cells)], ["", "", ""]), quote) == []


def test_an_empty_cell_and_a_cell_of_words_may_be_left_out(pages) -> None:
    row = pages.table([("Refunds", ["", "no later than May", "available"])], ["", "", ""])
    assert said(row, "Refunds, available") == ["Refunds", "available"]


@pytest.mark.parametrize("quote", ["Net income ( 525 )", "Net income | ( | 525 | )"])
def test_the_brackets_of_a_minus_are_quoted_with_it(pages, quote: str) -> None:
    row = pages.table([("Net income", ["(", "525", ")"])], ["", "", ""])
    assert said(row, quote) == ["Net income", "(", "525", ")"]

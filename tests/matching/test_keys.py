"""Rows with the same label are told apart by their other cells: a year, a quarter, a place."""

from __future__ import annotations

import msgspec
import pytest

from citewell.core.records import Passage, Row
from citewell.questions.rows import differing_cell, named_cells


@pytest.fixture
def ships(pages) -> Passage:
    return pages.table(
        [
            ("Europe", ["2023", "410"]),
            ("Europe", ["2024", "2023"]),
            ("Asia", ["2023", "77"]),
        ],
        ["Year", "Ships"],
        base=40,
    )


def row(passage: Passage, number: int) -> Row:
    return passage.chunk.rows[number]


@pytest.mark.parametrize(
    ("question", "number", "apart"),
    [
        ("How many ships came from Europe in 2024?", 0, "2023"),
        ("How many ships came from Europe in 2024?", 1, ""),
        ("How many ships came from Europe in 2022?", 0, "2023"),
        ("How many ships came from Asia in 2024?", 2, "2023"),
        ("How many ships came from Europe?", 0, ""),
        ("How many ships came from Europe from 2022 to 2024?", 0, ""),
        ("How many ships came from Europe in 2023 and 2024?", 0, ""),
        ("How did the number of ships from Europe change from 2024?", 0, ""),
        ("How many ships came from Europe since 2024?", 0, ""),
    ],
)
def test_a_row_of_another_year_is_set_apart(ships, question: str, number: int, apart: str) -> None:
    assert differing_cell(question, ships, row(ships, number)) == apart


def test_a_row_of_another_place_or_month_is_set_apart(pages) -> None:
    table = pages.table(
        [
            ("North", ["Oslo", "Jan", "3"]),
            ("North", ["Bergen", "Feb", "4"]),
            ("North", ["Bergen", "May", "5"]),
        ],
        ["Town", "Month", "Shops"],
    )
    apart = [
        differing_cell("How many shops does North have in Bergen?", table, one) for one in table.chunk.rows
    ]
    assert apart == ["Oslo", "", ""]
    apart = [
        differing_cell("What were the shops of North in February?", table, one) for one in table.chunk.rows
    ]
    assert apart == ["Jan", "", "May"]
    assert not any(
        differing_cell("How many shops may North open?", table, one) for one in table.chunk.rows[:2]
    )


def test_a_year_that_is_no_key_sets_nothing_apart(pages) -> None:
    table = pages.table(
        [("Alder", ["1998", "47"]), ("Birch", ["2004", "28"])], ["Opened", "Output 2024 (MW)"]
    )
    assert differing_cell("What was the output of Birch in 2024?", table, row(table, 1)) == ""


def test_the_cell_that_tells_the_row_apart_is_named(ships) -> None:
    (cell,) = named_cells("How many ships came from Europe in 2023?", ships, row(ships, 0))
    assert cell == row(ships, 0).cells[0]
    assert named_cells("How many ships came from Asia in 2023?", ships, row(ships, 2)) == ()


def test_a_label_that_reaches_down_is_the_rows_own(pages) -> None:
    table = pages.table([("Lyon", ["Q1", "14"]), ("", ["Q2", "19"])], ["Quarter", "Inspections"], base=5)
    first, second = table.chunk.rows
    second = msgspec.structs.replace(second, label="Lyon", label_start=first.start)
    table = msgspec.structs.replace(table, chunk=msgspec.structs.replace(table.chunk, rows=(first, second)))
    assert differing_cell("How many inspections did Lyon have in Q2?", table, first) == "Q1"
    assert differing_cell("How many inspections did Lyon have in Q2?", table, second) == ""
    assert differing_cell("How many inspections did Lyon have in Q3?", table, second) == "Q2"


def test_what_is_asked_of_a_named_row_sets_it_not_apart(pages) -> None:
    table = pages.table([("Pro", ["Import", "No"]), ("Pro", ["Export", "Yes"])], ["Feature", "Included"])
    question = "Is Pro export available at no cost?"
    assert differing_cell(question, table, row(table, 1)) == ""


def test_a_date_that_is_asked_for_sets_nothing_apart(pages) -> None:
    table = pages.table([("Acme", ["1999", "Bonn"])], ["Year", "Town"])
    question = "According to the 2024 directory, when was Acme founded?"
    assert differing_cell(question, table, row(table, 0)) == ""

"""What is embedded for a chunk: itself, an extract, its names and numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from citewell.core.records import Cell, Chunk, Row
from citewell.documents.index import VIEWS


def chunk(content: str, context: str = "", rows: tuple[Row, ...] = ()) -> Chunk:
    return Chunk(
        chunk_id="c",
        document_id="d",
        document_version="v",
        start_offset=0,
        end_offset=len(content),
        content=content,
        context=context,
        rows=rows,
    )


def test_the_extract_keeps_the_sentence_that_the_others_speak_of() -> None:
    text = (
        "It was a rainy morning. The merger of Alpha and Beta was approved by the board. "
        "Nobody objected. Alpha and Beta expect the merger to close in May after the board of Beta votes. "
        + "Something else entirely happened far away that day. "
        * 4
    )
    extract = VIEWS["summary"](chunk(text, "Report › News"))
    assert extract.startswith("Report › News\n")
    assert "expect the merger to close" in extract
    assert len(extract) < len(text)


def test_the_extract_of_a_table_is_its_row_labels() -> None:
    row = Row(start=0, end=14, label="Net sales", cells=(Cell(start=10, end=14, head="2018"),))
    extract = VIEWS["summary"](chunk("Net sales\t5,00", "Report\nIncome (in millions): 2018", (row,)))
    assert "Net sales" in extract
    assert "5,00" not in extract


def test_keys_are_years_names_and_figures() -> None:
    text = "In 2019 the Walt Disney Company paid $71.3 billion for Twenty-First Century Fox, up 12%."
    keys = VIEWS["keys"](chunk(text))
    assert keys.split("; ")[0] == "2019"
    assert "Walt Disney Company" in keys
    assert "$71.3 billion" in keys
    assert "12%" in keys


def test_the_head_names_the_document_and_the_innermost_section() -> None:
    made = chunk("Some words here.", "NIKE 10-K 2018 › PART II › Item 7 › Liquidity\nTable: 2018")
    assert VIEWS["keys"](made).startswith("NIKE 10-K 2018 › Liquidity\n")


@given(st.text(min_size=1).filter(str.strip), st.text())
def test_every_view_of_any_text_has_something_to_embed(content: str, context: str) -> None:
    for make in VIEWS.values():
        assert make(chunk(content, context)).strip()
        assert make(chunk(content, context)) == make(chunk(content, context))

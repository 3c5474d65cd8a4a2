"""Spans in displayed text: the right words, in headings, paragraphs and tables."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from citewell.core.identity import hash_text
from citewell.core.records import Cell, Document, Page, Row, Section, Table
from citewell.knowledge.opening import open
from citewell.server.pages.marking import Block, ClaimSpan, blocks, excerpts, section_at, window

TEXT = "The bridge\nIt opened in 1932. It is long.\nNet income\t10\t11\nCosts\t3\t4\nThe end."


def document(text: str = TEXT, **values: object) -> Document:
    return Document(
        document_id="d",
        version="sha256:v",
        text=text,
        text_hash=hash_text(text),
        reader="r/1",
        media_type="text/plain",
        **values,  # type: ignore[arg-type]
    )


def words(parts: list[Block]) -> str:
    return "\n".join(
        "\t".join("".join(piece.text for piece in cell) for cell in line.cells)
        for block in parts
        for line in block.lines
    )


def marked(parts: list[Block]) -> list[str]:
    return [
        piece.text
        for block in parts
        for line in block.lines
        for cell in line.cells
        for piece in cell
        if piece.marked
    ]


def test_blocks_are_headings_paragraphs_and_tables_with_their_heads() -> None:
    start = TEXT.index("Net income")
    rows = tuple(
        Row(
            start=at,
            end=at + len(line),
            label=line.split("\t")[0],
            cells=(Cell(start=at, end=at + 1, head="2018"), Cell(start=at, end=at + 1, head="2019")),
        )
        for at, line in ((TEXT.index(line), line) for line in ("Net income\t10\t11", "Costs\t3\t4"))
    )
    table = Table(start=start, end=rows[1].end, title="Results", units="in millions", rows=rows)
    sections = (Section(path=("The bridge",), start=0, end=len(TEXT)),)
    parts = blocks(document(tables=(table,), sections=sections), 0, len(TEXT))
    assert [part.kind for part in parts] == ["heading", "text", "table", "text"]
    assert parts[2].heads == ("", "2018", "2019")
    assert parts[2].caption == "Results · in millions"
    assert len(parts[2].lines) == 2


def test_columns_of_numbers_are_told_from_columns_of_words() -> None:
    text = "Basic\t€9\tmonthly\nPro\t1 200\ttwo seats\nFree\t\tnone"
    (table,) = blocks(document(text), 0, len(text))
    assert [table.is_numeric(column) for column in range(4)] == [False, True, False, False]


def test_a_span_over_cells_is_marked_in_each_and_numbered_once() -> None:
    at = TEXT.index("Net income")
    parts = blocks(
        document(), 0, len(TEXT), [ClaimSpan(start=at, end=at + len("Net income\t10"), claims=(3,))]
    )
    assert marked(parts) == ["Net income", "10"]
    pieces = [piece for part in parts for line in part.lines for cell in line.cells for piece in cell]
    assert [piece.first for piece in pieces if piece.marked] == [(3,), ()]


def test_claims_that_share_words_are_all_named() -> None:
    at = TEXT.index("opened")
    spans = [
        ClaimSpan(start=at, end=at + len("opened in 1932"), claims=(1,)),
        ClaimSpan(start=TEXT.index("1932"), end=TEXT.index("1932") + 4, claims=(2,)),
    ]
    found = [
        (piece.text, piece.claims)
        for part in blocks(document(), 0, len(TEXT), spans)
        for line in part.lines
        for cell in line.cells
        for piece in cell
        if piece.marked
    ]
    assert found == [("opened in ", (1,)), ("1932", (1, 2))]


def test_an_excerpt_is_cut_around_its_span_and_says_what_is_left_out() -> None:
    text = "\n".join(f"{'word ' * 300}number {n}." for n in range(4))
    spans = [
        ClaimSpan(start=text.index(name), end=text.index(name) + len(name), claims=(1,))
        for name in ("number 0", "number 3")
    ]
    parts = excerpts(document(text), spans)
    assert [part.kind for part in parts] == ["text", "gap", "text"]
    assert marked(parts) == ["number 0", "number 3"]
    assert len(words(parts)) < 1000


def test_a_window_is_the_page_of_a_place() -> None:
    pages = tuple(
        Page(number=n, start=start, end=end, width=612, height=792)
        for n, (start, end) in enumerate(((0, 10), (11, len(TEXT))), 1)
    )
    assert window(document(pages=pages), 20) == (11, len(TEXT))
    long = "line\n" * 10_000
    start, end = window(document(long), 25_000)
    assert start < 25_000 < end
    assert end - start < 13_000


def test_a_place_is_in_its_innermost_section() -> None:
    sections = (
        Section(path=("A",), start=0, end=len(TEXT)),
        Section(path=("A", "B"), start=11, end=40),
    )
    assert section_at(document(sections=sections), 20) == ("A", "B")
    assert section_at(document(), 20) == ()


@given(
    st.text(alphabet="ab \t\n", max_size=60),
    st.lists(st.tuples(st.integers(-2, 70), st.integers(-2, 70)), max_size=5),
)
def test_no_character_is_lost_or_made_up(text: str, ends: list[tuple[int, int]]) -> None:
    spans = [ClaimSpan(start=a, end=b, claims=(n,)) for n, (a, b) in enumerate(ends, 1)]
    parts = blocks(document(text), 0, len(text), spans)
    assert words(parts) == "\n".join(line for line in text.split("\n") if line)


def test_the_heads_of_a_table_are_shown_once(tmp_path: Path) -> None:
    with open(tmp_path / "home") as kb:
        (tmp_path / "sales.csv").write_text("Quarter,Net sales,Staff\nQ1,100,7\nQ2,120,8\n")
        kb.ingest(tmp_path / "sales.csv")
        document = kb.document("sales.csv")
    (table,) = [one for one in blocks(document, 0, len(document.text)) if one.kind == "table"]
    assert table.heads == ("Quarter", "Net sales", "Staff")
    assert [line.cells[0][0].text for line in table.lines] == ["Q1", "Q2"]

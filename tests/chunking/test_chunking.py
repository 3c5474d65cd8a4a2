"""Chunks cover the text once, keep their sizes, and break where a reader would."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.core.config import Chunking
from citewell.core.identity import hash_text
from citewell.core.records import Cell, Chunk, Document, Found, Page, Row, Section, Table
from citewell.core.sentences import count_tokens_each, list_lead, token_spans
from citewell.documents.chunking import chunk_document

SIZES = Chunking()
SENTENCE = "The committee reviewed the plan for the northern region in detail and adopted it. "


def document(text: str, **fields: object) -> Document:
    values: dict[str, object] = {
        "document_id": "pdfs/NIKE_2023_10K.pdf",
        "version": "sha256:v",
        "text": text,
        "text_hash": hash_text(text),
        "reader": "test/1",
        "media_type": "text/plain",
    }
    return Document(**(values | fields))  # type: ignore[arg-type]


def chunks_of(text: str, **fields: object) -> list[Chunk]:
    return chunk_document(document(text, **fields), SIZES)


LINES = st.lists(
    st.one_of(
        st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=60),
        st.integers(1, 60).map(lambda n: (SENTENCE * n).strip()),
        st.integers(1, 400).map(lambda n: "\t".join(["net", *["1,234"] * n])),
        st.integers(1, 4_000).map(lambda n: "x" * n),
        st.integers(1, 1_500).map(lambda n: "文" * n),
        st.sampled_from(["However, this does not apply to employees.", "ITEM 7", "Heading", "As follows:"]),
    ),
    max_size=25,
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    lines = draw(LINES)
    starts = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))[:-1]
    sections, path = [], ()
    for line, start in zip(lines, starts, strict=True):
        if line.strip() and draw(st.integers(0, 3)) == 0:
            path = (*path[: draw(st.integers(0, 2))], line[:20])
            sections.append(Section(path=path, start=start, end=start + len(line)))
    return document("\n".join(lines), sections=tuple(sections))


@settings(max_examples=60, deadline=None)
@given(documents())
def test_chunks_cover_all_text_in_order_without_overlap(made: Document) -> None:
    chunks = chunk_document(made, SIZES)
    at = 0
    for chunk in chunks:
        assert chunk.content == made.text[chunk.start_offset : chunk.end_offset]
        assert chunk.content.strip() == chunk.content != ""
        assert made.text[at : chunk.start_offset].strip() == ""
        assert chunk.parent_start <= chunk.start_offset
        assert chunk.end_offset <= chunk.parent_end <= len(made.text)
        at = chunk.end_offset
    assert made.text[at:].strip() == ""
    assert [chunk.next_id for chunk in chunks] == [*[c.chunk_id for c in chunks[1:]], ""][: len(chunks)]
    assert [chunk.previous_id for chunk in chunks] == ["", *[c.chunk_id for c in chunks]][: len(chunks)]
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)


@settings(max_examples=40, deadline=None)
@given(documents())
def test_sizes_hold_where_they_can(made: Document) -> None:
    chunks = chunk_document(made, SIZES)
    sizes = [len(token_spans(chunk.content)) for chunk in chunks]
    assert all(size <= SIZES.max_tokens for size in sizes)
    if not made.sections:
        for one, two in itertools.pairwise(chunks):
            joined = made.text[one.start_offset : two.end_offset]
            small = min(len(token_spans(one.content)), len(token_spans(two.content))) < SIZES.min_tokens // 2
            assert not (small and len(token_spans(joined)) + len(joined) // 16 <= SIZES.min_tokens)


@settings(max_examples=20, deadline=None)
@given(documents())
def test_the_same_document_gives_the_same_chunks(made: Document) -> None:
    assert chunk_document(made, SIZES) == chunk_document(made, SIZES)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["C"]), max_size=80), max_size=5))
def test_texts_are_counted_together_as_they_are_alone(texts: list[str]) -> None:
    assert count_tokens_each(texts) == [len(token_spans(text)) for text in texts]


@pytest.mark.parametrize("mark", ["\u2e5a", "\U00011a9a", "\u166d", "\U000111c9"])
def test_marks_are_those_of_the_tokenizer_not_of_this_python(mark: str) -> None:
    """Unicode versions differ on whether these are punctuation: chunks would depend on the Python in use."""
    texts = [f"0{mark}", f"0{mark}0"]
    assert count_tokens_each(texts) == [len(token_spans(text)) for text in texts]


def test_white_space_gives_no_chunk_and_a_short_document_one() -> None:
    assert chunks_of(" \n\n ") == []
    assert [chunk.content for chunk in chunks_of("A short note.\nNothing else.\n")] == [
        "A short note.\nNothing else."
    ]


def test_long_prose_is_cut_between_sentences() -> None:
    text = "\n".join((SENTENCE * 9).strip() for _ in range(12))
    chunks = chunks_of(text)
    assert len(chunks) > 3
    assert all(chunk.content.endswith(".") for chunk in chunks)
    assert all(SIZES.min_tokens <= len(token_spans(chunk.content)) <= SIZES.max_tokens for chunk in chunks)


def test_an_exception_stays_with_its_rule() -> None:
    for lead in range(1, 40):
        text = SENTENCE * lead + "However, it does not apply to contractors. " + SENTENCE * (45 - lead)
        for chunk in chunks_of(text.strip()):
            assert not chunk.content.startswith("However")


def test_a_heading_goes_with_what_follows() -> None:
    body = (SENTENCE * 14).strip()
    parts = [f"Part {n}\n{body}\n" for n in range(8)]
    starts = list(itertools.accumulate((len(part) for part in parts), initial=0))
    sections = tuple(
        Section(path=(f"Part {n}",), start=starts[n], end=starts[n + 1]) for n in range(len(parts))
    )
    chunks = chunks_of("".join(parts), sections=sections)
    assert [chunk.section_path for chunk in chunks] == [(f"Part {n}",) for n in range(8)]
    assert all(chunk.content.startswith("Part") for chunk in chunks)


def test_small_sections_join_their_siblings_but_not_another_parents_child() -> None:
    small, large = (SENTENCE * 5).strip(), (SENTENCE * 16).strip()
    names = [("A",), ("A", "one"), ("A", "two"), ("B",), ("B", "one")]
    texts = ["A\n", f"one\n{small}\n", f"two\n{small}\n", "B\n", f"one\n{large}\n"]
    starts = list(itertools.accumulate((len(part) for part in texts), initial=0))
    sections = tuple(
        Section(path=name, start=a, end=b) for name, a, b in zip(names, starts, starts[1:], strict=False)
    )
    chunks = chunks_of("".join(texts), sections=sections)
    assert [chunk.section_path for chunk in chunks] == [("A",), ("B", "one")]
    assert chunks[1].content.startswith("B\none\n")


def test_parent_is_the_section_around_the_chunk() -> None:
    inner = "\n".join((SENTENCE * 12).strip() for _ in range(4))
    text = f"A\n{inner}\nB\n{inner}"
    border = text.index("\nB\n") + 1
    sections = (Section(path=("A",), start=0, end=border), Section(path=("B",), start=border, end=len(text)))
    chunks = chunks_of(text, sections=sections)
    of_a = [chunk for chunk in chunks if chunk.section_path == ("A",)]
    assert len(of_a) > 1
    assert {(chunk.parent_start, chunk.parent_end) for chunk in of_a} == {(0, border)}
    assert len({chunk.parent_id for chunk in of_a}) == 1


def statement(count: int) -> tuple[str, Table]:
    lead = "Consolidated statements\n"
    text, rows = lead + "\t2018\t2017\n", []
    for n in range(count):
        start = len(text)
        label, cells = f"Line item number {n} of the statement", []
        line = label
        for head, value in (("2018", f"{n},577"), ("2017", f"{n},373")):
            line += "\t"
            cells.append(Cell(start=start + len(line), end=start + len(line) + len(value), head=head))
            line += value
        rows.append(Row(start=start, end=start + len(line), label=label, cells=tuple(cells)))
        text += line + "\n"
    table = Table(start=len(lead), end=len(text), title="Cash flows", units="In millions", rows=tuple(rows))
    return text, table


def test_a_table_is_cut_between_rows_and_its_heads_stand_in_context_only() -> None:
    text, table = statement(80)
    chunks = chunks_of(text, tables=(table,), title=Found(value="Nike, Inc.", origin="metadata"))
    assert len(chunks) > 2
    assert [row for chunk in chunks for row in chunk.rows] == list(table.rows)
    for chunk in chunks:
        assert "Cash flows (In millions): 2018 | 2017" in chunk.context
        assert "Cash flows" not in chunk.content
        for row in chunk.rows:
            assert text[row.start : row.end] in chunk.content
            assert [text[cell.start : cell.end][-3:] for cell in row.cells] == ["577", "373"]
    assert chunks[0].content.startswith("Consolidated statements\n\t2018\t2017\nLine")


def test_each_chunk_has_the_extent_of_its_tables_and_a_table_in_two_parts_is_not_whole() -> None:
    text, table = statement(80)
    rows = table.rows
    for chunk in chunks_of(text, tables=(table,)):
        (extent,) = chunk.tables
        assert (extent.start, extent.end, extent.rows, extent.whole) == (table.start, table.end, 80, True)
    parts = [
        msgspec.structs.replace(table, end=rows[39].end, rows=rows[:40]),
        msgspec.structs.replace(table, start=rows[40].start, rows=rows[40:]),
    ]
    assert {t.whole for c in chunks_of(text, tables=tuple(parts)) for t in c.tables} == {False}
    gap = msgspec.structs.replace(table, rows=(*rows[:39], *rows[41:]))
    assert {t.whole for c in chunks_of(text, tables=(gap,)) for t in c.tables} == {False}


def test_units_outlive_a_long_title() -> None:
    text, table = statement(80)
    long = "Consolidated statements of cash flows › Cash flows from operating activities › Adjustments " * 3
    chunks = chunks_of(text, tables=(msgspec.structs.replace(table, title=long.strip()),))
    assert all("… (In millions): 2018 | 2017" in chunk.context for chunk in chunks)


def test_context_names_title_file_and_section() -> None:
    chunk = chunks_of(
        "A\nBody of it.",
        title=Found(value="Annual report", origin="metadata"),
        sections=(Section(path=("A",), start=0, end=12),),
    )[0]
    assert chunk.context == "Annual report (NIKE 2023 10K) › A"


def test_page_is_the_one_that_holds_most() -> None:
    text = "Short.\n" + (SENTENCE * 15).strip()
    pages = (
        Page(number=4, start=0, end=7, width=612, height=792),
        Page(number=5, start=7, end=len(text), width=612, height=792),
    )
    assert [chunk.page for chunk in chunks_of(text, pages=pages)] == [5]
    assert chunks_of("No pages here.")[0].page is None


def test_a_chunk_inside_a_list_has_the_line_that_leads_up_to_it_in_its_context() -> None:
    items = "\n".join(f"{n}. {SENTENCE * 3}" for n in range(1, 12))
    chunks = chunks_of(f"The northern plan says:\n{items}\nThat is all.")
    assert len(chunks) > 1
    assert chunks[0].context == "NIKE 2023 10K"
    assert {chunk.context for chunk in chunks[1:]} == {"NIKE 2023 10K › The northern plan says:"}
    assert all(chunk.content[:2].strip(".").isdigit() for chunk in chunks[1:])


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("Do this:\n1. a\n2. b", "Do this:"),
        ("Do this:\n1. a:\n• x\n2. b", "Do this:"),
        ("Do this:\n1. a:\n• x\n• y", "1. a:"),
        ("Do this:\n(a) x\n(b) y", "Do this:"),
        ("Do this:\nAt once.\n1. a", None),
        ("Do this:\nAt once.", None),
        ("1. a", None),
    ],
)
def test_the_lead_of_a_list_is_the_line_above_it(text: str, lead: str | None) -> None:
    found = list_lead(text, len(text) - 1)
    assert (text[slice(*found)] if found else None) == lead

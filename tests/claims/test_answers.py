"""Answers as people and models write them -> claims, labels, and what every character is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.claims import PieceKind, parse_answer, read_markers, resolve_label

MARKERS = [
    ("Revenue rose [src:doc-1].", ["doc-1"]),
    ("Revenue rose [src:A,B].", ["A", "B"]),
    ("Revenue rose [src:A][src:B].", ["A", "B"]),
    ("Revenue rose [src: pdfs/NIKE 2018.pdf].", ["pdfs/NIKE 2018.pdf"]),
    ("Revenue rose [SOURCE_2].", ["2"]),
    ("Revenue rose [Source 2].", ["2"]),
    ("Revenue rose [SOURCE_1, SOURCE_3].", ["1", "3"]),
    ("Revenue rose [1].", ["1"]),
    ("Revenue rose.[1]", ["1"]),
    ("Revenue rose. [1][2]", ["1", "2"]),
    ("Revenue rose [1, 2].", ["1", "2"]),
    ("Revenue rose [1-3].", ["1", "2", "3"]),
    ("Revenue rose [1\u20133, 5].", ["1", "2", "3", "5"]),
    ("Revenue rose [^1].", ["1"]),
    ("Revenue rose\u30106:0\u2020source\u3011.", ["6:0\u2020source"]),
    ("Revenue rose\u30103\u3011.", ["3"]),
    ("Revenue rose \uff3b2\uff3d.", ["2"]),
    ("Revenue rose [src:doc\n1].", ["doc1"]),
    ("Revenue rose\n[1].", ["1"]),
    ("```\nRevenue rose [1].\n```", ["1"]),
    ("Revenue rose `[1]`.", ["1"]),
    ("Revenue rose [ID:3].", ["3"]),
]
NO_MARKERS = [
    "See [the report](https://x.example/1) that rose.",
    "See [1](https://x.example/1) that rose.",
    "[1]: https://x.example/1",
    "It rose, see [Nike][1] there.",
    "It rose [sic] in May.",
    "It rose [in 2018] in May.",
    "```python\nrows[1] = 2\n```",
    "Take `rows[1]` as given, it rose.",
]


@pytest.mark.parametrize(("answer", "labels"), MARKERS)
def test_a_marker_is_read_in_every_form(answer: str, labels: list[str]) -> None:
    parsed = parse_answer(answer)
    (claim,) = parsed.claims
    assert list(claim.labels) == labels
    assert claim.text.rstrip(".") == "Revenue rose"


@pytest.mark.parametrize("answer", NO_MARKERS)
def test_what_is_no_marker_is_left_alone(answer: str) -> None:
    assert read_markers(answer).markers == ()


def test_a_known_id_may_stand_bare_in_brackets() -> None:
    assert read_markers("It rose [nike].", ["nike"]).markers[0].labels == ("nike",)
    assert read_markers("It rose [nike].").markers == ()


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ("b", "b"),
        ("2", "b"),
        ("SOURCE_1", "a"),
        ("9", None),
        ("0", None),
        ("1:1\u2020b", "b"),
        ("nobody", None),
    ],
)
def test_a_label_names_a_source_or_none(label: str, found: str | None) -> None:
    assert resolve_label(label, ["a", "b"]) == found


def test_inference_is_marked_and_cites_nothing() -> None:
    (claim,) = parse_answer("So it will grow [inference].").claims
    assert claim.inference
    assert claim.labels == ()


def test_each_clause_takes_the_marker_behind_it() -> None:
    claims = parse_answer("Revenue was $5 [1] and profit was $2 [2].").claims
    assert [(c.text, c.labels) for c in claims] == [("Revenue was $5.", ("1",)), ("Profit was $2.", ("2",))]


def test_a_marker_at_the_end_speaks_for_the_whole_sentence() -> None:
    claims = parse_answer("Revenue was $5 and profit was $2 [1].").claims
    assert [c.labels for c in claims] == [("1",), ("1",)]


def test_markers_before_sentences_belong_to_what_follows() -> None:
    claims = parse_answer("[1] Revenue was 5. [2] Profit was 2.").claims
    assert [c.labels for c in claims] == [("1",), ("2",)]


def test_a_marker_on_its_own_line_belongs_to_the_sentence_before() -> None:
    claims = parse_answer("Revenue was 5.\n[1]\nProfit was 2.\n[2]").claims
    assert [c.labels for c in claims] == [("1",), ("2",)]


def test_list_items_stand_alone_with_their_lead_in() -> None:
    parsed = parse_answer("Nike has three segments:\n- North America [1]\n- Greater China [2]\n")
    assert [(c.text, c.labels) for c in parsed.claims] == [
        ("Nike has three segments: North America", ("1",)),
        ("Nike has three segments: Greater China", ("2",)),
    ]
    assert PieceKind.LEAD_IN in {piece.kind for piece in parsed.pieces}


def test_a_table_row_is_spelled_with_its_heads() -> None:
    (claim,) = parse_answer("| Item | 2018 |\n|---|---|\n| Revenue | $5 [1] |").claims
    assert claim.text == "Revenue: 2018: $5."
    assert claim.labels == ("1",)


def test_a_pronoun_keeps_or_takes_its_antecedent() -> None:
    first, second, third = parse_answer(
        "Nike grew in 2018. It bought Converse. The company sells shoes."
    ).claims
    assert first.antecedent == ""
    assert (second.text, second.antecedent) == ("Nike bought Converse.", "")
    assert third.antecedent == "Nike grew in 2018. It bought Converse."


def test_an_antecedent_goes_back_to_a_sentence_that_leans_on_none() -> None:
    *_, last = parse_answer(
        "Acme sells shoes. Adidas grew. Nike bought it. Its founders were Ann and Bob."
    ).claims
    assert last.antecedent == "Adidas grew. Nike bought it."
    endless = parse_answer("Acme and Beta met. " + "Its shares and their sales were low. " * 400).claims
    assert all("Acme and Beta met." in claim.antecedent for claim in endless[1:])
    assert sum(len(claim.antecedent) for claim in endless) < 1_200 * len(endless)


def test_a_pronoun_in_a_later_part_means_its_own_sentence() -> None:
    claims = parse_answer("Acme fell in 2018. Beta grew in 2018, and it sold shoes in Leeds.").claims
    assert [claim.text for claim in claims] == [
        "Acme fell in 2018.", "Beta grew in 2018.", "Beta sold shoes in Leeds.",
    ]  # fmt: skip
    claims = parse_answer("Acme fell in 2018. It sold shoes, and it closed stores.").claims
    assert [claim.text for claim in claims][1:] == ["Acme sold shoes.", "Acme closed stores."]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (
            "The available sources do not contain enough information to answer this question reliably.",
            PieceKind.ABSTENTION,
        ),
        ("I cannot answer this based on the provided sources.", PieceKind.ABSTENTION),
        ("The provided sources do not contain information to answer this question.", PieceKind.ABSTENTION),
        ("There is no mention of capital expenditure in the documents.", PieceKind.ABSTENTION),
        ("What was the revenue?", PieceKind.QUESTION),
        ("Sure!", PieceKind.META),
        ("Let me know if you need anything else.", PieceKind.META),
        ("I hope this helps!", PieceKind.META),
    ],
)
def test_what_states_nothing_is_no_claim(answer: str, kind: PieceKind) -> None:
    parsed = parse_answer(answer)
    assert parsed.claims == ()
    assert kind in {piece.kind for piece in parsed.pieces}
    assert parsed.abstains == (kind is PieceKind.ABSTENTION)


def test_headings_code_and_source_lists_are_no_claims() -> None:
    answer = (
        "# Revenue\n\nRevenue rose in 2018 [1].\n\n```python\nx = 1\n```\n\nSources:\n[1] Annual report 2018"
    )
    parsed = parse_answer(answer)
    assert [c.text for c in parsed.claims] == ["Revenue rose in 2018."]


def test_a_bare_value_is_a_claim_when_it_is_the_answer() -> None:
    (claim,) = parse_answer("$1,577 million").claims
    assert claim.fragment


def test_a_frame_that_points_at_the_sources_is_not_part_of_the_claim() -> None:
    (claim,) = parse_answer("According to the provided documents, revenue rose in 2018 [1].").claims
    assert claim.text == "Revenue rose in 2018."


def test_wrapped_lines_are_one_sentence() -> None:
    (claim,) = parse_answer("The company reported\nrevenue of $5 in 2018 [1].").claims
    assert claim.text == "The company reported revenue of $5 in 2018."


_PIECES = st.sampled_from(
    [
        "Revenue was $5 million",
        " and profit was $2",
        ". ",
        "[1]",
        "[src:a, b]",
        "[SOURCE_2]",
        "\u30101:0\u2020x\u3011",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "# Head",
        "**bold** ",
        "Is it so? ",
        "It grew, which pleased Nike",
        "; ",
        ", ",
        "[inference]",
        "```",
        "| a | b |",
        "`",
        "é\u0301 ",
        "The sources do not say. ",
        "[x](http://y.z)",
        "\u201cquoted words here\u201d",
        "   ",
        "Sources:",
        ">",
        "|---|---|",
        "*",
        "_",
    ]
)


@settings(deadline=None, max_examples=200)
@given(st.lists(_PIECES, max_size=14).map("".join))
def test_pieces_cover_the_answer_in_order_and_claims_lie_in_claim_pieces(answer: str) -> None:
    parsed = parse_answer(answer)
    assert "".join(answer[piece.start : piece.end] for piece in parsed.pieces) == answer
    assert all(piece.end > piece.start for piece in parsed.pieces)
    covered = [(p.start, p.end) for p in parsed.pieces if p.kind is PieceKind.CLAIM]
    for claim in parsed.claims:
        assert 0 <= claim.start < claim.end <= len(answer)
        assert any(start <= claim.start and claim.end <= end for start, end in covered)


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=120))
def test_any_text_can_be_read(answer: str) -> None:
    parsed = parse_answer(answer)
    assert "".join(answer[piece.start : piece.end] for piece in parsed.pieces) == answer


@given(st.lists(_PIECES, max_size=14).map("".join))
def test_clean_characters_know_where_they_stood(answer: str) -> None:
    marked = read_markers(answer)
    assert len(marked.offsets) == len(marked.text) + 1
    assert all(answer[place] == letter for place, letter in zip(marked.offsets, marked.text, strict=False))

"""Answers as people and models write them -> claims, labels, and the role of every character."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.verification.claims import PieceKind, parse_answer, read_markers, resolve_label

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


def test_the_markers_of_a_sentence_speak_for_all_of_it() -> None:
    (claim,) = parse_answer("Revenue was $5 [1] and profit was $2 [2].").claims
    assert (claim.text, claim.labels) == ("Revenue was $5 and profit was $2.", ("1", "2"))


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


def test_a_pronoun_keeps_its_antecedent() -> None:
    first, second, third = parse_answer(
        "Nike grew in 2018. It bought Converse. The company sells shoes."
    ).claims
    assert first.antecedent == ""
    assert (second.text, second.antecedent) == ("It bought Converse.", "Nike grew in 2018.")
    assert third.antecedent == "Nike grew in 2018. It bought Converse."


def test_an_antecedent_goes_back_to_a_sentence_that_leans_on_none() -> None:
    *_, last = parse_answer(
        "Acme sells shoes. Adidas grew. Nike bought it. Its founders were Ann and Bob."
    ).claims
    assert last.antecedent == "Adidas grew. Nike bought it."
    endless = parse_answer("Acme and Beta met. " + "Its shares and their sales were low. " * 400).claims
    assert all("Acme and Beta met." in claim.antecedent for claim in endless[1:])
    assert sum(len(claim.antecedent) for claim in endless) < 1_200 * len(endless)


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


HEADINGS_THAT_STATE = [
    "# Acme was convicted of fraud in 2019",
    "## The notice period is 90 days",
    "## Bank failed in 2019",
    "## If Acme fails, the loan is void",
    "## Loss of $4 billion",
    "**The maximum dose is 400 mg per day.**",
    "**CEO: jailed for fraud**",
    "__Revenue was $5 billion in 2021.__",
    "Aspirin cures childhood leukemia",
    "Vaccines cause autism",
    "Acme bribed officials",
    "CEO: jailed for fraud",
    "CEO jailed for fraud, fined $4 billion:",
    "How Acme bribed officials in Brazil",
    "| Acme was fined $4 billion | in 2019 |",
]
HEADINGS = [
    "Revenue",
    "Risk factors",
    "Net sales by region",
    "## Revenue",
    "## 2.1 Methods",
    "# Risk factors 2023",
    "## Top 5 risks",
    "## Type 2 diabetes",
    "## How to install",
    "## What is insulin",
    "## Common causes of fire",
    "## Services provided",
    "## Legal holds",
    "## Classified corrections, Vestby Weekly",
    "## Shares held overseas",
    "## Units sold worldwide",
    "## How Much You Will Receive",
    "## If you have a repair problem",
    "## Step 2: Install the package",
    "**Key results for 2023**",
    "**Side effects:**",
    "**Terms and conditions**",
]


@pytest.mark.parametrize("line", HEADINGS_THAT_STATE)
def test_what_looks_like_a_heading_but_states_something_is_a_claim(line: str) -> None:
    parsed = parse_answer(f"The term is two years [1].\n\n{line}\n\nThe office is in Porto [1].")
    assert len(parsed.claims) == 3
    assert parsed.claims[1].text.split()[0] == re.findall(r"[\w:]+", line.strip("_*"))[0]


@pytest.mark.parametrize("line", HEADINGS)
def test_a_heading_is_no_claim(line: str) -> None:
    parsed = parse_answer(f"The term is two years [1].\n\n{line}\n\nThe office is in Porto [1].")
    assert [claim.text for claim in parsed.claims] == ["The term is two years.", "The office is in Porto."]


def test_a_heading_that_cites_is_a_claim_with_its_marker() -> None:
    parsed = parse_answer("**Yes, it can end at will.** [1]\nThe term is two years [2].\n## Bankruptcy [3]")
    assert [claim.labels for claim in parsed.claims] == [("1",), ("2",), ("3",)]


def test_the_head_of_a_table_has_a_rule_under_it_or_no_numbers() -> None:
    rows = "| Revenue | $5 billion [1] |\n| Profit | $1 billion |"
    assert [c.text for c in parse_answer(rows).claims] == ["Revenue: $5 billion.", "Profit: $1 billion."]
    ruled = "| Revenue | $5 billion |\n|---|---|\n| Profit | $1 billion |"
    assert [c.text for c in parse_answer(ruled).claims] == ["Revenue: $5 billion.", "Profit: $1 billion."]
    named = "| Item | 2018 |\n| Profit | $1 billion |"
    assert [c.text for c in parse_answer(named).claims] == ["Profit: 2018: $1 billion."]
    dosed = "| Effect | 400 mg |\n|---|---|\n| Nausea | 5% |"
    assert [c.text for c in parse_answer(dosed).claims] == ["Nausea: 400 mg: 5%."]


def test_the_row_over_a_rule_names_the_rows_below_even_where_it_is_a_claim_too() -> None:
    for head in ("Shares held overseas", "Units sold worldwide"):
        table = f"| Country | {head} |\n|---|---|\n| France | 300 [1] |"
        assert [c.text for c in parse_answer(table).claims] == [f"France: {head}: 300."]
    table = "| Country | Where Acme sells shoes |\n|---|---|\n| France | Paris [1] |"
    stating = "| Country | Acme sells shoes |\n|---|---|\n| France | Paris [1] |"
    assert [c.text for c in parse_answer(table).claims] == ["France: Where Acme sells shoes: Paris."]
    assert [c.text for c in parse_answer(stating).claims] == [
        "Country: Acme sells shoes.", "France: Acme sells shoes: Paris.",
    ]  # fmt: skip


def test_a_lead_in_that_states_something_is_a_claim_unless_an_item_holds_it() -> None:
    items = "\n- Sales fell by 10% in Europe [1].\n- The market was weak in Asia [1]."
    told = parse_answer("Acme lost $5 billion in 2023 and was convicted of fraud, for these reasons:" + items)
    assert told.claims[0].text == "Acme lost $5 billion in 2023 and was convicted of fraud"
    assert len(told.claims) == 3
    nested = parse_answer("Acme was convicted of fraud:\n- Europe:\n  - 10%\n- Asia:\n  - 5%")
    assert [c.text for c in nested.claims] == ["Acme was convicted of fraud", "Europe: 10%", "Asia: 5%"]
    for lead in (
        "The main reasons are:",
        "Here are the key points:",
        "The report lists the following:",
        "There are several reasons:",
        "The following factors contributed to the decline:",
        "The points mentioned in the report are:",
        "The key findings are as follows:",
    ):
        assert len(parse_answer(lead + items).claims) == 2, lead


def test_a_list_of_sources_holds_no_statement_and_ends_at_a_heading() -> None:
    sources = "\n\n**References**\n[1] a.pdf\n[2] How Nike makes money - Investopedia\n"
    for behind in (
        "The drug is safe for children and costs $5 [1].",
        "[3] The drug is safe for children and costs $5.",
        "\n## Conclusion\nThe drug is safe for children and costs $5 [1].",
    ):
        parsed = parse_answer("Acme is big [1]." + sources + behind)
        assert [c.text for c in parsed.claims] == [
            "Acme is big.", "The drug is safe for children and costs $5.",
        ]  # fmt: skip
    cited = "[1] Smith, J. (2020). Aspirin reduces fever in children. NEJM 12:3-9.\n- https://x.y/is-it-so"
    assert len(parse_answer("Acme is big [1]." + sources + cited).claims) == 1


def test_a_question_that_cites_or_tells_is_a_claim() -> None:
    (told,) = parse_answer("Did you know that Acme lost its licence?").claims
    assert told.text == "Acme lost its licence?"
    (cited,) = parse_answer("Revenue rose in 2021 [1]?").claims
    assert cited.labels == ("1",)


def test_prose_in_a_fence_of_code_is_a_claim_and_code_is_none() -> None:
    (claim,) = parse_answer("```python\nx = 1\nThe drug is safe for children [1].\ny = x[1]\n```").claims
    assert (claim.text, claim.labels) == ("The drug is safe for children.", ("1",))
    code = (
        'def f(x):\n    """Do it.\n\nThis is what the function does.\n"""\n    # It is done.\n    return x[1]'
    )
    assert parse_answer(f"```python\n{code}\n```").claims == ()


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

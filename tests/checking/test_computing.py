"""A conclusion by arithmetic is proven from its cited cells or not at all, whoever wrote it."""

from __future__ import annotations

import msgspec
import pytest

from citewell.core.records import DraftClaim, Kind, Passage, Proof, Quote, Status, Verdict
from citewell.verification.checking.citations import ResolvedCitation
from citewell.verification.checking.judging import check_arithmetic

YEARS = ["December 31, 2022", "December 31, 2021"]
TEXT = "working capital ratio, FY2022: 1,010 ÷ 700 = 1.44"
ASSETS, LIABILITIES = "total current assets, FY2022", "total current liabilities, FY2022"
QUESTION = "What is the FY2022 working capital ratio of Acme?"
REASONING = f"{ASSETS} ÷ {LIABILITIES}"


@pytest.fixture
def balance(pages) -> Passage:
    return pages.table(
        [
            ("Total current assets", ["1,010", "980"]),
            ("Total current liabilities", ["700", "650"]),
            ("Inventories, net", ["222", "201"]),
        ],
        YEARS,
        table="Consolidated Balance Sheets",
    )


def cite(passage: Passage, *values: str) -> list[ResolvedCitation]:
    cells = [cell for row in passage.chunk.rows for cell in row.cells]
    base = passage.chunk.start_offset
    found = []
    for value in values:
        cell = next(c for c in cells if passage.chunk.content[c.start - base : c.end - base] == value)
        quote = Quote(source=passage.chunk.chunk_id, text=value, start=cell.start, end=cell.end)
        found.append(ResolvedCitation(quote=quote, passage=passage, spans=((cell.start, cell.end),)))
    return found


def judge(
    cited: list[ResolvedCitation], text: str = TEXT, reasoning: str = REASONING, question: str = QUESTION
) -> Verdict | None:
    claim = DraftClaim(text=text, start=0, end=len(text), kind=Kind.INFERENCE, reasoning=reasoning)
    return check_arithmetic(claim, cited, question)


def test_right_arithmetic_over_the_right_cells_is_verified(balance) -> None:
    verdict = judge(cite(balance, "1,010", "700"))
    assert verdict is not None
    assert (verdict.status, verdict.proof, verdict.support) == (Status.VERIFIED, Proof.COMPUTED, 1.0)
    assert REASONING in verdict.reason


@pytest.mark.parametrize(
    "wrong",
    [
        "1,010 ÷ 700 = 1.45",
        "1,010 ÷ 700 = 144.0%",
        "980 ÷ 700 = 1.40",  # another year's column
        "222 ÷ 700 = 0.32",  # another row
        "1,100 ÷ 700 = 1.57",  # in no cell
        "1,010 − 700 = 310",  # not the calculation it claims
    ],
)
def test_what_does_not_fit_is_refused_with_what_does(balance, wrong: str) -> None:
    verdict = judge(cite(balance, "1,010", "700", "980", "222"), f"working capital ratio, FY2022: {wrong}")
    assert verdict is not None
    assert verdict.status is Status.UNSUPPORTED
    assert f"give \u201c{TEXT}\u201d" in verdict.reason


def test_a_division_by_zero_has_no_result(balance) -> None:
    verdict = judge(
        cite(balance, "1,010", "700"),
        "oddity, FY2022: 1,010 ÷ (700 − 700) = 1.44",
        f"{ASSETS} ÷ ({LIABILITIES} − {LIABILITIES})",
        "What is the FY2022 oddity of Acme? Oddity is defined as: total current assets / (total current "
        "liabilities - total current liabilities).",
    )
    assert verdict is not None
    assert verdict.status is Status.UNSUPPORTED
    assert "division" in verdict.reason


def test_an_operand_that_is_not_cited_is_no_operand(balance) -> None:
    verdict = judge(cite(balance, "1,010"))
    assert verdict is not None
    assert verdict.status is Status.UNSUPPORTED
    assert f"no cited cell contains \u201c{LIABILITIES}\u201d" in verdict.reason


def test_two_scales_are_not_divided(balance, pages) -> None:
    other = pages.table(
        [("Total current liabilities", ["700"])],
        YEARS[:1],
        table="Consolidated Balance Sheets",
        units="In thousands",
        base=9_000,
    )
    verdict = judge([*cite(balance, "1,010"), *cite(other, "700")])
    assert verdict is not None
    assert verdict.status is Status.UNSUPPORTED
    assert "scales" in verdict.reason


@pytest.mark.parametrize(
    ("text", "reasoning"),
    [
        (TEXT, "because assets are larger than liabilities"),
        (TEXT, ""),
        (TEXT, "total current assets, FY2022"),
        ("The ratio is sound.", REASONING),
        ("working capital ratio, FY2022: 3 ÷ 2 = 1.50", "3 ÷ 2"),  # numbers not from cells
    ],
)
def test_what_is_no_calculation_over_line_items_is_left_to_the_entailer(
    balance, text: str, reasoning: str
) -> None:
    assert judge(cite(balance, "1,010", "700"), text, reasoning) is None


def test_a_quoted_statement_is_no_calculation(balance) -> None:
    claim = DraftClaim(text=TEXT, start=0, end=len(TEXT), kind=Kind.INFERENCE, reasoning=REASONING)
    assert (
        check_arithmetic(
            msgspec.structs.replace(claim, kind=Kind.CITED), cite(balance, "1,010", "700"), QUESTION
        )
        is None
    )


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (f"Profits doubled. {TEXT}", QUESTION),
        (TEXT.replace("working capital ratio", "return on equity"), QUESTION),
        (TEXT, "What is the FY2022 quick ratio of Acme?"),
        (TEXT, ""),
    ],
)
def test_only_what_was_asked_for_is_proven(balance, text: str, question: str) -> None:
    assert judge(cite(balance, "1,010", "700"), text, question=question) is None

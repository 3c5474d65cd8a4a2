"""Rows of one table are compared only if nothing about the question, the table or its numbers is in doubt."""

from __future__ import annotations

import msgspec
import pytest

from citewell.core.records import Draft, Kind, Passage, Proof, Status, TableExtent
from citewell.verification.checking.citations import ResolvedCitation
from citewell.verification.checking.judging import check_arithmetic

HEADS = ["Price (EUR)", "Storage (GB)", "Support"]
PLANS = [
    ("Basic", ["9", "10", "mail"]),
    ("Pro", ["15", "100", "phone"]),
    ("Team", ["29", "50", "phone"]),
    ("Max", ["49", "500", "on site"]),
]


def plans(pages, rows=PLANS, heads=HEADS, **more) -> Passage:
    told = {"title": "Price list", "document_id": "prices.csv", "table": "Plans", "units": "", **more}
    return pages.table(rows, heads, **told)


def results(draft: Draft) -> list[str]:
    return [claim.text for claim in draft.claims if claim.kind is Kind.INFERENCE]


CHEAPEST = "Smallest Price (EUR) of 4 rows: Basic, 9 (9 < 15 < 29 < 49)"


@pytest.mark.parametrize(
    ("question", "told", "quoted"),
    [
        ("Which plan is the cheapest?", CHEAPEST, ["Basic: 9"]),
        ("What is the cheapest plan?", CHEAPEST, ["Basic: 9"]),
        ("Which plan costs the least?", CHEAPEST, ["Basic: 9"]),
        ("what is the lowest price of all plans", CHEAPEST, ["Basic: 9"]),
        (
            "Which plan has the most storage?",
            "Largest Storage (GB) of 4 rows: Max, 500 (500 > 100 > 50 > 10)",
            ["Max: 500"],
        ),
        (
            "Which is cheaper, Basic or Pro?",
            "Smaller Price (EUR) of Basic and Pro: Basic, 9 (9 < 15)",
            ["Basic: 9", "Pro: 15"],
        ),
        (
            "Is Team or Pro more expensive?",
            "Larger Price (EUR) of Team and Pro: Team, 29 (29 > 15)",
            ["Team: 29", "Pro: 15"],
        ),
        (
            "which plans cost less than 20 euros",
            "2 of 4 rows have Price (EUR) of less than 20 euros: Basic 9, Pro 15",
            ["Basic: 9", "Pro: 15"],
        ),
        (
            "How many plans have at least 100 GB?",
            "2 of 4 rows have Storage (GB) of at least 100 GB: Pro 100, Max 500",
            ["Pro: 100", "Max: 500"],
        ),
        (
            "How many plans have storage of more than 500 GB?",
            "0 of 4 rows have Storage (GB) of more than 500 GB: none",
            ["Max: 500"],
        ),
    ],
)
def test_rows_of_a_table_are_compared(ask, pages, question: str, told: str, quoted: list[str]) -> None:
    draft = ask(question, plans(pages))
    assert results(draft) == [told]
    assert [claim.text for claim in draft.claims if claim.kind is not Kind.INFERENCE] == quoted
    assert draft.missing == ()


def test_ties_are_both_named(ask, pages) -> None:
    table = plans(pages, [*PLANS, ("Lite", ["9", "5", "mail"])])
    assert results(ask("Which plan is the cheapest?", table)) == [
        "Smallest Price (EUR) of 5 rows: Basic and Lite, 9 (9 = 9 < 15 < 29 < 49)"
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Which plan is the cheapest for students?",  # a word that nothing explains
        "Which plan with phone support is the cheapest?",
        "Which plan is not the cheapest?",
        "Which plan is the second cheapest?",
        "Which plan is cheaper?",  # than which?
        "Is the plan the cheapest?",
        "Why is Basic the cheapest plan?",
        "Which plan is the longest?",  # no such column
        "Which is cheaper, Basic or Gold?",  # no such row
        "Which is cheaper, Basic or Basic?",
        "What is the cheapest?",  # of what?
        "Which plans cost less than 20 dollars?",  # another unit
        "Which plans cost less than 2 million euros?",
        "Which plans cost less than 20 euros and have at least 100 GB?",
        "Which plan has the most support?",  # no numbers
        "Which car is the cheapest?",  # another table
    ],
)
def test_a_question_that_is_not_understood_completely_is_left_alone(ask, pages, question: str) -> None:
    assert results(ask(question, plans(pages))) == []


@pytest.mark.parametrize(
    ("question", "rows", "heads"),
    [
        (
            "Which plan is the cheapest?",
            [(n, [v[0], v[0]]) for n, v in PLANS],
            ["Price (EUR)", "Setup fee (EUR)"],
        ),
        ("Which plan is the cheapest?", [*PLANS, ("Total", ["102", "660", ""])], HEADS),
        ("Which plan is the cheapest?", [*PLANS, ("Hobby", ["free", "1", ""])], HEADS),
        ("Which plan is the cheapest?", [*PLANS, ("Flex", ["from 5", "1", ""])], HEADS),
        ("Which plan is the cheapest?", [*PLANS, ("Flex", ["8-12", "1", ""])], HEADS),
        ("Which plan is the cheapest?", [*PLANS, ("Flex", ["50-80", "1", ""])], HEADS),
        ("Which plan is the cheapest?", [*PLANS, ("Flex", ["8 USD", "1", ""])], HEADS),
        ("Which plan is the cheapest?", [*PLANS, ("Basic", ["99", "1", ""])], HEADS),  # two of one name
        ("Which plan is the cheapest?", [*PLANS, ("Flex", ["1.500", "1", ""])], HEADS),  # 1.5 or 1,500
        ("Which plan is the cheapest?", [("A", ["9", "0"]), ("B", ["8", "5"])], ["Month (EUR)", "Fee (EUR)"]),
        ("Which plan is the cheapest?", [("A", ["9"]), ("B", ["8"])], ["Late fee"]),
        ("Which plan is the cheapest?", [("A (USD)", ["9"]), ("B (EUR)", ["8"])], ["Price"]),
        ("Which plan is the cheapest?", [("1", ["A", "9"]), ("2", ["B", "8"])], ["Plan", "Price"]),
        ("Which plan is the cheapest?", [("A", ["9", "EUR"]), ("B", ["8", "NOK"])], ["Price", "Currency"]),
        ("Which is cheaper, Basic or Flex?", [*PLANS, ("Flex", ["-", "1", ""])], HEADS),
        ("Which team has the highest rank?", [("A", ["1"]), ("B", ["2"])], ["Team rank"]),
        ("What is the minimum order?", [("A", ["1"]), ("B", ["2"])], ["Minimum order"]),
    ],
)
def test_a_table_in_doubt_is_left_alone(ask, pages, question, rows, heads) -> None:
    assert results(ask(question, plans(pages, rows, heads))) == []


def test_rows_under_several_labels_are_left_alone(ask, pages) -> None:
    table = plans(pages)
    first, *rest = table.chunk.rows
    rows = (msgspec.structs.replace(first, group="Monthly"), *rest)
    table = msgspec.structs.replace(table, chunk=msgspec.structs.replace(table.chunk, rows=rows))
    assert results(ask("Which plan is the cheapest?", table)) == []


def test_rows_without_a_single_value_are_named(ask, pages) -> None:
    rows = [*PLANS, ("Custom", ["on request", "-", "any"]), ("Flex", ["tbd", "1", "mail"])]
    (told,) = results(ask("Which plan is the cheapest?", plans(pages, rows)))
    assert told == (
        "Smallest Price (EUR) of 4 rows with a single value: Basic, 9 (9 < 15 < 29 < 49). "
        "2 rows have no single value: Custom (on request), Flex (tbd)"
    )
    (told,) = results(ask("How many plans cost at most 15 euros?", plans(pages, rows)))
    assert told == (
        "2 of 6 rows have Price (EUR) of at most 15 euros: Basic 9, Pro 15. "
        "2 rows have no single value: Custom (on request), Flex (tbd)"
    )


def test_decimal_commas_and_units_in_cells_are_read(ask, pages) -> None:
    table = plans(pages, [("A", ["9,90 €"]), ("B", ["1.500,00 €"]), ("C", ["12,00 €"])], ["Price"])
    (told,) = results(ask("Which plans cost more than 10 euros?", table))
    assert told.endswith("of more than 10 euros: B 1.500,00 €, C 12,00 €")
    table = plans(pages, [("A", ["2 days"]), ("B", ["1 day"]), ("C", ["10 days"])], ["Lead time"])
    (told,) = results(ask("Which plan has the shortest lead time?", table))
    assert told == "Smallest Lead time of 3 rows: B, 1 day (1 day < 2 days < 10 days)"


def test_only_a_whole_table_is_compared(ask, pages) -> None:
    question = "Which plan is the cheapest?"
    assert results(ask(question, plans(pages, rows_in_all=5))) == []
    assert results(ask(question, plans(pages, whole=False))) == []
    parts = plans(pages, PLANS[:2]), plans(pages, PLANS[2:], base=100)
    extent = TableExtent(start=0, end=200, rows=4, title="Plans")
    first, rest = (
        msgspec.structs.replace(part, chunk=msgspec.structs.replace(part.chunk, tables=(extent,)))
        for part in parts
    )
    assert results(ask(question, first)) == []
    assert results(ask(question, first, rest)) == [CHEAPEST]


def test_of_two_tables_neither_is_compared(ask, pages) -> None:
    other = plans(pages, [("Old", ["3", "1", ""]), ("New", ["4", "1", ""])], version="sha256:other")
    assert results(ask("Which plan is the cheapest?", plans(pages), other)) == []


def test_the_checker_compares_again_and_refuses_what_differs(ask, pages) -> None:
    table, question = plans(pages), "Which plan is the cheapest?"
    (claim,) = (claim for claim in ask(question, table).claims if claim.kind is Kind.INFERENCE)
    cited = [
        ResolvedCitation(quote=quote, passage=table, spans=((quote.start or 0, quote.end or 0),))
        for quote in claim.quotes
    ]
    verdict = check_arithmetic(claim, cited, question)
    assert verdict is not None
    assert (verdict.status, verdict.proof) == (Status.VERIFIED, Proof.COMPUTED)
    for text in (CHEAPEST.replace("Basic", "Pro"), CHEAPEST.replace("9", "8"), f"{CHEAPEST}, so buy it"):
        verdict = check_arithmetic(msgspec.structs.replace(claim, text=text), cited, question)
        assert verdict is not None
        assert verdict.status is Status.UNSUPPORTED
    verdict = check_arithmetic(claim, cited[:-2], question)  # the dearest plan is not cited
    assert verdict is not None
    assert verdict.status is Status.UNSUPPORTED
    verdict = check_arithmetic(claim, cited, "Which plan is the dearest?")  # not what was asked
    assert verdict is not None
    assert verdict.status is Status.UNSUPPORTED

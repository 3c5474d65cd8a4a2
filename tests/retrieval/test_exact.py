"""A table with the requested row and column counts as relevant, however little its words tell a ranker."""

from __future__ import annotations

from citewell.retrieval.retriever import ALSO, BEST, with_exact_cells

QUESTION = "What is the FY2022 working capital ratio of Acme?"
HEADS = ["December 31, 2022", "December 31, 2021"]


def test_the_best_cell_of_each_operand_is_raised(pages) -> None:
    balance = pages.table(
        [("Total current assets", ["10", "9"]), ("Total current liabilities", ["5", "4"])],
        HEADS,
        table="Consolidated Balance Sheets",
        relevance=0.1,
        relevant=False,
    )
    again = pages.table(
        [("Total current assets", ["10", "9"])],
        HEADS,
        table="Consolidated Balance Sheets",
        base=900,
        relevance=0.05,
        relevant=False,
    )
    prose = pages.text("Acme manages its working capital with care.", relevance=0.4, relevant=False)
    raised = with_exact_cells(QUESTION, [prose, balance, again], 0.7)
    assert [passage.relevance for passage in raised] == [0.4, BEST, ALSO]
    assert [passage.relevant for passage in raised] == [False, True, True]


def test_another_year_another_company_and_another_item_are_not(pages) -> None:
    rows = [("Total current assets", ["10"]), ("Total current liabilities", ["5"])]
    old = pages.table(rows, ["December 31, 2019"], relevance=0.1, relevant=False)
    other = pages.table(
        rows,
        HEADS,
        document_id="reports/GLOBEX_2022.pdf",
        title="Globex 2022",
        relevance=0.1,
        relevant=False,
    )
    item = pages.table([("Current tax assets", ["10"])], HEADS, relevance=0.1, relevant=False)
    passages = [old, other, item]
    assert with_exact_cells(QUESTION, passages, 0.7) == passages


def test_relevance_is_never_lowered_and_questions_in_words_are_left_alone(pages) -> None:
    table = pages.table([("Total current assets", ["10"])], HEADS, relevance=0.99)
    assert with_exact_cells(QUESTION, [table], 0.7) == [table]
    assert with_exact_cells("Who chairs the board of Acme?", [table], 0.7) == [table]

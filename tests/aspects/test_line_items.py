"""A row label either is the requested line item or is something else."""

from __future__ import annotations

import pytest

from citewell.questions.calculation.items import ITEMS, RATIOS, label_score, named_in
from citewell.questions.parsing import QuestionKind, name_occurs, names_in, question_kind


@pytest.mark.parametrize(
    ("label", "item"),
    [
        ("Purchases of property, plant and equipment (PP&E)", "capital expenditures"),
        ("Additions to property and equipment", "capital expenditures"),
        ("Total net sales", "revenue"),
        ("Sales to customers", "revenue"),
        ("Net revenues", "revenue"),
        ("Cost of products sold", "cost of revenue"),
        ("Property, plant and equipment, net", "property, plant and equipment"),
        ("Net cash provided by (used in) operating activities", "net cash from operating activities"),
        ("Net earnings attributable to Acme", "net income"),
        ("Inventories, net (Note 6)", "inventories"),
        ("Merchandise inventories", "inventories"),
        ("TOTAL ASSETS", "total assets"),
    ],
)
def test_a_printed_label_is_its_item(label: str, item: str) -> None:
    best = max(ITEMS.values(), key=lambda known: label_score(label, known))
    assert best.name == item
    assert label_score(label, best) > 0.6


@pytest.mark.parametrize(
    ("label", "item"),
    [
        ("Cost of revenue", "revenue"),
        ("Deferred revenue", "revenue"),
        ("Other income", "net income"),
        ("Income from operations", "net income"),
        ("Change in inventories", "inventories"),
        ("Net earnings from discontinued operations", "net income"),
        ("Total current assets", "total assets"),
        ("Accumulated depreciation", "depreciation and amortization"),
        ("Proceeds from sale of property and equipment", "capital expenditures"),
    ],
)
def test_a_label_with_another_word_is_another_thing(label: str, item: str) -> None:
    assert label_score(label, ITEMS[item]) < 0.4


def test_items_are_found_in_the_words_people_use() -> None:
    asked = "What are the capex, COGS and SG&A of Acme, and its PP&E?"
    assert [mention.name for mention in named_in(asked).items] == [
        "capital expenditures",
        "cost of revenue",
        "selling, general and administrative",
        "property, plant and equipment",
    ]


def test_every_formula_is_made_of_known_items() -> None:
    names = {name for ratio in RATIOS.values() for either in ratio.of for name in either.split(" or ")}
    assert names <= set(ITEMS)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How much did it cost?", QuestionKind.NUMBER),
        ("Why did sales fall?", QuestionKind.WHY),
        ("What drove the change in margin?", QuestionKind.WHY),
        ("Who signed the report?", QuestionKind.WHO),
        ("When does the lease end?", QuestionKind.WHEN),
        ("Which segment grew most?", QuestionKind.WHICH),
        ("Is the company profitable?", QuestionKind.YES_NO),
        ("Describe the warranty.", QuestionKind.TEXT),
    ],
)
def test_the_kind_of_a_question(question: str, kind: QuestionKind) -> None:
    assert question_kind(question) is kind


@pytest.mark.parametrize(
    ("name", "text", "held"),
    [
        ("JnJ", "filings/JOHNSON_JOHNSON_2022_10K.pdf", True),
        ("JPM", "JPMORGAN_2021Q1_10Q", True),
        ("CVS Health", "CVSHEALTH_2018_10K", True),
        ("Coca Cola", "COCACOLA_2017_10K", True),
        ("3M", "3M 2018 10K", True),
        ("Amcor", "AMAZON_2019_10K", False),
        ("Nike", "Unike Ltd.", False),
    ],
)
def test_names_are_recognised_in_ids_and_titles(name: str, text: str, held: bool) -> None:
    assert name_occurs(name, text) is held


def test_names_of_a_question_are_its_companies_not_its_metrics() -> None:
    assert names_in("What is the FY2018 EBITDA of Best Buy in USD?") == ("Best Buy",)
    assert names_in("What is 3M's capex?") == ("3M",)

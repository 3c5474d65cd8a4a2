"""Sources that disagree are recognised, cited and dated; agreement is not called a conflict."""

from __future__ import annotations

import pytest

from citewell.answering.conflicts import find_conflicts
from citewell.core.config import Sources
from citewell.core.records import Passage

ASPECT = "revenue of Acme, FY2021"


def revenue(pages, value: str, year: str, published: str) -> Passage:
    return pages.table(
        [("Total revenues", [value])],
        ["Year Ended December 31, 2021"],
        document_id=f"reports/ACME_{year}_10K.pdf",
        title=f"Acme Corp. {year} annual report",
        table="Consolidated Statements of Income",
        version=f"sha256:{year}",
        published_at=published,
    )


def test_a_restated_value_is_a_conflict_with_both_sides_oldest_first(pages) -> None:
    newer = revenue(pages, "3,310", "2022", "2023-02-10")
    older = revenue(pages, "3,300", "2021", "2022-02-11")
    (conflict,) = find_conflicts((ASPECT,), [newer, older])
    assert conflict.about == "revenue, FY2021"
    assert [side.quote for side in conflict.sides] == ["3,300", "3,310"]
    assert conflict.dates == ("2022-02-11", "2023-02-10")
    for side, passage in zip(conflict.sides, (older, newer), strict=True):
        assert passage.chunk.content[side.start : side.end] == side.quote


@pytest.mark.parametrize("other", ["3,300", "$3,300", "3,300.0", "3.3"])
def test_the_same_value_in_another_dress_is_none(pages, other: str) -> None:
    sides = [revenue(pages, "3,300", "2021", "2022-02-11"), revenue(pages, other, "2022", "2023-02-10")]
    assert find_conflicts((ASPECT,), sides) == ()


def test_two_versions_of_a_sentence_with_another_number_disagree(pages) -> None:
    old = pages.text(
        "Customers may return goods within 14 days of delivery.",
        version="sha256:1",
        published_at="2020-01-01",
    )
    new = pages.text(
        "Customers may return goods within 30 days of delivery.",
        version="sha256:2",
        published_at="2023-01-01",
    )
    (conflict,) = find_conflicts(("Within how many days may customers return goods?",), [new, old])
    assert conflict.dates == ("2020-01-01", "2023-01-01")
    assert "14 days" in conflict.sides[0].quote


def test_the_mark_of_a_footnote_is_no_value(pages) -> None:
    lie = pages.text("Patients take 70 milligrams of Velanor a day.[^1]", document_id="a.md")
    truth = pages.text("Patients take 40 milligrams of Velanor a day.", document_id="b.md")
    (conflict,) = find_conflicts(("How much Velanor do patients take a day?",), [lie, truth])
    assert {side.quote[:16] for side in conflict.sides} == {"Patients take 70", "Patients take 40"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("30", "3"),
        ("10", "100"),
        ("1", "12"),
        ("2", "25"),
        ("5%", "50%"),
        ("$5", "$50"),
        ("30", "30,000"),
        ("$12", "$12.50"),
        ("3 million", "30 million"),
        ("3 million", "3 billion"),
        ("$1 million", "$600 million"),
        ("0 million", "30 million"),
    ],
)
def test_a_number_with_other_digits_or_zeros_is_another(pages, first: str, second: str) -> None:
    text = "Customers may return goods worth or within {} of the purchase."
    sides = [told(pages, text.format(value), mark) for value, mark in ((first, "a"), (second, "b"))]
    (conflict,) = find_conflicts(("Within what may customers return goods?",), sides)
    assert [value in side.quote for value, side in zip((first, second), conflict.sides, strict=True)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("30", "30.0"),
        ("9.96%", "10.0%"),
        ("1,577", "1.577"),
        ("$1,577 million", "$1.58 billion"),
        ("3,000 thousand", "3 million"),
        ("$4,012 million", "$4bn"),
        ("$4.5 million", "$4.5M"),
    ],
)
def test_a_number_rounded_or_in_another_scale_is_the_same(pages, first: str, second: str) -> None:
    text = "The firm reports that customers returned goods worth or within {} of the purchase."
    sides = [told(pages, text.format(value), mark) for value, mark in ((first, "a"), (second, "b"))]
    assert find_conflicts(("Within what did customers return goods?",), sides) == ()


@pytest.mark.parametrize(
    ("first", "second", "differ"),
    [
        ("40 grams", "40 milligrams", True),
        ("2 hours", "2 minutes", True),
        ("5 km", "5 miles", True),
        ("40 g", "0.04 kg", False),
        ("1 hour", "60 minutes", False),
        ("1.5 kg", "1,500 grams", False),
        ("26.2 miles", "42.2 km", False),
        ("14 days", "2 weeks", False),
        ("1,250 kilograms", "1,250,000 kilograms", True),
        ("3 million litres", "3 billion litres", True),
        ("3 million people", "3,000 people", True),
        ("1,250 people", "1,250,000 people", True),
        ("$3.3 billion", "$3,300", False),
        ("1,577 people", "1.577 people", False),
        ("3 weeks", "14 days", True),
    ],
)
def test_units_count(pages, first: str, second: str, differ: bool) -> None:
    text = "Patients take the usual dose of Zolin over {} at most."
    sides = [told(pages, text.format(value), mark) for value, mark in ((first, "a"), (second, "b"))]
    assert bool(find_conflicts(("What is the usual dose of Zolin?",), sides)) is differ


def test_the_side_that_the_keeper_ranks_higher_comes_first(pages) -> None:
    text = "Customers may return goods within {} days of delivery."
    draft = pages.text(text.format(14), document_id="drafts/a.md", published_at="2024-01-01")
    policy = pages.text(text.format(30), document_id="policies/a.md", published_at="2020-01-01")
    asked = ("Within how many days may customers return goods?",)
    ranks = Sources(ranks=("policies/=2", "policies/old/=-1", "drafts/=-1"))
    (conflict,) = find_conflicts(asked, [draft, policy], rank=ranks.rank)
    assert [side.document_id for side in conflict.sides] == ["policies/a.md", "drafts/a.md"]
    assert conflict.ranks == (2, -1)
    (plain,) = find_conflicts(asked, [draft, policy])
    assert (plain.sides[0].document_id, plain.ranks) == ("policies/a.md", ())


def test_different_periods_do_not_disagree(pages) -> None:
    one = pages.text("Acme employed 1,200 people worldwide at the end of fiscal 2021.", version="sha256:1")
    two = pages.text("Acme employed 1,450 people worldwide at the end of fiscal 2022.", version="sha256:2")
    assert find_conflicts(("How many people did Acme employ?",), [one, two]) == ()


def test_two_dates_of_one_event_disagree_when_it_is_asked_when(pages) -> None:
    old = pages.text(
        "The Severn Hill Bridge opened in 1932 after four years of work.",
        version="sha256:1",
        published_at="2019-01-01",
    )
    new = pages.text("The Severn Hill Bridge opened in 1935.", version="sha256:2", published_at="2023-01-01")
    (conflict,) = find_conflicts(("When did the Severn Hill Bridge open?",), [new, old])
    assert conflict.dates == ("2019-01-01", "2023-01-01")
    assert ["1932" in side.quote for side in conflict.sides] == [True, False]


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("When did the Severn Hill Bridge open?", "The Severn Hill Bridge opened in May 1932."),
        ("When did the Severn Hill Bridge open?", "The Severn Hill Bridge closed in 1935."),
        ("When did the Severn Hill Bridge open?", "The Avon Bridge opened in 1935."),
        ("When did the Severn Hill Bridge open?", "The Severn Hill Bridge opened for trains in 1935."),
        ("When did the Severn Hill Bridge open?", "The Severn Hill Bridge opened in 1932 and again in 1935."),
        ("Who opened the Severn Hill Bridge?", "The Severn Hill Bridge opened in 1935."),
    ],
)
def test_other_dates_of_other_things_do_not_disagree(pages, question: str, other: str) -> None:
    sides = [
        pages.text("The Severn Hill Bridge opened to cars in 1932.", version="sha256:1"),
        pages.text(other, version="sha256:2"),
    ]
    assert find_conflicts((question,), sides) == ()


CHIEF = "The chief executive of Acme in Leeds is {}, who joined the board two years ago."


def told(pages, text: str, version: str) -> Passage:
    return pages.text(text, document_id=f"{version}.md", version=f"sha256:{version}")


def test_two_names_in_one_sentence_disagree_when_it_is_asked_who(pages) -> None:
    one, two = (told(pages, CHIEF.format(name), name[:4]) for name in ("Jane Doe", "John Roe-Smith"))
    (conflict,) = find_conflicts(("Who is the chief executive of Acme?",), [one, two])
    assert {side.document_id for side in conflict.sides} == {"Jane.md", "John.md"}


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [
        ("Who is the chief executive of Acme?", CHIEF.format("Jane Doe"), CHIEF.format("Jane A. Doe")),
        ("Who is the chief executive of Acme?", CHIEF.format("Jane Doe"), CHIEF.format("a former banker")),
        ("Why did Jane Doe join Acme?", CHIEF.format("Jane Doe"), CHIEF.format("John Roe")),
        (
            "Who is the chief executive of Acme?",
            CHIEF.format("Jane Doe"),
            CHIEF.format("John Roe").replace("Acme", "Zeta"),
        ),
        ("Who audits Zeta's accounts?", CHIEF.format("Jane Doe"), CHIEF.format("John Roe")),
    ],
)
def test_other_names_do_not_disagree(pages, question: str, first: str, second: str) -> None:
    assert find_conflicts((question,), [told(pages, first, "a"), told(pages, second, "b")]) == ()


@pytest.mark.parametrize(
    ("question", "sentence", "first", "second"),
    [
        (
            "Which interface does the Alpha printer use?",
            "The {} printer uses the serial interface by default.",
            "Alpha",
            "Beta",
        ),
        (
            "Who may return goods to the store?",
            "{} may return goods to the store within the month.",
            "Customers",
            "Employees",
        ),
        (
            "Who may return goods to the store?",
            "- {} may return goods to the store within the month.",
            "Customers",
            "Store employees",
        ),
        (
            "Who cleans the store in Leeds?",
            "The crew cleans the store in Leeds every {}.",
            "Monday",
            "Friday",
        ),
        ("Who cleans the store in Leeds?", "The crew cleans the store in Leeds in {}.", "March", "May"),
        ("Who is the chief executive of Acme?", CHIEF, "Ren\u00e9 Doe", "Rene Doe"),
        ("Who is the chief executive of Acme?", CHIEF, "J.R. Doe", "J. R. DOE"),
        (
            "Which country is the seat of Acme?",
            "The seat of Acme is in the {} since last year.",
            "UK",
            "U.K.",
        ),
        (
            "Who are the suppliers of Acme?",
            "The main suppliers of Acme in Leeds include {} and others.",
            "Jane Doe",
            "John Roe",
        ),
        (
            "Who supplies Acme in Leeds?",
            "{} is one of the firms that supplies Acme in Leeds.",
            "Doe Paper",
            "Roe Paper",
        ),
    ],
)
def test_what_is_no_other_name_does_not_disagree(
    pages, question: str, sentence: str, first: str, second: str
) -> None:
    sides = [told(pages, sentence.format(name), mark) for name, mark in ((first, "a"), (second, "b"))]
    assert find_conflicts((question,), sides) == ()


@pytest.mark.parametrize(
    ("question", "sentence", "first", "second"),
    [
        ("Who runs the store in Leeds?", "{} runs the big old store in Leeds.", "Jane Doe", "John Roe"),
        ("Who runs the store in Leeds?", "In Leeds {} runs the big old store.", "Theresa May", "April Jones"),
        (
            "Which interface does the printer use?",
            "The printer uses the {} interface by default.",
            "Foo",
            "Bar",
        ),
    ],
)
def test_other_names_in_the_same_places_disagree(
    pages, question: str, sentence: str, first: str, second: str
) -> None:
    sides = [told(pages, sentence.format(name), mark) for name, mark in ((first, "a"), (second, "b"))]
    assert len(find_conflicts((question,), sides)) == 1


def test_one_document_does_not_disagree_with_itself(pages) -> None:
    one = pages.text("The north store has 12 tills in use today.")
    two = pages.text("The north store has 14 tills in use today.", base=500)
    assert find_conflicts(("How many tills has the north store?",), [one, two]) == ()


def test_a_side_that_was_crowded_out_still_gainsays_one_for_each_value(pages) -> None:
    text = "Employees submit expense claims within {} days of the journey."
    kept, *others = (
        told(pages, text.format(days), mark) for days, mark in ((30, "a"), (90, "b"), (90, "c"), (60, "d"))
    )
    question = "Within how many days do employees submit expense claims?"
    (conflict,) = find_conflicts((question,), [kept], [*others, kept])
    assert {side.document_id for side in conflict.sides} == {"a.md", "b.md", "d.md"}
    assert find_conflicts((question,), [], others) == ()


@pytest.mark.parametrize("other", ["John Roe", "Joan Doe", "Jane van Roe"])
def test_names_that_share_words_are_still_two(pages, other: str) -> None:
    sides = [told(pages, CHIEF.format(name), mark) for name, mark in (("Jane van Doe", "a"), (other, "b"))]
    assert len(find_conflicts(("Who is the chief executive of Acme?",), sides)) == 1


def test_another_company_gainsays_nothing_of_the_asked_one(pages) -> None:
    text = "We employed approximately {} people around the world at that time."
    kept, other = (
        pages.text(
            text.format(count), document_id=f"{name}.md", version=f"sha256:{name}", title=f"{name} Inc."
        )
        for name, count in (("Acme", "1,200"), ("Beta", "5,800"))
    )
    assert find_conflicts(("How many people does Acme employ?",), [kept], [other]) == ()
    assert len(find_conflicts(("How many people were employed around the world?",), [kept], [other])) == 1


def test_a_conflict_shows_a_few_sides_of_many(pages) -> None:
    text = "Employees submit expense claims within {} days of the journey."
    sides = [told(pages, text.format(days), f"d{days}") for days in range(20, 60)]
    (conflict, *_) = find_conflicts(("Within how many days do employees submit claims?",), sides[:1], sides)
    assert 2 <= len(conflict.sides) <= 6

"""What an extractor points at becomes something quotable: a sentence, a line with its lead-in, a row."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from citewell.core.config import Gate
from citewell.core.ports import Extraction, GenerationRequest, Reading
from citewell.core.records import Draft, Maker, Passage
from citewell.generation import ExtractiveGenerator
from citewell.retrieval.gate import check_gate

SETTINGS = ["default", "meaning"]


class Points:
    """An extractor that is certain of one stretch of text, wherever it is."""

    maker = Maker(name="points")

    def __init__(self, at: str, no_answer: float = 0.1) -> None:
        self._at, self._no_answer = at, no_answer

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        readings = []
        for text in passages:
            start = text.find(self._at)
            spans = (Extraction(start=start, end=start + len(self._at), probability=1.0 - self._no_answer),)
            readings.append(
                Reading(
                    candidates=spans if start >= 0 else (), no_answer=self._no_answer if start >= 0 else 1.0
                )
            )
        return readings


def asked(question: str, at: str, *passages: Passage) -> Draft:
    return ExtractiveGenerator(Points(at)).generate(
        GenerationRequest(question=question, aspects=(question,), passages=passages)
    )


def settings(pages) -> Passage:
    rows = [
        ("search.limit", ["50", "candidates that are looked at"]),
        ("search.words", ["12", "words that are shown of each"]),
        ("search.where", ["everywhere", "folders that are searched"]),
    ]
    return pages.table(rows, SETTINGS, title="Manual", table="Settings", document_id="docs/m.md")


def test_a_setting_is_quoted_with_its_value_and_meaning(pages) -> None:
    draft = asked("How many candidates are looked at by default?", "50", settings(pages))
    (claim,) = draft.claims
    assert claim.text == "search.limit – default: 50; meaning: candidates that are looked at"
    assert claim.answers == 0.9


def test_a_second_row_is_shown_only_when_it_holds_as_much_of_the_question(pages) -> None:
    class Everywhere(Points):
        def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
            sure = {"limit": 0.9, "words": 0.8, "where": 0.7}
            return [
                Reading(
                    candidates=(Extraction(start=0, end=len(text), probability=p),),
                    no_answer=1.0 - p,
                )
                for text in passages
                for p in [next((p for key, p in sure.items() if f"search.{key}:" in text), 0.0)]
            ]

    question = "How many candidates are looked at?"
    draft = ExtractiveGenerator(Everywhere("")).generate(
        GenerationRequest(question=question, aspects=(question,), passages=(settings(pages),))
    )
    assert [claim.text.partition(" ")[0] for claim in draft.claims] == ["search.limit"]


def test_a_value_among_values_is_quoted_with_its_label_and_head(pages) -> None:
    table = pages.table([("X1", ["14", "230"]), ("X2", ["9", "180"])], ["hours", "grams"], table="Devices")
    draft = asked("How many grams is the X2?", "180", table)
    (claim,) = draft.claims
    assert claim.text == "X2: 180"
    assert "grams (In millions) of X2: 180" in draft.text
    assert [quote.text for quote in claim.quotes] == ["X2", "180"]


def test_a_row_without_a_number_does_not_say_how_many(pages) -> None:
    assert asked("How many folders are searched?", "everywhere", settings(pages)).claims == ()


def test_a_row_about_another_setting_is_not_quoted_for_the_one_that_is_asked(pages) -> None:
    for at in ("12", "50"):
        (claim,) = asked("What is the default of search.limit?", at, settings(pages)).claims
        assert claim.text.startswith("search.limit")


def test_a_setting_that_no_passage_has_is_missing_however_sure_the_extractor_is(pages) -> None:
    result = check_gate("What is the default of search.top_p?", (), (settings(pages),), Points("50"), Gate())
    assert not result.passed
    assert "search.top_p" in result.reason


def test_a_row_or_column_of_another_year_is_no_answer(pages) -> None:
    table = pages.table([("2021", ["3"]), ("2022", ["4"])], ["storms seen"], table="Storms")
    question = "How many storms were seen in 2022?"
    for pointed_at in ("4", "3"):
        (claim,) = asked(question, pointed_at, table).claims
        assert claim.text.startswith("2022")


def test_the_gate_opens_for_a_row_that_the_writer_quotes(pages) -> None:
    passed = check_gate("How many words are shown?", (), (settings(pages),), Points("12"), Gate())
    assert passed.passed
    assert "a table answers it" in passed.reason or "1 of 1" in passed.reason


def test_a_command_is_quoted_with_the_words_that_lead_up_to_it(pages) -> None:
    text = pages.text("Whoever has it already upgrades with:\nbrew upgrade thing\nSee also the notes.")
    draft = asked("How is it upgraded?", "brew upgrade thing", text)
    assert [claim.text for claim in draft.claims] == [
        "Whoever has it already upgrades with:\nbrew upgrade thing"
    ]


def test_a_short_line_that_nothing_leads_up_to_is_not_quoted(pages) -> None:
    assert asked("How is it upgraded?", "brew upgrade thing", pages.text("brew upgrade thing")).claims == ()


def test_a_heading_is_no_answer(pages) -> None:
    assert asked("What is it?", "Section", pages.text("Section\nThis is what it is about.")).claims == ()


def test_a_line_that_leads_up_to_something_is_quoted_with_it(pages) -> None:
    text = pages.text("To upgrade what you have, run:\nbrew upgrade thing\nThen start it again.")
    draft = asked("How is it upgraded?", "To upgrade what you have", text)
    assert draft.claims[0].text.startswith("To upgrade what you have, run:\nbrew upgrade thing")


def test_who_may_be_somebody_without_a_name(pages) -> None:
    text = pages.text("full: everything\n- only the owner of the folder may empty it")
    draft = asked("Who may empty the folder?", "only the owner", text)
    assert [claim.text for claim in draft.claims] == ["- only the owner of the folder may empty it"]


def test_a_line_of_a_list_is_quoted_whole(pages) -> None:
    on_a_page = pages.text("full: everything the compiler knows about names\nnone: nothing at all")
    text = msgspec.structs.replace(on_a_page, chunk=msgspec.structs.replace(on_a_page.chunk, page=None))
    draft = asked("What does full do?", "everything the compiler knows", text)
    assert [claim.text for claim in draft.claims] == ["full: everything the compiler knows about names"]
    # On a page, such a line may be half of a torn sentence.
    assert asked("What does full do?", "everything the compiler knows", on_a_page).claims == ()


LIST = """The deposit is returned on condition that the tenant:
1. pays the last rent,
2. hands over:
• every key of the house
• the card of the garage
3. leaves the rooms clean.
After that the contract ends."""


@pytest.mark.parametrize(
    ("at", "claim"),
    [
        ("pays the last", "The deposit is returned on condition that the tenant:\n1. pays the last rent,"),
        (
            "leaves the rooms",
            "The deposit is returned on condition that the tenant: … 3. leaves the rooms clean.",
        ),
        ("the card", "2. hands over: … • the card of the garage"),
        ("the contract ends", "After that the contract ends."),
    ],
)
def test_an_item_of_a_list_is_quoted_with_the_line_that_leads_up_to_the_list(
    pages, at: str, claim: str
) -> None:
    passage = pages.text(LIST)
    (said,) = asked("What must the tenant do?", at, passage).claims
    assert said.text == claim
    for quote in said.quotes:
        assert passage.chunk.content[quote.start - passage.chunk.start_offset :].startswith(quote.text)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('Clause 1 reads: "The price is fair. The malt costs 655 euros."', "The malt costs 655 euros."),
        (
            "Clause 1 reads: \u201cThe price is fair. The malt costs 655 euros.\u201d",
            "The malt costs 655 euros.",
        ),
        ('It asks for the word "malt costs 655 euros."', 'It asks for the word "malt costs 655 euros."'),
        ('The malt costs 655 euros, he said "twice."', 'The malt costs 655 euros, he said "twice."'),
    ],
)
def test_a_mark_that_closes_a_quotation_begun_elsewhere_is_not_quoted(pages, text: str, quoted: str) -> None:
    draft = asked("What does the malt cost?", "655", pages.text(text))
    assert [claim.text for claim in draft.claims] == [quoted]


def test_a_quote_comes_with_what_its_source_says_of_it(pages) -> None:
    rumour = asked("When was the dam built?", "1931", pages.text("Rumours\nThe dam was built in 1931."))
    assert rumour.text == "Under \u201cRumours\u201d: The dam was built in 1931."
    assert [claim.text for claim in rumour.claims] == ["The dam was built in 1931."]
    denied = pages.text("The dam was built in 1931. This is wrong.")
    draft = asked("When was the dam built?", "1931", denied)
    assert draft.text == "Its source also says \u201cThis is wrong.\u201d: The dam was built in 1931."

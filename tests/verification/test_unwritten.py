"""Digits that no source holds: never supported, unless they are told otherwise or worked out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from citewell.core.records import Entailment, Maker, Status
from citewell.verification.unwritten import unwritten_number
from citewell.verification.verifier import Verifier


@pytest.mark.parametrize(
    ("claim", "premise", "number"),
    [
        ("It began with season 1 in July.", "It began in July on USA Network.", "1"),
        ("It was a hit of the 4990s.", "It was a hit of the decade.", "4990s"),
        ("The firm sold 312 units abroad.", "The firm sold units abroad.", "312"),
        ("About 40 percent of the members voted.", "Some of the members voted.", "40 percent"),
        ("She was paid $900 for it.", "She was paid for it.", "$900"),
        ("The show aired on VH4.", "The show aired on the cable network VH1.", "VH4"),
        ("Apollo 12 landed first.", "Apollo 11 was the first to land.", "Apollo 12"),
        ("The F-35 was built in 1981.", "The F-15 was built in 1981.", "F-35"),
        ("MS-43 is known for cruelty.", "They are notorious for cruelty.", "MS-43"),
        ("He plays for the 79ers.", "He led the 49ers to a title.", "79ers"),
        ("Uranium-535 was found by a man.", "He found the isotope 235U of uranium.", "Uranium-535"),
    ],
)
def test_digits_that_the_source_lacks_are_named(claim: str, premise: str, number: str) -> None:
    assert unwritten_number(claim, premise).endswith(number)


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        ("Psych (season 2) began in 2007.", "The second season of Psych aired from July 13, 2007."),
        ("The tower recalls a 16th century defeat.", "It recalls his defeat in the 1540s."),
        ("Some 66% of it begins in youth.", "Approximately two-thirds of it begins in youth."),
        ("Half the patients, or 50 percent, recovered.", "Half of the patients recovered."),
        ("He was active for 21 years.", "He played from 1970 to 1991."),
        ("He was born on the 17th.", "He was born on February 17, 1972."),
        ("Revenue grew by 5 million.", "Revenue was 10 million in 2018 and 15 million in 2019."),
        ("The margin rose by 3 percentage points.", "The margin rose from 14% to 17%."),
        ("60% of the patients recovered.", "Of 500 patients, 300 recovered."),
        ("Sales rose by $10 million.", "Sales (in millions) were 160 in 2022 and 150 in 2021."),
        ("Uranium-235 was found by a man.", "He found the isotope 235U of uranium."),
        (
            "He plays for the 49ers.",
            "He led the 49ers to a title.",
        ),
        ("COVID-19 patients recovered.", "Patients with the disease recovered."),
        ("Apollo 11 followed Apollo 10.", "Apollo 10 flew in May, Apollo 11 in July."),
        ("In 2014 it closed.", "In 2013 it opened, and it closed in 2014."),
        ("The VH1 show was cancelled.", "VH1 cancelled the show."),
        ("Net income rose in Q4 2022.", "It rose in the fourth quarter of 2022 and fell in Q3."),
        ("Level 3 assets grew.", "Level 1 and 3 assets grew."),
        ("Section 5 sets the fee.", "The fee is set by Sections 4-6; it was 5 dollars."),
        ("Two brothers founded it.", "Ann's sons Bob and Carl founded it."),
        ("There are 2 stores.", "city: Rome; store: A\ncity: Oslo; store: B"),  # a table is counted
        ("Phase 3 trials began.", "Phase 2 ended, and Phase III trials began."),
        ("Take 1 tablet daily for 14 days.", "Take one tablet daily for a fortnight."),
        ("Store it at 37 °C.", "Store it at 98.6 °F."),
        ("", "Anything."),
    ],
)
def test_digits_told_otherwise_or_worked_out_are_held(claim: str, premise: str) -> None:
    assert unwritten_number(claim, premise) == ""


def test_a_number_around_the_text_is_held() -> None:
    assert unwritten_number("In 2018 it grew.", "It grew.", "Annual report 2018") == ""


class Sure:
    """An entailer that finds everything entailed."""

    maker = Maker(name="sure/1", hash="sha256:sure")

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        return [Entailment(entailment=0.99, neutral=0.005, contradiction=0.005) for _ in pairs]


def test_no_entailer_is_trusted_with_digits() -> None:
    source = "It began in July on USA Network."
    verdict = Verifier(Sure()).verify("The show began with season 1.", [source])
    assert verdict.status is Status.UNSUPPORTED
    assert "1" in verdict.reason
    assert Verifier(Sure()).verify("The show began in summer.", [source]).status is Status.VERIFIED


def test_digits_of_the_question_are_no_source() -> None:
    asked = "When did season 1 of the show begin?"
    verdict = Verifier(Sure()).verify("Season 1 of it began.", ["It began in July."], context=asked)
    assert verdict.status is Status.UNSUPPORTED

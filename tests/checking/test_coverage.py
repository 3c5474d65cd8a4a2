"""Coverage is an expectation: a verified claim may still be off the point."""

from __future__ import annotations

import pytest

from citewell.core.records import Claim, Kind, Maker, Status, Verdict
from citewell.verification.checking.checker import measure_coverage


def claim(text: str, *, aspect: str = "", answers: float | None = None, held: bool = True) -> Claim:
    status = Status.VERIFIED if held else Status.UNSUPPORTED
    return Claim(
        text=text,
        kind=Kind.CITED,
        answer_start=0,
        answer_end=len(text),
        verdict=Verdict(status=status, reason="", maker=Maker(name="test")),
        aspect=aspect,
        answers=answers,
    )


def test_a_true_sentence_that_hardly_answers_covers_little() -> None:
    measure, lacking = measure_coverage(["who?"], [claim("It rained.", aspect="who?", answers=0.4)], [])
    assert measure.value == pytest.approx(0.4)
    assert lacking == ()


def test_the_best_claim_of_each_aspect_counts_and_missing_ones_count_nothing() -> None:
    claims = [
        claim("Ann.", aspect="who?", answers=0.5),
        claim("Ann Lee.", aspect="who?", answers=0.9),
        claim("1871.", aspect="when?", answers=1.0, held=False),
    ]
    measure, lacking = measure_coverage(["who?", "when?"], claims, [])
    assert measure.value == pytest.approx(0.45)
    assert lacking == ("when?",)


def test_a_cell_that_exact_code_chose_covers_its_aspect() -> None:
    measure, _ = measure_coverage(["how much?"], [claim("Revenue … 12", aspect="how much?")], [])
    assert measure.value == 1.0


def test_a_writer_that_names_the_wrong_part_still_covers_the_right_one() -> None:
    aspects = ["When did the bridge open?", "When was the toll abolished?"]
    claims = [
        claim("The bridge opened in 1932.", aspect=aspects[0]),
        claim("The toll was abolished in 1958.", aspect=aspects[0]),
    ]
    measure, lacking = measure_coverage(aspects, claims, [])
    assert (measure.value, lacking) == (1.0, ())


def test_a_claim_for_one_year_does_not_cover_another() -> None:
    aspects = ["revenue of Acme, FY2021", "revenue of Acme, FY2022"]
    claims = [claim("Revenue of Acme in FY2022 was 12.", aspect=aspects[1])]
    assert measure_coverage(aspects, claims, [])[1] == (aspects[0],)


def test_a_true_sentence_about_another_thing_covers_nothing() -> None:
    asked = "Who is the captain of the Triton?"
    said = claim("The captain of the Alcyon is Mara Dietz.", aspect=asked)
    measure, lacking = measure_coverage([asked], [said], [])
    assert (measure.value, lacking) == (0.0, (asked,))

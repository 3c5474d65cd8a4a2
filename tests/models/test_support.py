"""Support: the entailer's score as a calibrated probability; 0.5 is the border."""

from __future__ import annotations

import pytest

from citewell.core.records import Entailment, Maker
from citewell.core.weights import WEIGHTS
from citewell.verification.evidence import source_kind
from citewell.verification.support import calibration_card, support

PREMISE = "Revenue was 51.2 billion dollars in fiscal 2023, an increase of 10 percent."
PACKAGED = Maker(name="packaged", hash=calibration_card(WEIGHTS / "entailer")["entailer"]["hash"])


def said(entailment: float) -> Entailment:
    return Entailment(entailment=entailment, neutral=1.0 - entailment, contradiction=0.0)


@pytest.mark.parametrize("premise", [PREMISE, f"{PREMISE} Costs fell.", "Item\t2023\nRevenue\t10\nCosts\t8"])
def test_more_entailment_is_more_support_on_both_sides_of_the_border(premise: str) -> None:
    values = [support(premise, said(p), maker=PACKAGED) for p in (0.02, 0.3, 0.6, 0.95, 0.99)]
    assert values == sorted(set(values))
    assert values[0] < 0.5 < values[-1]


def test_the_word_of_an_entailer_that_was_not_calibrated_is_taken_as_it_is() -> None:
    assert support(PREMISE, said(0.61), maker=Maker(name="any")) == 0.61


def test_an_unchecked_entailment_has_no_probability() -> None:
    nothing = Entailment(entailment=None, neutral=None, contradiction=None, unchecked="empty claim")
    with pytest.raises(ValueError, match="empty claim"):
        support(PREMISE, nothing, maker=PACKAGED)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Revenue rose.", "sentence"),
        ("Revenue rose. Costs fell.", "text"),
        ("Item\t2023\t2022\nRevenue\t10\t9\nCosts\t8\t8", "table"),
        ("Nike. Company.\nFounded: 1964.\nSeat: Beaverton.", "table"),
        ("club: Lanus; played: 76; lost: 4\nclub: Boca; played: 76; lost: 9", "table"),
        ("Policy: Some employees receive a bonus.\nScope: The policy applies in Ohio.", "text"),
        ("Dose: Some patients vomit after it.\nAge: Most patients are adults.", "text"),
        (
            "Notice: The tenant gives notice.\nRent: Tenants pay it monthly.\nCover: The plan covers it.",
            "text",
        ),
    ],
)
def test_kind_of_source(text: str, kind: str) -> None:
    assert source_kind(text) == kind


def test_the_coefficients_say_where_they_come_from() -> None:
    card = calibration_card(WEIGHTS / "entailer")
    assert card["entailer"]["hash"].startswith("sha256:")
    assert card["fitted_on"]
    assert card["hash"].startswith("sha256:")

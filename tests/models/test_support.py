"""Support: the entailer's word joined with exact checks; 0.5 is the border, denied numbers stay under it."""

from __future__ import annotations

import math

import pytest

from citewell.core.records import Entailment, Maker
from citewell.verification.joining import join_support
from citewell.verification.kinds import source_kind
from citewell.verification.support import (
    DENIED_CEILING,
    calibration_card,
    denied_numbers,
    features,
    held_down,
    weigh,
)

PREMISE = "Revenue was 51.2 billion dollars in fiscal 2023, an increase of 10 percent."
SURE = Entailment(entailment=0.99, neutral=0.005, contradiction=0.005)
UNSURE = Entailment(entailment=0.02, neutral=0.9, contradiction=0.08)


def test_a_sure_entailer_and_nothing_missing_is_weigh() -> None:
    assert weigh(PREMISE, "Revenue was 51.2 billion dollars.", SURE).probability > 0.5


def test_an_unsure_entailer_is_none() -> None:
    assert weigh(PREMISE, "The chairman likes to sail.", UNSURE).probability < 0.5


def test_a_number_the_premise_denies_holds_support_under_the_border() -> None:
    claim = "Revenue was 52.1 billion dollars."
    assert join_support(PREMISE, claim, SURE, maker=Maker(name="any")) <= DENIED_CEILING < 0.5
    assert held_down(PREMISE, claim)
    assert any("52.1" in number for number in denied_numbers(PREMISE, claim))


def test_a_missing_name_never_adds_weigh() -> None:
    without = weigh("The plant stands in Ohio.", "The plant stands in Ohio.", SURE).probability
    assert weigh("The plant stands in Ohio.", "The plant stands in Texas.", SURE).probability <= without


def test_more_entailment_is_more_weigh() -> None:
    values = [
        weigh(
            PREMISE, "Revenue rose.", Entailment(entailment=p, neutral=1 - p, contradiction=0.0)
        ).probability
        for p in (0.05, 0.3, 0.6, 0.95)
    ]
    assert values == sorted(values)


def test_what_was_added_sums_to_the_log_odds() -> None:
    result = weigh(PREMISE, "Revenue rose in fiscal 2023.", SURE)
    assert result.probability == pytest.approx(1 / (1 + math.exp(-sum(result.added.values()))))


def test_unchecked_has_nothing_to_join() -> None:
    nothing = Entailment(entailment=None, neutral=None, contradiction=None, unchecked="empty claim")
    with pytest.raises(ValueError, match="empty claim"):
        features(PREMISE, "Revenue rose.", nothing)


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


def test_numbers_that_hold_deny_nothing() -> None:
    assert denied_numbers(PREMISE, "Revenue was about 51 billion dollars in 2023.") == ()


@pytest.mark.parametrize(
    ("claim", "denied"),
    [
        ("Net sales rose by 320.", ()),
        ("Net sales rose by 520.", ("520",)),
        ("Net sales were 320.", ("320",)),
        ("Net sales of both years together were 9,920.", ()),
        ("Net sales grew 320.", ()),
        ("The difference in net sales is 320.", ()),
        ("Net sales rose by 2,120.", ("2,120",)),  # net sales less costs
    ],
)
def test_a_difference_is_not_denied_by_what_it_is_worked_out_of(claim: str, denied: tuple[str, ...]) -> None:
    table = "Item\t2021\t2020\nNet sales\t5,120\t4,800\nCosts\t3,000\t2,900"
    assert denied_numbers(table, claim) == denied


def test_the_coefficients_say_where_they_come_from() -> None:
    card = calibration_card()
    assert card["entailer"]["hash"].startswith("sha256:")
    assert card["fitted_on"]
    assert card["hash"].startswith("sha256:")


MIXED = (
    "Consolidated statements\n(In millions)\n\t2022\t2021\nNet sales\t46,710\t44,538\n"
    "Cost of sales\t25,231\t24,576\nNet income\t6,046\t5,727\n\n"
    "If demand recovers, the Company may open up to 40 stores in 2023. Some stores of Acme Corp. were closed."
)


@pytest.mark.parametrize(
    "claim",
    [
        "The Company will open up to 40 stores in 2023.",
        "All stores of Acme Corp. were closed.",
        "Some stores of Beta Corp. were closed.",
    ],
)
def test_prose_beside_a_table_is_held_to_its_words(claim: str) -> None:
    assert held_down(MIXED, claim)


@pytest.mark.parametrize(
    "claim",
    [
        "If demand recovers, the Company may open up to 40 stores in 2023.",
        "Some stores of Acme Corp. were closed.",
        "Net sales were 46,710 in 2022.",
        "Net income rose to 6,046 in 2022.",
    ],
)
def test_what_stands_in_either_is_not_held(claim: str) -> None:
    assert not held_down(MIXED, claim)


@pytest.mark.parametrize(
    ("premise", "claim"),
    [
        ("Revenue rose from $10 million to $45 million.", "Revenue rose to $35 million."),
        ("Revenue rose from $10 million to $45 million.", "Revenue rose to $55 million."),
        (
            "Sales were $10 million in Asia and $20 million in Europe; group revenue rose to $45 million.",
            "Group revenue rose to $30 million.",
        ),
    ],
)
def test_where_something_rose_to_is_no_difference(premise: str, claim: str) -> None:
    assert denied_numbers(premise, claim)


def test_a_small_count_hides_no_date() -> None:
    premise = "In 2021 the firm opened 5 stores and grew revenue to $5 million."
    claim = "Revenue grew to $5 million in 2022."
    assert denied_numbers(premise, claim, "Annual report 2022", "Annual report 2022")

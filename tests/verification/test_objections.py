"""Exact code's objections to a claim, and what is not an objection."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.core.records import Entailment, Maker, Status
from citewell.verification.evidence import ClaimEvidence, as_evidence
from citewell.verification.objections import OBJECTIONS, objection
from citewell.verification.verifier import Verifier

PREMISE = "Revenue was 51.2 billion dollars in fiscal 2023, an increase of 10 percent."


class SureEntailer:
    """Entails everything."""

    maker = Maker(name="sure")

    def entail(self, pairs: object) -> list[Entailment]:
        return [Entailment(entailment=0.99, neutral=0.005, contradiction=0.005) for _ in pairs]  # type: ignore[attr-defined]


def held_down(premise: str, claim: str) -> str:
    evidence = as_evidence(premise)
    return objection(ClaimEvidence(claim=claim, evidence=(evidence,)), evidence, OBJECTIONS)


def test_a_number_the_premise_denies_holds_support_under_the_border_whatever_the_model_says() -> None:
    claim = "Revenue was 52.1 billion dollars."
    verdict = Verifier(SureEntailer()).verify(claim, [PREMISE])
    assert verdict.status is Status.UNSUPPORTED
    assert verdict.support is not None
    assert verdict.support < 0.5
    assert "52.1" in verdict.reason


def test_a_verifier_without_a_check_does_not_object() -> None:
    """How a benchmark measures the benefit of one check."""
    claim = "Revenue was 52.1 billion dollars."
    without = {name: check for name, check in OBJECTIONS.items() if name != "numbers"}
    assert Verifier(SureEntailer(), objections=without).verify(claim, [PREMISE]).status is Status.VERIFIED


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


def test_every_check_has_a_row_that_defends_it() -> None:
    """A check that measurements do not justify is removed: docs/decisions/115."""
    page = Path(__file__).parents[2] / "docs" / "measurements" / "rules.json"
    rows = json.loads(page.read_text(encoding="utf-8"))["checks"]
    assert [name for name in OBJECTIONS if not rows[name]["defended"]] == []
    for name in OBJECTIONS:
        assert rows[name]["high"] < 0.5
        assert rows[name]["right"] > rows[name]["wrong"]


LEASE = (
    "Either party may end the lease with sixty days' notice. "
    "The landlord returns the deposit within thirty days after the tenant has left."
)


@pytest.mark.parametrize(
    ("claim", "held"),
    [
        ("The landlord returns the deposit within 60 days after the tenant has left.", True),
        ("The landlord returns the deposit within 30 days after the tenant has left.", False),
        ("The lease may be ended with 60 days' notice by either party.", False),
    ],
)
def test_a_number_told_of_another_sentence_is_held(claim: str, held: bool) -> None:
    assert bool(held_down(LEASE, claim)) is held

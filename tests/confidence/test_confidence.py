"""Four components, which of them were measured, and the decision."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from citewell.core.config import Confidence
from citewell.core.records import (
    Chunk,
    Citation,
    Claim,
    Decision,
    Kind,
    Maker,
    Measure,
    Passage,
    Proof,
    Status,
    Verdict,
)
from citewell.models.fake import FakeEntailer
from citewell.verification.checking import Checked, nothing_to_check
from citewell.verification.confidence import measure_consistency, needs_arithmetic, report

SETTINGS = Confidence()


def passages(*relevance: float) -> list[Passage]:
    """What the writer was shown; claims cite the first."""
    return [
        Passage(
            chunk=Chunk(
                chunk_id=f"c{number}", document_id="d", document_version="v", start_offset=0, end_offset=1,
                content="x",
            ),
            relevance=value,
            relevant=True,
            used=True,
        )
        for number, value in enumerate(relevance)
    ]  # fmt: skip


def claim(
    status: Status = Status.VERIFIED,
    support: float | None = 1.0,
    shown: bool = True,
    proof: Proof | None = None,
) -> Claim:
    verdict = Verdict(status=status, reason="r", maker=Maker(name="m"), support=support, proof=proof)
    cited = Citation(
        chunk_id="c0", document_id="d", document_version="v", start=0, end=1, quote="x", mode="quote",
        answer_start=0, answer_end=8,
    )  # fmt: skip
    return Claim(
        text="It grew.", kind=Kind.CITED, answer_start=0, answer_end=8, verdict=verdict, shown=shown,
        citations=(cited,),
    )  # fmt: skip


def checked(*claims: Claim, coverage: float | None = 1.0, missing: Sequence[str] = ()) -> Checked:
    return Checked(
        claims=claims, shown_text="It grew.", coverage=Measure(value=coverage, n=1), missing=tuple(missing),
        hallucination_gap=Measure(value=0.0, n=len(claims)),
    )  # fmt: skip


def test_all_measured_and_high_is_an_answer() -> None:
    found = report("What grew?", checked(claim()), passages(0.9, 0.1), SETTINGS)  # the second is not cited
    assert found.decision is Decision.ANSWER
    # (.3 x .9 + .2 x 1 + .4 x 1) / .9, by hand
    assert found.overall == pytest.approx(0.87 / 0.9)
    assert sum(found.weights.values()) == pytest.approx(1.0)
    assert "consistency" not in found.weights
    assert (found.consistency_score.value, found.consistency_score.n) == (None, 0)


def test_consistency_takes_part_when_it_was_measured() -> None:
    found = report("q", checked(claim()), passages(1.0), SETTINGS, consistency=Measure(value=0.0, n=4))
    assert found.overall == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("outcome", "relevance", "question", "decision", "reason"),
    [
        (nothing_to_check(("a",)), (0.9,), "q", Decision.ABSTAIN, "no claim"),
        (checked(claim(Status.CONTRADICTED, 0.9), claim()), (0.9,), "q", Decision.ABSTAIN, "contradicts"),
        (
            checked(claim(Status.UNSUPPORTED, 0.1)),
            (0.9,),
            "q",
            Decision.ABSTAIN,
            "no claim could be verified",
        ),
        (checked(claim(Status.UNCHECKED, None)), (0.9,), "q", Decision.ABSTAIN, "no claim could be verified"),
        (checked(claim(support=0.6), coverage=0.0), (0.5,), "q", Decision.ABSTAIN, "below 0.60"),
        (checked(claim()), (), "q", Decision.PARTIAL, "retrieval was not measured"),
        (checked(claim(), coverage=None), (0.9,), "q", Decision.PARTIAL, "coverage was not measured"),
        (checked(claim(), missing=("the tax rate",)), (0.9,), "q", Decision.PARTIAL, "the tax rate"),
        (
            checked(*[claim()] * 9, claim(Status.UNSUPPORTED, 0.4)),
            (1.0,),
            "q",
            Decision.PARTIAL,
            "not verified",
        ),
        (
            checked(*[claim()] * 9, claim(Status.UNSUPPORTED, 0.4, shown=False)),
            (1.0,),
            "q",
            Decision.ANSWER,
            "every claim",
        ),
        (checked(claim()), (0.9,), "What is the operating margin?", Decision.PARTIAL, "needs a calculation"),
        (
            checked(claim(), claim(proof=Proof.COMPUTED)),
            (0.9,),
            "What is the operating margin?",
            Decision.ANSWER,
            "every claim",
        ),
        (checked(claim(support=0.6)), (0.7,), "q", Decision.PARTIAL, "below 0.85"),
    ],
)
def test_the_decision_and_its_reason(
    outcome: Checked, relevance: tuple[float, ...], question: str, decision: Decision, reason: str
) -> None:
    found = report(question, outcome, passages(*relevance), SETTINGS)
    assert found.decision is decision
    assert any(reason in said for said in found.reasons)


def test_a_contradiction_leaves_no_support() -> None:
    assert report("q", checked(claim(Status.CONTRADICTED, 0.9)), passages(1.0), SETTINGS).overall == 0.0


def test_nothing_measured_is_none_never_a_number() -> None:
    found = report("q", nothing_to_check(), (), SETTINGS)
    assert (found.overall, found.entailment_score.value, found.retrieval_score.value) == (None, None, None)
    assert found.weights == {}


def test_unchecked_claims_are_counted_beside_the_mean() -> None:
    found = report("q", checked(claim(support=0.8), claim(Status.UNCHECKED, None)), passages(1.0), SETTINGS)
    assert (found.entailment_score.value, found.entailment_score.n) == (0.8, 1)
    assert found.entailment_score.note == "1 unchecked"


@pytest.mark.parametrize(
    ("runs", "value", "n"),
    [
        ([["Nike grew in May."], ["Nike grew in May."]], 1.0, 2),
        ([["Nike grew in May."], ["Adidas sold Reebok."]], 0.0, 2),
        ([["Nike grew.", "Costs fell."], ["Nike grew."]], 2 / 3, 3),
        ([["Nike grew."], []], 0.0, 1),
        ([["Nike grew."]], None, 0),
        ([[], []], None, 0),
    ],
)
def test_runs_agree_claim_by_claim(runs: list[list[str]], value: float | None, n: int) -> None:
    found = measure_consistency(runs, FakeEntailer())
    assert (found.value, found.n) == (pytest.approx(value) if value is not None else None, n)


def test_a_deterministic_writer_measures_no_consistency() -> None:
    assert measure_consistency([["a"], ["a"]], FakeEntailer(), deterministic=True).value is None


@pytest.mark.parametrize(
    ("question", "needed"),
    [
        ("What is the FY2018 capital expenditure amount (in USD millions) for 3M?", False),
        ("Who is the CEO of Nike?", False),
        ("What was the growth rate of revenue from 2017 to 2018?", True),
        ("What is the FY2019 fixed asset turnover ratio?", True),
        ("By how much did net sales change between 2017 and 2018?", True),
        ("What is the three-year average of capex as a % of revenue?", True),
        ("What is the difference between assets and liabilities?", True),
    ],
)
def test_questions_that_need_arithmetic_are_told(question: str, needed: bool) -> None:
    assert needs_arithmetic(question) is needed


def test_the_probability_that_a_passage_answers_is_the_checks_where_it_has_one_and_names_it() -> None:
    (read,) = passages(0.4)
    found = report("q", checked(claim()), [read], SETTINGS, ranker="ranker", check="judge").retrieval_score
    assert (found.value, found.maker) == (0.4, "ranker")
    answering = msgspec.structs.replace(read, answers=0.8)
    found = report(
        "q", checked(claim()), [answering], SETTINGS, ranker="ranker", check="judge"
    ).retrieval_score
    assert (found.value, found.maker) == (0.8, "ranker & judge")

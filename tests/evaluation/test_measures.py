"""The other measures by hand: retrieval, answers, abstention, calibration, effort; each on no cases, too."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.core.records import Case, CaseSpan, ConfidenceReport, Decision, Measure, Stage, TokenUsage
from citewell.evaluation import judging
from citewell.evaluation.judging import JudgedCase
from citewell.evaluation.measure import latencies, latency
from citewell.evaluation.measures import (
    ALL,
    BY_NAME,
    aurc,
    balance,
    brier,
    expected_calibration_error,
)
from citewell.evaluation.results import CaseTiming
from citewell.evaluation.running import summed
from citewell.verification.confidence import measure_consistency

from .conftest import Scripted, citation, claim, judged, observed, passage

ANSWERABLE = Case(id="1", question="q?", expected="seven")
SPANNED = Case(id="2", question="q?", spans=(CaseSpan(document="d.md", quote="x"),))
UNANSWERABLE = Case(id="3", question="q?", abstain="nowhere said")
UNLABELLED = Case(id="4", question="q?")


def value(name: str, *cases: JudgedCase) -> tuple[float | None, int, int]:
    result = summed(BY_NAME[name], [BY_NAME[name].of(case) for case in cases], "by hand")
    return result.value, result.n, result.unscored


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_no_case_measures_nothing(measure: object) -> None:
    result = summed(measure, [], "by hand")  # type: ignore[arg-type]
    assert (result.value, result.n, result.unscored, result.low, result.high) == (None, 0, 0, None, None)


def test_a_measure_prints_as_its_name_and_names_are_unique() -> None:
    assert [repr(measure) for measure in ALL] == list(BY_NAME)
    assert {"precision@5", "nDCG@10", "relevant_in_top_5", "alce_recall"} <= set(BY_NAME)


# --- retrieval --------------------------------------------------------------------------------------


def ranked(*hits: bool, unfound: int = 0) -> JudgedCase:
    return judged(SPANNED, hits=hits, unfound=unfound)


def test_retrieval_by_hand() -> None:
    case = ranked(False, True, True, False, unfound=1)
    assert value("precision@5", case) == (0.4, 1, 0)
    assert value("recall@5", case) == (pytest.approx(2 / 3), 1, 0)
    assert value("relevant_in_top_5", case) == (1.0, 1, 0)
    gained, ideal = 1 / math.log2(3) + 1 / math.log2(4), 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert value("nDCG@10", case) == (pytest.approx(gained / ideal), 1, 0)


def test_what_stands_behind_the_cut_counts_in_the_ideal_alone() -> None:
    case = ranked(*[False] * 5, True)
    assert (value("recall@5", case)[0], value("recall@10", case)[0]) == (0.0, 1.0)
    assert value("relevant_in_top_5", case)[0] == 0.0
    assert value("nDCG@10", case)[0] == pytest.approx(1 / math.log2(7))


def test_what_was_handed_on_says_how_deep_can_be_looked() -> None:
    """A passage at rank 6 is not missed by a retrieval that was asked for 5."""
    five = judged(SPANNED, observed(top_k=5), hits=(True,) * 5, unfound=1)
    assert value("recall@5", five) == (pytest.approx(5 / 6), 1, 0)
    assert value("nDCG@5", five) == (1.0, 1, 0)
    assert value("recall@10", five) == value("nDCG@10", five) == (None, 0, 1)
    assert "--top-k 10" in BY_NAME["recall@10"].of(five).reason
    ten = judged(SPANNED, observed(top_k=10), hits=(True,) * 5, unfound=1)
    assert value("recall@10", ten) == (pytest.approx(5 / 6), 1, 0)


def test_nothing_retrieved_finds_nothing() -> None:
    for name in ("precision@5", "recall@10", "nDCG@10", "relevant_in_top_5"):
        assert value(name, ranked(unfound=1)) == (0.0, 1, 0)


def test_a_case_without_spans_is_unscored_and_one_without_answer_is_not_asked() -> None:
    assert value("nDCG@10", judged(UNLABELLED), judged(UNANSWERABLE, hits=(True,))) == (None, 0, 1)


def test_a_span_that_stands_nowhere_is_unscored_with_its_reason() -> None:
    score = BY_NAME["recall@5"].of(judged(SPANNED, unlocated="there is no document 'd.md'"))
    assert (score.points, score.unscored, score.reason) == ((), 1, "there is no document 'd.md'")


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 3))
def test_retrieval_measures_are_shares_and_a_perfect_order_is_one(hits: list[bool], unfound: int) -> None:
    case = ranked(*hits, unfound=unfound or (not any(hits)))
    for name in ("precision@5", "recall@5", "recall@10", "nDCG@10", "relevant_in_top_5"):
        found = value(name, case)[0]
        assert found is not None
        assert 0.0 <= found <= 1.0 + 1e-12
    best = ranked(*sorted(hits, reverse=True)[: sum(hits)])
    if any(hits):
        assert value("nDCG@10", best)[0] == pytest.approx(1.0)


# --- answers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "answer", "exact", "f1", "contained"),
    [
        ("The Bill Bowerman", "bill bowerman!", True, 1.0, True),
        ("Bill Bowerman", "It was Bill Bowerman and Knight", False, pytest.approx(4 / 8), True),
        ("Bill Bowerman", "Bowerman, Bill", False, 1.0, False),
        ("7", "77 pairs", False, 0.0, False),
        ("Bill", "", False, 0.0, False),
        ("", "", True, 1.0, False),
    ],
)
def test_words_as_in_squad(expected: str, answer: str, exact: bool, f1: float, contained: bool) -> None:
    assert judging.exact_match(expected, answer) is exact
    assert judging.f1(expected, answer) == f1
    assert judging.contained(expected, answer) is contained


@pytest.mark.parametrize(
    ("expected", "answer", "context", "held"),
    [
        ("$1,577 million", "Capital expenditure was $1.577 billion.", "", True),
        ("$1577.00 million", "Purchases of property: 1,577", "Cash flows (In millions)", True),
        ("$1577.00 million", "Purchases of property: 1,677", "Cash flows (In millions)", False),
        ("In 2018 it was 8 percent", "It was 8%.", "", True),
        ("8%", "It was 8 points.", "", False),
        ("2018", "It was founded in 2019.", "", False),
        ("Bill Bowerman", "Bill Bowerman in 1964", "", None),
    ],
)
def test_numbers_as_the_verifier_reads_them(
    expected: str, answer: str, context: str, held: bool | None
) -> None:
    assert judging.numbers_match(expected, answer, context) is held


def test_answers_are_compared_without_their_marks() -> None:
    said = judged(ANSWERABLE, observed(text="seven [1]"))
    assert value("exact_match", said, judged(SPANNED), judged(UNANSWERABLE)) == (1.0, 1, 1)
    assert value("numeric_match", said, judged(SPANNED)) == (1.0, 1, 1)


@pytest.mark.parametrize("name", ["exact_match", "f1", "contains_expected", "numeric_match"])
def test_a_refused_answer_says_nothing_of_what_was_expected(name: str) -> None:
    """1 right and 3 refused are not 1.0: as in SQuAD 2.0, whatever the wording of the refusal."""
    said = judged(ANSWERABLE, observed(text="seven"))
    refused = judged(ANSWERABLE, observed(text="Not seven, I cannot say.", answered=False))
    assert value(name, said, *[refused] * 3) == (0.25, 4, 0)
    assert value(name, judged(UNANSWERABLE, observed(answered=False))) == (None, 0, 0)


def test_numbers_are_not_asked_for_where_none_is_expected() -> None:
    words = Case(id="5", question="q?", expected="Bill Bowerman")
    assert value("numeric_match", judged(words), judged(words, observed(answered=False))) == (None, 0, 0)


# --- abstention -------------------------------------------------------------------------------------


def outcome(
    case: Case, answered: bool, right: bool | None = None, overall: float | None = None
) -> JudgedCase:
    return judged(case, observed(answered=answered, overall=overall), right=right, why="by hand")


ALL_REFUSED = (outcome(ANSWERABLE, False, False), outcome(UNANSWERABLE, False, True))
ALL_ANSWERED = (outcome(ANSWERABLE, True, True, 0.9), outcome(UNANSWERABLE, True, False, 0.9))
ORACLE = (outcome(ANSWERABLE, True, True, 0.9), outcome(UNANSWERABLE, False, True))


def test_both_sides_of_abstention() -> None:
    assert [value(n, *ALL_REFUSED)[0] for n in ("wrongly_answered", "wrongly_abstained")] == [0.0, 1.0]
    assert [value(n, *ALL_ANSWERED)[0] for n in ("wrongly_answered", "wrongly_abstained")] == [1.0, 0.0]
    assert value("coverage", *ALL_REFUSED, *ALL_ANSWERED) == (0.5, 4, 0)
    assert value("wrongly_answered", outcome(UNLABELLED, True)) == (None, 0, 1)


def test_refusing_everything_cannot_win() -> None:
    balances = [value("abstention_balance", *cases)[0] for cases in (ALL_REFUSED, ALL_ANSWERED, ORACLE)]
    assert balances == [0.5, 0.5, 1.0]
    areas = [value("aurc", *cases)[0] for cases in (ALL_REFUSED, ALL_ANSWERED, ORACLE)]
    assert areas == [0.5, 0.5, 0.0]
    assert [value("right_outcome", *cases)[0] for cases in (ALL_REFUSED, ALL_ANSWERED, ORACLE)] == [
        0.5,
        0.5,
        1,
    ]


def test_balance_needs_both_sides() -> None:
    assert balance([(1.0, 1.0)]) is None
    assert balance([]) is None
    assert value("abstention_balance", outcome(ANSWERABLE, True)) == (None, 0, 1)


def test_aurc_by_hand() -> None:
    points = [(0.9, 0.0), (0.8, 1.0), (0.7, 0.0), (0.6, 0.0)]
    assert aurc(points) == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 4) / 4)


def test_an_answer_without_a_confidence_leaves_no_order_to_measure() -> None:
    """Refusals have their place: 50 wrong answers of unknown confidence are not a perfect order."""
    wrong = [outcome(UNANSWERABLE, True, False)] * 50
    cases = [*wrong, *[outcome(UNANSWERABLE, False, True)] * 10]
    assert value("aurc", *cases) == (None, 0, 60)
    assert value("aurc", *cases[50:], outcome(UNLABELLED, True)) == (0.0, 10, 1)


def test_equal_confidences_are_in_no_order() -> None:
    points = [(0.9, 0.0), (0.9, 1.0), (-1.0, 0.0)]
    assert aurc(points) == aurc(points[::-1]) == pytest.approx((0.5 + 0.5 + 1 / 3) / 3)


def test_gate_errors_both_ways() -> None:
    closed, opened = observed(gate_passed=False), observed(gate_passed=True)
    cases = [
        judged(ANSWERABLE, closed),
        judged(SPANNED, opened),
        judged(UNANSWERABLE, opened),
        judged(UNANSWERABLE),
    ]
    assert value("gate_wrongly_closed", *cases) == (0.5, 2, 0)
    assert value("gate_wrongly_open", *cases) == (1.0, 1, 1)


# --- calibration ------------------------------------------------------------------------------------


def test_calibration_by_hand() -> None:
    found = [(0.95, 1.0), (0.92, 0.0), (0.15, 0.0), (1.0, 1.0)]
    assert brier(found) == pytest.approx((0.05**2 + 0.92**2 + 0.15**2) / 4)
    last = (0.95 + 0.92 + 1.0) / 3
    assert expected_calibration_error(found) == pytest.approx(3 / 4 * (last - 2 / 3) + 1 / 4 * 0.15)
    assert expected_calibration_error([]) is None


def test_confidence_is_compared_where_somebody_knows() -> None:
    cases = [
        outcome(ANSWERABLE, True, True, 0.75),
        outcome(UNLABELLED, True, None, 0.9),
        outcome(ANSWERABLE, True, True),
        outcome(ANSWERABLE, False, False, 0.2),
    ]
    assert value("brier_confidence", *cases) == (pytest.approx(0.0625), 1, 2)


# --- effort -----------------------------------------------------------------------------------------


def test_effort_is_measured_where_somebody_counted() -> None:
    cases = [judged(seen=observed(usage=TokenUsage(prompt=10, completion=4, total=14), cost=0.5)), judged()]
    assert value("tokens_total", *cases) == (14.0, 1, 0)
    assert value("cost", *cases) == (0.5, 1, 0)
    assert value("consistency", *cases) == (None, 0, 0)


def test_drafts_of_which_a_part_could_not_be_compared_are_unscored() -> None:
    def agreeing(said: bool | None) -> JudgedCase:
        entailer = Scripted(lambda premise, text: True if text == "a" else said)
        found = measure_consistency([["a", "b"], ["a"]], entailer)
        none = Measure(value=None, n=0)
        confidence = ConfidenceReport(
            retrieval_score=none,
            coverage_score=none,
            entailment_score=none,
            consistency_score=found,
            weights={},
            overall=None,
            hallucination_gap=none,
            decision=Decision.ANSWER,
        )
        return judged(seen=observed(confidence=confidence))

    assert value("consistency", agreeing(True), agreeing(None)) == (1.0, 1, 1)


def test_latency_by_stage_is_a_nearest_rank() -> None:
    def took(*ms: float) -> CaseTiming:
        return CaseTiming(total_ms=9.0, stages=tuple(Stage(name="gate", latency_ms=one) for one in ms))

    timings = [took(1, 1), took(3), took(4), took(), CaseTiming()]
    found = {
        measure.name: summed(measure, [measure.of(timing) for timing in timings], "clock")
        for measure in latencies(["gate"])
    }
    assert [(result.value, result.n) for result in found.values()] == [(9.0, 4), (9.0, 4), (3.0, 3), (4.0, 3)]
    assert list(found)[2:] == ["latency_ms_p50@gate", "latency_ms_p95@gate"]
    assert repr(latency(95, "poison filter")) == "latency_ms_p95@poison_filter"


# --- correctness ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "answer", "right"),
    [
        ("0.7", "retrieval.relevance_threshold … 0.7", True),
        ("0.7", "it is 0.6", False),
        ("Phil Knight", "It was founded by Phil Knight.", True),
        ("Phil Knight", "It was founded by Phil Jackson.", False),
        ("by an automatic switch at dusk", "at dusk by a switch", True),
        ("No", "Yes. There is no doubt that it does.", False),
        ("Yes", "No: one cannot say yes here.", False),
        ("Yes.", "Yes, it does.", True),
        ("no", "The answer is no.", True),
        ("no", "The answer is **no**, as the lease has ended", True),
        ("no", "There is no doubt that it does.", False),
        ("no", "It ranked No. 5 with debt.", False),
        ("yes", "The answer is yes: it has no debt.", True),
        ("yes", "The answer is yes because revenue rose.", True),
        ("no", "I would say no since costs fell.", True),
        ("no", "Some say yes; the answer is no.", False),
        ("Yes", "It opened in 1932.", False),
    ],
)
def test_right_is_told_by_numbers_then_words(expected: str, answer: str, right: bool) -> None:
    assert judging.says(expected, answer)[0] is right


def test_decisions_say_who_answered() -> None:
    assert (
        observed(claim("a", citation(passage("x"))), decision=Decision.ABSTAIN, answered=False).stated == ()
    )

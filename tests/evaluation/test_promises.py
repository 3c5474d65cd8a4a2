"""Thresholds with a certificate: the two numbers everybody should know, and what is promised about what."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.evaluation.calibration.promises import (
    GRID,
    PromiseSpec,
    Unit,
    distinct,
    highest,
    kept,
    passed_promise,
    shown_promise,
    units_needed,
    upper_bound,
)
from citewell.evaluation.cases import LabelledClaim
from citewell.verification.confidence.cards import Promise, PromiseOutcome


def wanted(**options: object) -> PromiseSpec:
    return PromiseSpec(name="entailed", says="says", unit="unit", **options)  # type: ignore[arg-type]


def unit(score: float, right: bool) -> Unit:
    return [(score, right)]


def shown(units: list[Unit], **options: object) -> Promise:
    return shown_promise(wanted(fallback=0.5, **options), units)  # type: ignore[arg-type]


def test_with_no_error_59_units_are_needed_with_one_93() -> None:
    assert units_needed(0) == 59
    assert units_needed(1) == 93
    assert upper_bound(0, 59) <= 0.05 < upper_bound(0, 58)
    assert upper_bound(1, 93) <= 0.05 < upper_bound(1, 92)


def test_a_promise_is_made_with_59_right_units_and_not_with_58() -> None:
    assert shown([unit(1.0, True)] * 59).outcome is PromiseOutcome.HOLDS
    short = shown([unit(1.0, True)] * 58)
    assert short.outcome is PromiseOutcome.TOO_SMALL
    assert "59 without an error are needed" in short.note


def test_a_promise_is_made_with_one_error_in_93_and_not_in_92() -> None:
    assert shown([unit(1.0, True)] * 92 + [unit(1.0, False)]).outcome is PromiseOutcome.HOLDS
    short = shown([unit(1.0, True)] * 91 + [unit(1.0, False)])
    assert short.outcome is PromiseOutcome.TOO_SMALL
    assert "93 are needed with that many errors" in short.note
    assert short.bound is not None
    assert short.bound > 0.05


def test_nothing_labelled_is_not_measured() -> None:
    found = shown([])
    assert found.outcome is PromiseOutcome.NOT_MEASURED
    assert (found.rate, found.bound, found.coverage) == (None, None, None)


def test_scores_that_say_nothing_do_not_separate_and_the_threshold_stays() -> None:
    draw = random.Random(1)
    found = shown([unit(draw.random(), draw.random() < 0.7) for _ in range(400)])
    assert found.outcome is PromiseOutcome.DOES_NOT_SEPARATE
    assert found.threshold == 0.5
    assert found.bound is not None
    assert found.bound > 0.2


def test_the_lowest_threshold_that_keeps_the_promise_is_taken() -> None:
    units = [unit(0.9, True)] * 100 + [unit(0.7, True)] * 100 + [unit(0.55, False)] * 100
    found = shown(units)
    assert found.outcome is PromiseOutcome.HOLDS
    assert 0.55 < found.threshold <= 0.7
    assert (found.shown, found.errors, found.coverage) == (200, 0, 1.0)


def test_the_sequence_stops_at_the_first_threshold_that_fails() -> None:
    """Later thresholds may look good again, but were not earned."""
    units = [unit(0.9, True)] * 120 + [unit(0.8, False)] * 30 + [unit(0.6, True)] * 300
    assert shown(units).threshold > 0.8


def test_a_unit_is_one_answer_in_error_when_anything_it_shows_is_wrong() -> None:
    mixed = [[(0.9, True), (0.6, False)]]
    assert (highest(mixed), highest(mixed, right=True), highest(mixed, right=False)) == ([0.9], [0.9], [0.6])
    assert highest([unit(0.7, True)], right=False) == highest([unit(0.7, False)], right=True) == [-1.0]
    long: list[Unit] = [[(1.0, True)] * 10] * 20
    assert shown(long).outcome is PromiseOutcome.TOO_SMALL


def test_false_positives_are_a_share_of_what_should_not_pass() -> None:
    found = passed_promise(wanted(fallback=0.7), [0.1] * 99 + [0.95], [0.8] * 9 + [0.2])
    assert found.outcome is PromiseOutcome.HOLDS
    assert (found.errors, found.n, found.coverage) == (1, 100, 0.9)
    assert found.threshold == 0.5
    assert passed_promise(wanted(fallback=0.7), [0.9] * 58, []).outcome is PromiseOutcome.TOO_SMALL


@settings(deadline=None)
@given(st.integers(0, 20), st.integers(0, 200))
def test_so_few_errors_under_the_bound_have_a_chance_of_five_percent(errors: int, more: int) -> None:
    n = errors + more + 1
    bound = upper_bound(errors, n)
    tail = math.fsum(math.comb(n, k) * bound**k * (1 - bound) ** (n - k) for k in range(errors + 1))
    assert tail == pytest.approx(0.05, abs=1e-9)
    if abs(bound - 0.05) > 1e-9:
        assert kept(errors, n) == (bound <= 0.05)


@pytest.mark.parametrize("alpha", [0.05, 0.1])
def test_over_many_draws_the_promise_is_broken_no_more_often_than_it_says(alpha: float) -> None:
    """True rates are known here: the share wrong at or above t, for scores uniform on [0, 1] whose chance of
    being wrong is (1 - score) ** 2 / 2."""
    draw, broken, made = random.Random(5), 0, 0
    for _ in range(200):
        scores = [draw.random() for _ in range(300)]
        units = [unit(s, draw.random() >= (1 - s) ** 2 / 2) for s in scores]
        found = shown(units, alpha=alpha)
        if found.outcome is PromiseOutcome.HOLDS:
            made += 1
            true = (1 - found.threshold) ** 2 / 6
            broken += true > alpha
    assert made > 50
    assert broken <= 15


def test_the_grid_is_strictest_first_and_never_under_what_exact_code_denies() -> None:
    from citewell.verification.objections import DENIED_CEILING

    assert list(GRID) == sorted(set(GRID), reverse=True)
    assert GRID[-1] == 0.5
    assert GRID[-1] > DENIED_CEILING


def _row(claim: str, *, supported: bool, group: str = "") -> LabelledClaim:
    return LabelledClaim(claim=claim, sources=("The text.",), supported=supported, group=group)


def test_a_false_claim_that_many_answers_share_stays_in_each() -> None:
    rows = [
        row
        for n in range(100)
        for row in (
            _row(f"True thing {n}.", supported=True, group=str(n)),
            _row("The false thing.", supported=False, group=str(n)),
        )
    ]
    assert distinct(rows) == rows


def test_only_blanks_make_no_other_claim() -> None:
    rows = [_row("It takes 5 mW.", supported=True), _row("It takes 5 MW.", supported=False)]
    assert distinct([*rows, _row("It  takes 5 mW.", supported=True)]) == rows

"""The four confidence weights: chosen on one half, confirmed on the other, all by hand."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest
from benchmarks.sample_records import some_record

from citewell.core.identity import hash_text
from citewell.core.records import Measure
from citewell.evaluation.calibration.weighing import LEAST, RehearsedAnswer, weigh
from citewell.verification.confidence.cards import PromiseOutcome

CONFIGURED = {"retrieval": 0.3, "coverage": 0.2, "entailment": 0.4, "consistency": 0.1}


def answer(key: str, right: bool, measured: Mapping[str, float]) -> RehearsedAnswer:
    """``measured``: the measured components; the others are not measured."""
    record = some_record(1)
    assert record.confidence_report is not None
    scores = {f"{name}_score": Measure(value=value, n=1) for name, value in measured.items()}
    report = msgspec.structs.replace(record.confidence_report, **scores)
    return RehearsedAnswer(
        key=key, record=msgspec.structs.replace(record, confidence_report=report), right=right
    )


def keys(half: int, n: int) -> list[str]:
    """``n`` keys of the half that chooses (0) or of the one that tests (1)."""
    found: list[str] = []
    number = 0
    while len(found) < n:
        key = f"case {number}"
        found += [key] if int(hash_text(key)[-1], 16) % 2 == half else []
        number += 1
    return found


def answers(
    n: int,
    right: Mapping[str, float],
    wrong: Mapping[str, float],
    *,
    testing: tuple[Mapping[str, float], ...] = (),
) -> list[RehearsedAnswer]:
    """``n`` right and ``n`` wrong answers in each half; ``testing``: others for the half that tests."""
    made = []
    for half, (of_right, of_wrong) in enumerate(((right, wrong), testing or (right, wrong))):
        for place, key in enumerate(keys(half, 2 * n)):
            made.append(answer(key, place < n, of_right if place < n else of_wrong))
    return made


RIGHT, WRONG = {"retrieval": 0.9, "entailment": 0.2}, {"retrieval": 0.6, "entailment": 0.8}


def test_overall_is_renormalised_over_what_was_measured() -> None:
    """(.3 * .9 + .4 * .2) / .7 = .35 / .7; nothing measured is 0."""
    assert answer("a", True, RIGHT).overall(CONFIGURED) == pytest.approx(0.5)
    assert answer("a", True, {}).overall(CONFIGURED) == 0.0


def test_the_weights_nearest_to_the_configured_ones_that_order_best() -> None:
    """With a share w of retrieval, right answers score .2 + .7 w and wrong ones .8 - .2 w: right ones are
    above wrong ones from w = 2/3. In tenths that is .7 to 1, all with AUROC 1, and .7 is nearest to the
    configured 3/7. What was never measured keeps its .3 of the whole, so retrieval gets .7 * .7."""
    made, rest = weigh(answers(LEAST, RIGHT, WRONG), CONFIGURED)
    assert made.outcome is PromiseOutcome.HOLDS
    assert made.weights == pytest.approx(
        {"retrieval": 0.49, "coverage": 0.2, "entailment": 0.21, "consistency": 0.1}
    )
    assert (made.configured, made.found) == (0.0, 1.0)
    assert (made.n, made.right) == (4 * LEAST, 2 * LEAST)
    assert {one.key for one in rest} == set(keys(1, 2 * LEAST))  # the choosing half has no say in the borders


def test_what_the_other_half_does_not_bear_out_changes_nothing() -> None:
    """On the testing half it is the reverse: AUROC falls from 1 with the configured weights to 0."""
    asked = answers(
        LEAST,
        RIGHT,
        WRONG,
        testing=({"retrieval": 0.6, "entailment": 0.8}, {"retrieval": 0.9, "entailment": 0.2}),
    )
    made, rest = weigh(asked, CONFIGURED)
    assert made.outcome is PromiseOutcome.DOES_NOT_SEPARATE
    assert made.weights == CONFIGURED
    assert (made.configured, made.found) == (1.0, 0.0)
    assert rest == asked


def test_answers_that_are_all_alike_are_ordered_by_chance() -> None:
    made, _ = weigh(answers(LEAST, RIGHT, RIGHT), CONFIGURED)
    assert (made.outcome, made.configured, made.found) == (PromiseOutcome.DOES_NOT_SEPARATE, 0.5, 0.5)


def test_too_few_choose_nothing_and_none_is_not_measured() -> None:
    few = answers(LEAST - 1, RIGHT, WRONG)
    made, rest = weigh(few, CONFIGURED)
    assert (made.outcome, made.weights, made.found) == (PromiseOutcome.TOO_SMALL, CONFIGURED, None)
    assert rest == few
    assert weigh([], CONFIGURED)[0].outcome is PromiseOutcome.NOT_MEASURED

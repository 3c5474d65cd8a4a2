"""What a run is compared with: another run, and thresholds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from citewell.core.errors import UsageError
from citewell.core.records import Stage
from citewell.evaluation.comparing import Comparison, Difference, compare
from citewell.evaluation.gating import GateReport, check, load_rules
from citewell.evaluation.results import CaseOutcome, CaseTiming, MeasureResult, Run, RunKey, Score, Timings


def outcome(name: str, right: bool | None, answered: bool = True, **changes: Any) -> CaseOutcome:
    points = () if right is None else ((float(right),),)
    scores = {
        "right_outcome": Score(points=points),
        "coverage": Score(points=((float(answered),),)),
        "abstention_balance": Score(points=((1.0, float(answered)),)),
    }
    given = {
        "id": name,
        "question": f"{name}?",
        "answered": answered,
        "right": right,
        "decision": "ANSWER" if answered else "ABSTAIN",
        "scores": scores,
    }
    return CaseOutcome(**(given | changes))


def run(*outcomes: CaseOutcome, **changes: Any) -> Run:
    given = {"key": RunKey(cases="sha256:c", model="m/1"), "cases": outcomes}
    return Run(**(given | changes))


def difference(found: Comparison, name: str) -> Difference:
    return next(one for one in found.measures if one.name == name)


def test_a_run_against_itself_differs_in_nothing() -> None:
    same = run(*(outcome(str(i), bool(i % 2)) for i in range(6)))
    found = compare(same, same)
    assert (found.changed, found.flips, found.left_out) == ({}, (), ())
    one = difference(found, "right_outcome")
    assert (one.difference, one.low, one.high, one.n, one.says) == (0.0, None, None, 6, "undecided")
    assert difference(found, "nDCG@10").says == "not measured"
    assert difference(found, "abstention_balance").says == "not measured"


def test_cases_that_flip_are_named_what_broke_first() -> None:
    before = run(outcome("a", False), outcome("b", True), outcome("c", True), outcome("d", None, False))
    after = run(
        outcome("a", True), outcome("b", False, False), outcome("c", True), outcome("d", None, error="boom")
    )
    flips = compare(before, after).flips
    assert [(flip.id, flip.was, flip.now) for flip in flips] == [
        ("b", "Answered, right", "Not answered, wrong"),
        ("a", "Answered, wrong", "Answered, right"),
        ("d", "Not answered", "Failed"),
    ]


def test_a_sure_change_is_said_to_be_better_or_worse() -> None:
    low, high = (run(*(outcome(str(i), right) for i in range(8))) for right in (False, True))
    assert difference(compare(low, high), "right_outcome").says == "better"
    worse = difference(compare(high, low), "right_outcome")
    assert (worse.difference, worse.low, worse.high, worse.says) == (-1.0, None, None, "worse")
    fewer = run(*(outcome(str(i), True, answered=False) for i in range(8)))
    assert difference(compare(high, fewer), "coverage").says == "other"


@pytest.mark.parametrize(("differing", "says"), [(2, "undecided"), (5, "undecided"), (6, "better")])
def test_few_cases_say_nothing_even_when_all_go_one_way(differing: int, says: str) -> None:
    """Five coins land on one side more often than 1 time in 20, however many cases did not change."""
    same = [outcome(f"same {number}", True) for number in range(differing // 3)]
    before, after = (
        run(*same, *(outcome(str(number), right) for number in range(differing))) for right in (False, True)
    )
    assert difference(compare(before, after), "right_outcome").says == says


def test_only_cases_that_both_scored_are_paired() -> None:
    before = run(outcome("a", True), outcome("b", True), outcome("c", False))
    after = run(
        outcome("a", True), outcome("b", None), outcome("new", True), outcome("c", True, expected="x")
    )
    found = compare(before, after)
    assert (found.cases, found.left_out) == (2, ("c", "new"))
    assert difference(found, "right_outcome").n == 1
    assert difference(found, "right_outcome").low is None


def test_a_run_that_takes_longer_is_said_to_be_worse_by_the_clock() -> None:
    names = [str(number) for number in range(8)]

    def took(ms: float) -> Run:
        stages = (Stage(name="gate", latency_ms=ms / 10),)
        timings = {name: CaseTiming(total_ms=ms + int(name), stages=stages) for name in names}
        return run(*(outcome(name, True) for name in names), timings=Timings(cases=timings))

    found = compare(took(100), took(250))
    assert [one.name for one in found.times] == [
        f"latency_ms_p{rank}@{stage}" for stage in ("total", "gate") for rank in (50, 95)
    ]
    assert [(one.difference, one.n, one.says) for one in found.times[:2]] == [(150.0, 8, "worse")] * 2
    assert not [one.name for one in found.measures if "latency" in one.name]
    assert compare(run(), run()).times == ()


def test_what_differs_between_the_runs_is_named() -> None:
    other = run(key=RunKey(cases="sha256:c", model="m/2"))
    assert compare(run(), other).changed == {"model": ("m/1", "m/2")}
    judged = run(key=RunKey(cases="sha256:c", model="m/1", judge="verifier sha256:j"))
    assert compare(run(), judged).changed == {"judge": ("", "verifier sha256:j")}
    noted = msgspec.structs.replace(run(), notes=("the card is stale",))
    assert compare(run(), noted).changed == {"notes": ("", "the card is stale")}


# --- thresholds -------------------------------------------------------------------------------------

MEASURED = run(
    measures=(
        MeasureResult(name="alce_recall", value=0.9, n=40, low=0.8, high=0.97),
        MeasureResult(name="wrongly_answered", value=0.05, n=20, unscored=1, low=0.0, high=0.15),
        MeasureResult(name="nDCG@10", value=None, n=0, unscored=4),
        MeasureResult(name="f1", value=0.5, n=1),
        MeasureResult(name="alce_precision", value=1.0, n=1, unscored=99),
        MeasureResult(name="exact_match", value=1.0, n=90, unscored=10),
    )
)


def gate(tmp_path: Path, text: str) -> GateReport:
    path = tmp_path / "thresholds.toml"
    path.write_text(text)
    return check(MEASURED, load_rules(path))


@pytest.mark.parametrize(
    ("limit", "holds", "reason"),
    [
        ("alce_recall = { min = 0.9 }", True, "0.9, n 40"),
        ("alce_recall = { min = 0.91 }", False, "0.9 is under 0.91, n 40"),
        ('alce_recall = { min = 0.85, by = "interval" }', False, "low end 0.8 is under 0.85, n 40"),
        ('alce_recall = { min = 0.8, by = "interval" }', True, "0.9, n 40"),
        ("alce_recall = { min = 0.5, n = 41 }", False, "n is 40, fewer than 41"),
        ("wrongly_answered = { max = 0.05 }", True, "0.05, n 20, 1 unscored"),
        (
            'wrongly_answered = { max = 0.1, by = "interval" }',
            False,
            "high end 0.15 is over 0.1, n 20, 1 unscored",
        ),
        ("wrongly_answered = { max = 0.1, unscored = 0 }", False, "1 of 21 unscored, more than 0"),
        (
            "alce_precision = { min = 0.9 }",
            False,
            "99 of 100 unscored, more than 5 %: `unscored = 99` allows it",
        ),
        ("alce_precision = { min = 0.9, unscored = 99 }", True, "1, n 1, 99 unscored"),
        (
            "exact_match = { min = 0.9 }",
            False,
            "10 of 100 unscored, more than 5 %: `unscored = 10` allows it",
        ),
        ("exact_match = { min = 0.9, unscored = 9 }", False, "10 of 100 unscored, more than 9"),
        ('"nDCG@10" = { min = 0.0 }', False, "not measured, 4 unscored: nothing to check is not a pass"),
        ('"recall@5" = { min = 0.0 }', False, "not measured: nothing to check is not a pass"),
        ('f1 = { min = 0.1, by = "interval" }', False, "0.5 of 1 has no interval to compare"),
        ('"latency_ms_p95@gate" = { max = 9 }', False, "not measured: nothing to check is not a pass"),
    ],
)
def test_a_limit_is_kept_or_not_by_a_figure(tmp_path: Path, limit: str, holds: bool, reason: str) -> None:
    report = gate(tmp_path, f"[[rule]]\n[rule.measures]\n{limit}")
    assert report.ok is holds
    assert [(one.holds, one.reason) for one in report.checks] == [(holds, reason)]


def test_rules_hold_for_what_they_name(tmp_path: Path) -> None:
    rules = '[[rule]]\nmodel = "m/{}"\n[rule.measures]\nalce_recall = {{ min = {} }}\n'
    report = gate(tmp_path, rules.format(2, 0.99) + rules.format(1, 0.5))
    assert report.ok
    assert report.skipped == ("rule 1 does not apply: its model is 'm/2', the run's 'm/1'",)


@pytest.mark.parametrize(
    ("name", "rules", "runs"), [("top_k", 5, 10), ("runs", 1, 3), ("judge", "verifier a", "verifier b")]
)
def test_a_rule_made_for_other_conditions_does_not_apply(
    tmp_path: Path, name: str, rules: object, runs: object
) -> None:
    path = tmp_path / "thresholds.toml"
    path.write_text(f"[[rule]]\n{name} = {json.dumps(rules)}\n[rule.measures]\nalce_recall = {{ min = 0.5 }}")
    for value, ok in ((rules, True), (runs, False)):
        key = msgspec.structs.replace(MEASURED.key, **{name: value})
        report = check(msgspec.structs.replace(MEASURED, key=key), load_rules(path))
        assert report.ok is ok
    assert report.skipped == (f"rule 1 does not apply: its {name} is {rules!r}, the run's {runs!r}",)


def test_no_rule_that_applies_is_no_pass(tmp_path: Path) -> None:
    report = gate(tmp_path, '[[rule]]\nprompt = "sha256:p"\n[rule.measures]\nalce_recall = { min = 0.1 }')
    assert (report.ok, report.checks, len(report.skipped)) == (False, (), 1)


def test_a_run_of_which_cases_failed_passes_where_the_rule_allows_it(tmp_path: Path) -> None:
    """One of 100 cases scored, with 1.0: the other 99 raised."""
    failed = tuple(outcome(f"f{number}", None, error="boom") for number in range(99))
    mostly = msgspec.structs.replace(MEASURED, cases=(outcome("a", True), *failed))
    path = tmp_path / "thresholds.toml"
    text = "[[rule]]\n{}[rule.measures]\nalce_recall = {{ min = 0.9 }}\n"
    path.write_text(text.format(""))
    report = check(mostly, load_rules(path))
    assert not report.ok
    assert report.checks[0].reason == "99 of 100 cases failed, more than 0"
    path.write_text(text.format("failed = 99\n"))
    assert check(mostly, load_rules(path)).ok


@pytest.mark.parametrize("limit", ["min = nan", "max = nan"])
def test_a_limit_that_is_no_number_is_not_kept(tmp_path: Path, limit: str) -> None:
    assert not gate(tmp_path, f"[[rule]]\n[rule.measures]\nalce_recall = {{ {limit} }}").ok


def test_what_the_rule_lets_fail_may_be_unscored_too(tmp_path: Path) -> None:
    """A failed case is unscored in every measure: allowing two of ten need not be repeated for each."""
    failed = (outcome("f1", None, error="boom"), outcome("f2", None, error="boom"))
    answered = tuple(outcome(str(number), True) for number in range(8))
    measures = (MeasureResult(name="alce_recall", value=1.0, n=8, unscored=2),)
    path = tmp_path / "thresholds.toml"
    path.write_text("[[rule]]\nfailed = 2\n[rule.measures]\nalce_recall = { min = 0.9 }\n")
    some = msgspec.structs.replace(MEASURED, cases=(*answered, *failed), measures=measures)
    assert check(some, load_rules(path)).ok
    more = (MeasureResult(name="alce_recall", value=1.0, n=7, unscored=3),)
    assert not check(msgspec.structs.replace(some, measures=more), load_rules(path)).ok


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nonsense", "cannot be read as TOML"),
        ("[measures]\nf1 = 1", "contains no [[rule]]"),
        ("rule = []", "contains no [[rule]]"),
        ("[[rule]]\nmodell = 'x'\n", "unknown key 'modell': did you mean model?"),
        ("[[rule]]\n[rule.measures]\nalce_recal = { min = 1 }", "did you mean alce_recall?"),
        ("[[rule]]\n[rule.measures]\nf1 = 0.5", "f1 needs min or max"),
        ("[[rule]]\n[rule.measures]\nf1 = { min = 'x' }", "rule 1: Expected `float | null`"),
        ("[[rule]]\n[rule.measures]\nf1 = { min = 1, by = 'x' }", "Invalid enum value 'x'"),
        ("[[rule]]\n[rule.measures]\nf1 = { min = 1, mx = 2 }", "unknown field `mx`"),
        ("[[rule]]\n[rule.measures]\n", "contains no measure"),
        ("[[rule]]\n", "missing required field `measures`"),
    ],
)
def test_a_slip_in_the_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        gate(tmp_path, text)
    assert told in str(caught.value)

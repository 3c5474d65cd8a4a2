"""Release gate: checks a run against a file of thresholds per model, prompt and settings.

In: a TOML file and a run. Out: a :class:`GateReport`. A rule applies if every key it names matches the run. A
measure fails if it was not measured, or if more is unscored than the rule allows (by default 1 in 20); a run
fails if more cases failed than allowed (by default none), or if no rule applies. Format of the file:

    [[rule]]
    model = "..."    # or prompt, config, cases, top_k ...: as `eval run` prints them; omitted means any
    failed = 2       # number of cases that may have failed; omitted means none
    [rule.measures]
    alce_recall = { min = 0.9, by = "interval" }     # the low end of the interval must reach it
    wrongly_answered = { max = 0.05, n = 50, unscored = 0 }   # `unscored` omitted means at most 1 in 20

Knows nothing about how measures are computed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from citewell.core.display import InTables, Row
from citewell.core.errors import UsageError, did_you_mean
from citewell.core.records import Record
from citewell.core.vocabulary import NAMES
from citewell.evaluation.measures import BY_NAME
from citewell.evaluation.results import MeasureResult, Run, RunKey

UNSCORED = 0.05
"""Default share of a measure that may be unscored."""


class Limit(Record, frozen=True, kw_only=True):
    """``by`` "interval" compares the unfavourable end of the interval; ``n`` is the minimum scored,
    ``unscored`` the maximum unscored, where None allows a share of ``UNSCORED`` plus allowed failures."""

    min: float | None = None
    max: float | None = None
    by: Literal["value", "interval"] = "value"
    n: int = 1
    unscored: int | None = None


class GateRule(Record, frozen=True, kw_only=True):
    """``key``: the members of a run's :class:`RunKey` that it applies to; those missing or "" match any.
    ``failed``: the maximum number of failed cases."""

    measures: dict[str, Limit]
    failed: int = 0
    key: dict[str, str | int] = {}


class Check(Record, frozen=True, kw_only=True):
    """One limit, and whether the run meets it; ``reason`` gives the figure. ``measure`` is "failed" where too
    many cases failed."""

    measure: str
    holds: bool
    reason: str


class GateReport(InTables, Record, frozen=True, kw_only=True):
    """``skipped``: why rules did not apply. ``ok`` is False if nothing was checked."""

    ok: bool
    checks: tuple[Check, ...]
    skipped: tuple[str, ...] = ()

    def _tables(self) -> tuple[str, Sequence[Sequence[Row]]]:
        checks = [
            (NAMES.get(one.measure, one.measure), "met" if one.holds else "not met", one.reason)
            for one in self.checks
        ]
        title = f"{sum(one.holds for one in self.checks)} of {len(self.checks)} thresholds met"
        skipped = [("Rules that do not apply",), *((reason,) for reason in self.skipped)]
        return title, ([("Measure", "", ""), *checks], skipped)


def load_rules(path: Path) -> tuple[GateRule, ...]:
    """The rules of a file. Raises UsageError for an invalid one, suggesting a known name for an unknown."""
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}", hint="correct the TOML") from error
    rules = tree.get("rule")
    if set(tree) != {"rule"} or not isinstance(rules, list) or not rules:
        raise UsageError(f"{path} contains no [[rule]]", hint="docs/evaluation.md has an example")
    return tuple(_rule(rule, f"{path}, rule {number}") for number, rule in enumerate(rules, 1))


def check(run: Run, rules: tuple[GateRule, ...]) -> GateReport:
    """Checks every limit of every rule that applies."""
    checks: list[Check] = []
    skipped: list[str] = []
    for number, rule in enumerate(rules, 1):
        differing = [
            f"its {name} is {wanted!r}, the run's {getattr(run.key, name)!r}"
            for name, wanted in rule.key.items()
            if wanted not in ("", getattr(run.key, name))
        ]
        if differing:
            skipped.append(f"rule {number} does not apply: {'; '.join(differing)}")
            continue
        failed = sum(bool(case.error) for case in run.cases)
        if failed > rule.failed:
            reason = f"{failed} of {len(run.cases)} cases failed, more than {rule.failed}"
            checks.append(Check(measure="failed", holds=False, reason=reason))
        spared = min(failed, rule.failed)
        checks += [_checked(name, limit, run.measure(name), spared) for name, limit in rule.measures.items()]
    return GateReport(
        ok=bool(checks) and all(one.holds for one in checks), checks=tuple(checks), skipped=tuple(skipped)
    )


def _checked(name: str, limit: Limit, result: MeasureResult | None, spared: int) -> Check:
    """``spared``: allowed failed cases, each of which is unscored in every measure."""

    def say(holds: bool, reason: str) -> Check:
        return Check(measure=name, holds=holds, reason=reason)

    unscored = f", {result.unscored} unscored" if result and result.unscored else ""
    if result is None or result.value is None:
        return say(False, f"not measured{unscored}: nothing to check is not a pass")
    if result.n < limit.n:
        return say(False, f"n is {result.n}, fewer than {limit.n}{unscored}")
    whole = result.n + result.unscored
    lost = f"{result.unscored} of {whole} unscored, more than"
    if limit.unscored is not None and result.unscored > limit.unscored:
        return say(False, f"{lost} {limit.unscored}")
    if limit.unscored is None and result.unscored - spared > UNSCORED * whole:
        return say(False, f"{lost} {100 * UNSCORED:g} %: `unscored = {result.unscored}` allows it")
    by_interval = limit.by == "interval"
    low, high = (result.low, result.high) if by_interval else (result.value, result.value)
    if low is None or high is None:
        return say(False, f"{result.value:.4g} of {result.n} has no interval to compare")
    figures = f"n {result.n}{unscored}"
    end = "low end " if by_interval else ""
    if limit.min is not None and not low >= limit.min:  # NaN fails
        return say(False, f"{end}{low:.4g} is under {limit.min:g}, {figures}")
    if limit.max is not None and not high <= limit.max:
        end = "high end " if by_interval else ""
        return say(False, f"{end}{high:.4g} is over {limit.max:g}, {figures}")
    return say(True, f"{result.value:.4g}, {figures}")


def _rule(given: Any, where: str) -> GateRule:
    if not isinstance(given, dict):
        raise UsageError(f"{where} is not a table", hint="write [[rule]]")
    keys = RunKey.__struct_fields__
    known = ("measures", "failed", *keys)
    for key in given:
        if key not in known:
            raise UsageError(f"{where}: unknown key {key!r}", hint=did_you_mean(key, known))
    measures = given.get("measures")
    for name, limit in measures.items() if isinstance(measures, dict) else ():
        if name not in BY_NAME and not name.startswith("latency_ms_p"):
            raise UsageError(f"{where}: no measure {name!r}", hint=did_you_mean(name, BY_NAME))
        if not isinstance(limit, dict) or not {"min", "max"} & set(limit):
            raise UsageError(f"{where}: {name} needs min or max", hint=f"{name} = {{ min = 0.9 }}")
    try:
        held = {name: value for name, value in given.items() if name not in keys}
        held["key"] = {name: given[name] for name in keys if name in given}
        rule = msgspec.convert(held, GateRule, strict=True)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}", hint="docs/evaluation.md has an example") from error
    if not rule.measures:
        raise UsageError(f"{where} contains no measure", hint="add one under [rule.measures]")
    return rule

"""Drift: what the audit log alone says of quality over time, where it changed, and what to be alarmed about.

In: a home, as one of its auditors sees it. Out: :class:`Drift`, with single values summed up by period and
group, change points and alerts; metrics for a scraper; the canary's retrieval, measured and sealed, so that
it stands in the log too. What evaluations asked is left out. Knows nothing about terminals, charts or HTTP.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.audit.question import AuditQuery, moment
from citewell.core.access import EVALUATION, Role
from citewell.core.errors import UsageError
from citewell.core.records import Case, Record
from citewell.evaluation.cases import hash_cases
from citewell.evaluation.drift.alerts import Alert, Rule, judged, rules_of
from citewell.evaluation.drift.series import (
    MEASURES,
    MEDIANS,
    SHARES,
    Change,
    Told,
    Values,
    change_points,
    largest,
    values_of,
)
from citewell.evaluation.intervals import clopper_pearson
from citewell.evaluation.judging import hits
from citewell.evaluation.pipelines import located_in
from citewell.knowledge.home import KnowledgeBase

MOST_GROUPS = 12
CANARY = "canary retrieval"
CANARY_HIT, CANARY_PRECISION = CANARY_MEASURES = ("canary_hit", "canary_precision")
WINDOW = "7d"
"""Of the metrics."""


class Point(Record, frozen=True, kw_only=True):
    """``value`` is a share, a mean (confidence and its parts, canary) or a median (latency), with its 95 %
    interval; ``period`` is its first day."""

    period: str
    group: str
    measure: str
    value: float
    n: int
    low: float | None
    high: float | None


class Drift(Record, frozen=True, kw_only=True):
    """``left_out`` groups had fewer records than those shown."""

    by: str
    of: str
    since: str
    records: int
    points: tuple[Point, ...]
    changes: tuple[Change, ...]
    alerts: tuple[Alert, ...]
    left_out: int = 0


class Metric(Record, frozen=True, kw_only=True):
    """One gauge of a scrape, without the prefix of the product; None where too little was seen."""

    name: str
    help: str
    labels: dict[str, str]
    value: float | None


class Canary(Record, frozen=True, kw_only=True):
    """Of the cases that have spans; ``unscored`` are those whose spans stand nowhere, ``notes`` say which.
    ``hit``: share of cases with evidence among the relevant passages; ``precision``: mean share of the
    relevant passages that hold evidence, 0 where there is none: finding nothing is no precision."""

    hit: float
    precision: float
    n: int
    unscored: int
    notes: tuple[str, ...] = ()


_CanaryRun = tuple[str, dict[str, Any]]
"""When it was, and its entry's body."""


def _week(day: str) -> str:
    when = date.fromisoformat(day)
    return (when - timedelta(days=when.weekday())).isoformat()


BY: Mapping[str, Callable[[str], str]] = {
    "day": lambda timestamp: timestamp[:10],
    "week": lambda timestamp: _week(timestamp[:10]),
}


def drift(kb: KnowledgeBase, *, since: str = "90d", by: str = "week", of: str = "all") -> Drift:
    """Raises AccessError for anybody but auditors and admins, UsageError, ConfigError for an alert rule."""
    kb.caller.must(Role.AUDITOR, to="see how quality moves")
    if by not in BY:
        raise UsageError(f"unknown period {by!r}", hint=f"use one of {', '.join(BY)}")
    rules = rules_of(kb.config.alerts, (*MEASURES, *CANARY_MEASURES))
    start = moment(since, kb.now())
    told = _told(kb, min([start, *_starts(kb, rules)]), words=of == "topic", reader=kb.caller.user)
    recent = [one for one in told if one.timestamp >= start]
    values = values_of(recent, of, BY[by])
    shown = set(largest(recent, of, MOST_GROUPS))
    left_out = len({group for _, group, _ in values} - shown)
    values = {key: found for key, found in values.items() if key[1] in shown}
    runs = _canary_runs(kb)
    if of == "all":
        values |= _canary_values(runs, start, BY[by])
    series: dict[tuple[str, str], list[tuple[str, list[float]]]] = defaultdict(list)
    for measure, group, period in sorted(values):
        series[measure, group].append((period, values[measure, group, period]))
    points = [
        _point(period, group, measure, found)
        for (measure, group, period), found in sorted(values.items(), key=lambda pair: pair[0])
    ]
    return Drift(
        by=by,
        of=of,
        since=start,
        records=len(recent),
        points=tuple(points),
        changes=change_points(series),
        alerts=_alerts(kb, rules, told, runs),
        left_out=left_out,
    )


def drift_metrics(kb: KnowledgeBase) -> tuple[Metric, ...]:
    """Of the last seven days, over all records, for a scraper: only numbers are read, no entry is left."""
    rules = rules_of(kb.config.alerts, (*MEASURES, *CANARY_MEASURES))
    start = moment(WINDOW, kb.now())
    told = _told(kb, min([start, *_starts(kb, rules)]), words=False, reader=None)
    values = values_of([one for one in told if one.timestamp >= start], "all", lambda timestamp: WINDOW)
    runs = _canary_runs(kb)
    values |= _canary_values(runs, start, lambda timestamp: WINDOW)
    found = []
    for (measure, _, window), numbers in sorted(values.items()):
        labels = {"measure": measure, "window": window}
        for name, help_, number in (
            ("drift", "Quality by the audit log", _summed(measure, numbers).value),
            ("drift_records", "Records behind it", float(len(numbers))),
        ):
            found.append(Metric(name=name, help=help_, labels=labels, value=number))
    for alert in _alerts(kb, rules, told, runs):
        state = {"firing": 1.0, "quiet": 0.0}.get(alert.state)
        help_ = "1 while an alert rule fires"
        found.append(Metric(name="alert_firing", help=help_, labels={"rule": alert.rule}, value=state))
    return tuple(found)


# --- reading --------------------------------------------------------------------------------------


def _told(kb: KnowledgeBase, since: str, *, words: bool, reader: str | None) -> list[Told]:
    """Oldest first, without what evaluations asked."""
    signals: dict[str, list[str]] = defaultdict(list)
    for request, signal in kb.audit.signals(since):
        signals[request].append(signal)
    evaluator = kb.audit.pseudonym(EVALUATION)
    found = []
    for entry, body in kb.audit.bodies(AuditQuery(since=since), words=words, reader=reader):
        if body.get("user") == EVALUATION or (entry is not None and evaluator and entry.subject == evaluator):
            continue
        found.append(
            Told(
                timestamp=body["timestamp"],
                body=body,
                signals=tuple(signals.get(body["request_id"], ())),
                error=bool(body.get("error")),
            )
        )
    return found[::-1]


def _canary_runs(kb: KnowledgeBase) -> list[_CanaryRun]:
    """Those of the newest case file: what other questions brought is no change in quality."""
    runs = [(entry.timestamp, body) for entry, body in kb.audit.evaluations(CANARY)]
    return [run for run in runs if run[1]["cases"] == runs[-1][1]["cases"]]


def _canary_values(runs: Sequence[_CanaryRun], since: str, period: Callable[[str], str]) -> Values:
    found: Values = defaultdict(list)
    for timestamp, body in runs:
        if timestamp >= since:
            when = period(timestamp)
            found[CANARY_HIT, "all", when] += body["hit"]
            found[CANARY_PRECISION, "all", when] += body["precision"]
    return {key: values for key, values in found.items() if values}


def _point(period: str, group: str, measure: str, values: Sequence[float]) -> Point:
    summed = _summed(measure, values)
    return Point(period=period, group=group, measure=measure, n=len(values), **summed._asdict())


class _Sum(NamedTuple):
    value: float
    low: float | None = None
    high: float | None = None


def _summed(measure: str, values: Sequence[float]) -> _Sum:
    if measure in SHARES or measure == CANARY_HIT:
        low, high = clopper_pearson(int(sum(values)), len(values))
        return _Sum(sum(values) / len(values), low, high)
    array = np.asarray(values, dtype=np.float64)
    if measure in MEDIANS:
        return _median(np.sort(array))
    mean = float(array.mean())
    if len(array) < 2:
        return _Sum(mean)
    if (array == array[0]).all():
        return _Sum(mean)  # where nothing varies, how far it may be off is not known
    half = 1.96 * float(array.std(ddof=1)) / math.sqrt(len(array))
    return _Sum(mean, max(0.0, mean - half), min(1.0, mean + half))


def _median(ordered: NDArray[np.float64]) -> _Sum:
    """Its interval by order statistics (normal approximation of the binomial)."""
    n = len(ordered)
    reach = 0.98 * math.sqrt(n)
    first, last = math.floor(n / 2 - reach), math.ceil(n / 2 + reach)
    value = float(np.median(ordered))
    if first < 0 or last >= n:
        return _Sum(value)
    return _Sum(value, float(ordered[first]), float(ordered[last]))


# --- alerts ---------------------------------------------------------------------------------------


def _starts(kb: KnowledgeBase, rules: Sequence[Rule]) -> list[str]:
    return [moment(rule.window, kb.now()) for rule in rules]


def _alerts(
    kb: KnowledgeBase, rules: Sequence[Rule], told: Sequence[Told], runs: Sequence[_CanaryRun]
) -> tuple[Alert, ...]:
    found = []
    for rule in rules:
        start = moment(rule.window, kb.now())
        values = values_of([one for one in told if one.timestamp >= start], "all", lambda timestamp: "")
        values |= _canary_values(runs, start, lambda timestamp: "")
        numbers = values.get((rule.measure, "all", ""), [])
        value, low, high = _summed(rule.measure, numbers) if numbers else (None, None, None)
        found.append(judged(rule, value, low, high, len(numbers), kb.config.alerts.least))
    return tuple(found)


# --- the canary -----------------------------------------------------------------------------------


def canary(kb: KnowledgeBase, cases: Sequence[Case]) -> Canary:
    """Retrieval for every case that has spans, now; sealed. Raises UsageError when none has."""
    hit: list[float] = []
    precision: list[float] = []
    notes: list[str] = []
    for case in cases:
        if not case.spans:
            continue
        located = located_in(kb, case)
        if located.problem:
            notes.append(f"case {case.id}: {located.problem}")
            continue
        relevant = [p for p in kb.search(case.question, groups=case.groups) if p.relevant]
        right, _ = hits(located, relevant)
        hit.append(float(any(right)))
        precision.append(sum(right) / max(len(right), 1))
    if not hit:
        raise UsageError("no case has a span in these documents", hint="retrieval is judged by spans")
    body = {"measure": CANARY, "cases": hash_cases(cases), "hit": hit, "precision": precision}
    kb.audit.note_evaluation({**body, "config_hash": kb.config.hash})
    return Canary(
        hit=sum(hit) / len(hit),
        precision=sum(precision) / len(precision),
        n=len(hit),
        unscored=len(notes),
        notes=tuple(notes),
    )

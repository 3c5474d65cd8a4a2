"""Drift: quality over time from the audit log alone, with change points and alerts.

In: a home, as an auditor sees it. Out: :class:`Drift`, with values summarised by period, change points and
alerts; the canary's retrieval results, sealed so that they are in the log too. Questions asked by evaluations
are excluded. Knows nothing about terminals, charts or HTTP.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.audit.question import AuditQuery, moment
from citewell.core.access import EVALUATION, Role
from citewell.core.display import InTables, Row
from citewell.core.errors import ConfigError, UsageError
from citewell.core.records import Case, Record
from citewell.core.vocabulary import readable_name
from citewell.evaluation.cases import hash_cases
from citewell.evaluation.intervals import clopper_pearson
from citewell.evaluation.judging import hits
from citewell.evaluation.pipelines import located_in
from citewell.evaluation.series import MEASURES, MEDIANS, SHARES, Body, Change, change_points
from citewell.knowledge.home import KnowledgeBase

CANARY = "canary retrieval"
CANARY_HIT, CANARY_PRECISION = CANARY_MEASURES = ("canary_hit", "canary_precision")
WINDOW = "7d"
"""Window of the metrics."""
_RULE = re.compile(r"\s*([a-z_]+)\s*([<>])\s*(\d+(?:\.\d+)?)\s*@\s*(\d{1,4}[hdw])\s*")


class DriftPoint(Record, frozen=True, kw_only=True):
    """``value`` is a share, a mean (confidence and its parts, canary precision) or a median (latency), with
    its 95 % interval; ``period`` is its first day."""

    period: str
    measure: str
    value: float
    n: int
    low: float | None
    high: float | None


class Alert(Record, frozen=True, kw_only=True):
    """A rule and its result. ``state`` is ``firing``, ``quiet``, or ``not measured`` (too few records)."""

    rule: str
    state: str
    value: float | None
    n: int
    text: str


class Drift(InTables, Record, frozen=True, kw_only=True):
    """The records since ``since``, summarised."""

    by: str
    since: str
    records: int
    points: tuple[DriftPoint, ...]
    changes: tuple[Change, ...]
    alerts: tuple[Alert, ...]

    def _tables(self) -> tuple[str, Sequence[Sequence[Row]]]:
        periods = sorted({point.period for point in self.points})
        cells = {(one.measure, one.period): f"{one.value:.3g} ({one.n})" for one in self.points}
        measures = [
            (readable_name(measure), *(cells.get((measure, period), "") for period in periods))
            for measure in sorted({point.measure for point in self.points})
        ]
        changes = [
            (readable_name(one.measure), one.period, f"{one.before:.3g}", f"{one.after:.3g}", f"{one.p:.2g}")
            for one in self.changes
        ]
        alerts = [(one.rule, one.state, one.text) for one in self.alerts]
        title = f"{self.records} {'record' if self.records == 1 else 'records'} since {self.since[:10]}"
        return title, (
            [("Measure (n)", *periods), *measures],
            [("Changed", "From", "Before", "After", "p"), *changes],
            [("Alert", "State", ""), *alerts],
        )


class Canary(Record, frozen=True, kw_only=True):
    """Results over cases with spans; ``unscored`` counts those whose spans were not found, ``notes`` list
    them. ``hit``: share of cases with evidence among the relevant passages; ``precision``: mean share of
    relevant passages that contain evidence, 0 for a case without relevant passages."""

    hit: float
    precision: float
    n: int
    unscored: int
    notes: tuple[str, ...] = ()


def _week(day: str) -> str:
    when = date.fromisoformat(day)
    return (when - timedelta(days=when.weekday())).isoformat()


BY: Mapping[str, Callable[[str], str]] = {
    "day": lambda timestamp: timestamp[:10],
    "week": lambda timestamp: _week(timestamp[:10]),
}


def drift(kb: KnowledgeBase, *, since: str = "90d", by: str = "week") -> Drift:
    """Drift since then. Raises AccessError for non-auditors, UsageError, ConfigError for an invalid rule."""
    kb.caller.must(Role.AUDITOR, to="see how quality moves")
    if by not in BY:
        raise UsageError(f"unknown period {by!r}", hint=f"use one of {', '.join(BY)}")
    return _drift(kb, since, by, BY[by], reader=kb.caller.user)


def drift_lately(kb: KnowledgeBase) -> Drift:
    """The last seven days as one period, over all records, for a metrics scraper: reads only numbers and
    leaves no log entry."""
    return _drift(kb, WINDOW, WINDOW, lambda timestamp: WINDOW, reader=None)


def _drift(
    kb: KnowledgeBase, since: str, by: str, period: Callable[[str], str], *, reader: str | None
) -> Drift:
    rules, start = _rules(kb), moment(since, kb.now())
    log = _read(kb, [start, *(rule.since for rule in rules)], reader=reader)
    series: dict[str, list[tuple[str, list[float]]]] = defaultdict(list)
    for (measure, when), values in sorted(log.values(start, period).items()):
        series[measure].append((when, values))
    return Drift(
        by=by,
        since=start,
        records=sum(one["timestamp"] >= start for one in log.told),
        points=tuple(
            DriftPoint(period=when, measure=measure, n=len(values), **_summed(measure, values)._asdict())
            for measure, periods in series.items()
            for when, values in periods
        ),
        changes=change_points(series),
        alerts=_alerts(kb, rules, log),
    )


# --- reading --------------------------------------------------------------------------------------


class _Log(NamedTuple):
    """Bodies of records, and of the canary runs on the newest case file: results on other questions are not
    comparable."""

    told: list[Body]
    canary: list[Body]

    def values(self, since: str, period: Callable[[str], str]) -> dict[tuple[str, str], list[float]]:
        """Individual values by (measure, period)."""
        found: dict[tuple[str, str], list[float]] = defaultdict(list)
        for one in self.told:
            for measure, look in MEASURES.items() if one["timestamp"] >= since else ():
                if (value := look(one)) is not None:
                    found[measure, period(one["timestamp"])].append(float(value))
        for run in self.canary:
            if run["timestamp"] >= since:
                found[CANARY_HIT, period(run["timestamp"])] += run["hit"]
                found[CANARY_PRECISION, period(run["timestamp"])] += run["precision"]
        return found


def _read(kb: KnowledgeBase, starts: Sequence[str], *, reader: str | None) -> _Log:
    """Records from the earliest of ``starts``, oldest first, without questions asked by evaluations."""
    since = min(starts)
    signals: dict[str, list[str]] = defaultdict(list)
    for request, signal in kb.audit.signals(since):
        signals[request].append(signal)
    evaluator = kb.audit.pseudonym(EVALUATION)
    told: list[Body] = [
        {**body, "signals": signals.get(body["request_id"], ())}
        for entry, body in kb.audit.bodies(AuditQuery(since=since), reader=reader)
        if body.get("user") != EVALUATION
        and not (entry is not None and evaluator and entry.subject == evaluator)
    ]
    runs = [{**body, "timestamp": entry.timestamp} for entry, body in kb.audit.evaluations(CANARY)]
    return _Log(told[::-1], [run for run in runs if run["cases"] == runs[-1]["cases"]])


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
        return _Sum(mean)  # without variation there is no interval
    half = 1.96 * float(array.std(ddof=1)) / math.sqrt(len(array))
    return _Sum(mean, max(0.0, mean - half), min(1.0, mean + half))


def _median(ordered: NDArray[np.float64]) -> _Sum:
    """Median with an interval by order statistics (normal approximation of the binomial)."""
    n = len(ordered)
    reach = 0.98 * math.sqrt(n)
    first, last = math.floor(n / 2 - reach), math.ceil(n / 2 + reach)
    value = float(np.median(ordered))
    if first < 0 or last >= n:
        return _Sum(value)
    return _Sum(value, float(ordered[first]), float(ordered[last]))


# --- alerts ---------------------------------------------------------------------------------------


class _Rule(NamedTuple):
    """``since`` is the start of its window."""

    line: str
    measure: str
    above: bool
    threshold: float
    since: str


def _rules(kb: KnowledgeBase) -> list[_Rule]:
    """The configured rules: ``abstention > 0.3 @ 7d`` fires when more than .3 of the records of the last
    seven days abstained. Raises ConfigError for an invalid rule."""
    known, found = (*MEASURES, *CANARY_MEASURES), []
    for line in kb.config.alerts.rules:
        match = _RULE.fullmatch(line)
        if match is None:
            raise ConfigError(f"alerts.rules: {line!r} is not a rule", hint='write "abstention > 0.3 @ 7d"')
        measure, direction, threshold, window = match.groups()
        if measure not in known:
            raise ConfigError(
                f"alerts.rules: unknown measure {measure!r}", hint=f"use one of {', '.join(known)}"
            )
        since = moment(window, kb.now())
        found.append(_Rule(" ".join(line.split()), measure, direction == ">", float(threshold), since))
    return found


def _alerts(kb: KnowledgeBase, rules: Sequence[_Rule], log: _Log) -> tuple[Alert, ...]:
    """The rules' alerts; each compares the value itself, given enough records."""
    found, least = [], kb.config.alerts.least
    for rule in rules:
        values = log.values(rule.since, lambda timestamp: "").get((rule.measure, ""), [])
        value, n = _summed(rule.measure, values).value if values else None, len(values)
        if value is None or n < least:
            state, words = "not measured", f"{n} records, {least} are needed"
        else:
            beyond = value > rule.threshold if rule.above else value < rule.threshold
            state, words = "firing" if beyond else "quiet", f"{value:.3g} over {n} records"
        found.append(Alert(rule=rule.line, state=state, value=value, n=n, text=f"{rule.line}: {words}"))
    return tuple(found)


# --- the canary -----------------------------------------------------------------------------------


def canary(kb: KnowledgeBase, cases: Sequence[Case]) -> Canary:
    """Measures retrieval now for every case with spans, and seals it. Raises UsageError if none is found."""
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

"""Drift: what the audit log alone says of quality over time.

In: a home, as one of its auditors sees it. Out: :class:`Drift`, values by period. What evaluations asked is
left out; of the records no personal text is looked at. Knows nothing about terminals, charts or HTTP.
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
from citewell.core.records import Decision, Record, Status
from citewell.evaluation.intervals import clopper_pearson
from citewell.knowledge.home import KnowledgeBase

WINDOW = "7d"
"""Of the metrics."""


class Point(Record, frozen=True, kw_only=True):
    """``value`` is a share, a mean (confidence and its parts) or a median (latency), with its 95 %
    interval; ``period`` is its first day."""

    period: str
    measure: str
    value: float
    n: int
    low: float | None
    high: float | None


class Drift(Record, frozen=True, kw_only=True):
    """What became of the records since then."""

    by: str
    since: str
    records: int
    points: tuple[Point, ...]


Body = Mapping[str, Any]


class Told(Record, frozen=True, kw_only=True):
    """One record: when, its body, and what users signalled about it."""

    timestamp: str
    body: dict[str, Any]
    signals: tuple[str, ...] = ()
    error: bool = False


Look = Callable[[Told], float | None]
"""A value of one record; None where it has none."""


def _of_answers(holds: Callable[[Body], bool]) -> Look:
    return lambda told: None if told.error else float(holds(told.body))


def _of_claims(holds: Callable[[Sequence[Body]], bool]) -> Look:
    """Of answers that have claims."""
    return lambda told: float(holds(told.body["claims"])) if told.body["claims"] and not told.error else None


def _any(status: Status) -> Callable[[Sequence[Body]], bool]:
    return lambda claims: any(claim["verdict"]["status"] == status.value for claim in claims)


def _broken(claims: Sequence[Body]) -> bool:
    verdicts = [
        verdict
        for claim in claims
        for verdict in (claim["verdict"], *(c.get("verdict") for c in claim.get("citations", ())))
    ]
    return any(verdict and verdict["status"] == Status.BROKEN.value for verdict in verdicts)


def _part(name: str) -> Look:
    def look(told: Told) -> float | None:
        report = told.body.get("confidence_report") or {}
        value = report.get(name)
        return value["value"] if isinstance(value, dict) else value

    return look


NEGATIVE = frozenset({"thumbs_down", "rephrased_query", "follow_up_correction", "no_engagement"})
SHARES: Mapping[str, Look] = {
    "abstention": _of_answers(lambda body: body["response_decision"] == Decision.ABSTAIN.value),
    "gate_failures": _of_answers(lambda body: body.get("failure_reason") == "relevance_gate_failed"),
    "entailment_failures": _of_claims(_any(Status.UNSUPPORTED)),
    "contradictions": _of_claims(_any(Status.CONTRADICTED)),
    "broken_citations": _of_claims(_broken),
    "unchecked": _of_claims(_any(Status.UNCHECKED)),
    "errors": lambda told: float(told.error),
    "negative_signals": lambda told: None if told.error else float(not NEGATIVE.isdisjoint(told.signals)),
    "thumbs_up": lambda told: None if told.error else float("thumbs_up" in told.signals),
}
"""Shares of records: each counts once, however many claims it has."""
MEANS: Mapping[str, Look] = {
    "confidence": _part("overall"),
    "retrieval": _part("retrieval_score"),
    "entailment": _part("entailment_score"),
    "hallucination_gap": _part("hallucination_gap"),
}
MEDIANS: Mapping[str, Look] = {"latency_ms": lambda told: told.body.get("latency_ms", {}).get("total")}
MEASURES: Mapping[str, Look] = {**SHARES, **MEANS, **MEDIANS}


def _week(day: str) -> str:
    when = date.fromisoformat(day)
    return (when - timedelta(days=when.weekday())).isoformat()


BY: Mapping[str, Callable[[str], str]] = {
    "day": lambda timestamp: timestamp[:10],
    "week": lambda timestamp: _week(timestamp[:10]),
}


def drift(kb: KnowledgeBase, *, since: str = "90d", by: str = "week") -> Drift:
    """Raises AccessError for anybody but auditors and admins, UsageError."""
    kb.caller.must(Role.AUDITOR, to="see how quality moves")
    if by not in BY:
        raise UsageError(f"unknown period {by!r}", hint=f"use one of {', '.join(BY)}")
    return _drift(kb, since, by, BY[by], reader=kb.caller.user)


def drift_lately(kb: KnowledgeBase) -> Drift:
    """The last seven days as one period, over all records, for a scraper: only numbers are read, no entry is
    left."""
    return _drift(kb, WINDOW, WINDOW, lambda timestamp: WINDOW, reader=None)


def _drift(
    kb: KnowledgeBase, since: str, by: str, period: Callable[[str], str], *, reader: str | None
) -> Drift:
    start = moment(since, kb.now())
    told = _read(kb, start, reader=reader)
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in told:
        for measure, look in MEASURES.items():
            if (value := look(one)) is not None:
                values[measure, period(one.timestamp)].append(float(value))
    return Drift(
        by=by,
        since=start,
        records=len(told),
        points=tuple(
            Point(period=when, measure=measure, n=len(found), **_summed(measure, found)._asdict())
            for (measure, when), found in sorted(values.items())
        ),
    )


# --- reading --------------------------------------------------------------------------------------


def _read(kb: KnowledgeBase, since: str, *, reader: str | None) -> list[Told]:
    """Newest first, without what evaluations asked."""
    signals: dict[str, list[str]] = defaultdict(list)
    for request, signal in kb.audit.signals(since):
        signals[request].append(signal)
    evaluator = kb.audit.pseudonym(EVALUATION)
    told = []
    for entry, body in kb.audit.bodies(AuditQuery(since=since), reader=reader):
        if body.get("user") == EVALUATION or (entry is not None and evaluator and entry.subject == evaluator):
            continue
        said = tuple(signals.get(body["request_id"], ()))
        told.append(Told(timestamp=body["timestamp"], body=body, signals=said, error=bool(body.get("error"))))
    return told


class _Sum(NamedTuple):
    value: float
    low: float | None = None
    high: float | None = None


def _summed(measure: str, values: Sequence[float]) -> _Sum:
    if measure in SHARES:
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

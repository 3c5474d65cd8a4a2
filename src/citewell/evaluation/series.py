"""Quality measures of one record, and change points in series of them.

In: record bodies, whose personal text is never read, sealed or not; values by measure and period. Out: a
value per measure; :class:`Change` values. At every boundary between periods, the values before and after are
compared (Mann and Whitney 1947, normal approximation with ties; for zeros and ones, the test of two
proportions). The boundary with the lowest p value counts if that value times the number of boundaries in all
series (Bonferroni) is below ``LEVEL``; then both sides are searched in turn. Knows nothing about logs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.core.records import Decision, Record, Status

LEVEL = 0.01
LEAST = 20
"""Minimum number of values on either side for a test."""

Series = Sequence[tuple[str, Sequence[float]]]
Floats = NDArray[np.float64]


class Change(Record, frozen=True, kw_only=True):
    """A change starting with ``period``. ``before`` and ``after`` are the means back to the previous change
    and on to the next; ``p`` is corrected for every boundary tested."""

    measure: str
    period: str
    before: float
    after: float
    p: float


def change_points(series: Mapping[str, Series]) -> tuple[Change, ...]:
    """Changes in order of time; ``series`` by measure, each with its periods in order."""
    looked_at = sum(max(0, len(one) - 1) for one in series.values())
    found: list[Change] = []
    for measure, one in series.items():
        periods = [(period, np.asarray(values, dtype=np.float64)) for period, values in one if len(values)]
        borders = sorted(_borders(periods, 0, len(periods), looked_at))
        ends = [0, *(place for place, _ in borders), len(periods)]
        means = [
            float(np.concatenate([v for _, v in periods[a:b]]).mean()) for a, b in pairwise(ends) if a < b
        ]
        found += [
            Change(
                measure=measure,
                period=periods[place][0],
                before=means[number],
                after=means[number + 1],
                p=p,
            )
            for number, (place, p) in enumerate(borders)
        ]
    return tuple(sorted(found, key=lambda change: (change.period, change.measure)))


def _borders(
    periods: Sequence[tuple[str, Floats]], start: int, end: int, looked_at: int
) -> list[tuple[int, float]]:
    tests = [
        (_p_value([v for _, v in periods[start:place]], [v for _, v in periods[place:end]]), place)
        for place in range(start + 1, end)
    ]
    if not tests:
        return []
    p, place = min(tests)
    corrected = min(1.0, p * looked_at)
    if corrected >= LEVEL:
        return []
    return [
        *_borders(periods, start, place, looked_at),
        (place, corrected),
        *_borders(periods, place, end, looked_at),
    ]


def _p_value(before: Sequence[Floats], after: Sequence[Floats]) -> float:
    """Two-sided p value; 1 if there are too few values or all are equal."""
    first, second = np.concatenate(before), np.concatenate(after)
    n, m = len(first), len(second)
    if min(n, m) < LEAST:
        return 1.0
    _, inverse, counts = np.unique(np.concatenate([first, second]), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    total = n + m
    tied = float((counts.astype(np.float64) ** 3 - counts).sum()) / (total * (total - 1))
    variance = n * m / 12 * (total + 1 - tied)
    if variance <= 0:
        return 1.0
    away = abs(float(ranks[:n].sum()) - n * (total + 1) / 2)
    return math.erfc(away / math.sqrt(2 * variance))


Body = Mapping[str, Any]
Look = Callable[[Body], float | None]
"""The body of a record, with the ``signals`` from users -> its value, or None."""


def _of_answers(holds: Callable[[Body], bool]) -> Look:
    return lambda body: None if body.get("error") else float(holds(body))


def _of_claims(holds: Callable[[Sequence[Body]], bool]) -> Look:
    """For answers with claims."""
    return lambda body: float(holds(body["claims"])) if body["claims"] and not body.get("error") else None


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
    def look(body: Body) -> float | None:
        report = body.get("confidence_report") or {}
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
    "errors": lambda body: float(bool(body.get("error"))),
    "negative_signals": _of_answers(lambda body: not NEGATIVE.isdisjoint(body["signals"])),
    "thumbs_up": _of_answers(lambda body: "thumbs_up" in body["signals"]),
}
"""Shares of records; each counts once, however many claims it has."""
MEANS: Mapping[str, Look] = {
    "confidence": _part("overall"),
    "retrieval": _part("retrieval_score"),
    "entailment": _part("entailment_score"),
    "hallucination_gap": _part("hallucination_gap"),
}
MEDIANS: Mapping[str, Look] = {"latency_ms": lambda body: body.get("latency_ms", {}).get("total")}
MEASURES: Mapping[str, Look] = {**SHARES, **MEANS, **MEDIANS}

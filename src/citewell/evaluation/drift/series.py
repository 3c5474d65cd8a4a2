"""What one record says of quality.

In: the body of a record, personal texts sealed or not: none is looked at. Out: a value a measure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from citewell.core.records import Decision, Record, Status

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

"""What a record says of quality, as numbers; over time; by whatever it is grouped by.

In: the bodies of records, personal texts sealed or not: none is looked at, but for topics. Out: single values
by measure, group and period. Knows nothing about logs or tests.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from citewell.core.errors import UsageError
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

TOPICS = 12
OTHER = "other"
_TERM = re.compile(r"[^\W\d_]{4,}")
_DULL = frozenset(
    _TERM.findall(
        "what when where which whose with from have does that this there their were will about many much"
        " would into than then them they your long been after before under over between during most more some"
        " such give gave tell list name show please could should"
    )
)


def topics_of(questions: Sequence[str]) -> list[str]:
    """One topic a question: of the terms that most questions share, its most shared one; ``other`` for a
    question that has none. The same questions give the same topics in any order."""
    terms = [_terms(question) for question in questions]
    counts = Counter(term for found in terms for term in found)
    ranked = sorted(counts, key=lambda term: (-counts[term], term))
    rank = {term: place for place, term in enumerate(ranked[:TOPICS]) if counts[term] > 1}
    return [min(found & rank.keys(), key=rank.__getitem__, default=OTHER) for found in terms]


def _terms(question: str) -> set[str]:
    return {word.rstrip("s") for word in _TERM.findall(question.casefold())} - _DULL


def _documents(told: Told) -> tuple[str, ...]:
    cited = {c["document_id"] for claim in told.body["claims"] for c in claim.get("citations", ())}
    return tuple(sorted(cited)) or ("none cited",)


def _sources(told: Told) -> tuple[str, ...]:
    """The first folder of each cited document."""
    return tuple(sorted({name.split("/")[0] for name in _documents(told)}))


GROUPS: Mapping[str, Callable[[Sequence[Told]], list[tuple[str, ...]]]] = {
    "all": lambda told: [("all",)] * len(told),
    "document": lambda told: [_documents(one) for one in told],
    "source": lambda told: [_sources(one) for one in told],
    "topic": lambda told: [(topic,) for topic in topics_of([one.body["user_query"] for one in told])],
    "configuration": lambda told: [(one.body["config_hash"][:23],) for one in told],
}
"""What a series can be of; a record may count in several groups."""

Values = dict[tuple[str, str, str], list[float]]
"""By measure, group and period."""


def values_of(told: Sequence[Told], of: str, period: Callable[[str], str]) -> Values:
    """Raises UsageError for an unknown grouping."""
    if of not in GROUPS:
        raise UsageError(f"unknown grouping {of!r}", hint=f"one of {', '.join(GROUPS)}")
    found: Values = defaultdict(list)
    for one, groups in zip(told, GROUPS[of](told), strict=True):
        when = period(one.timestamp)
        for measure, look in MEASURES.items():
            value = look(one)
            if value is not None:
                for group in groups:
                    found[measure, group, when].append(float(value))
    return found


def largest(told: Sequence[Told], of: str, most: int) -> Iterable[str]:
    """The groups with most records."""
    counts = Counter(group for groups in GROUPS[of](told) for group in groups)
    return [name for name, _ in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]]

"""The six feedback signals, the flags they raise, and the stage that failed.

In: signals and the record of the answer they concern. Out: values. Knows nothing about stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from citewell.core.records import AuditRecord, Record, Status


class Signal(StrEnum):
    """The first two, of one person on one thing, replace each other; the last two are signs of checking."""

    THUMBS_DOWN = "thumbs_down"
    THUMBS_UP = "thumbs_up"
    REPHRASED_QUERY = "rephrased_query"
    FOLLOW_UP_CORRECTION = "follow_up_correction"
    CITATION_OPENED = "citation_opened"
    COPIED = "copied"


THUMBS = frozenset({Signal.THUMBS_DOWN, Signal.THUMBS_UP})
TROUBLE = (
    Signal.THUMBS_DOWN,
    Signal.FOLLOW_UP_CORRECTION,
    Signal.REPHRASED_QUERY,
)
"""Signals that people should review, clearest first."""
WEAK = frozenset({Signal.REPHRASED_QUERY.value})
"""Causes too weak to wait for review alone: many ask again without an error in the answer."""

FAILING = "failing:"
"""Prefix of a stage in a flag: ``failing:retrieval``."""

USER, CITEWELL = "user", "citewell"


class Feedback(Record, frozen=True, kw_only=True):
    """One signal on one answer, or on its claim number ``claim`` (from 1; None for the whole answer).

    ``found_by`` is "user" for what somebody did on purpose and "citewell" for what was detected. ``stage`` is
    what failed, as far as the record tells ("" when it does not), ``documents`` what the answer or the claim
    leaned on.
    """

    feedback_id: str
    request_id: str
    session_id: str
    user: str
    timestamp: str
    signal: Signal
    claim: int | None = None
    meta: dict[str, str] = {}
    found_by: str = USER
    stage: str = ""
    documents: tuple[str, ...] = ()


def current_signals(said: Iterable[Feedback]) -> tuple[Feedback, ...]:
    """The signals on one answer still in effect, oldest first: a person's new thumb replaces their previous
    one on the same target."""
    found: dict[tuple[object, ...], Feedback] = {}
    for one in said:
        about = ("thumb", one.user, one.claim) if one.signal in THUMBS else (one.feedback_id,)
        found.pop(about, None)
        found[about] = one
    return tuple(found.values())


def flags_of(said: Sequence[Feedback]) -> tuple[str, ...]:
    """An answer's flags: its current signals, then the stages they show to have failed, each once."""
    holds = current_signals(said)
    signals = [one.signal.value for one in holds]
    stages = [FAILING + one.stage for one in holds if one.stage and one.signal in TROUBLE]
    return tuple(dict.fromkeys([*signals, *stages]))


RETRIEVAL, GATE, GENERATION, VERIFICATION = STAGES = ("retrieval", "gate", "generation", "verification")
CLOSED_GATE = "relevance_gate_failed"

_BY_FAILURE = {
    "retrieval_failed": RETRIEVAL,
    "broader_retrieval_failed": RETRIEVAL,
    "poison_filter_failed": RETRIEVAL,
    "gate_failed": GATE,
    "generator_failed": GENERATION,
    "hallucination_detected": GENERATION,
    "citation_broken": GENERATION,
    "answer_judge_failed": GENERATION,
    "verification_failed": VERIFICATION,
}
"""Stage by ``failure_reason``; ``relevance_gate_failed`` depends on the record."""

FAILURES = (CLOSED_GATE, *_BY_FAILURE)
"""Every ``failure_reason``, except for stages ending in an unforeseen error."""

_BY_STATUS = {
    Status.VERIFIED: VERIFICATION,  # It passed, and somebody says that it is wrong.
    Status.UNCHECKED: VERIFICATION,
    Status.UNSUPPORTED: GENERATION,
    Status.CONTRADICTED: GENERATION,
    Status.BROKEN: GENERATION,
}
"""Stage by status of a claim that somebody pointed at."""


def failing_stage(record: AuditRecord, claim: int | None = None) -> str:
    """The stage that failed; ``claim``, from 1, is the claim pointed at.

    "" for a complete answer with all claims verified: any stage may have misread the question.
    """
    if claim is not None:
        return _BY_STATUS[record.claims[claim - 1].verdict.status]
    if record.failure_reason == CLOSED_GATE:
        return GATE if record.retrieval_results else RETRIEVAL
    if record.failure_reason in _BY_FAILURE:
        return _BY_FAILURE[record.failure_reason]
    statuses = {one.verdict.status for one in record.claims} - {Status.VERIFIED}
    if statuses:
        return min((_BY_STATUS[status] for status in statuses), key=STAGES.index)
    return RETRIEVAL if record.missing else ""


def documents_of(record: AuditRecord, claim: int | None = None) -> tuple[str, ...]:
    """The documents that the claim or answer cites; if none, those used for the answer, else those found."""
    claims = record.claims if claim is None else record.claims[claim - 1 : claim]
    cited = [citation.document_id for one in claims for citation in one.citations if citation.document_id]
    used = [result.document_id for result in record.retrieval_results if result.was_used_in_generation]
    found = [result.document_id for result in record.retrieval_results]
    return tuple(dict.fromkeys(cited or used or found))

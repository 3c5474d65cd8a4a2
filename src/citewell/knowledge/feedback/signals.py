"""The six things users do that tell of an answer's worth, the flags they raise, and the stage that failed.

In: what was done, to which answer; the answer's record. Out: values. Knows nothing about stores.
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
"""Signals that people should look at, the plainest first."""

FAILING = "failing:"
"""Before the name of a stage in a flag: ``failing:retrieval``."""

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


def standing(said: Iterable[Feedback]) -> tuple[Feedback, ...]:
    """What holds of the signals on one answer, oldest first: a thumb of the same person on the same thing
    takes the one before it back."""
    found: dict[tuple[object, ...], Feedback] = {}
    for one in said:
        about = ("thumb", one.user, one.claim) if one.signal in THUMBS else (one.feedback_id,)
        found.pop(about, None)
        found[about] = one
    return tuple(found.values())


def flags_of(said: Sequence[Feedback]) -> tuple[str, ...]:
    """The flags of an answer: its standing signals, then the stages that fail by them, each once."""
    holds = standing(said)
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
"""By ``failure_reason``. A failed gate is looked at more closely."""

FAILURES = (CLOSED_GATE, *_BY_FAILURE)
"""What a ``failure_reason`` is, but for a stage that ends in an error nobody foresaw."""

_BY_STATUS = {
    Status.VERIFIED: VERIFICATION,  # It was let through, and somebody says that it is wrong.
    Status.UNCHECKED: VERIFICATION,
    Status.UNSUPPORTED: GENERATION,
    Status.CONTRADICTED: GENERATION,
    Status.BROKEN: GENERATION,
}
"""Of a claim that somebody pointed at."""


def failing_stage(record: AuditRecord, claim: int | None = None) -> str:
    """The stage that failed; ``claim``, from 1, is one that somebody pointed at.

    "" for an answer whose claims are all verified and complete: its question may have been misread anywhere.
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
    """What the claim cites, or the answer; for one that cites nothing, what was used or found for it."""
    claims = record.claims if claim is None else record.claims[claim - 1 : claim]
    cited = [citation.document_id for one in claims for citation in one.citations if citation.document_id]
    used = [result.document_id for result in record.retrieval_results if result.was_used_in_generation]
    found = [result.document_id for result in record.retrieval_results]
    return tuple(dict.fromkeys(cited or used or found))

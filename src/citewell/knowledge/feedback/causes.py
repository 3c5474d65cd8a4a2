"""Which stage failed, as far as a record tells, and what the answer leaned on.

In: an AuditRecord, and the claim that somebody pointed at. Out: ``retrieval``, ``gate``, ``generation``,
``verification`` or "" (it does not tell); document ids. Knows nothing about signals or stores.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.records import AuditRecord, Claim, Status

RETRIEVAL, GATE, GENERATION, VERIFICATION = "retrieval", "gate", "generation", "verification"
STAGES = (RETRIEVAL, GATE, GENERATION, VERIFICATION)
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
    """``claim`` counts from 1. An answer whose claims are all verified and complete does not tell: its
    question may have been misread anywhere."""
    if claim is not None:
        return _BY_STATUS[record.claims[claim - 1].verdict.status]
    if record.failure_reason == CLOSED_GATE:
        return GATE if record.retrieval_results else RETRIEVAL
    if record.failure_reason in _BY_FAILURE:
        return _BY_FAILURE[record.failure_reason]
    statuses = {claim.verdict.status for claim in record.claims}
    if statuses & {Status.UNSUPPORTED, Status.CONTRADICTED, Status.BROKEN}:
        return GENERATION
    if Status.UNCHECKED in statuses:
        return VERIFICATION
    return RETRIEVAL if record.missing else ""


def documents_of(record: AuditRecord, claim: int | None = None) -> tuple[str, ...]:
    """What the claim cites, or the answer; for one that cites nothing, what was used or found for it."""
    claims: Sequence[Claim] = record.claims if claim is None else record.claims[claim - 1 : claim]
    cited = [citation.document_id for one in claims for citation in one.citations if citation.document_id]
    used = [result.document_id for result in record.retrieval_results if result.was_used_in_generation]
    found = [result.document_id for result in record.retrieval_results]
    return tuple(dict.fromkeys(cited or used or found))

"""Rebuilds a past answer from its record.

In: the parts of a home, a record. Out: an :class:`Answer` with the same ids, claims and citations. What a
record does not keep is not invented: passages whose index version is gone are left out, and the reason why
one was set aside is in the trace's notes. Knows nothing about who may ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from citewell.answering.force import force_on
from citewell.core.errors import UsageError
from citewell.core.records import Answer, AuditRecord, Decision, Passage
from citewell.retrieval.gate import nearest_places
from citewell.retrieval.wording import Filters

if TYPE_CHECKING:
    from citewell.knowledge.assembly import Assembly


def answer_of(parts: Assembly, record: AuditRecord) -> Answer:
    """The answer. Raises UsageError for a request that ended in an error and so has none."""
    if record.confidence_report is None or not record.response_decision:
        raise UsageError(f"{record.request_id} ended in an error ({record.failure_reason})", hint="ask again")
    threshold = parts.config.retrieval.relevance_threshold
    names = {result.chunk_id for result in record.retrieval_results}
    try:
        chunks = parts.index.at(record.index_version).named(names) if names else []
    except UsageError:  # that index version is no longer kept
        chunks = []
    known = {(chunk.document_id, chunk.chunk_id): chunk for chunk in chunks}
    passages = tuple(
        Passage(
            chunk=known[result.document_id, result.chunk_id],
            similarity=result.similarity_score,
            relevance=result.reranker_score,
            relevant=result.reranker_score is not None and result.reranker_score >= threshold,
            used=result.was_used_in_generation,
            likeliest=result.likeliest,
        )
        for result in record.retrieval_results
        if (result.document_id, result.chunk_id) in known
    )
    decision = Decision(record.response_decision)
    asked, day = record.parameters, record.timestamp[:10]
    filters = msgspec.convert(asked.get("filters", {}), Filters)
    force = force_on(parts.in_force, record.user_query, asked.get("as_of", ""), filters, day)
    return Answer(
        request_id=record.request_id,
        session_id=record.session_id,
        question=record.user_query,
        text=record.shown_response,
        claims=record.claims,
        passages=passages,
        confidence=record.confidence_report,
        decision=decision,
        missing=record.missing,
        conflicts=record.conflicts,
        trace=parts.traces.get(record.request_id),
        record_hash=parts.log.get(record.request_id).hash,
        nearest=force.located(nearest_places(record.user_query, force.only_in_force(passages)))
        if decision is Decision.ABSTAIN
        else (),
    )

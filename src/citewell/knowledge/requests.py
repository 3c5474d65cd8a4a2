"""The pass that answers one request, and an answer that was given, again.

In: the parts of a home, a question or a record. Out: the pass, limited to what its asker may see; an answer.
Knows nothing about who may ask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.answering.answering import Answering, journal_of
from citewell.answering.asking import Ask
from citewell.core.environment import environment
from citewell.core.errors import UsageError
from citewell.core.records import Answer, AuditRecord
from citewell.knowledge.revisiting.recounting import answer_of
from citewell.knowledge.visibility import Seeing, SeenTraces

if TYPE_CHECKING:
    from citewell.knowledge.assembly import Assembly


def pass_for(parts: Assembly, ask: Ask, seeing: Callable[[], Seeing] | None) -> Answering:
    """``seeing`` is None for whoever may see everything. When a part of the pass cannot be made (weights,
    index), that is on record like any error, then raised."""
    journal = journal_of(ask, clock=parts.clock, config=parts.config, environment=environment())
    try:
        with journal.stage("assembly"):
            answering = parts.answering
            return replace(answering, traces=SeenTraces(parts.traces, seeing())) if seeing else answering
    except Exception as error:
        journal.failed(error)
        parts.log.append(journal.record())
        raise


def answer_again(parts: Assembly, record: AuditRecord) -> Answer:
    """See :func:`citewell.knowledge.revisiting.recounting.answer_of`: the stores give what the record does
    not hold."""
    names = {result.chunk_id for result in record.retrieval_results}
    try:
        chunks = parts.index.at(record.index_version).named(names) if names else []
    except UsageError:  # that version of the index is kept no more
        chunks = []
    traces = parts.traces.session(record.session_id)
    return answer_of(
        record,
        chunks,
        trace=next((trace for trace in traces if trace.request_id == record.request_id), None),
        record_hash=parts.log.get(record.request_id).hash,
        threshold=parts.config.retrieval.relevance_threshold,
    )

"""A past answer made anew on the index version that it was made on.

In: the parts of a home, a record. Out: the record again, and how the two compare. With the extractive writer
all of it is made anew; what a language model wrote, or made of the question, is taken from the record, and
retrieval and verdicts are made anew. Knows nothing about who asks for it.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.answering.finding import BROADENED, SEARCHED_ALSO, SEARCHED_AS, unknown
from citewell.environment import environment
from citewell.records import AuditRecord
from citewell.revisiting import JUDGED, RETRIEVED, WHOLE, Replay, drafted, replay, result_of

if TYPE_CHECKING:
    from citewell.assembly import Assembly
    from citewell.retrieval import Retrieved


def replayed(parts: Assembly, record: AuditRecord) -> tuple[Replay, AuditRecord]:
    """The comparison, and the record as it came out. Raises UsageError when the index version is no longer
    kept."""
    whole = _writes_again(parts, record)
    made = _whole_again(parts, record) if whole else _retrieved_again(parts, record)
    compared = WHOLE if whole else (*RETRIEVED, *JUDGED)
    found = replay(record, lambda _: made, compared=compared, config=parts.config, environment=environment())
    return found, made


def _writes_again(parts: Assembly, record: AuditRecord) -> bool:
    """Whether the writer of the record is here and says the same again, to the question as it was put."""
    if SEARCHED_AS in record.parameters:
        return False
    names = {maker.name for maker in record.makers}
    return parts.config.generator == "extractive" and parts.generator.maker.name in names


def _whole_again(parts: Assembly, record: AuditRecord) -> AuditRecord:
    made: AuditRecord = _pass_at(parts, record).rehearse(_ask_of(record))
    return made


def _retrieved_again(parts: Assembly, record: AuditRecord) -> AuditRecord:
    """Retrieval anew; each claim as it was written, bound and judged anew."""
    answering = _pass_at(parts, record)
    asked = _ask_of(record)

    def search(words: str, *, broaden: bool) -> Retrieved:
        found: Retrieved = answering.retriever.retrieve(
            words, filters=asked.filters, top_k=asked.top_k, pool=asked.pool, broaden=broaden
        )
        return found

    words = record.parameters.get(SEARCHED_AS, asked.question)
    found = search(words, broaden=BROADENED in record.latency_ms)
    passages = list(found.passages)
    for aspect in record.parameters.get(SEARCHED_ALSO, ()):
        passages += unknown(search(aspect, broaden=True), {p.chunk.chunk_id for p in passages})
    then = record.retrieval_results
    used = {(one.document_id, one.chunk_id) for one in then if one.was_used_in_generation}
    checked = answering.checker.check(asked.question, (), drafted(record), passages)
    return msgspec.structs.replace(
        record,
        index_version=found.index_version,
        retrieval_results=tuple(
            result_of(passage, used=(passage.chunk.document_id, passage.chunk.chunk_id) in used)
            for passage in passages
        ),
        claims=checked.claims,
        makers=answering.makers,
    )


def _pass_at(parts: Assembly, record: AuditRecord) -> Any:
    from citewell.retrieval import Retriever

    parts = parts.without_memory()
    retriever = Retriever(parts.index.at(record.index_version), parts.ranker, parts.config.retrieval)
    return dataclasses.replace(parts.answering, retriever=retriever, pin=lambda version: None)


def _ask_of(record: AuditRecord) -> Any:
    from citewell.answering.asking import Ask
    from citewell.retrieval import Filters

    asked = record.parameters
    return Ask(
        question=record.user_query,
        user=record.user,
        session_id=record.session_id,
        filters=msgspec.convert(asked["filters"], Filters),
        top_k=asked["top_k"],
        pool=asked["pool"],
        runs=asked["runs"],
    )

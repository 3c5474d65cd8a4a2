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
from citewell.audit.bodies import UNREADABLE
from citewell.core.environment import environment
from citewell.core.errors import UsageError
from citewell.core.records import (
    AuditRecord,
    Citation,
    Draft,
    DraftClaim,
    Maker,
    Passage,
    Quote,
    RetrievalResult,
)
from citewell.knowledge.revisiting.comparing import JUDGED, RETRIEVED, WHOLE, Replay, replay

if TYPE_CHECKING:
    from citewell.knowledge.assembly import Assembly
    from citewell.retrieval import Retrieved


def replayed(parts: Assembly, record: AuditRecord) -> tuple[Replay, AuditRecord]:
    """The comparison, and the record as it came out. Raises UsageError when the index version is no longer
    kept, or nobody can read the question: it cannot be put again."""
    if why := UNREADABLE.get(record.user_query):
        raise UsageError(
            f"{record.request_id} can no longer be read: {why}",
            hint="`citewell audit prove` still proves its place in the log, and `citewell audit"
            " recheck` still resolves its citations",
        )
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
    checked = answering.checker.check(asked.question, (), _drafted(record), passages)
    return msgspec.structs.replace(
        record,
        index_version=found.index_version,
        retrieval_results=tuple(
            _result_of(passage, used=(passage.chunk.document_id, passage.chunk.chunk_id) in used)
            for passage in passages
        ),
        claims=checked.claims,
        makers=answering.makers,
    )


def _pass_at(parts: Assembly, record: AuditRecord) -> Any:
    from citewell.documents.agreement import Agreement
    from citewell.retrieval import Retriever

    parts = parts.without_memory()
    retriever = Retriever(
        parts.index.at(record.index_version),
        parts.ranker,
        parts.config.retrieval,
        Agreement(parts.evidence).hold,
    )
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


def _drafted(record: AuditRecord) -> Draft:
    """What was written, as far as the record tells: each claim with the quotes it gave, not those found
    for it afterwards."""
    end = max((claim.answer_end for claim in record.claims), default=0)
    text = [" "] * end
    for claim in record.claims:
        length = claim.answer_end - claim.answer_start
        text[claim.answer_start : claim.answer_end] = claim.text[:length].ljust(length)
    claims = tuple(
        DraftClaim(
            text=claim.text,
            start=claim.answer_start,
            end=claim.answer_end,
            quotes=tuple(_quoted(citation) for citation in claim.citations if citation.mode == "generated"),
            kind=claim.kind,
            aspect=claim.aspect,
            answers=claim.answers,
            antecedent=claim.antecedent,
        )
        for claim in record.claims
    )
    maker = Maker(name=record.generation_model, prompt_hash=record.generation_prompt_hash)
    return Draft(text="".join(text), raw=record.generated_response, claims=claims, maker=maker)


def _quoted(citation: Citation) -> Quote:
    located = citation.start >= 0
    return Quote(
        source=citation.chunk_id,
        text=citation.quote,
        start=citation.start if located else None,
        end=citation.end if located else None,
    )


def _result_of(passage: Passage, *, used: bool) -> RetrievalResult:
    """A passage as a record has it."""
    return RetrievalResult(
        chunk_id=passage.chunk.chunk_id,
        document_id=passage.chunk.document_id,
        document_version=passage.chunk.document_version,
        similarity_score=passage.similarity,
        reranker_score=passage.relevance,
        was_used_in_generation=used,
    )

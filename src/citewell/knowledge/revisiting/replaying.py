"""Reproduces a past answer on its original index version and compares bit by bit.

In: the parts of a home, a record. Out: the reproduced record, and a :class:`Replay` that lists each
difference; a changed release, processor or configuration is listed separately, as then a difference proves
nothing. With the extractive writer, everything is reproduced; text or queries by a language model are taken
from the record and only retrieval and verdicts are reproduced. Knows nothing about who asks for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.answering.questioning import HYPOTHESISED, WITHOUT
from citewell.answering.stages import BROADENED, MORE, SEARCHED_ALSO, SEARCHED_AS
from citewell.audit.entries import UNREADABLE
from citewell.core.config import Config
from citewell.core.environment import environment
from citewell.core.errors import UsageError
from citewell.core.identity import plain
from citewell.core.records import (
    EXTERNAL,
    AuditRecord,
    Citation,
    Draft,
    DraftClaim,
    Maker,
    Quote,
    Record,
    RetrievalResult,
)

if TYPE_CHECKING:
    from citewell.answering.answering import Answering
    from citewell.answering.journal import Ask
    from citewell.knowledge.assembly import Assembly
    from citewell.retrieval import Retrieved

_RETRIEVED = ("index_version", "retrieval_results", "claims")
"""Fields compared when a language model's text is taken from the record."""
_WHOLE = (
    *_RETRIEVED,
    "conflicts",
    "missing",
    "confidence_report",
    "response_decision",
    "shown_response",
)
"""Fields compared when the writer is deterministic."""


class Replay(Record, frozen=True, kw_only=True):
    """``same`` is True if every compared part of the record was reproduced bit for bit.

    ``elsewhere`` lists what has changed since the record was made, possible reasons for ``same`` being False.
    ``compared`` are the compared parts of the record.
    """

    request_id: str
    index_version: str
    same: bool
    compared: tuple[str, ...]
    differences: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


def replayed(parts: Assembly, record: AuditRecord) -> tuple[Replay, AuditRecord]:
    """(comparison, reproduced record). Raises UsageError when the index version is no longer kept, another
    system wrote the answer, or the question can no longer be read and so not be asked again."""
    if why := UNREADABLE.get(record.user_query):
        raise UsageError(
            f"{record.request_id} can no longer be read: {why}",
            hint="`citewell audit prove` still proves its place in the log, and `citewell audit"
            " recheck` still resolves its citations",
        )
    if EXTERNAL in record.parameters:
        hint = "`citewell audit recheck` checks its citations again"
        raise UsageError(f"{record.request_id} is an answer from another system", hint=hint)
    answering, ask = _pass_at(parts, record), _ask_of(record)
    whole = _writes_again(parts, record)
    made = answering.rehearse(ask) if whole else _retrieved_again(answering, ask, record)
    compared = _WHOLE if whole else _RETRIEVED
    found = compare(record, made, compared=compared, config=parts.config, environment=environment())
    return found, made


def compare(
    record: AuditRecord,
    made: AuditRecord,
    *,
    compared: Sequence[str],
    config: Config,
    environment: Mapping[str, str],
) -> Replay:
    """``made`` is the reproduced record; ``compared`` are the parts to compare."""
    differences = [
        difference
        for part in compared
        for difference in _differences(part, plain(getattr(record, part)), plain(getattr(made, part)))
    ]
    elsewhere = [
        f"{name} was {record.environment.get(name, 'not recorded')} and is now {value}"
        for name, value in environment.items()
        if record.environment.get(name) != value
    ]
    if record.config_hash != config.hash:
        elsewhere.append(f"the configuration was {record.config_hash} and is now {config.hash}")
    elsewhere += [
        f"{maker.name} {maker.hash} is no longer in use"
        for maker in record.makers
        if maker not in made.makers
    ]
    elsewhere += _not_held(record)
    return Replay(
        request_id=record.request_id,
        index_version=record.index_version,
        same=not differences,
        compared=tuple(compared),
        differences=tuple(differences),
        elsewhere=tuple(elsewhere),
    )


def _not_held(record: AuditRecord) -> list[str]:
    """Why searches cannot be repeated: the record does not hold their words."""
    reasons = []
    if HYPOTHESISED in record.latency_ms and f"{HYPOTHESISED}: {WITHOUT}" not in record.notes:
        reasons.append("the search used words from a language model, which records do not keep")
    if MORE in record.latency_ms and SEARCHED_ALSO not in record.parameters:
        reasons.append("the search for missing parts of the question was not kept in this record")
    return reasons


def _differences(where: str, then: Any, now: Any) -> list[str]:
    """Describes each place where two values differ."""
    if isinstance(then, dict) and isinstance(now, dict) and then.keys() == now.keys():
        return [d for key in then for d in _differences(f"{where}.{key}", then[key], now[key])]
    if isinstance(then, list | tuple) and isinstance(now, list | tuple):
        told = [f"{where}: {len(then)} then, {len(now)} now"] if len(then) != len(now) else []
        pairs = enumerate(zip(then, now, strict=False), 1)
        return told + [d for place, pair in pairs for d in _differences(f"{where} {place}", *pair)]
    return [] if then == now and type(then) is type(now) else [f"{where} was {then!r} and is now {now!r}"]


def _writes_again(parts: Assembly, record: AuditRecord) -> bool:
    """True if the record's writer is available and deterministic, and the question was not rewritten."""
    if SEARCHED_AS in record.parameters:
        return False
    names = {maker.name for maker in record.makers}
    return parts.config.generator == "extractive" and parts.generator.maker.name in names


def _retrieved_again(answering: Answering, ask: Ask, record: AuditRecord) -> AuditRecord:
    """The record with retrieval repeated, and each claim as written but bound and judged again."""

    def search(words: str, *, broaden: bool) -> Retrieved:
        return answering.retriever.retrieve(
            words, filters=ask.filters, top_k=ask.top_k, pool=ask.pool, broaden=broaden
        )

    words = record.parameters.get(SEARCHED_AS, ask.question)
    found = search(words, broaden=BROADENED in record.latency_ms)
    passages = list(found.passages)
    for aspect in record.parameters.get(SEARCHED_ALSO, ()):
        known = {passage.chunk.chunk_id for passage in passages}
        passages += [p for p in search(aspect, broaden=True).passages if p.chunk.chunk_id not in known]
    then = record.retrieval_results
    used = {(one.document_id, one.chunk_id) for one in then if one.was_used_in_generation}
    checked = answering.checker.check(ask.question, (), _drafted(record), passages)
    return msgspec.structs.replace(
        record,
        index_version=found.index_version,
        retrieval_results=tuple(
            msgspec.structs.replace(
                RetrievalResult.of(passage),
                was_used_in_generation=(passage.chunk.document_id, passage.chunk.chunk_id) in used,
            )
            for passage in passages
        ),
        claims=checked.claims,
        makers=answering.makers,
    )


def _pass_at(parts: Assembly, record: AuditRecord) -> Answering:
    parts = parts.without_memory()
    retriever = parts.retriever_on(parts.index.at(record.index_version))
    return dataclasses.replace(parts.answering, retriever=retriever, pin=lambda version: None)


def _ask_of(record: AuditRecord) -> Ask:
    from citewell.answering.journal import Ask
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
        as_of=asked.get("as_of") or record.timestamp[:10],
    )


def _drafted(record: AuditRecord) -> Draft:
    """The draft, reconstructed from the record: each claim with the quotes that the writer gave, not those
    found for it afterwards."""
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

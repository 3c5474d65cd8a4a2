"""Samples for the faithfulness probe: from a case file, from a home's retrieval, from live traffic.

In: a file or a home. Out: :class:`Sample` values, in an order drawn with a seed. Live ones are what people
asked, with the passages that their answers were written from; the read is on the log. Knows nothing about
writers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from heapq import nsmallest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.question import AuditQuery, moment
from citewell.core.access import EVALUATION
from citewell.core.errors import CitewellError, UsageError
from citewell.core.identity import chunk_id, hash_text
from citewell.core.records import AuditRecord, Chunk, Passage, RetrievalResult
from citewell.evaluation.files import json_lines
from citewell.evaluation.probes.subjects import Sample
from citewell.retrieval import Filters
from citewell.retrieval.quarantine import set_poison_aside

if TYPE_CHECKING:
    from citewell.core.ports import IndexSnapshot
    from citewell.knowledge.home import KnowledgeBase

_END = 1 << 40


def sample_of(name: str, question: str, sources: Mapping[str, str]) -> Sample:
    """From texts that a caller hands in."""
    passages = []
    for source, text in sources.items():
        version = hash_text(text)
        chunk = Chunk(
            chunk_id=chunk_id(version, 0, len(text), text),
            document_id=source,
            document_version=version,
            start_offset=0,
            end_offset=len(text),
            content=text,
        )
        passages.append(Passage(chunk=chunk, relevance=1.0, relevant=True))
    return Sample(id=name, question=question, passages=tuple(passages))


def case_samples(path: Path, knowledge_base: KnowledgeBase | None) -> list[Sample]:
    """One a line. A line with ``"sources"`` (texts, or ``{"id", "text"}``) stands alone; any other is a case
    whose passages the home finds. Raises UsageError with the number of a line that cannot be read."""
    samples = [
        _case(given, number, where, knowledge_base)
        for number, (where, given) in enumerate(json_lines(path), 1)
    ]
    if not samples:
        raise UsageError(f"{path} holds no case", hint="one JSON object a line")
    return samples


def found_sample(name: str, question: str, knowledge_base: KnowledgeBase, groups: tuple[str, ...]) -> Sample:
    """The passages that a writer of the home would read for ``question``."""
    found = set_poison_aside(question, knowledge_base.search(question, groups=groups))
    usable = tuple(passage for passage in found if passage.relevant and not passage.set_aside)
    return Sample(id=name, question=question, passages=usable, filters=Filters(groups=groups))


def live_samples(
    knowledge_base: KnowledgeBase,
    *,
    since: str = "7d",
    reader: str = "",
    seed: int = 0,
    most: int | None = None,
) -> list[Sample]:
    """Answers given since then, in an order drawn with ``seed``, at most ``most`` of them held in memory;
    what was erased or expired is not among them."""
    asked = AuditQuery(since=moment(since, knowledge_base.now()))

    @cache
    def kept(index_version: str) -> bool:
        return _at(knowledge_base, index_version) is not None

    # Drawn among those whose passages can still be read, or few of ``most`` would be left of an older log.
    records = (
        record
        for record in knowledge_base.audit.every(asked, reader=reader)
        if _answered(record) and kept(record.index_version)
    )

    def drawn(record: AuditRecord) -> bytes:
        return blake2b(f"{seed}/{record.request_id}".encode(), digest_size=8).digest()

    first = sorted(records, key=drawn) if most is None else nsmallest(most, records, key=drawn)
    made = (live_sample(knowledge_base, record) for record in first)
    return [sample for sample in made if sample is not None]


def live_sample(knowledge_base: KnowledgeBase, record: AuditRecord) -> Sample | None:
    """The question of a record, as it was asked, with the passages that were used; None where one is not
    there any more."""
    used = [one for one in record.retrieval_results if one.was_used_in_generation]
    passages = [_passage(knowledge_base, record.index_version, one) for one in used]
    if not passages or any(passage is None for passage in passages):
        return None
    whole = tuple(passage for passage in passages if passage is not None)
    filters = msgspec.convert(record.parameters.get("filters") or {}, Filters)
    return Sample(id=record.request_id, question=record.user_query, passages=whole, filters=filters)


# --- inside ---------------------------------------------------------------------------------------


def _answered(record: AuditRecord) -> bool:
    from citewell.audit.bodies import UNREADABLE

    asked = record.user_query not in ("", *UNREADABLE) and record.user != EVALUATION
    return asked and bool(record.claims) and not record.error


def _passage(knowledge_base: KnowledgeBase, index_version: str, result: RetrievalResult) -> Passage | None:
    snapshot = _at(knowledge_base, index_version)
    for chunk in snapshot.between(result.document_id, 0, _END) if snapshot else ():
        if chunk.chunk_id == result.chunk_id:
            return Passage(chunk=chunk, relevance=result.reranker_score, relevant=True, used=True)
    return None


def _at(knowledge_base: KnowledgeBase, index_version: str) -> IndexSnapshot | None:
    try:
        return knowledge_base.parts.index.at(index_version)
    except CitewellError:
        return None


def _case(given: dict[str, Any], number: int, where: str, knowledge_base: KnowledgeBase | None) -> Sample:
    if not isinstance(given.get("question"), str):
        raise UsageError(f"{where} has no question", hint='as in {"id": "1", "question": "..."}')
    name, question = str(given.get("id", number)), given["question"]
    if "sources" in given:
        return sample_of(name, question, _sources(given["sources"], where))
    if knowledge_base is None:
        raise UsageError(f"{where} has no sources", hint="give a home with --home, or sources in the line")
    groups = given.get("groups") or []
    return found_sample(name, question, knowledge_base, tuple(str(group) for group in groups))


def _sources(given: Any, where: str) -> dict[str, str]:
    made: dict[str, str] = {}
    for number, source in enumerate(given if isinstance(given, list) else [], 1):
        match source:
            case str():
                made[str(number)] = source
            case {"id": str(name), "text": str(text)}:
                made[name] = text
            case _:
                raise UsageError(f"{where}: source {number} is no text", hint='a string or {"id", "text"}')
    if not made:
        raise UsageError(f"{where}: sources is no list of texts", hint='a string or {"id", "text"} each')
    return made

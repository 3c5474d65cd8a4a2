"""Past answers, looked at again: what a recorded retrieval would find on the same index version.

In: an AuditRecord, the index, the ranker, the configuration. Out: a :class:`Replay` that compares bit by bit.
Another release, processor or configuration is named beside the outcome: then a difference proves nothing.
Knows nothing about how an answer is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from citewell.config import Config
from citewell.records import AuditRecord, Passage, Record, RetrievalResult
from citewell.retrieval import Filters, Retriever

if TYPE_CHECKING:
    from citewell.index import LanceIndex
    from citewell.ports import Ranker

BROADENED = "broadened retrieval"


class Replay(Record, frozen=True, kw_only=True):
    """``same`` says whether every passage came back in its place with the same bits in its scores.

    ``elsewhere`` names what is not as it was when the record was made: the reasons why ``same`` may be False.
    """

    request_id: str
    index_version: str
    same: bool
    differences: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


def replay(
    record: AuditRecord, *, index: LanceIndex, ranker: Ranker, config: Config, environment: dict[str, str]
) -> Replay:
    """Raises UsageError when the index version is not of this index or no longer kept."""
    retriever = Retriever(index.at(record.index_version), ranker, config.retrieval)
    asked = record.parameters
    found = retriever.retrieve(
        record.user_query,
        filters=msgspec.convert(asked["filters"], Filters),
        top_k=asked["top_k"],
        pool=asked["pool"],
        broaden=BROADENED in record.latency_ms,
    )
    differences = tuple(_differences(record.retrieval_results, found.passages))
    elsewhere = [
        f"{name} was {record.environment.get(name, 'not recorded')}, is {value}"
        for name, value in environment.items()
        if record.environment.get(name) != value
    ]
    if record.config_hash != config.hash:
        elsewhere.append(f"the configuration was {record.config_hash}, is {config.hash}")
    if ranker.maker not in record.makers:
        elsewhere.append(f"the ranker is now {ranker.maker.name} {ranker.maker.hash}")
    return Replay(
        request_id=record.request_id,
        index_version=record.index_version,
        same=not differences,
        differences=differences,
        elsewhere=tuple(elsewhere),
    )


def _differences(then: tuple[RetrievalResult, ...], now: tuple[Passage, ...]) -> list[str]:
    told = []
    if len(then) != len(now):
        told.append(f"{len(then)} passages then, {len(now)} now")
    for place, (result, passage) in enumerate(zip(then, now, strict=False), 1):
        chunk = passage.chunk
        for name, before, after in (
            ("chunk", result.chunk_id, chunk.chunk_id),
            ("document", result.document_id, chunk.document_id),
            ("similarity", result.similarity_score, passage.similarity),
            ("relevance", result.reranker_score, passage.relevance),
        ):
            if before != after:
                told.append(f"passage {place}: {name} was {before}, is {after}")
    return told

"""Question -> passages: dense views, BM25 and the documents it names, fused, re-ranked, cut.

In: a question and its asker's access rights. Out: :class:`Retrieved`: the best passages, each marked
relevant or not, with the index version they came from. No passages is a normal result. The
same question on the same index version returns the same passages. Independent of answers.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np

from citewell.core.config import Retrieval
from citewell.core.errors import UsageError
from citewell.core.ports import Ranker
from citewell.core.records import Chunk, Passage, Record
from citewell.questions.aspects import split_aspects
from citewell.questions.calculator import calculator
from citewell.questions.parsing import ParsedQuestion, read_question
from citewell.questions.rows import likely_rows
from citewell.retrieval.folding import fold_duplicates
from citewell.retrieval.wording import Filters, Wording, best_named, named_documents, reword, word

if TYPE_CHECKING:
    from citewell.documents.index.snapshot import Snapshot

Key = tuple[str, str]
"""Document id and chunk id."""
BEST, ALSO = 0.94, 0.87
SURE = 0.95
MAX_TOP_K = 10
NEAR = 12
BM25 = "bm25"
# Maximum named documents whose tables are all read; an offset beyond any document's end.
_READ_WHOLE, _END = 4, 1 << 40
_INSIDE, _TABLES = "inside ", "tables"


class Readable(Protocol):
    """The index, or one version of it."""

    def snapshot(self) -> Snapshot: ...


class Retrieved(Record, frozen=True, kw_only=True):
    """``passages`` best first, at most ``top_k``; those below the threshold are not ``relevant``.

    ``pool``: all ranked passages, before folding; ``counter_evidence``: the relevant ones of these that may
    contradict the answer, only from documents that the question names if it names any.
    ``latencies`` in milliseconds by stage; ``notes``: what was left out, folded or broadened; ``documents``:
    those named by passages and notes.
    """

    passages: tuple[Passage, ...]
    index_version: str
    notes: tuple[str, ...] = ()
    latencies: dict[str, float] = {}
    documents: tuple[str, ...] = ()
    pool: tuple[Passage, ...] = ()
    counter_evidence: tuple[Passage, ...] = ()


class Pool(Record, frozen=True, kw_only=True):
    """What was found before re-ranking: keys best first, with the results of each list."""

    fused: tuple[tuple[Key, float], ...]
    chunks: dict[Key, Chunk]
    similarity: dict[Key, float]
    ranked: dict[str, tuple[Key, ...]]
    named: dict[str, float]


class Retriever:
    """``ranker`` scores passages of the pool; ``settings`` holds weights, sizes and the threshold. ``hold``
    checks every returned chunk against the evidence store and drops those the asker may not see
    (:meth:`citewell.documents.agreement.IndexChecker.hold`)."""

    def __init__(
        self,
        index: Readable,
        ranker: Ranker,
        settings: Retrieval,
        hold: Callable[[Iterable[Chunk], Sequence[str] | None], list[Chunk]] = lambda chunks, _: list(chunks),
    ) -> None:
        self._index = index
        self._ranker = ranker
        self._settings = settings
        self._hold = hold

    def retrieve(
        self,
        question: str,
        *,
        filters: Filters | None = None,
        top_k: int | None = None,
        pool: int | None = None,
        broaden: bool = False,
        hypothesis: str = "",
    ) -> Retrieved:
        """The best passages for ``question``. With a ``hypothesis``, a possible answer, dense views are
        searched with the normalised sum of both vectors (HyDE: Gao et al. 2022), BM25 with the question
        alone. ``broaden``, for a second try when the first found no answer, searches for more words in a
        larger pool.

        Raises UsageError for a blank question or a ``top_k`` outside 1 to 10, IndexMismatchError if the index
        returns other text than the stored document has.
        """
        settings = self._settings
        top_k = settings.top_k if top_k is None else top_k
        pool = max(pool or settings.pool, settings.broadened_pool if broaden else 0)
        if not question.strip():
            raise UsageError("the question is empty")
        if not 1 <= top_k <= MAX_TOP_K:
            raise UsageError(f"top_k must not be {top_k}", hint=f"choose 1 to {MAX_TOP_K}")
        filters = filters or Filters()
        latencies: dict[str, float] = {}
        snapshot = self._index.snapshot()
        wording = reword(word(question)) if broaden else word(question)
        with _timed(latencies, "search"):
            found = self.pool(wording, snapshot, filters, pool, hypothesis)
        with _timed(latencies, "rank"):
            ranked = self.rank(question, found)
        with _timed(latencies, "select"):
            kept, notes, named = fold_duplicates(
                ranked,
                near_duplicate=settings.near_duplicate,
                # All may come from the document asked about.
                per_document=top_k if found.named else settings.max_per_document,
                limit=top_k,
            )
            asked = frozenset(best_named(found.named))
            counter_evidence = tuple(
                p for p in ranked if p.relevant and (not asked or p.chunk.document_id in asked)
            )
            borne = self._hold([passage.chunk for passage in (*kept, *counter_evidence)], filters.groups)
            kept, counter_evidence = _borne_out(kept, borne), tuple(_borne_out(counter_evidence, borne))
        if broaden:
            notes.append(
                f"broadened: pool of {pool}, the first {settings.read} read, searched as: {wording.words}"
            )
        return Retrieved(
            passages=tuple(kept),
            index_version=snapshot.version(),
            notes=tuple(notes),
            latencies=latencies,
            documents=named,
            pool=tuple(ranked),
            counter_evidence=counter_evidence,
        )

    def near(self, statement: str, *, filters: Filters | None = None) -> Retrieved:
        """The NEAR passages nearest to a statement, as ``counter_evidence``: any may be one, so none is
        ranked and each counts as relevant. Raises IndexMismatchError."""
        filters = filters or Filters()
        snapshot = self._index.snapshot()
        found = self.pool(word(statement), snapshot, filters, NEAR)
        chunks = self._hold([found.chunks[key] for key, _ in found.fused], filters.groups)
        return Retrieved(
            passages=(),
            index_version=snapshot.version(),
            counter_evidence=tuple(Passage(chunk=chunk, relevant=True) for chunk in chunks),
        )

    def pool(
        self, wording: Wording, snapshot: Snapshot, filters: Filters, size: int, hypothesis: str = ""
    ) -> Pool:
        """The best ``size`` chunks of the fused lists, before re-ranking."""
        where = filters.where()
        vector = snapshot.embed(wording.dense)
        if hypothesis:
            both = vector + snapshot.embed(hypothesis)
            vector = (both / np.linalg.norm(both, axis=-1, keepdims=True)).astype(np.float32)
        lists = {view: snapshot.search(view, "", vector, size, where) for view in snapshot.views}
        lists[BM25] = snapshot.search(BM25, wording.words, None, size, where)
        named = named_documents(wording.wanted, snapshot.documents(where))
        chosen = best_named(named)
        if chosen:
            inside = {**where, "document_ids": chosen}
            for view in snapshot.views:
                lists[_INSIDE + view] = snapshot.search(view, "", vector, size, inside)
            lists[_INSIDE + BM25] = snapshot.search(BM25, wording.inside, None, size, inside)
            whole = [chunk for name in chosen[:_READ_WHOLE] for chunk in snapshot.between(name, 0, _END)]
        else:
            whole = [hit.chunk for hits in lists.values() for hit in hits]
        by_key = {_key(chunk): chunk for chunk in whole}
        tables = rank_tables(wording.wanted, by_key.values())[:size]
        ranked = {name: tuple(_key(hit.chunk) for hit in hits) for name, hits in lists.items()}
        ranked[_TABLES] = tuple(tables)
        chunks = {_key(hit.chunk): hit.chunk for hits in lists.values() for hit in hits}
        chunks |= {key: by_key[key] for key in tables}
        similarity: dict[Key, float] = {}
        for hits in lists.values():
            for hit in hits:
                for view, score in hit.scores.items():
                    if view != BM25:
                        key = _key(hit.chunk)
                        similarity[key] = max(score, similarity.get(key, -1.0))
        fused = fuse(ranked, self._weights(bool(chosen)), self._settings.rrf_k)[:size]
        return Pool(fused=tuple(fused), chunks=chunks, similarity=similarity, ranked=ranked, named=named)

    def rank(self, question: str, pool: Pool) -> list[Passage]:
        """The whole pool as passages. The ranker reads the most promising by each of three orders: the fused
        pool (how many searches found a passage), its best similarity (whether it is on topic), and BM25
        (whether it has the question's words). Relevant passages come first, then others that were read, each
        by three fused rankings; then unread ones, whose relevance is unknown."""
        fused = [key for key, _ in pool.fused]
        alike = sorted(fused, key=lambda key: -pool.similarity.get(key, -1.0))
        settings = self._settings
        lists = {"pool": fused, "similarity": alike}
        weights = {
            "pool": 1.0,
            "similarity": settings.weight_similarity,
            "ranker": settings.weight_ranker,
        }
        known, words = frozenset(fused), pool.ranked.get(_INSIDE + BM25, pool.ranked[BM25])
        promising = interleaved([fused, alike, [key for key in words if key in known]])
        relevances = self._read(question, [pool.chunks[key] for key in promising[: settings.read]])
        relevances = self._by_rows(question, [pool.chunks[key] for key in fused], relevances)
        passages = [
            Passage(
                chunk=pool.chunks[key],
                similarity=pool.similarity.get(key),
                fused=score,
                relevance=relevances.get(key),
                relevant=relevances.get(key, 0.0) >= settings.relevance_threshold,
            )
            for key, score in pool.fused
        ]
        passages = with_exact_cells(question, passages, settings.relevance_threshold)
        closely = [_key(p.chunk) for p in sorted(passages, key=_order) if p.relevance is not None]
        together = fuse({**lists, "ranker": closely}, weights, settings.rrf_k)
        place = {key: at for at, (key, _) in enumerate(together)}
        return sorted(passages, key=lambda p: (not p.relevant, p.relevance is None, place[_key(p.chunk)]))

    def _read(self, question: str, chunks: Sequence[Chunk]) -> dict[Key, float]:
        read = self._ranker.rank(question, [chunk.in_context for chunk in chunks]) if chunks else []
        return dict(zip(map(_key, chunks), read, strict=True))

    def _by_rows(
        self, question: str, chunks: Sequence[Chunk], relevances: Mapping[Key, float]
    ) -> dict[Key, float]:
        """Raise a table's relevance to that of its most relevant row, each read separately."""
        rows = likely_rows(read_question(question), [Passage(chunk=chunk) for chunk in chunks])
        best = dict(relevances)
        read = self._ranker.rank(question, [row.text for row in rows]) if rows else []
        for row, relevance in zip(rows, read, strict=True):
            key = _key(row.passage.chunk)
            best[key] = max(best.get(key, 0.0), relevance)
        return best

    def _weights(self, named: bool) -> Mapping[str, float]:
        settings = self._settings
        weights = {
            "chunk": settings.weight_chunk,
            "summary": settings.weight_summary,
            "keys": settings.weight_keys,
            BM25: settings.weight_bm25,
        }
        # Named documents come first; other documents keep this share of their weight.
        share = settings.weight_elsewhere if named else 1.0
        everywhere = {name: weight * share for name, weight in weights.items()}
        inside = {_INSIDE + name: weight for name, weight in weights.items()}
        return {**everywhere, **inside, _TABLES: settings.weight_tables}


def _order(passage: Passage) -> tuple[Any, ...]:
    return (
        -(passage.relevance or 0.0),
        -(passage.fused or 0.0),
        passage.chunk.chunk_id,
        passage.chunk.document_id,
    )


def _borne_out(passages: Iterable[Passage], borne: Iterable[Chunk]) -> list[Passage]:
    """The passages whose chunks were confirmed, with the confirmed chunks."""
    held = {_key(chunk): chunk for chunk in borne}
    return [
        msgspec.structs.replace(passage, chunk=held[_key(passage.chunk)])
        for passage in passages
        if _key(passage.chunk) in held
    ]


def _key(chunk: Chunk) -> Key:
    return (chunk.document_id, chunk.chunk_id)


@contextmanager
def _timed(latencies: dict[str, float], stage: str) -> Iterator[None]:
    begun = time.perf_counter()
    yield
    latencies[stage] = (time.perf_counter() - begun) * 1000.0


# --- fusion ---------------------------------------------------------------------------------------


def fuse(
    ranked: Mapping[str, Sequence[Key]], weights: Mapping[str, float], k: int
) -> list[tuple[Key, float]]:
    """Keys by the sum over the lists of ``weight / (k + rank)``, rank from 1, best first; ties by key."""
    shares: dict[Key, list[float]] = defaultdict(list)
    for name in sorted(ranked):
        for rank, key in enumerate(ranked[name], start=1):
            shares[key].append(weights[name] / (k + rank))
    summed = [(key, math.fsum(parts)) for key, parts in shares.items()]
    return sorted(summed, key=lambda item: (-item[1], item[0]))


def interleaved(lists: Sequence[Sequence[Key]]) -> list[Key]:
    """The first of each list, then the second of each, each key once: what any one ranking puts first stays
    near the top, unlike in a sum of ranks."""
    return list(dict.fromkeys(key for row in itertools.zip_longest(*lists) for key in row if key is not None))


# --- tables ---------------------------------------------------------------------------------------


def rank_tables(wanted: ParsedQuestion, chunks: Iterable[Chunk]) -> list[Key]:
    """Keys by the sum, over the items asked for, of their best cell's score; ties by key. Empty if no line
    item is asked for, or no chunk has one under a matching column. Statements contain few sentences, so
    vectors and word counts find them poorly; their row labels, column heads and titles work better."""
    passages = [Passage(chunk=chunk) for chunk in chunks if chunk.rows] if wanted.operands else []
    scores: dict[tuple[Key, str], float] = {}
    for name, _, answers in calculator().cells(wanted, passages) if passages else ():
        for answer in answers:
            place = (_key(answer.passage.chunk), name)
            scores[place] = max(scores.get(place, 0.0), answer.score)
    parts: dict[Key, list[float]] = defaultdict(list)
    for (key, _), score in scores.items():
        parts[key].append(score)
    # Rounded, since sums of products may differ in the last bits of a float.
    sums = {key: round(math.fsum(found), 9) for key, found in parts.items()}
    return sorted(sums, key=lambda key: (-sums[key], key))


def with_exact_cells(question: str, passages: Sequence[Passage], threshold: float) -> list[Passage]:
    """``passages`` in their order; relevance is raised to BEST or ALSO for a cell in the row and column asked
    for, and to BEST for the rows of a table that the question compares, whatever a ranker that reads
    sentences makes of their words.

    Both are measured, not chosen: the share of cells whose value a human cites as evidence, among the best
    match of an aspect and among other matches above SURE (docs/measurements/financebench_answers.md).
    """
    raised: dict[Key, float] = {}
    with_rows = [passage for passage in passages if passage.chunk.rows]
    for aspect in split_aspects(question) if with_rows else ():
        wanted = read_question(aspect)
        raised |= {_key(cell.passage.chunk): BEST for cell in calculator().compared(aspect, with_rows)}
        for _, period, answers in calculator().cells(wanted, with_rows) if wanted.by_cell else ():
            sure = [answer for answer in answers if answer.score >= SURE] if period else []
            for at, answer in enumerate(sure):
                key = _key(answer.passage.chunk)
                raised[key] = max(raised.get(key, 0.0), ALSO if at else BEST)
    return [
        msgspec.structs.replace(passage, relevance=exact, relevant=exact >= threshold)
        if (exact := raised.get(_key(passage.chunk), 0.0)) > (passage.relevance or 0.0)
        else passage
        for passage in passages
    ]

"""Question -> passages: dense views, BM25 and the documents it names, fused, re-ranked, cut.

In: a question and what its asker may see. Out: :class:`Retrieved`: the best passages, each marked
relevant or not, with the index version that gave them. No passage at all is a normal result. The
same question on the same index version gives the same passages. Knows nothing about answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from citewell.core.config import Retrieval
from citewell.core.errors import UsageError
from citewell.core.ports import IndexSnapshot, Ranker
from citewell.core.records import Chunk, Passage, Record
from citewell.questions.parsing import read_question
from citewell.questions.rows import likely_rows
from citewell.retrieval.dating import dating_notes
from citewell.retrieval.exact import with_exact_cells
from citewell.retrieval.filters import Filters
from citewell.retrieval.folding import fold
from citewell.retrieval.fusion import Key, fuse
from citewell.retrieval.hypothesis import Beside
from citewell.retrieval.naming import best_named, named_documents
from citewell.retrieval.parents import parent_text
from citewell.retrieval.tables import rank_tables
from citewell.retrieval.wording import Wording, reword, word

MAX_TOP_K = 10
NEAR = 12
BM25 = "bm25"
# Documents that a question names and whose tables are read whole; offsets end before this one.
_READ_WHOLE, _END = 4, 1 << 40
_INSIDE, _TABLES = "inside ", "tables"
# How many passages a ranker reads again with their sections on a second try.
_WIDENED = 15


class Readable(Protocol):
    """The index, or one version of it."""

    def snapshot(self, groups: Sequence[str] | None = None) -> IndexSnapshot:
        """What there is to read for somebody of these groups; None is for whoever may see everything."""
        ...


class Retrieved(Record, frozen=True, kw_only=True):
    """``passages`` best first, at most ``top_k``; those under the threshold are not ``relevant``.

    ``pool`` are all that were ranked, before any was folded; ``beside`` those of them that are relevant and
    of the documents that the question names, where it names any: what could gainsay an answer.
    ``latencies`` in milliseconds by stage, ``notes`` what was left out, folded or widened; ``documents`` are
    those that passages and notes name.
    """

    passages: tuple[Passage, ...]
    index_version: str
    notes: tuple[str, ...] = ()
    latencies: dict[str, float] = {}
    documents: tuple[str, ...] = ()
    pool: tuple[Passage, ...] = ()
    beside: tuple[Passage, ...] = ()


class Pool(Record, frozen=True, kw_only=True):
    """What was found before ranking: keys best first, with what each list gave."""

    fused: tuple[tuple[Key, float], ...]
    chunks: dict[Key, Chunk]
    similarity: dict[Key, float]
    ranked: dict[str, tuple[Key, ...]]
    named: dict[str, float]


class Retriever:
    """``ranker`` judges each passage of the pool; ``settings`` hold weights, sizes and the threshold.
    ``hold`` raises for a chunk that the evidence does not bear out
    (:meth:`citewell.documents.agreement.Agreement.hold`): it sees every chunk that leaves here to be read."""

    def __init__(
        self,
        index: Readable,
        ranker: Ranker,
        settings: Retrieval,
        hold: Callable[[Iterable[Chunk]], None] = lambda chunks: None,
    ) -> None:
        self._index = index
        self._ranker = ranker
        self._settings = settings
        self._hold = hold

    def beside(self, hypothesis: str) -> Retriever:
        """The same, with the vector of a hypothetical answer beside the question's."""
        return Retriever(Beside(self._index, hypothesis), self._ranker, self._settings, self._hold)

    def retrieve(
        self,
        question: str,
        *,
        filters: Filters | None = None,
        top_k: int | None = None,
        pool: int | None = None,
        broaden: bool = False,
    ) -> Retrieved:
        """The best passages for ``question``. ``broaden`` searches for more words, takes the larger pool
        and shows the ranker the sections of the best: for a second try, when the first found no answer.

        Raises UsageError for a blank question or a ``top_k`` that is not within 1 to 10, IndexMismatchError
        where the index gives other words than the stored document has.
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
        snapshot = self._index.snapshot(filters.groups)
        wording = reword(word(question)) if broaden else word(question)
        with _timed(latencies, "search"):
            found = self.pool(wording, snapshot, filters, pool)
        with _timed(latencies, "rank"):
            ranked = self.rank(question, found, wide=snapshot if broaden else None)
        with _timed(latencies, "select"):
            kept, notes, named = fold(
                ranked,
                near_duplicate=settings.near_duplicate,
                # All may come from the document that is asked about.
                per_document=top_k if found.named else settings.max_per_document,
                limit=top_k,
            )
            asked = frozenset(best_named(found.named))
            beside = tuple(p for p in ranked if p.relevant and (not asked or p.chunk.document_id in asked))
            self._hold(passage.chunk for passage in (*kept, *beside))
        if broaden:
            notes.append(
                f"broadened: pool of {pool}, the first {_WIDENED} ranked with the sections around them, "
                f"searched as: {wording.words}"
            )
        notes += dating_notes([passage for passage in kept if passage.relevant])
        return Retrieved(
            passages=tuple(kept),
            index_version=snapshot.version(),
            notes=tuple(notes),
            latencies=latencies,
            documents=named,
            pool=tuple(ranked),
            beside=beside,
        )

    def near(self, statement: str, *, filters: Filters | None = None) -> Retrieved:
        """The NEAR passages nearest to a statement, as ``beside``: any may say otherwise, so no ranker is
        asked and each counts as relevant. Raises IndexMismatchError."""
        filters = filters or Filters()
        snapshot = self._index.snapshot(filters.groups)
        found = self.pool(word(statement), snapshot, filters, NEAR)
        chunks = [found.chunks[key] for key, _ in found.fused]
        self._hold(chunks)
        return Retrieved(
            passages=(),
            index_version=snapshot.version(),
            beside=tuple(Passage(chunk=chunk, relevant=True) for chunk in chunks),
        )

    def pool(self, wording: Wording, snapshot: IndexSnapshot, filters: Filters, size: int) -> Pool:
        """The best ``size`` chunks of the fused lists, before ranking."""
        where = filters.where()
        vector = snapshot.embed(wording.dense)
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

    def rank(self, question: str, pool: Pool, *, wide: IndexSnapshot | None = None) -> list[Passage]:
        """The whole pool as passages, relevant ones first, each group by three rankings fused: the ranker
        reads a passage and a question closely, the pool knows how many ways led to it, and the best
        similarity of its views whether it is about the matter at all."""
        chunks = [pool.chunks[key] for key, _ in pool.fused]
        relevances = self._ranker.rank(question, [chunk.in_context for chunk in chunks]) if chunks else []
        if wide:
            relevances = self._widened(question, chunks, relevances, wide)
        relevances = self._by_rows(question, chunks, relevances)
        passages = [
            Passage(
                chunk=pool.chunks[key],
                similarity=pool.similarity.get(key),
                fused=score,
                relevance=relevance,
                relevant=relevance >= self._settings.relevance_threshold,
            )
            for (key, score), relevance in zip(pool.fused, relevances, strict=True)
        ]
        passages = with_exact_cells(question, passages, self._settings.relevance_threshold)
        closely = [_key(passage.chunk) for passage in sorted(passages, key=_order)]
        alike = sorted((key for key, _ in pool.fused), key=lambda key: -pool.similarity.get(key, -1.0))
        together = fuse(
            {"pool": [key for key, _ in pool.fused], "ranker": closely, "similarity": alike},
            {
                "pool": 1.0,
                "ranker": self._settings.weight_ranker,
                "similarity": self._settings.weight_similarity,
            },
            self._settings.rrf_k,
        )
        place = {key: at for at, (key, _) in enumerate(together)}
        return sorted(passages, key=lambda passage: (not passage.relevant, place[_key(passage.chunk)]))

    def _widened(
        self, question: str, chunks: Sequence[Chunk], relevances: Sequence[float], snapshot: IndexSnapshot
    ) -> list[float]:
        """The likeliest chunks read again with their sections: what answers may stand over the border."""
        best = sorted(range(len(chunks)), key=lambda i: (-relevances[i], i))[:_WIDENED]
        texts = [f"{chunks[i].context}\n{parent_text(chunks[i], snapshot)}" for i in best]
        widened = list(relevances)
        for i, relevance in zip(best, self._ranker.rank(question, texts) if texts else (), strict=True):
            widened[i] = max(widened[i], relevance)
        return widened

    def _by_rows(self, question: str, chunks: Sequence[Chunk], relevances: Sequence[float]) -> list[float]:
        """A table is as relevant as the likeliest of its rows, each read by itself."""
        rows = likely_rows(read_question(question), [Passage(chunk=chunk) for chunk in chunks])
        best = {_key(chunk): relevance for chunk, relevance in zip(chunks, relevances, strict=True)}
        read = self._ranker.rank(question, [row.text for row in rows]) if rows else []
        for row, relevance in zip(rows, read, strict=True):
            key = _key(row.passage.chunk)
            best[key] = max(best[key], relevance)
        return [best[_key(chunk)] for chunk in chunks]

    def _weights(self, named: bool) -> Mapping[str, float]:
        settings = self._settings
        weights = {
            "chunk": settings.weight_chunk,
            "summary": settings.weight_summary,
            "keys": settings.weight_keys,
            BM25: settings.weight_bm25,
        }
        # Named documents come first; what stands elsewhere still may, by this share of its weight.
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


def _key(chunk: Chunk) -> Key:
    return (chunk.document_id, chunk.chunk_id)


@contextmanager
def _timed(latencies: dict[str, float], stage: str) -> Iterator[None]:
    begun = time.perf_counter()
    yield
    latencies[stage] = (time.perf_counter() - begun) * 1000.0

"""Retrieval on FinanceBench: is a page with the evidence among the first passages? A ladder of stages.

``python -m benchmarks.retrieval_financebench [--home DIR]``: DIR is a home that holds the 36 filings
(ingested here first when it does not). A passage stands on every page that holds 50 of its characters;
a page hit is a passage on a page that FinanceBench names as evidence, a section hit is a passage whose
parent section reaches such a page. Weights were chosen on the even half of the questions.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.reporting import data_folder, interval, shown, table, write
from citewell.core.config import Config, Retrieval
from citewell.core.errors import EvidenceError
from citewell.core.identity import hash_text, hash_value
from citewell.core.ports import Embedder, Ranker
from citewell.core.records import Chunk, Document, Record
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.index import LanceIndex
from citewell.models.onnx.embedder import OnnxEmbedder
from citewell.models.onnx.reading import OnnxRanker
from citewell.retrieval.retriever import Key, Pool, Retriever, fold_duplicates, fuse
from citewell.retrieval.wording import Filters, word

_ON_PAGE = 50
_EVERYWHERE = ("chunk", "summary", "keys", "bm25")
_DEPTH = 50

Ranks = tuple[int | None, int | None]


class Question(Record, frozen=True, kw_only=True):
    """``pages`` are physical, from 1, in the document whose id is ``document_id``."""

    id: str
    text: str
    document_id: str
    pages: frozenset[int]

    @property
    def chosen_on(self) -> bool:
        """Whether it is in the half on which weights may be chosen."""
        return int(hash_text(self.id)[-1], 16) % 2 == 0


def questions(path: Path) -> list[Question]:
    """FinanceBench counts pages from zero; here they start at 1."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.append(
            Question(
                id=row["financebench_id"],
                text=row["question"],
                document_id=f"pdfs/{row['doc_name']}.pdf",
                pages=frozenset(item["evidence_page_num"] + 1 for item in row["evidence"]),
            )
        )
    return found


def pages_of(document: Document, start: int, end: int) -> set[int]:
    """Pages that hold enough of ``[start, end)``."""
    enough = min(_ON_PAGE, end - start)
    return {page.number for page in document.pages if min(end, page.end) - max(start, page.start) >= enough}


class Ladder:
    """Runs every stage on one question and reports the rank of the first hit."""

    def __init__(
        self, index: LanceIndex, evidence: SqliteEvidence, rankers: dict[str, Ranker], settings: Retrieval
    ):
        self._snapshot = index.snapshot()
        self._evidence = evidence
        self._settings = settings
        self._retrievers = {name: Retriever(index, ranker, settings) for name, ranker in rankers.items()}
        self._documents: dict[str, Document] = {}

    def stages(self, question: Question) -> dict[str, list[Chunk]]:
        """Stage -> its chunks, best first."""
        first = next(iter(self._retrievers.values()))
        pool = first.pool(word(question.text), self._snapshot, Filters(), _DEPTH)
        found = {name: [pool.chunks[key] for key in keys] for name, keys in pool.ranked.items()}
        found["fused, no names"] = [pool.chunks[key] for key in fused_everywhere(pool, self._settings)]
        found["fused"] = [pool.chunks[key] for key, _ in pool.fused]
        for name, retriever in self._retrievers.items():
            kept, *_ = fold_duplicates(
                retriever.rank(question.text, pool),
                near_duplicate=self._settings.near_duplicate,
                per_document=_DEPTH,
                limit=_DEPTH,
            )
            found[f"re-ranked: {name}"] = [passage.chunk for passage in kept]
        return found

    def hits(self, question: Question, chunks: Sequence[Chunk]) -> Ranks:
        """Rank from 1 of the first page hit and of the first section hit."""
        page = self._first(question, chunks, lambda chunk: (chunk.start_offset, chunk.end_offset))
        section = self._first(question, chunks, lambda chunk: (chunk.parent_start, chunk.parent_end))
        return page, section

    def _first(
        self, question: Question, chunks: Sequence[Chunk], extent: Callable[[Chunk], tuple[int, int]]
    ) -> int | None:
        for rank, chunk in enumerate(chunks, start=1):
            if chunk.document_id == question.document_id and question.pages & pages_of(
                self._document(chunk), *extent(chunk)
            ):
                return rank
        return None

    def _document(self, chunk: Chunk) -> Document:
        if chunk.document_id not in self._documents:
            self._documents[chunk.document_id] = self._evidence.get(chunk.document_version, chunk.document_id)
        return self._documents[chunk.document_id]


def fused_everywhere(pool: Pool, settings: Retrieval) -> list[Key]:
    """Fuses the lists over all documents, as if the question named none."""
    lists = {name: pool.ranked[name] for name in _EVERYWHERE}
    weights = {
        "chunk": settings.weight_chunk,
        "summary": settings.weight_summary,
        "keys": settings.weight_keys,
        "bm25": settings.weight_bm25,
    }
    return [key for key, _ in fuse(lists, weights, settings.rrf_k)]


def rank_all(ladder: Ladder, asked: Sequence[Question]) -> list[dict[str, Ranks]]:
    """For each question, stage -> ranks of its first hits."""
    found = []
    for question in asked:
        stages = ladder.stages(question)
        found.append({stage: ladder.hits(question, chunks) for stage, chunks in stages.items()})
    return found


def measure(found: Sequence[dict[str, Ranks]]) -> dict[str, dict[str, Any]]:
    """Stage -> measure -> mean with interval; a stage that ranked nothing for a question counts as a miss."""
    stages = dict.fromkeys(stage for ranks in found for stage in ranks)
    measures: dict[str, dict[str, Any]] = {}
    for stage in stages:
        ranks = [one.get(stage, (None, None)) for one in found]
        measures[stage] = {
            f"page hit@{depth}": interval([within(page, depth) for page, _ in ranks])
            for depth in (1, 5, 10, 50)
        }
        measures[stage]["section hit@5"] = interval([within(section, 5) for _, section in ranks])
    return measures


def within(rank: int | None, depth: int) -> float:
    return float(rank is not None and rank <= depth)


def opened(home: Path, embedder: Embedder) -> tuple[LanceIndex, SqliteEvidence]:
    """The home's index and evidence; the filings are ingested first if they are missing."""
    from citewell.documents.ingesting import ingest
    from citewell.documents.worker import ParsingWorker

    config = Config()
    evidence = SqliteEvidence(home / "evidence.sqlite")
    index = LanceIndex(home / "index", embedder, hash_value(config.chunking))
    if len(index.snapshot().documents()) < 36:
        with ParsingWorker(config.documents) as worker:
            report = ingest(
                [data_folder() / "financebench" / "pdfs"],
                worker=worker,
                evidence=evidence,
                index=index,
                chunking=config.chunking,
            )
        if report.failed:
            raise EvidenceError(f"{len(report.failed)} filings could not be read", hint="see citewell ingest")
    return index, evidence


def rankers() -> dict[str, Ranker]:
    """By their names in the table."""
    return {"embedded": OnnxRanker()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        embedder = OnnxEmbedder()
        index, evidence = opened(arguments.home or Path(scratch), embedder)
        settings = Retrieval()
        ladder = Ladder(index, evidence, rankers(), settings)
        asked = questions(data_folder() / "financebench" / "questions.jsonl")
        found = rank_all(ladder, asked)
        halves = {
            "all": found,
            "held out": [ranks for ranks, q in zip(found, asked, strict=True) if not q.chosen_on],
            "chosen on": [ranks for ranks, q in zip(found, asked, strict=True) if q.chosen_on],
        }
        results = {name: measure(half) for name, half in halves.items()}
        report(results, {name: len(half) for name, half in halves.items()}, index.snapshot().count())


def report(results: dict[str, Any], sizes: dict[str, int], chunks: int) -> None:
    names = ["page hit@1", "page hit@5", "page hit@10", "page hit@50", "section hit@5"]
    parts = [
        "Filings: 36 of FinanceBench, all searched at once. Intervals: 95 %, bootstrap over questions. "
        "A passage counts for every page that holds 50 of its characters; *section* asks whether its section "
        "does.",
        "*inside* searches the documents that a question names, *tables* ranks their rows, *fused, no names* "
        "is what is left when a question's names are not used. *re-ranked* is the order that an answer is "
        "made from: the ranker's and the pool's ranks fused, exact table cells raised; the ranker reads the "
        f"first {Retrieval().read}.",
        "Fusion weights were chosen on the half named so. The other half is not independent either: the "
        "words of all 66 questions were read while synonyms, line items and rules for names were written, "
        "so its figures are optimistic for questions of other kinds. Evidence pages are FinanceBench's; a "
        "passage that answers from another page counts as a miss.",
        f"Index: {chunks} chunks.",
    ]
    for half, stages in results.items():
        rows = [[stage, *(shown(stages[stage][name]) for name in names)] for stage in stages]
        parts += [f"## {half} ({sizes[half]} questions)", table(["stage", *names], rows)]
    write(
        "retrieval_financebench",
        "Retrieval on FinanceBench",
        "\n\n".join(parts),
        {"chunks": chunks, "results": results},
    )


if __name__ == "__main__":
    main()

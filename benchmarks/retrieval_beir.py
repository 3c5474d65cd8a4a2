"""Retrieval on Cranfield and nq_mini: nDCG@10 and recall@5 of every stage, beside bm25s alone.

``python -m benchmarks.retrieval_beir [--sets cranfield nq_mini] [--queries N] [--passages N]
[--ranked 250]``: a passage is a chunk with its title as context, as ingest would make it of a short
document. With ``--queries`` the N queries whose ids hash lowest; with ``--passages`` the corpus is cut to
what those queries have as relevant and, by hash of their ids, others up to N. Re-ranking reads 50 passages
a query: ``--ranked`` queries at most, by hash, and the fused order on the same ones beside it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.reporting import data_folder, interval, shown, table, write
from benchmarks.retrieval_financebench import fused_everywhere, rankers
from citewell.config import Retrieval
from citewell.identity import chunk_id, hash_text
from citewell.index import LanceIndex
from citewell.models.onnx.embedder import OnnxEmbedder
from citewell.ports import Embedder
from citewell.records import Chunk
from citewell.retrieval.filters import Filters
from citewell.retrieval.retriever import Retriever
from citewell.retrieval.wording import word

_DEPTH = 50
Judged = dict[str, dict[str, int]]


def load(folder: Path) -> tuple[dict[str, tuple[str, str]], dict[str, str], Judged]:
    """Passage id -> (title, text); query id -> text; query id -> passage id -> grade."""
    corpus = {row["_id"]: (row.get("title", ""), row["text"]) for row in _rows(folder / "corpus.jsonl.gz")}
    queries = {row["_id"]: row["text"] for row in _rows(folder / "queries.jsonl.gz")}
    judged: Judged = defaultdict(dict)
    for line in (folder / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, passage, grade = line.split("\t")
        judged[query][passage] = int(grade)
    return corpus, queries, judged


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], depth: int = 10) -> float:
    """Gain is the grade, discount log2(rank + 1): as trec_eval's ndcg_cut."""
    gain = math.fsum(
        max(0, grades.get(item, 0)) / math.log2(rank + 1) for rank, item in enumerate(ranked[:depth], start=1)
    )
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth]
    ideal = math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, start=1))
    return gain / ideal if ideal else 0.0


def recall(ranked: Sequence[str], grades: Mapping[str, int], depth: int = 5) -> float:
    relevant = {item for item, grade in grades.items() if grade > 0}
    return len(relevant & set(ranked[:depth])) / len(relevant) if relevant else 0.0


def bm25s_alone(corpus: Mapping[str, tuple[str, str]], queries: Mapping[str, str]) -> dict[str, list[str]]:
    """The independent implementation at its defaults, on title and text."""
    import bm25s

    ids = sorted(corpus)
    model = bm25s.BM25()
    model.index(
        bm25s.tokenize([" ".join(corpus[name]) for name in ids], stopwords="en", show_progress=False),
        show_progress=False,
    )
    found = {}
    for query, text in queries.items():
        tokens = bm25s.tokenize(text, stopwords="en", show_progress=False)
        rows, _ = model.retrieve(tokens, k=min(_DEPTH, len(ids)), show_progress=False)
        found[query] = [ids[row] for row in rows[0]]
    return found


def indexed(folder: Path, corpus: Mapping[str, tuple[str, str]], embedder: Embedder) -> LanceIndex:
    index = LanceIndex(folder, embedder, "beir")
    waiting: list[Chunk] = []
    for name, (title, text) in sorted(corpus.items()):
        if text.strip():
            version = hash_text(text)
            waiting.append(
                Chunk(
                    chunk_id=chunk_id(version, 0, len(text), text),
                    document_id=name,
                    document_version=version,
                    start_offset=0,
                    end_offset=len(text),
                    content=text,
                    context=title,
                    title=title,
                )
            )
        if len(waiting) == 1024:
            index.add(waiting)
            waiting = []
    index.add(waiting)
    index.publish()
    return index


def ladder(
    index: LanceIndex, queries: Mapping[str, str], ranked_queries: int
) -> dict[str, dict[str, list[str]]]:
    """Stage -> query id -> passage ids, best first; re-ranked stages for the first ``ranked_queries``."""
    settings = Retrieval()
    snapshot = index.snapshot()
    retrievers = {name: Retriever(index, ranker, settings) for name, ranker in rankers().items()}
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for number, (query, text) in enumerate(queries.items()):
        pool = next(iter(retrievers.values())).pool(word(text), snapshot, Filters(), _DEPTH)
        for name in ("bm25", *snapshot.views):
            found[name][query] = [document_id for document_id, _ in pool.ranked[name]]
        found["fused, no names"][query] = [key[0] for key in fused_everywhere(pool, settings)]
        found["fused"][query] = [key[0] for key, _ in pool.fused]
        if number >= ranked_queries:
            continue
        found["fused, re-ranked queries"][query] = found["fused"][query]
        for name, retriever in retrievers.items():
            ranked = retriever.rank(text, pool)
            found[f"re-ranked: {name}"][query] = [passage.chunk.document_id for passage in ranked]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["cranfield", "nq_mini"])
    parser.add_argument("--queries", type=int, default=0)
    parser.add_argument("--passages", type=int, default=0)
    parser.add_argument("--ranked", type=int, default=250)
    arguments = parser.parse_args()
    embedder = OnnxEmbedder()
    command = " ".join(["python -m benchmarks.retrieval_beir", *sys.argv[1:]])
    parts, values = [f"`{command}`. Intervals: 95 %, bootstrap over queries."], {}
    for name in arguments.sets:
        corpus, queries, judged = load(data_folder() / "retrieval" / name)
        whole = (len(queries), len(corpus))
        queries = {query: queries[query] for query in _few(queries, arguments.queries) if judged.get(query)}
        needed = {passage for query in queries for passage in judged[query] if passage in corpus}
        others = [passage for passage in _few(corpus, len(corpus)) if passage not in needed]
        room = max(0, (arguments.passages or len(corpus)) - len(needed))
        corpus = {passage: corpus[passage] for passage in [*sorted(needed), *others[:room]]}
        with tempfile.TemporaryDirectory() as scratch:
            stages = {
                "bm25s alone": bm25s_alone(corpus, queries),
                **ladder(indexed(Path(scratch) / "index", corpus, embedder), queries, arguments.ranked),
            }
        measured = {
            stage: {
                "nDCG@10": interval([ndcg(order, judged[query]) for query, order in found.items()]),
                "recall@5": interval([recall(order, judged[query]) for query, order in found.items()]),
            }
            for stage, found in stages.items()
        }
        rows = [
            [stage, str(two["recall@5"]["n"]), *(shown(measure) for measure in two.values())]
            for stage, two in measured.items()
        ]
        parts += [
            f"## {name}: {len(queries)} of {whole[0]} queries over {len(corpus)} of {whole[1]} passages",
            table(["stage", "queries", "nDCG@10", "recall@5"], rows),
        ]
        values[name] = {"queries": len(queries), "passages": len(corpus), "stages": measured}
    write("retrieval_beir", "Retrieval on Cranfield and nq_mini", "\n\n".join(parts), values)


def _few(names: Mapping[str, Any], most: int) -> list[str]:
    return sorted(names, key=hash_text)[: most or len(names)]


if __name__ == "__main__":
    main()

"""Retrieval on Cranfield and nq_mini: nDCG@10 and recall@5 of every stage, beside bm25s alone.

``python -m benchmarks.retrieval_beir [--sets cranfield nq_mini] [--queries N] [--passages N]
[--ranked N] [--keep FOLDER] [--minutes N]``: a passage is a chunk with its title as context, as ingest would
make it of a short document. With ``--queries`` the N queries whose ids hash lowest; with ``--passages`` the
corpus is cut to what those queries have as relevant and, by hash of their ids, others up to N. Re-ranking
reads 50 passages a query: ``--ranked`` queries at most, by hash, and the fused order on the same ones beside
it. The whole takes hours of a slow core: with ``--keep`` the index and the rankings stay in a folder, one for
each set of models and settings, and the same command goes on where ``--minutes`` stopped it. Figures are
written when every query has its pool, re-ranked ones as far as they are.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import math
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.reporting import data_folder, interval, shown, table, write
from benchmarks.retrieval_financebench import fused_everywhere, rankers
from citewell.core.config import Retrieval
from citewell.core.identity import chunk_id, hash_text, hash_value, plain
from citewell.core.ports import Embedder
from citewell.core.records import Chunk
from citewell.documents.index import LanceIndex
from citewell.models.onnx.embedder import OnnxEmbedder
from citewell.retrieval.retriever import Pool, Retriever
from citewell.retrieval.wording import Filters, word

_DEPTH = 50
_BATCH = 1024
_RANKED = "fused, re-ranked queries"
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
    """Gain is the grade, discount log2(rank + 1), as in trec_eval's ndcg_cut."""
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
    """The independent implementation with its defaults, on title and text."""
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


class Kept:
    """What one set has cost so far, in a folder: its index, and the rankings, appended a line at a time."""

    def __init__(self, folder: Path, until: float) -> None:
        self._folder, self._until = folder, until
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "rankings.jsonl"
        self.found: dict[str, dict[str, list[str]]] = {}
        for line in self._file.read_bytes().splitlines() if self._file.exists() else ():
            with contextlib.suppress(json.JSONDecodeError):  # the last line of a killed run
                stage, query, order = json.loads(line)
                self.found.setdefault(stage, {})[query] = order

    @property
    def over(self) -> bool:
        return time.monotonic() > self._until

    def add(self, query: str, stages: Mapping[str, Sequence[str]]) -> None:
        with open(self._file, "a", encoding="utf-8") as lines:
            for stage, order in stages.items():
                self.found.setdefault(stage, {})[query] = list(order)
                lines.write(json.dumps([stage, query, list(order)]) + "\n")

    def index(self, corpus: Mapping[str, tuple[str, str]], embedder: Embedder) -> LanceIndex | None:
        """None if time ran out before every passage was indexed."""
        index = LanceIndex(self._folder / "index", embedder, "beir")
        held = index.stored()
        missing = [name for name, (_, text) in sorted(corpus.items()) if text.strip() and name not in held]
        for start in range(0, len(missing), _BATCH):
            if self.over:
                return None
            index.add([_chunk(name, *corpus[name]) for name in missing[start : start + _BATCH]])
        index.publish()
        return index


def _chunk(name: str, title: str, text: str) -> Chunk:
    version = hash_text(text)
    return Chunk(
        chunk_id=chunk_id(version, 0, len(text), text),
        document_id=name,
        document_version=version,
        start_offset=0,
        end_offset=len(text),
        content=text,
        context=title,
        title=title,
    )


def ladder(index: LanceIndex, queries: Mapping[str, str], ranked_queries: int, kept: Kept) -> bool:
    """Stage -> query id -> passage ids, best first, into ``kept``: the pools of all queries, then re-rankings
    for the first ``ranked_queries``. Returns whether every pool is there."""
    settings = Retrieval()
    snapshot = index.snapshot()
    retrievers = {name: Retriever(index, ranker, settings) for name, ranker in rankers().items()}

    def pool_of(text: str) -> Pool:
        return next(iter(retrievers.values())).pool(word(text), snapshot, Filters(), _DEPTH)

    for query, text in queries.items():
        if query in kept.found.get("fused", ()):
            continue
        if kept.over:
            return False
        pool = pool_of(text)
        lists = {name: pool.ranked[name] for name in ("bm25", *snapshot.views)}
        stages = {name: [document_id for document_id, _ in keys] for name, keys in lists.items()}
        stages["fused, no names"] = [key[0] for key in fused_everywhere(pool, settings)]
        stages["fused"] = [key[0] for key, _ in pool.fused]
        kept.add(query, stages)
    for query in list(queries)[:ranked_queries]:
        if query in kept.found.get(_RANKED, ()):
            continue
        if kept.over:
            break
        pool = pool_of(queries[query])
        ranked = {name: retriever.rank(queries[query], pool) for name, retriever in retrievers.items()}
        orders = {f"re-ranked: {name}": [p.chunk.document_id for p in ps] for name, ps in ranked.items()}
        kept.add(query, {_RANKED: kept.found["fused"][query], **orders})
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["cranfield", "nq_mini"])
    parser.add_argument("--queries", type=int, default=0)
    parser.add_argument("--passages", type=int, default=0)
    parser.add_argument("--ranked", type=int, default=250)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--minutes", type=float, default=math.inf)
    arguments = parser.parse_args()
    until = time.monotonic() + 60 * arguments.minutes
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
            makers = [embedder.maker, *(ranker.maker for ranker in rankers().values())]
            made = hash_value([sorted(corpus), plain(makers), plain(Retrieval())])
            kept = Kept((arguments.keep or Path(scratch)) / f"{name}-{made[-12:]}", until)
            index = kept.index(corpus, embedder)
            if index is None or not ladder(index, queries, arguments.ranked, kept):
                raise SystemExit(f"{name}: the time is up, the same command goes on from here")
        stages = {"bm25s alone": bm25s_alone(corpus, queries), **kept.found}
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

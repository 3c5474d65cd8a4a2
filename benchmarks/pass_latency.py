"""A pass with everything on, stage by stage, over growing indexes.

``python -m benchmarks.pass_latency [--sizes 1000,10000,100000] [--questions 20]``. The base is real: the
smallest filings of FinanceBench, with the questions on them and as many made from their own table rows. What
fills an index to its size is synthetic and only there for scale: copies of the real chunks, the words of each
shuffled (so that they answer nothing), their vectors turned by noise to a cosine of about 0.8. Times are wall
clock beside whatever else the machine does: ``load`` says how much that was, CPU time is what is left of it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks.reporting import data_folder, table, write
from citewell.core.config import Config
from citewell.core.identity import chunk_id, hash_text
from citewell.core.records import Answer, Chunk, Decision, Document
from citewell.documents.index import VIEWS, LanceIndex
from citewell.documents.index.snapshot import table_of
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.home import KnowledgeBase

GENERATOR_MS = 1_500.0
RETRIEVAL = ("aspects", "retrieval", "broadened retrieval")
WRITING = ("generation", "stricter retry")
"""Every other stage is the cost of accountability."""
_BATCH = 5_000
_COSINE = 0.8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--real", type=int, default=800, help="real chunks at least")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    values: dict[str, Any] = {"sizes": {}, "generator_ms": GENERATOR_MS, "models": []}
    with tempfile.TemporaryDirectory(prefix="citewell-latency-") as folder:
        base = _Base(Path(folder), arguments.questions, arguments.real)
        parts = base.assembly
        makers = (parts.embedder, parts.ranker, parts.extractor, parts.entailer)
        values["models"] = [part.maker.name for part in makers]
        for size in sizes:
            base.fill(size)
            base.forget()
            answers, cpu = [], []
            for question in base.questions:
                began = time.process_time()
                answers.append(base.knowledge_base.ask(question))
                cpu.append((time.process_time() - began) * 1000)
            values["sizes"][str(size)] = {
                "chunks": base.assembly.index.snapshot().count(),
                "load": [round(load, 1) for load in os.getloadavg()],
                "decisions": _counts([answer.decision.value for answer in answers]),
                "stages": _stages(answers) | {"CPU of the whole pass": _percentiles(cpu)},
                "reads": _reads(answers),
            }
            _report(values)  # after each size: the largest takes long


class _Base:
    """A home with real filings that can be grown."""

    def __init__(self, folder: Path, wanted: int, real: int) -> None:
        data = data_folder() / "financebench"
        asked: dict[str, list[str]] = {}
        for line in (data / "questions.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            asked.setdefault(row["doc_name"], []).append(row["question"])
        pdfs = [path for path in (data / "pdfs").glob("*.pdf") if path.stem in asked]
        self.assembly = Assembly(folder, Config())
        self.knowledge_base = KnowledgeBase(self.assembly)
        self.questions: list[str] = []
        for path in sorted(pdfs, key=lambda path: path.stat().st_size):
            self.knowledge_base.ingest(path)
            self.questions += asked[path.stem]
            if self.assembly.index.snapshot().count() >= real:
                break
        listed = self.knowledge_base.documents()
        self._documents = [self.knowledge_base.document(entry.document_id) for entry in listed]
        half = wanted // 2
        self.questions = self.questions[:half] + questions_of_rows(self._documents, wanted - half)
        for question in self.questions[:2]:
            self.knowledge_base.ask(question)  # warms models and pages before anything is measured
        self._copies = 0
        self._vectors: dict[str, dict[str, Any]] = {}

    def forget(self) -> None:
        """Reopens the home: what was cached at another size would cost nothing here."""
        self.knowledge_base.close()
        self.assembly = Assembly(self.assembly.home, self.assembly.config)
        self.knowledge_base = KnowledgeBase(self.assembly)
        self.knowledge_base.warm()
        self.knowledge_base.ask("What does this measure?")

    def fill(self, size: int) -> None:
        """Adds shuffled copies of the real documents until the index holds about ``size`` chunks."""
        index = self.assembly.index
        real = index.snapshot()
        present = real.count()
        if present >= size:
            return
        batch: list[Any] = []
        waiting = 0
        for document, chunks, vectors in self._shuffled(size - present):
            self.assembly.evidence.put(document)
            assert isinstance(index, LanceIndex)
            batch.append(table_of(chunks, vectors, index._table.schema))
            waiting += len(chunks)
            if waiting >= _BATCH:
                _write(index, batch)
                batch, waiting = [], 0
        _write(index, batch)
        index.publish()

    def _shuffled(self, count: int) -> Iterator[tuple[Document, list[Chunk], dict[str, Any]]]:
        from citewell.documents.chunking import chunk_document

        while True:
            self._copies += 1
            shuffle = random.Random(self._copies)
            noise = np.random.default_rng(self._copies)
            for document in self._documents:
                every = chunk_document(document, self.assembly.config.chunking)
                chunks = every[:count]
                if document.document_id not in self._vectors:
                    encoded = self.assembly.index.encode(every)
                    self._vectors[document.document_id] = {
                        view: np.stack(encoded.column(f"{view}_vector").to_numpy(zero_copy_only=False))
                        for view in VIEWS
                    }
                known = self._vectors[document.document_id]
                yield (
                    *_copy(document, chunks, self._copies, shuffle),
                    {view: _turned(known[view][: len(chunks)], noise) for view in VIEWS},
                )
                count -= len(chunks)
                if count <= 0:
                    return


def questions_of_rows(documents: Sequence[Document], count: int) -> list[str]:
    """Questions answered by a table row whose column head names a year: passes that run every stage."""
    found: list[str] = []
    for document in documents:
        rows_ = [row for part in document.tables for row in part.rows if row.label and row.cells]
        dated = [row for row in rows_ if re.search(r"\b20\d\d\b", row.cells[0].head)]
        found += [
            f"What was {row.label.strip(' :').lower()} for {row.cells[0].head}?"
            for row in dated[:: max(1, len(dated) // count)]
        ]
    return random.Random(1).sample(found, min(count, len(found)))


def _copy(
    document: Document, chunks: Sequence[Chunk], number: int, shuffle: random.Random
) -> tuple[Document, list[Chunk]]:
    """The document under another name, with each chunk's words shuffled: every offset still holds."""
    text = document.text
    for chunk in chunks:
        words = text[chunk.start_offset : chunk.end_offset].split(" ")
        shuffle.shuffle(words)
        text = text[: chunk.start_offset] + " ".join(words) + text[chunk.end_offset :]
    version = hash_text(f"{number} {document.version}")
    name = f"copy-{number}/{document.document_id}"
    copy = msgspec.structs.replace(
        document, document_id=name, version=version, text=text, text_hash=hash_text(text), supersedes=""
    )
    moved = []
    for chunk in chunks:
        content = text[chunk.start_offset : chunk.end_offset]
        moved.append(
            msgspec.structs.replace(
                chunk,
                chunk_id=chunk_id(version, chunk.start_offset, chunk.end_offset, content),
                document_id=name,
                document_version=version,
                content=content,
                rows=(),
            )
        )
    return copy, moved


def _turned(vectors: Any, noise: np.random.Generator) -> Any:
    """Unit vectors at a cosine of about ``_COSINE`` to those given."""
    random_ones = noise.standard_normal(vectors.shape).astype(np.float32)
    random_ones /= np.linalg.norm(random_ones, axis=1, keepdims=True)
    mixed = _COSINE * vectors + np.sqrt(1 - _COSINE**2) * random_ones
    return (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)


def _write(index: Any, tables: list[Any]) -> None:
    import pyarrow as pa

    if tables:
        index.write(pa.concat_tables(tables))


def _counts(names: Sequence[str]) -> dict[str, int]:
    return {name: list(names).count(name) for name in sorted(set(names))}


def _stages(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """Percentiles of each stage over the passes that ran it, of accountability and of the whole."""
    times: dict[str, list[float]] = {}
    for answer in answers:
        stages = answer.trace.stages if answer.trace else ()
        whole: dict[str, float] = {}
        for stage in stages:
            whole[stage.name] = whole.get(stage.name, 0.0) + stage.latency_ms
        accountable = sum(took for name, took in whole.items() if name not in (*RETRIEVAL, *WRITING))
        whole |= {"accountability": accountable, "total": sum(whole.values())}
        for name, took in whole.items():
            times.setdefault(name, []).append(took)
    return {name: _percentiles(took) for name, took in times.items()}


def _reads(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    """Reads of 256 tokens by the small encoder in a pass that answers, at least in part, and in one that
    abstains."""
    told: dict[str, list[float]] = {"answered": [], "abstained": []}
    for answer in answers:
        reads = sum(stage.reads for stage in answer.trace.stages) if answer.trace else 0.0
        told["abstained" if answer.decision is Decision.ABSTAIN else "answered"].append(reads)
    return {kind: _percentiles(reads) for kind, reads in told.items() if reads}


def _percentiles(took: Sequence[float]) -> dict[str, float]:
    return {
        "n": len(took),
        "p50": round(float(np.percentile(took, 50)), 2),
        "p95": round(float(np.percentile(took, 95)), 2),
    }


def _report(values: dict[str, Any]) -> None:
    sizes = values["sizes"]
    names = list(dict.fromkeys(name for found in sizes.values() for name in found["stages"]))
    body = [
        table(
            ["stage (ms, p50 / p95)", *(f"{found['chunks']:,} chunks" for found in sizes.values())],
            [[name, *(_cell(found["stages"].get(name)) for found in sizes.values())] for name in names],
        ),
        "",
        table(
            ["beside a generator of 1.5 s", *(f"{found['chunks']:,} chunks" for found in sizes.values())],
            [
                [f"accountability, {key}", *(_share(found["stages"], key) for found in sizes.values())]
                for key in ("p50", "p95")
            ],
        ),
        "",
        table(
            ["reads of 256 tokens", *(f"{found['chunks']:,} chunks" for found in sizes.values())],
            [
                [kind, *(_cell(found["reads"].get(kind)) for found in sizes.values())]
                for kind in ("answered", "abstained")
            ],
        ),
        "",
        "n is the number of questions a stage ran for: broadened retrieval and retries run for some only.",
        "Accountability is every stage but aspects, retrieval and writing: poison filter, gate, binding and",
        "verification, consistency, confidence, conflicts, trace and the durable record. Its share is of the",
        "pass it is added to: retrieval and a writer of 1.5 s. Chunks beyond the real ones are synthetic",
        "(shuffled words, vectors turned to a cosine of 0.8): good for cost, not for quality.",
        "",
        *(
            f"- {found['chunks']:,} chunks: decisions {found['decisions']}, load average {found['load']}"
            for found in sizes.values()
        ),
    ]
    body.append(f"\nModels: {', '.join(values['models'])}.")
    body.append("\nCPU of the whole pass is the process's, over all its threads.")
    write("pass_latency", "Latency of a pass, stage by stage", "\n".join(body), values)


def _cell(stage: dict[str, float] | None) -> str:
    return f"{stage['p50']:.1f} / {stage['p95']:.1f} (n={stage['n']})" if stage else ""


def _share(stages: dict[str, dict[str, float]], key: str) -> str:
    base = GENERATOR_MS + stages["retrieval"]["p50"]
    return f"+{stages['accountability'][key] / base:.1%}"


if __name__ == "__main__":
    main()

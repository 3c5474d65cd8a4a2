"""Ingest: pages per second, wall time over embedding alone, and peak memory by number of documents.

``python -m benchmarks.ingest [--documents 2 4 8] [--copies 10 40 160]``: takes that many of FinanceBench's
filings, the smallest first, each number in a process of its own: once through ``ingest`` into an empty home,
once the same chunks embedded and nothing else. CPU seconds stand beside wall time: on a machine that others
use, they are what can be compared. Larger filings need more memory, and more filings hold larger ones: so the
number of documents is measured by itself, on that many copies of one filing under names of their own, with an
embedder that only hashes words (a model needs what its longest text needs, whatever came before).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.reporting import data_folder, table, write

_COPIED = 3
"""Which filing, counted by size: about sixty pages."""


def child(mode: str, count: int, folder: Path) -> dict[str, float]:
    """One measured run; called in its own process. ``alone`` needs the home that ``ingest`` filled."""
    from citewell.core.config import Config
    from citewell.core.identity import hash_value
    from citewell.documents.evidence.sqlite import SqliteEvidence
    from citewell.documents.index import VIEWS, LanceIndex
    from citewell.documents.ingesting import ingest
    from citewell.documents.worker import ParsingWorker
    from citewell.models.fake import HashEmbedder
    from citewell.models.onnx.embedder import OnnxEmbedder

    config = Config()
    embedder = HashEmbedder(384) if mode == "copies" else OnnxEmbedder()
    index = LanceIndex(folder / "index", embedder, hash_value(config.chunking))
    filings = sorted(
        (data_folder() / "financebench" / "pdfs").glob("*.pdf"), key=lambda path: path.stat().st_size
    )
    pages = chunks = 0
    sources: list[Path] = filings[:count]
    if mode == "copies":
        (folder / "copies").mkdir()
        sources = [folder / "copies" / f"{number:05}.pdf" for number in range(count)]
        for source in sources:
            source.symlink_to(filings[_COPIED])
    if mode in ("ingest", "copies"):
        begun = time.perf_counter()
        with (
            ParsingWorker(config.documents) as worker,
            SqliteEvidence(folder / "evidence.sqlite") as evidence,
        ):
            report = ingest(sources, worker=worker, evidence=evidence, index=index, chunking=config.chunking)
        wall = time.perf_counter() - begun
        pages = sum(outcome.pages for outcome in report.files)
        chunks = sum(outcome.chunks for outcome in report.files)
    else:
        snapshot = index.snapshot()
        held = [
            chunk
            for listed in snapshot.documents()
            for chunk in snapshot.between(listed.document_id, 0, 1 << 40)
        ]
        begun = time.perf_counter()
        for start in range(0, len(held), 64):
            texts = [make(chunk) for chunk in held[start : start + 64] for make in VIEWS.values()]
            embedder.embed(list(dict.fromkeys(texts)))
        wall = time.perf_counter() - begun
        chunks = len(held)
    own, worker_use = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {
        "wall_s": wall,
        "cpu_s": own.ru_utime + own.ru_stime + worker_use.ru_utime + worker_use.ru_stime,
        "peak_mb": own.ru_maxrss / 1024,
        "worker_peak_mb": worker_use.ru_maxrss / 1024,
        "pages": float(pages),
        "chunks": float(chunks),
    }


def run(mode: str, count: int, folder: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.ingest", "--child", mode, str(count), str(folder)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", nargs="+", type=int, default=[2, 4, 8])
    parser.add_argument("--copies", nargs="*", type=int, default=[10, 40, 160])
    parser.add_argument("--child", nargs=3, metavar=("MODE", "COUNT", "FOLDER"))
    arguments = parser.parse_args()
    if arguments.child:
        mode, count, folder = arguments.child
        print(json.dumps(child(mode, int(count), Path(folder))))
        return
    runs: list[dict[str, Any]] = []
    for count in arguments.documents:
        with tempfile.TemporaryDirectory() as scratch:
            whole = run("ingest", count, Path(scratch))
            alone = run("alone", count, Path(scratch))
        runs.append({"documents": count, "ingest": whole, "embedding alone": alone})
    copied: list[dict[str, Any]] = []
    for count in arguments.copies:
        with tempfile.TemporaryDirectory() as scratch:
            copied.append({"documents": count, "ingest": run("copies", count, Path(scratch))})
    heads = [
        "documents",
        "pages",
        "chunks",
        "pages/s",
        "wall s",
        "wall / alone",
        "CPU / alone",
        "peak MB",
        "worker MB",
    ]
    rows = [
        [
            str(one["documents"]),
            f"{one['ingest']['pages']:.0f}",
            f"{one['ingest']['chunks']:.0f}",
            f"{one['ingest']['pages'] / one['ingest']['wall_s']:.1f}",
            f"{one['ingest']['wall_s']:.0f}",
            f"{one['ingest']['wall_s'] / one['embedding alone']['wall_s']:.2f}",
            f"{one['ingest']['cpu_s'] / one['embedding alone']['cpu_s']:.2f}",
            f"{one['ingest']['peak_mb']:.0f}",
            f"{one['ingest']['worker_peak_mb']:.0f}",
        ]
        for one in runs
    ]
    body = (
        "Filings of FinanceBench, the smallest first; three dense views a chunk. *alone*: the same texts "
        "embedded and nothing else, in the same minute. Peak memory is the resident set of the main "
        "process; the parsing worker's stands beside it. Load average at the end: "
        f"{os.getloadavg()[0]:.0f} on {os.cpu_count()} cores; where it is above the cores, wall times are "
        "the neighbours' and the CPU ratio is the one to read.\n\n" + table(heads, rows)
    )
    if copied:
        shown = ("pages", "chunks", "peak_mb", "worker_peak_mb")
        body += (
            "\n\n## By the number of documents alone\n\nCopies of one filing under names of their own; an "
            "embedder that hashes words stands in for the model, which adds the same to each line.\n\n"
        ) + table(
            ["documents", "pages", "chunks", "peak MB", "worker MB"],
            [[str(one["documents"]), *(f"{one['ingest'][name]:.0f}" for name in shown)] for one in copied],
        )
    write("ingest", "Ingest", body, {"runs": runs, "copies": copied})


if __name__ == "__main__":
    main()

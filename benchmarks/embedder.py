"""What rounding the embedder's weights costs: ``python -m benchmarks.embedder``. Needs ``make trainer``.

In: CITEWELL_DATA; `--documents N` of FinanceBench's filings, the smallest first, `--chunks N` drawn from them
with a seed. Out: docs/measurements/embedder.{md,json}: for each chunk, as it is embedded, the share of its
five nearest others that it has with the published float32 weights too, whether the first is the same, and the
cosine between both vectors. The float32 graph is exported from the base encoder on the spot.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from training.compact import compact
from training.export_embedder import CARD, float32_graph
from training.export_embedder import write as export

from benchmarks.reporting import code, data_folder, interval, table, write
from citewell.core.config import Config
from citewell.core.ports import Vectors
from citewell.documents.chunking import chunk_document
from citewell.documents.reading import read_bytes
from citewell.models.onnx.embedder import OnnxEmbedder

SEED, NEIGHBOURS = 5, 5


def chunks(documents: int, most: int) -> list[str]:
    """Chunks with their context lines, as an index embeds them."""
    folder = data_folder() / "financebench" / "pdfs"
    filings = sorted(folder.glob("*.pdf"), key=lambda path: path.stat().st_size)[:documents]
    texts: list[str] = []
    for filing in filings:
        document = read_bytes(filing.read_bytes(), document_id=filing.name)
        texts += [chunk.in_context for chunk in chunk_document(document, Config().chunking)]
        print(filing.name, len(texts), flush=True)
    texts = sorted(set(texts))
    return sorted(random.Random(SEED).sample(texts, min(most, len(texts))))


def compared(exact: Vectors, rounded: Vectors) -> dict[str, Any]:
    near, found = nearest(exact), nearest(rounded)
    shared = [len({*a} & {*b}) / NEIGHBOURS for a, b in zip(near, found, strict=True)]
    cosines = np.sum(exact * rounded, axis=1)
    return {
        "top5_overlap": interval(shared),
        "top1_same": interval([float(a[0] == b[0]) for a, b in zip(near, found, strict=True)]),
        "cosine_mean": float(cosines.mean()),
        "cosine_min": float(cosines.min()),
    }


def nearest(vectors: Vectors) -> list[list[int]]:
    """Each text's nearest neighbours, nearest first."""
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -np.inf)
    order: list[list[int]] = np.argsort(-likeness, axis=1, kind="stable")[:, :NEIGHBOURS].tolist()
    return order


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--chunks", type=int, default=1_500)
    given = parser.parse_args()
    texts = chunks(given.documents, given.chunks)
    packaged = OnnxEmbedder()
    graph = float32_graph()
    with tempfile.TemporaryDirectory() as folder:
        made = {"float32": graph, "half precision": compact(graph, "half")}
        for name, model in made.items():
            export(Path(folder) / name, model, CARD)
        exact, half = (OnnxEmbedder(Path(folder) / name).embed(texts) for name in made)
    results = {
        "packaged (int8)": compared(exact, packaged.embed(texts)),
        "half precision": compared(exact, half),
    }
    values = {
        "model": packaged.maker.hash,
        "command": f"python -m benchmarks.embedder --documents {given.documents} --chunks {given.chunks}",
        "documents": given.documents,
        "n": len(texts),
        "weights": results,
    }
    write("embedder", "Embedder: the cost of rounding its weights", _page(values), values)


def _page(values: dict[str, Any]) -> str:
    rows: Sequence[Sequence[str]] = [
        [
            name,
            _told(found["top5_overlap"]),
            _told(found["top1_same"]),
            f"{found['cosine_mean']:.4f}",
            f"{found['cosine_min']:.4f}",
        ]
        for name, found in values["weights"].items()
    ]
    heads = ["weights", "five nearest shared", "same nearest", "mean cosine", "least cosine"]
    return f"""
`{values["command"]}`: {values["n"]:,} chunks under their context lines, drawn with a seed from the
{values["documents"]} smallest filings of FinanceBench, each compared with all others, against the published
float32 weights. Mean over chunks with a 95 % bootstrap interval. Embedder `{values["model"]}`,
commit `{code()}`.

{table(heads, rows)}
"""


def _told(measure: dict[str, Any]) -> str:
    return f"{measure['value']:.3f} [{measure['low']:.3f}, {measure['high']:.3f}]"


if __name__ == "__main__":
    main()

"""How fast the embedded entailer runs, against the bare runtime on the same graph. `python -m
benchmarks.model_speed`.

Out: docs/measurements/model_speed.md and .json: pairs per CPU-second at 32 to 256 tokens, of Session.run
and of onnxruntime called by itself with ready arrays (the limit), in CPU-seconds, so that other work on the
machine matters less; and the wall time of 5 claims x 3 spans, of the entailer alone and of the whole
verifier, over single sentences and over texts as long as a chunk.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from citewell.models.onnx.entailer import OnnxEntailer
from citewell.models.onnx.session import Session, Tokens
from citewell.verification.evidence import as_evidence
from citewell.verification.verifier import Question, Verifier
from citewell.weights import WEIGHTS

OUT = Path(__file__).parents[1] / "docs/measurements/model_speed"
LENGTHS = (32, 64, 128, 256)
CLAIMS = (
    "Revenue rose 8 % to 51.2 billion dollars in fiscal 2023.",
    "The company opened 25 new stores in Europe during the year.",
    "Gross margin fell because of higher freight costs.",
    "The board approved a share repurchase of up to 18 billion dollars.",
    "Inventories were lower than a year before.",
)
SPANS = (
    "Revenues for fiscal 2023 increased 10 % to $51.2 billion, with growth in most regions.",
    "Gross margin decreased 250 basis points, due to higher product costs and inbound freight.",
    "In June 2022 the Board approved a four-year program to repurchase up to $18 billion of shares.",
)
CHUNK = (
    "Net revenues in the wholesale business were affected by the timing of shipments.",
    "Selling and administrative expense rose because of wages and digital investment.",
    "The effective tax rate was higher than in the year before, after one-time benefits had ended.",
    "Cash provided by operations was used for dividends, repurchases and capital expenditures.",
    "We expect product costs to stay high in the first half of the coming fiscal year.",
    "Foreign exchange reduced reported revenues in most of the regions outside North America.",
    "Inventory in transit fell as lead times returned to what they had been before.",
    "The Company leases offices, distribution centres and stores under agreements of several years.",
    "No customer accounted for ten percent or more of consolidated net revenues.",
    "Management reviews the carrying value of its assets whenever events suggest an impairment.",
    "Commitments for the purchase of goods are recorded when the goods are received.",
    "The outcome of legal proceedings is not expected to have a material effect on the results.",
)


def rate(work: Callable[[], object], pairs: int, least_seconds: float = 2.0) -> float:
    """Pairs per CPU-second, best of three."""
    best = 0.0
    work()
    for _ in range(3):
        started, done = time.process_time(), 0
        while time.process_time() - started < least_seconds:
            work()
            done += pairs
        best = max(best, done / (time.process_time() - started))
    return best


def by_length(session: Session, length: int) -> dict[str, float]:
    ids = np.random.default_rng(0).integers(1000, 20_000, length)
    sequence = Tokens(ids.tolist(), [0] * (length // 2) + [1] * (length - length // 2))
    feed = {
        "input_ids": ids[None],
        "attention_mask": np.ones((1, length), dtype=np.int64),
        "token_type_ids": np.array([sequence.types], dtype=np.int64),
    }
    ours = rate(lambda: session.run([sequence] * 8), 8)
    limit = rate(lambda: [session._onnx.run(None, feed) for _ in range(8)], 8)
    return {"pairs_per_cpu_second": round(ours, 1), "limit": round(limit, 1), "share": round(ours / limit, 3)}


def questions(spans: Sequence[str]) -> list[Question]:
    return [Question(claim=claim, evidence=(as_evidence(span),)) for claim in CLAIMS for span in spans]


def wall(texts: Sequence[str], work: Callable[[Sequence[str]], object]) -> dict[str, float]:
    """Each time over other texts: exact checks of equal ones are remembered."""
    work(texts)
    times = []
    for number in range(20):
        spans = [f"{text} See note {number}." for text in texts]
        started = time.perf_counter()
        work(spans)
        times.append((time.perf_counter() - started) * 1000)
    return {"p50_ms": round(float(np.median(times)), 1), "best_ms": round(min(times), 1)}


def main() -> None:
    session = Session(WEIGHTS / "entailer")
    lengths = {str(length): by_length(session, length) for length in LENGTHS}
    entailer = OnnxEntailer()
    verifier = Verifier(entailer)
    chunks = [f"{span} {' '.join(CHUNK)}" for span in SPANS]
    walls = {
        "entailer, sentences": wall(
            SPANS, lambda spans: entailer.entail([(s, c) for c in CLAIMS for s in spans])
        ),
        "verifier, sentences": wall(SPANS, lambda spans: verifier.verify_many(questions(spans))),
        "verifier, chunks": wall(chunks, lambda spans: verifier.verify_many(questions(spans))),
    }
    OUT.parent.mkdir(parents=True, exist_ok=True)
    plain = {"entailer": entailer.maker.hash, "lengths": lengths, "five claims x three spans": walls}
    OUT.with_suffix(".json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    lines = [
        "# Speed of the entailer\n",
        "| tokens | pairs per CPU-second | bare onnxruntime | share |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {n} | {v['pairs_per_cpu_second']} | {v['limit']} | {v['share']} |" for n, v in lengths.items()
    ]
    lines += [
        f"\n| 5 claims x 3 spans, on {os.cpu_count()} cores | median of 20, ms | best, ms |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {v['p50_ms']} | {v['best_ms']} |" for name, v in walls.items()]
    words = sum(len(chunk.split()) for chunk in chunks) // len(chunks)
    lines += [
        f"\nA chunk has {words} words here. Each claim is judged under every span by itself.\n\n"
        f"Entailer `{entailer.maker.hash}`. Made by `python -m benchmarks.model_speed`."
    ]
    OUT.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()

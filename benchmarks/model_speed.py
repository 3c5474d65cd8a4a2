"""How fast the embedded entailer runs, against the bare runtime on the same graph. `python -m
benchmarks.model_speed`.

Out: docs/measurements/model_speed.md and .json: pairs per CPU-second at 32 to 256 tokens, of Session.run
and of onnxruntime called by itself with ready arrays (the limit), and the wall time of 5 claims x 3
spans. CPU-seconds, not wall time, so that other work on the machine matters less.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from citewell.models.onnx.entailer import OnnxEntailer
from citewell.models.onnx.session import Session, Tokens
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


def main() -> None:
    session = Session(WEIGHTS / "entailer")
    lengths = {str(length): by_length(session, length) for length in LENGTHS}
    entailer = OnnxEntailer()
    pairs = [(span, claim) for claim in CLAIMS for span in SPANS]
    entailer.entail(pairs)
    times = []
    for _ in range(20):
        started = time.perf_counter()
        entailer.entail(pairs)
        times.append((time.perf_counter() - started) * 1000)
    wall = {
        "p50_ms": round(float(np.median(times)), 1),
        "best_ms": round(min(times), 1),
        "cores": os.cpu_count(),
    }
    OUT.parent.mkdir(parents=True, exist_ok=True)
    plain = {"entailer": entailer.maker.hash, "lengths": lengths, "five claims x three spans": wall}
    OUT.with_suffix(".json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    lines = [
        "# Speed of the entailer\n",
        "| tokens | pairs per CPU-second | bare onnxruntime | share |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {n} | {v['pairs_per_cpu_second']} | {v['limit']} | {v['share']} |" for n, v in lengths.items()
    ]
    lines += [f"\n5 claims x 3 spans: {wall['p50_ms']} ms (median of 20) on {wall['cores']} cores."]
    lines += ["\nMade by `python -m benchmarks.model_speed`."]
    OUT.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()

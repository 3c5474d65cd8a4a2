"""How fast the embedded entailer runs, compared with the bare runtime on the same graph. `python -m
benchmarks.model_speed`.

Out: docs/measurements/model_speed.md and .json: pairs per CPU-second at 32 to 256 tokens, of Session.run on
prepared ids and of `OnnxEntailer.entail` from texts (tokens, windows, combination), each next to bare
onnxruntime on prepared arrays (the limit), in CPU-seconds so that other work on the machine matters less; and
the wall time of 5 claims x 3 spans, of the entailer alone over single sentences, and of the whole verifier
over those and over texts as long as a chunk.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.reporting import code, table, write
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.models.onnx.session import Session, Tokens
from citewell.verification.evidence import ClaimEvidence, as_evidence
from citewell.verification.verifier import Verifier

LENGTHS = (32, 64, 128, 256)
LEAST_SHARE, MOST_MS = 0.9, 300
"""Targets: share of the bare runtime's rate, and milliseconds for 5 claims x 3 spans on two cores."""
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


def by_length(entailer: OnnxEntailer, length: int) -> dict[str, float]:
    """A prepared sequence of ``length`` tokens; and a text that makes as many with a claim, in the windows it
    is read in; each next to the bare runtime on the same sequences."""
    session, claim = entailer._session, CLAIMS[0]
    ids = np.random.default_rng(0).integers(1000, 20_000, length).tolist()
    one = Tokens(ids, [0] * (length // 2) + [1] * (length - length // 2))
    ready, limit = _rates(session, [one], lambda: session.run([one] * 8))
    premise = _sentence(session, length - len(session.tokenizer.encode("", claim).ids))
    (part,) = entailer._plan(premise, claim)
    windows = part.sequences  # type: ignore[union-attr]
    texts, bare = _rates(session, windows, lambda: entailer.entail([(premise, claim)] * 8))
    return {
        "pairs_per_cpu_second": round(ready, 1),
        "limit": round(limit, 1),
        "share": round(ready / limit, 3),
        "windows": len(windows),
        "texts_per_cpu_second": round(texts, 1),
        "texts_share": round(texts / bare, 3),
    }


def _rates(session: Session, sequences: list[Tokens], ours: Callable[[], object]) -> tuple[float, float]:
    """Rates of ours and of bare onnxruntime on the same sequences, eight times each."""
    feeds = [
        {
            "input_ids": np.array([one.ids], dtype=np.int64),
            "attention_mask": np.ones((1, len(one.ids)), dtype=np.int64),
            "token_type_ids": np.array([one.types], dtype=np.int64),
        }
        for one in sequences
    ]
    bare = rate(lambda: [session._onnx.run(None, feed) for _ in range(8) for feed in feeds], 8)
    return rate(ours, 8), bare


def _sentence(session: Session, tokens: int) -> str:
    """One sentence of ``tokens`` tokens, or one more."""
    words: list[str] = []
    while len(session.tokenizer.encode(" ".join(words), add_special_tokens=False).ids) < tokens - 1:
        words.append(("revenue", "store", "board", "cost", "year")[len(words) % 5])
    return " ".join(words).capitalize() + "."


def questions(spans: Sequence[str]) -> list[ClaimEvidence]:
    return [ClaimEvidence(claim=claim, evidence=(as_evidence(span),)) for claim in CLAIMS for span in spans]


def wall(texts: Sequence[str], work: Callable[[Sequence[str]], object]) -> dict[str, float]:
    """Uses different texts each time: exact checks of equal ones are cached."""
    work(texts)
    times = []
    for number in range(20):
        spans = [f"{text} See note {number}." for text in texts]
        started = time.perf_counter()
        work(spans)
        times.append((time.perf_counter() - started) * 1000)
    return {"p50_ms": round(float(np.median(times)), 1), "best_ms": round(min(times), 1)}


def main() -> None:
    entailer = OnnxEntailer()
    lengths = {str(length): by_length(entailer, length) for length in LENGTHS}
    verifier = Verifier(entailer)
    chunks = [f"{span} {' '.join(CHUNK)}" for span in SPANS]
    walls = {
        "entailer, sentences": wall(
            SPANS, lambda spans: entailer.entail([(s, c) for c in CLAIMS for s in spans])
        ),
        "verifier, sentences": wall(SPANS, lambda spans: verifier.verify_many(questions(spans))),
        "verifier, chunks": wall(chunks, lambda spans: verifier.verify_many(questions(spans))),
    }
    words = sum(len(chunk.split()) for chunk in chunks) // len(chunks)
    told = {"entailer": entailer.maker.hash, "lengths": lengths, "five claims x three spans": walls}
    write("model_speed", "Speed of the entailer", _page(told, words), told)


def _page(told: dict[str, Any], words: int) -> str:
    lengths, walls = told["lengths"], told["five claims x three spans"]
    least = min(min(one["share"], one["texts_share"]) for one in lengths.values())
    by_tokens = [
        [n, *(f"{v[k]:.1f}" for k in ("pairs_per_cpu_second", "limit")), f"{v['share']:.2f}",
         f"{v['windows']}", f"{v['texts_per_cpu_second']:.1f}", f"{v['texts_share']:.2f}"]
        for n, v in lengths.items()
    ]  # fmt: skip
    heads = ["tokens", "pairs per CPU-second, ready", "bare onnxruntime", "share", "windows of such a text",
             "texts per CPU-second", "share of bare onnxruntime on its windows"]  # fmt: skip
    met = [
        [name, f"{v['p50_ms']:.0f}", f"{v['best_ms']:.0f}", _met(v["p50_ms"] <= MOST_MS)]
        for name, v in walls.items()
    ]
    wall_heads = [f"5 claims x 3 spans, on {os.cpu_count()} cores", "median of 20, ms", "best, ms"]
    return f"""
`python -m benchmarks.model_speed`, entailer `{told["entailer"]}`, commit `{code()}`.

{table(heads, by_tokens)}

At least {LEAST_SHARE} of the bare runtime is aimed at: {_met(least >= LEAST_SHARE)} (least: {least:.2f}).

{table([*wall_heads, f"at most {MOST_MS} ms"], met)}

A chunk has {words} words here. Each claim is judged under every span by itself. Wall times are of a shared
machine.
"""


def _met(reached: bool) -> str:
    return "met" if reached else "not met"


if __name__ == "__main__":
    main()

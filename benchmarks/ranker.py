"""Does the ranker know an answering passage from one that is merely about it? `python -m
benchmarks.ranker`.

In: CITEWELL_DATA; `--rows N` most rows a set, `--queries N` most queries a collection. Out:
docs/measurements/ranker.md and .json. Pairs: AUROC beside the embedder's cosine and BM25; false positives and
recall at the default border, at the strict one of the model's card, and at borders drawn on one half of a set
and tested on the other: the one that keeps 90 % recall, the one that lets 5 % of the others through.
Collections: nDCG@10 of the first 30 by BM25, ordered by each. No row shaped the weights; the groups of sets
used both ways are split by `reading_pairs`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from training.reading_pairs import questions, word_key
from training.sources import load

from benchmarks.reporting import code, data_folder, interval, shown, table, write
from citewell.core.config import Config
from citewell.models.onnx.embedder import OnnxEmbedder
from citewell.models.onnx.reading import OnnxRanker

SEED, POOL = 5, 30
DEFAULT = Config().retrieval.relevance_threshold
DRAWN = {"keeps 90 % recall": "false_positives", "lets 5 % through": "recall"}
"""Thresholds set on one half of a set, and what is reported for them on the other."""
Pair = tuple[str, str, bool]
Scores = NDArray[np.float64]


def trained_on() -> set[str]:
    """Passages of SQuAD that shaped the weights: qnli is made of sentences from some of them."""
    return {" ".join(q.passage.split()) for q in questions("qa/squad2_cs224n.dev")}


def qnli() -> list[Pair]:
    seen = " ".join(trained_on())
    return [
        (r["question"], r["passage"], r["label"] == 1)
        for r in load("relevance/qnli.dev")
        if " ".join(r["passage"].split()) not in seen
    ]


def labelled(name: str) -> list[Pair]:
    return [(r["question"], r["passage"], r["label"] == 1) for r in load(name)]


def answerability(name: str) -> list[Pair]:
    return [(q.question, _shown(q.context, q.passage), q.spans != ()) for q in questions(name, report=True)]


def clapnq() -> list[Pair]:
    return [
        (r["question"], _shown(r["meta"]["title"], r["context"]), r["answerable"])
        for r in load("qa/clapnq.dev")
    ]


def other_aspect() -> list[Pair]:
    """medquad: passages on held-out diseases, half of them on an aspect other than the one asked for."""
    return [
        (q.question, _shown(q.context, q.passage), q.spans is None)
        for q in questions("relevance/medquad.train", report=True)
    ]


def _shown(context: str, passage: str) -> str:
    return f"{context}\n{passage}" if context else passage


SETS: dict[str, Callable[[], list[Pair]]] = {
    "SQuAD 2.0 (other articles): answerable": lambda: answerability("qa/squad2_cs224n.dev"),
    "CLAP NQ: answerable": clapnq,
    "QNLI: answer in the sentence": qnli,
    "WikiQA: answer in the sentence": lambda: labelled("relevance/wikiqa.dev"),
    "TREC QA: answer in the sentence": lambda: labelled("relevance/trecqa.dev"),
    "MedQuAD (other diseases): right aspect": other_aspect,
    "ConditionalQA (other pages): evidence": lambda: answerability("relevance/conditionalqa.train"),
    "ContractNLI (other contracts): clause": lambda: answerability("relevance/contractnli_clauses.dev"),
    "MEDIQA: graded 3 or 4": lambda: labelled("relevance/mediqa_qa.dev"),
}


def sample(pairs: list[Pair], rows: int) -> list[Pair]:
    rng = random.Random(SEED)
    rng.shuffle(pairs)
    return pairs[:rows]


def cosine(embedder: OnnxEmbedder, pairs: Sequence[Pair]) -> Scores:
    asked = embedder.embed([p[0] for p in pairs])
    shown_ = embedder.embed([p[1] for p in pairs])
    return (asked * shown_).sum(axis=1).astype(np.float64)


class Bm25:
    """Okapi BM25 (k1 1.2, b 0.75) over a given set of texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.bags = [Counter(word_key(text).split()) for text in texts]
        self.mean = sum(sum(b.values()) for b in self.bags) / len(self.bags)
        held = Counter(word for bag in self.bags for word in bag)
        self.idf = {w: math.log(1 + (len(self.bags) - n + 0.5) / (n + 0.5)) for w, n in held.items()}

    def score(self, question: str, number: int) -> float:
        bag = self.bags[number]
        size = 1.2 * (0.25 + 0.75 * sum(bag.values()) / self.mean)
        return sum(
            self.idf[w] * bag[w] * 2.2 / (bag[w] + size) for w in set(word_key(question).split()) if w in bag
        )


def auroc(values: Scores, truth: NDArray[np.bool_]) -> float:
    wins = values[truth][:, None] - values[~truth][None, :]
    return float(((wins > 0) + 0.5 * (wins == 0)).mean())


def area(values: Scores, truth: NDArray[np.bool_]) -> dict[str, Any]:
    """AUROC with n and its bootstrap interval over rows."""
    draws = np.random.default_rng(SEED).integers(0, len(truth), (500, len(truth)))
    usable = [d for d in draws if truth[d].any() and not truth[d].all()]
    low, high = np.percentile([auroc(values[d], truth[d]) for d in usable], [2.5, 97.5])
    return {"value": auroc(values, truth), "n": len(truth), "low": float(low), "high": float(high)}


def judge(pairs: list[Pair], values: Scores) -> dict[str, Any]:
    return {"auroc": area(values, np.array([p[2] for p in pairs]))}


def at_borders(pairs: list[Pair], values: Scores, borders: dict[str, float]) -> dict[str, Any]:
    """False positives and recall at fixed thresholds (on all rows), and at those set on every second row of
    each class (on the other rows)."""
    truth = np.array([p[2] for p in pairs])
    yes, no = values[truth], values[~truth]
    drawn = {
        "keeps 90 % recall": float(np.quantile(yes[::2], 0.1)),
        "lets 5 % through": float(np.quantile(no[::2], 0.95)),
    }
    found = {name: _at(border, yes, no) for name, border in borders.items()}
    found |= {name: _at(border, yes[1::2], no[1::2]) for name, border in drawn.items()}
    return {"answering": len(yes), "others": len(no), "at": found}


def _at(border: float, yes: Scores, no: Scores) -> dict[str, Any]:
    return {
        "border": border,
        "recall": interval((yes >= border).astype(float)),
        "false_positives": interval((no >= border).astype(float)),
    }


def ndcg(order: Sequence[str], relevant: dict[str, int]) -> float:
    gains = [relevant.get(d, 0) / math.log2(i + 2) for i, d in enumerate(order[:10])]
    ideal = [g / math.log2(i + 2) for i, g in enumerate(sorted(relevant.values(), reverse=True)[:10])]
    return sum(gains) / sum(ideal)


def collection(name: str, most: int, embedder: OnnxEmbedder, ranker: OnnxRanker) -> dict[str, Any]:
    folder = data_folder() / "retrieval" / name
    docs = {
        d["_id"]: _shown(d.get("title", ""), d["text"])
        for d in _lines(folder / "corpus.jsonl.gz")
        if d["text"].strip()
    }
    asked = {q["_id"]: q["text"] for q in _lines(folder / "queries.jsonl.gz")}
    wanted: dict[str, dict[str, int]] = {}
    for path in sorted((folder / "qrels").iterdir()):
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
        for line in text.splitlines()[1:]:
            query, document, grade = line.split("\t")
            if int(grade) > 0 and document in docs:
                wanted.setdefault(query, {})[document] = int(grade)
    ids = list(docs)
    found = Bm25(docs.values())
    chosen = sorted(q for q in wanted if q in asked)
    random.Random(SEED).shuffle(chosen)
    results: dict[str, list[float]] = {"BM25": [], "embedder cosine": [], "ranker": []}
    postings: dict[str, list[int]] = {}
    for number, bag in enumerate(found.bags):
        for word in bag:
            postings.setdefault(word, []).append(number)
    for query in chosen[:most]:
        near = {n for word in word_key(asked[query]).split() for n in postings.get(word, ())}
        pool = sorted(near, key=lambda n: -found.score(asked[query], n))[:POOL]
        texts = [docs[ids[n]] for n in pool]
        vectors = embedder.embed([asked[query], *texts])
        orders = {
            "BM25": list(range(len(pool))),
            "embedder cosine": np.argsort(-(vectors[1:] @ vectors[0]), kind="stable").tolist(),
            "ranker": np.argsort(-np.array(ranker.rank(asked[query], texts)), kind="stable").tolist(),
        }
        for way, order in orders.items():
            results[way].append(ndcg([ids[pool[i]] for i in order], wanted[query]))
    return {way: interval(values) for way, values in results.items()}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rows", type=int, default=600)
    arguments.add_argument("--queries", type=int, default=120)
    given = arguments.parse_args()
    embedder, ranker = OnnxEmbedder(), OnnxRanker()
    strict = ranker.card["calibration"]["threshold_for_5_percent_false_positives"]
    told: dict[str, Any] = {
        "command": " ".join(["python -m benchmarks.ranker", *sys.argv[1:]]),
        "model": ranker.maker.hash,
        "strict_threshold": strict,
        "pairs": {},
        "collections": {},
    }
    borders = {"default": DEFAULT, "strict": strict}
    rows, bars = [], []
    for name, read in SETS.items():
        pairs = sample(read(), given.rows)
        weights = Bm25([p[1] for p in pairs])
        ranked = np.array([ranker.rank(q, [p])[0] for q, p, _ in pairs])
        ways = {
            "ranker": judge(pairs, ranked) | at_borders(pairs, ranked, borders),
            "embedder cosine": judge(pairs, cosine(embedder, pairs)),
            "BM25": judge(pairs, np.array([weights.score(p[0], i) for i, p in enumerate(pairs)])),
        }
        told["pairs"][name] = ways
        mine = ways["ranker"]
        rows.append(
            [
                name,
                f"{mine['answering']} / {mine['others']}",
                *(shown(way["auroc"]) for way in ways.values()),
            ]
        )
        at = mine["at"]
        bars.append([name, *(shown(at[k][w]) for k in borders for w in ("false_positives", "recall"))])
        bars[-1] += [f"{at[k]['border']:.2f}: {shown(at[k][w])}" for k, w in DRAWN.items()]
        print(name, rows[-1], bars[-1], flush=True)
    for name in ("cranfield", "nq_mini"):
        told["collections"][name] = collection(name, given.queries, embedder, ranker)
    orders = [
        [n, str(c["ranker"]["n"]), *(shown(v) for v in c.values())] for n, c in told["collections"].items()
    ]
    heads = [
        "set",
        f"false positives at {DEFAULT}",
        f"recall at {DEFAULT}",
        "false positives at strict",
        "recall at strict",
        "border that keeps 90 % recall: false positives",
        "border that lets 5 % through: recall",
    ]
    strictly = [ways["ranker"]["at"]["strict"]["false_positives"]["value"] for ways in told["pairs"].values()]
    parts = [
        __doc__.split("\n\n", 1)[1].strip(),
        f"`{told['command']}`, weights `{ranker.maker.hash}`, commit `{code()}`.",
        "## AUROC",
        table(["set", "answering / others", "ranker", "embedder cosine", "BM25"], rows),
        f"## The ranker at different thresholds ({DEFAULT} is the default; strict is the card's {strict})",
        table(heads, bars),
        "The strict border was drawn on other data at 5 % of false positives. Here more than that pass it on"
        f" {sum(value > 0.05 for value in strictly)} of {len(strictly)} sets: a threshold fits its own data,"
        " and `citewell calibrate` chooses one for yours.",
        f"## nDCG@10 of the first {POOL} by BM25",
        table(["collection", "n", "BM25", "embedder cosine", "ranker"], orders),
    ]
    body = "\n\n".join(parts)
    write("ranker", "Ranker", body, told)


if __name__ == "__main__":
    main()

"""Fits the lexical reader: two logistic regressions over its features, by Newton's method.

In: public question answering sets under CITEWELL_DATA. Out: the coefficients that
``citewell.models.lexical_reader`` holds, and its figures on held-out sets. Takes about a minute.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.matching.questions import read_question
from citewell.models.lexical_reader import FEATURES, sentence_features
from citewell.sentences import sentence_spans

FIT = ("squad2_cs224n.dev", "squadshifts_wiki.test", "tydiqa_en.train", "clapnq.dev")
HELD = ("covidqa_paragraph.all", "tydiqa_en.dev", "squadshifts_amazon.test", "subjqa.dev")
ROWS = 700
SEED = 7
OUT = Path(__file__).parents[1] / "docs" / "measurements" / "lexical_reader.md"

Matrix = NDArray[np.float64]


def rows_of(folder: Path, name: str, limit: int) -> list[dict[str, Any]]:
    with gzip.open(folder / "qa" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    random.Random(SEED).shuffle(rows)
    return rows[:limit]


def examples(rows: list[dict[str, Any]]) -> Iterator[tuple[Matrix, NDArray[np.bool_]]]:
    """Features of each sentence and whether an answer starts in it; also each question with the next
    row's passage, where nothing answers."""
    for at, row in enumerate(rows):
        other = rows[(at + 1) % len(rows)]["context"]
        located = [answer["start"] for answer in row["answers"] if answer["start"] >= 0]
        starts = located if row["answerable"] else []
        if row["answerable"] and not starts:
            continue
        wanted = read_question(row["question"])
        pairs = [(row["context"], starts), (other, [])]
        for context, at_offsets in pairs:
            spans = sentence_spans(context)
            if spans:
                held = np.array([any(a <= s < b for s in at_offsets) for a, b in spans])
                yield np.array(sentence_features(wanted, context)), held


def fit(x: Matrix, y: Matrix, ridge: float = 1.0) -> Matrix:
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (p - y) + ridge * w
        hessian = (x * (p * (1 - p))[:, None]).T @ x + ridge * np.eye(x.shape[1])
        w -= np.linalg.solve(hessian, gradient)
    return w


def passages(data: list[tuple[Matrix, NDArray[np.bool_]]], w: Matrix) -> tuple[Matrix, Matrix]:
    """The best sentence of each passage, and whether it holds the answer: what is quoted must be right,
    not merely stand in a passage that has the answer elsewhere."""
    chosen = [int(np.argmax(features @ w)) for features, _ in data]
    best = np.array([features[at] for (features, _), at in zip(data, chosen, strict=True)])
    return best, np.array([float(held[at]) for (_, held), at in zip(data, chosen, strict=True)])


def auc(scores: Matrix, truth: Matrix) -> float:
    order = scores.argsort().argsort() + 1
    n1 = truth.sum()
    n0 = len(truth) - n1
    return float((order[truth > 0].sum() - n1 * (n1 + 1) / 2) / (n1 * n0)) if n1 and n0 else float("nan")


def main() -> None:
    folder = Path(os.environ["CITEWELL_DATA"])
    data = [pair for name in FIT for pair in examples(rows_of(folder, name, ROWS))]
    x = np.vstack([features for features, _ in data])
    y = np.concatenate([held for _, held in data]).astype(float)
    sentence = fit(x, y)
    best, answered = passages(data, sentence)
    passage = fit(best, answered)
    print("FEATURES", FEATURES)
    print("SENTENCE_WEIGHTS =", tuple(round(float(v), 3) for v in sentence))
    print("PASSAGE_WEIGHTS =", tuple(round(float(v), 3) for v in passage))
    lines = [
        "Two logistic regressions over eleven features, fitted by `python -m training.lexical_reader` on",
        f"up to {ROWS} questions of each set marked *fitted*; each question is also paired with",
        "another question's passage. *First*: the sentence with the answer is ranked first. *AUC*: a passage",
        "whose first sentence is right scores over one where it is not.",
        "",
        "| set | use | answer sentence first | n | AUC | n |",
        "|---|---|---|---|---|---|",
    ]
    for name in (*FIT, *HELD):
        held = list(examples(rows_of(folder, name, 400)))
        best, answered = passages(held, sentence)
        hit = [bool(h[int(np.argmax(f @ sentence))]) for f, h in held if h.any()]
        first = f"{np.mean(hit):.3f}" if hit else "none located"
        separation = f"{auc(best @ passage, answered):.3f}" if 0 < answered.mean() < 1 else "one kind only"
        use = "fitted" if name in FIT else "held out"
        lines.append(f"| {name} | {use} | {first} | {len(hit)} | {separation} | {len(held)} |")
    OUT.write_text("# The lexical reader\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()

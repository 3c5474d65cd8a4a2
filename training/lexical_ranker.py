"""Fits the lexical ranker's weights: ``python -m training.lexical_ranker`` prints them, with what they reach.

In: questions of squad2_cs224n and tatqa (both may ship), each with its own passage and the nine others
that share most words with it. Out: logistic weights at equal priors, fitted on two thirds of the
passages' sources, and accuracy and rank of the right passage on the rest. What those questions do
not name (companies, periods, line items, statements) keeps the weights set by hand in
:mod:`citewell.models.lexical`.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks.reporting import data_folder

from citewell.identity import hash_text
from citewell.matching.line_items import label_words
from citewell.models.lexical import WEIGHTS, features

SETS = ("qa/squad2_cs224n.dev", "qa/tatqa.dev")
QUESTIONS, OTHERS = 500, 9
HELD = ("names", "period", "items", "statement")
_RIDGE = 1e-3


def pools(path: Path) -> Iterator[tuple[str, list[str]]]:
    """A question and its passages, the right one first."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rows = [row for row in rows if row["answerable"]]
    contexts = list(dict.fromkeys(row["context"] for row in rows))
    bags = [frozenset(word for part in text.split() for word in label_words(part)) for text in contexts]
    holders = Counter(word for bag in bags for word in bag)
    rows.sort(key=lambda row: hash_text(row["id"] + row["question"]))
    for row in rows[:QUESTIONS]:
        asked = {word for part in row["question"].split() for word in label_words(part)}
        shared = [sum(1 / holders[word] for word in asked & bag) for bag in bags]
        order = sorted(range(len(contexts)), key=lambda at: (-shared[at], at))
        others = [contexts[at] for at in order if contexts[at] != row["context"]][:OTHERS]
        yield row["question"], [row["context"], *others]


def main() -> None:
    names = [name for name in WEIGHTS if name not in HELD]
    x, y, group = [], [], []
    for name in SETS:
        for question, passages in pools(data_folder() / f"{name}.jsonl.gz"):
            found = features(question, [f"\n{passage}" for passage in passages])
            x += [[row[feature] for feature in names] for row in found]
            y += [1.0] + [0.0] * (len(passages) - 1)
            group += [len(group) // (OTHERS + 1)] * len(passages)
    features_, right, pool = np.array(x), np.array(y), np.array(group)
    held = pool % 3 == 0
    weights, bias = fit(features_[~held], right[~held])
    scores = features_[held] @ weights + bias
    ranks = scores.reshape(-1, OTHERS + 1).argsort(axis=1)[:, ::-1].argmin(axis=1)
    print(
        {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}, round(bias, 2)
    )
    print(f"held out: {len(ranks)} questions, right passage first {np.mean(ranks == 0):.3f}")
    positive, negative = scores[right[held] == 1] > 0, scores[right[held] == 0] <= 0
    print(f"balanced accuracy {(positive.mean() + negative.mean()) / 2:.3f}")


def fit(features_: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, float]:
    """Logistic regression at equal priors by Newton's method, weights not below zero."""
    design = np.hstack([features_, np.ones((len(features_), 1))])
    cost = np.where(right == 1, 0.5 / right.mean(), 0.5 / (1 - right.mean()))
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-design @ beta))
        gradient = design.T @ (cost * (p - right)) + _RIDGE * beta
        hessian = design.T @ (design * (cost * p * (1 - p))[:, None]) + _RIDGE * np.eye(len(beta))
        beta = beta - np.linalg.solve(hessian, gradient)
        beta[:-1] = np.maximum(beta[:-1], 0.0)
    return beta[:-1], float(beta[-1])


if __name__ == "__main__":
    main()

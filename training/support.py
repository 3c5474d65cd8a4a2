"""Fits support.json: an entailer's log odds -> a calibrated probability of support.

`python -m training.support` for the packaged entailer, `python -m training.support judge` for the judge.
In: judged claims that shaped no weights (training.heldout; for the judge also the written examples' part
"choose") and the exported entailer. Out: support.json beside its weights, with what it was fitted on, and
reliability and calibration error by kind of source under cross-validation.
Classes are weighted to equal priors within each set, and a set weighs by the root of its size, so that no
set's base rate becomes the verifier's. A claim of several sentences is supported as much as its least
supported sentence, in the fit as at run time. One line (intercept, slope) a kind of source; slopes are
positive.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from citewell.core.weights import WEIGHTS, judge_folder
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.verification.kinds import KINDS, source_kind
from citewell.verification.support import FILE, log_odds
from training.card import state_hash
from training.entailer import SEED
from training.examples import passages as written_passages
from training.heldout import Example, examples

Floats = NDArray[np.float64]
ROUNDS = 4  # of choosing each claim's least supported sentence and fitting again


@dataclass(frozen=True, slots=True)
class Design:
    """`x` has a row a sentence; `of[i]` are the rows of claim i."""

    x: Floats
    names: list[str]
    rows: list[Example]
    of: list[list[int]]

    def least(self, beta: Floats) -> list[int]:
        """The row of each claim's least supported sentence."""
        z = self.x @ beta
        return [min(rows, key=lambda r: z[r]) for rows in self.of]


def design(rows: Sequence[Example], entailer: OnnxEntailer) -> Design:
    """An intercept and a slope for each kind; claims that were not checked are left out."""
    asked = [(row, text) for row in rows for text in row.sentences()]
    results = iter(entailer.entail([(row.premise, text) for row, text in asked]))
    lines: list[dict[str, float]] = []
    kept, of = [], []
    for row in rows:
        answers = [(text, next(results)) for text in row.sentences()]
        if any(answer.unchecked for _, answer in answers):
            continue
        kept.append(row)
        of.append(list(range(len(lines), len(lines) + len(answers))))
        kind = source_kind(row.premise)
        for _, answer in answers:
            assert answer.entailment is not None
            value = log_odds(answer.entailment)
            lines.append(
                {f"intercept {each}": float(each == kind) for each in KINDS}
                | {f"slope {each}": value * (each == kind) for each in KINDS}
            )
    return Design(np.array([list(line.values()) for line in lines]), list(lines[0]), kept, of)


def equal_weights(rows: Sequence[Example]) -> Floats:
    """Supported and unsupported weigh the same in every set; a set weighs by the root of its size."""
    count = Counter((row.name, row.supported) for row in rows)
    size = Counter(row.name for row in rows)
    weight = np.array([math.sqrt(size[row.name]) / count[row.name, row.supported] for row in rows])
    return weight / weight.mean()


def fit(made: Design, claims: Sequence[int]) -> Floats:
    """Coefficients for the claims given; which sentence speaks for a claim follows from the fit itself."""
    rows = [made.rows[i] for i in claims]
    y = np.array([row.supported for row in rows], dtype=float)
    weight = equal_weights(rows)
    beta = _first(made.names)
    for _ in range(ROUNDS):
        least = made.least(beta)
        beta = _fit(made.x[[least[i] for i in claims]], y, weight, made.names)
    return beta


def _fit(x: Floats, y: Floats, weight: Floats, names: Sequence[str], penalty: float = 0.002) -> Floats:
    free = np.array([not name.startswith("intercept") for name in names], dtype=float)

    def loss(beta: Floats) -> tuple[float, Floats]:
        z = x @ beta
        value = (weight * (np.logaddexp(0.0, z) - y * z)).mean() + penalty * (free * beta**2).sum() / 2
        gradient = x.T @ (weight * (1 / (1 + np.exp(-z)) - y)) / len(y) + penalty * free * beta
        return float(value), gradient

    bounds = [(0.05, None) if name.startswith("slope") else (None, None) for name in names]
    start = _first(names)
    return minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x


def _first(names: Sequence[str]) -> Floats:
    """The entailer's log odds as they are."""
    return np.array([float(name.startswith("slope")) for name in names])


def reliability(p: Floats, y: Floats, weight: Floats, bins: int = 10) -> dict[str, object]:
    """Expected calibration error over equal bins, at equal priors, and the curve it is made from."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    curve, error = [], 0.0
    for b in range(bins):
        inside = place == b
        if inside.any():
            share = weight[inside].sum() / weight.sum()
            mean, true = (
                np.average(p[inside], weights=weight[inside]),
                np.average(y[inside], weights=weight[inside]),
            )
            error += share * abs(mean - true)
            curve.append(
                {
                    "predicted": round(float(mean), 3),
                    "observed": round(float(true), 3),
                    "n": int(inside.sum()),
                }
            )
    return {"n": len(y), "ece": round(float(error), 4), "curve": curve}


def written_examples() -> list[Example]:
    """Of the written passages that choose."""
    return [
        Example(f"{passage.title}\n{said.premise}", said.claim, said.label == "entailment", "examples")
        for passage in written_passages()
        if passage.part == "choose"
        for said in passage.statements
    ]


def main(names: list[str]) -> None:
    folder = judge_folder() if names == ["judge"] else WEIGHTS / "entailer"
    if folder is None:
        raise SystemExit("citewell-judge is not installed: pip install -e judge")
    entailer = OnnxEntailer(folder)
    rows = examples(SEED)
    if names:
        rows += written_examples()
        # A read of the judge costs four times as much.
        rows = random.Random(SEED).sample(rows, len(rows) // 3)
    made = design(rows, entailer)
    rows = made.rows
    everything = range(len(rows))
    y = np.array([row.supported for row in rows], dtype=float)
    weight = equal_weights(rows)
    fold = np.array([int.from_bytes(row.premise.encode()[:64], "little") % 5 for row in rows])
    held = np.zeros(len(y))
    for k in range(5):
        beta = fit(made, [i for i in everything if fold[i] != k])
        z = made.x[made.least(beta)] @ beta
        held[fold == k] = 1 / (1 + np.exp(-z[fold == k]))
    beta = fit(made, everything)
    kinds = np.array([source_kind(row.premise) for row in rows])
    by_set: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        by_set[row.name].append(i)
    entailment = made.x[:, [made.names.index(f"slope {kind}") for kind in KINDS]].sum(axis=1)
    alone = np.array([min(entailment[r] for r in of) for of in made.of])
    card = {
        "coefficients": {
            kind: {
                name: round(float(beta[made.names.index(f"{name} {kind}")]), 5)
                for name in ("intercept", "slope")
            }
            for kind in KINDS
        },
        "entailer": {
            "id": entailer.maker.name,
            "hash": entailer.maker.hash,
            "threshold": _threshold(alone, y, weight),
        },
        "fitted_on": {name: len(index) for name, index in sorted(by_set.items())},
        "part": "a tenth of the training sets' documents, on which no stage trained, and training sets that "
        "no stage used (nli/mpe.dev, qa/clapnq.dev)",
        "priors": "equal, within each set",
        "command": " ".join(["python -m training.support", *names]),
        "reliability (5-fold)": {
            k: reliability(held[kinds == k], y[kinds == k], weight[kinds == k]) for k in KINDS
        },
        "balanced accuracy at 0.5 (5-fold)": {n: _balanced(held[i], y[i]) for n, i in sorted(by_set.items())},
    }
    (folder / FILE).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    state_hash(folder, folder / FILE)
    print(
        json.dumps(card["coefficients"], indent=1),
        json.dumps(card["balanced accuracy at 0.5 (5-fold)"], indent=1),
    )


def _threshold(log_odds: Floats, y: Floats, weight: Floats) -> float:
    """Where the entailer's own probability, used alone, has the best balanced accuracy on these rows."""
    candidates = np.unique(np.quantile(log_odds, np.linspace(0.02, 0.98, 97)))
    right = [np.average((log_odds >= c) == (y == 1), weights=weight) for c in candidates]
    return round(float(1 / (1 + np.exp(-candidates[int(np.argmax(right))]))), 4)


def _balanced(p: Floats, y: Floats) -> float | None:
    if y.min() == y.max():
        return None
    value = ((p[y == 1] >= 0.5).mean() + (p[y == 0] < 0.5).mean()) / 2
    return None if math.isnan(value) else round(float(value), 4)


if __name__ == "__main__":
    main(sys.argv[1:])

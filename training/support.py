"""Fits verification/support.json: how far each exact check moves the entailer's probability.

In: the part "calibrate" of the training sets (documents and passages that shaped no weights) and the
exported entailer. Out: support.json, with what it was fitted on, and reliability and calibration error
by kind of source under cross-validation. Classes are weighted to equal priors within each set, and each
set counts alike within its kind, so that no set's base rate becomes the verifier's. Signs of
coefficients are bound: a missing number never adds support.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from citewell.models.onnx.entailer import OnnxEntailer
from citewell.sentences import sentence_spans
from citewell.verification.support import COEFFICIENTS, KINDS, SIGNS, features, source_kind
from training.entailer import SEED
from training.grounding import DOCUMENTS
from training.pairs import document_claims, made_items
from training.passages import part_of, passages
from training.sources import load_for_training

Floats = NDArray[np.float64]
MOST = 220  # rows of a document set
MADE_MOST = 45  # rows of a kind of made pair
UNSEEN = ("nli/mpe.dev",)
# Short human-written pairs are all trained on: these in the first stage, some again in the second's replay.
SEEN_ONCE = ("nli/ling_in_loop.train", "nli/healthver.dev", "nli/rte.train")
SEEN_ONCE_MOST = 150
# A coefficient's bounds; features that are not named here are free.
BOUNDS: dict[str, tuple[float | None, float | None]] = {
    "entailment": (0.1, None),
    "names missing": (None, 0.0),
    "numbers absent": (None, 0.0),
    "numbers denied": (None, 0.0),
    **{f"{sign}{how}": (None, 0.0) for sign in SIGNS for how in ("", ", close")},
    **{f"slope {kind}": (-0.5, None) for kind in KINDS},
}


@dataclass(frozen=True, slots=True)
class Example:
    premise: str
    claim: str
    supported: bool
    name: str


def examples() -> list[Example]:
    rng = random.Random(SEED)
    found: list[Example] = []
    for name, (reader, _, _, _) in DOCUMENTS.items():
        rows = [row for row in reader(name) if part_of(row[0]) == "calibrate"]
        rng.shuffle(rows)
        found += [each for row in rows[:MOST] for each in _by_sentence(*row, name)]
    for name in (*UNSEEN, *SEEN_ONCE):
        rows = load_for_training(name)
        rng.shuffle(rows)
        rows = rows[: MOST if name in UNSEEN else SEEN_ONCE_MOST]
        found += [Example(r["premise"], r["hypothesis"], r["label"] == "entailment", name) for r in rows]
    for passage in passages("calibrate", SEED):
        if not passage.questions and len(passage.text) < 4000:
            found += [
                Example(passage.text, claim, label == "entailment", "made/document")
                for claim, label in document_claims(passage, rng)
            ]
    taken: Counter[str] = Counter()
    for item in made_items("calibrate", SEED):
        taken[item.kind] += 1
        if taken[item.kind] <= MADE_MOST:
            many = "chunk" if len(item.windows) > 1 or len(item.windows[0]) > 250 else "sentence"
            premise = item.windows[0]
            found.append(Example(premise, item.claim, item.label == "entailment", f"made/{many}"))
    return found


def _by_sentence(premise: str, claim: str, label: str, name: str) -> list[Example]:
    """A supported summary is as many supported sentences; which of an unsupported one fails is unknown."""
    sentences = [claim[a:b] for a, b in sentence_spans(claim)]
    if len(sentences) > 1 and label != "entailment":
        return []
    return [Example(premise, s, label == "entailment", name) for s in sentences[:3] if len(s.split()) > 2]


def design(rows: Sequence[Example], entailer: OnnxEntailer) -> tuple[Floats, list[str], list[Example]]:
    """The matrix of features with an intercept and a slope for each kind; rows that were not checked are
    left out.
    """
    results = entailer.entail([(row.premise, row.claim) for row in rows])
    kept, lines, names = [], [], []
    for row, result in zip(rows, results, strict=True):
        if result.unchecked:
            continue
        values = features(row.premise, row.claim, result)
        kind = source_kind(row.premise)
        line = dict(values)
        for each in KINDS:
            line[f"intercept {each}"] = float(each == kind)
            line[f"slope {each}"] = values["entailment"] * (each == kind)
        names = list(line)
        lines.append(list(line.values()))
        kept.append(row)
    return np.array(lines), names, kept


def equal_weights(rows: Sequence[Example]) -> Floats:
    """Supported and unsupported weigh the same in every set; a set weighs by the root of its size."""
    count = Counter((row.name, row.supported) for row in rows)
    size = Counter(row.name for row in rows)
    weight = np.array([math.sqrt(size[row.name]) / count[row.name, row.supported] for row in rows])
    return weight / weight.mean()


def fit(x: Floats, y: Floats, weight: Floats, names: Sequence[str], penalty: float = 0.002) -> Floats:
    free = np.array([not name.startswith("intercept") for name in names], dtype=float)

    def loss(beta: Floats) -> tuple[float, Floats]:
        z = x @ beta
        value = (weight * (np.logaddexp(0.0, z) - y * z)).mean() + penalty * (free * beta**2).sum() / 2
        gradient = x.T @ (weight * (1 / (1 + np.exp(-z)) - y)) / len(y) + penalty * free * beta
        return float(value), gradient

    bounds = [BOUNDS.get(name, (None, None)) for name in names]
    start = np.array([1.0 if name == "entailment" else 0.0 for name in names])
    return minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x


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


def main() -> None:
    entailer = OnnxEntailer()
    x, names, rows = design(examples(), entailer)
    y = np.array([row.supported for row in rows], dtype=float)
    weight = equal_weights(rows)
    fold = np.array([int.from_bytes(row.premise.encode()[:64], "little") % 5 for row in rows])
    held = np.zeros(len(y))
    for k in range(5):
        beta = fit(x[fold != k], y[fold != k], weight[fold != k], names)
        held[fold == k] = 1 / (1 + np.exp(-x[fold == k] @ beta))
    beta = fit(x, y, weight, names)
    kinds = np.array([source_kind(row.premise) for row in rows])
    by_set: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        by_set[row.name].append(i)
    card = {
        "coefficients": {name: round(float(b), 5) for name, b in zip(names, beta, strict=True)},
        "entailer": {
            "id": entailer.maker.name,
            "hash": entailer.maker.hash,
            "threshold": _threshold(x[:, names.index("entailment")], y, weight),
        },
        "fitted_on": {name: len(index) for name, index in sorted(by_set.items())},
        "part": "a tenth of the training sets' documents, none of which shaped the weights; "
        "and pairs that stage 1 trained on, some of them again in stage 2, so not held out: "
        + ", ".join(SEEN_ONCE),
        "priors": "equal, within each set",
        "command": "python -m training.support",
        "reliability (5-fold)": {
            k: reliability(held[kinds == k], y[kinds == k], weight[kinds == k]) for k in KINDS
        },
        "balanced accuracy at 0.5 (5-fold)": {n: _balanced(held[i], y[i]) for n, i in sorted(by_set.items())},
    }
    COEFFICIENTS.write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
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
    main()

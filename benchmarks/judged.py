"""Sets with human judgements of "does this text support this claim" in one shape, and measures over them.

In: CITEWELL_DATA. Out: Judged rows, sampled with a seed; balanced accuracy and AUROC with n and a bootstrap
interval. None of these sets shaped the weights or the thresholds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from training.sources import Row, load

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
SEED = 7
DRAWS = 1000

# name -> the set's file; the mean over these grounding sets is the headline.
GROUNDING = {
    "WiCE (oracle chunk)": "nli/wice_claim_oraclechunk.dev",
    "BEGIN": "nli/begin.dev",
    "QAGS (CNN/DM)": "nli/qags_cnndm.test",
    "SummEval": "nli/summeval.test",
    "CLIFF": "rag/cliff.all",
    "factcheck_gpt": "nli/factcheck_gpt.test",
    "FoolMeTwice": "nli/foolmetwice.dev",
    "FEVER-symmetric": "nli/fever_symmetric.dev",
}
OTHERS = {
    "climate-fever (sentence)": "nli/climate_fever.test",
    "ANLI r1": "nli/anli_r1.dev",
    "ANLI r3": "nli/anli_r3.dev",
    "ConTRoL": "nli/control.dev",
    "ContractNLI (evidence)": "nli/contractnli_evidence.dev",
    "InfoTabS dev": "nli/infotabs.dev",
    "InfoTabS alpha1": "nli/infotabs.test_alpha1",
    "TabFact pairs": "nli/tabfact_pairs.dev",
    "SEM-TAB-FACTS": "nli/semtabfacts.dev",
    "NLI4CT": "nli/nli4ct.dev",
    "FEVER triggers": "nli/fever_triggers.test",
    "Negation (RTE)": "nli/negnli_rte.test",
    "Negation (SNLI)": "nli/negnli_snli.test",
    "Sub-clausal negation": "nli/nan_nli.test",
    "ling_in_loop val (MNLI)": "nli/ling_in_loop.val",
    "SciFact": "nli/scifact_rte.dev",
    "AVeriTeC": "nli/averitec.dev",
    "COVID-Fact": "nli/covidfact.dev",
    "WiCE (whole document)": "nli/wice_claim_fulldoc.dev",
    "ContractNLI (whole contract)": "nli/contractnli_fulldoc.dev",
    "TabFact dev": "nli/tabfact.dev",
    "MCTest statements": "nli/mctest_statements.dev",
    "SICK": "nli/sick.dev",
}
LEFT_OUT = {
    "AttributionBench dev": "trained on, but for its rows of BEGIN",
    "WiCE tokens": "labels words, not claims",
    "IMPPRES": "sentences from templates, under no source",
}
SETS = GROUNDING | OTHERS


@dataclass(frozen=True, slots=True)
class Judged:
    """`label` is the set's own label, where it has more than two."""

    premise: str
    claim: str
    supported: bool
    label: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """Balanced accuracy at a threshold and AUROC, each with its 95 % bootstrap interval; the share of
    unsupported claims caught and of supported ones flagged; n rows, `unscored` ones excluded.
    """

    balanced_accuracy: float
    low: float
    high: float
    auroc: float
    auroc_low: float
    auroc_high: float
    caught: float
    alarmed: float
    n: int
    unscored: int = 0


def judged(name: str, most: int) -> list[Judged]:
    """At most `most` rows, the same ones every time."""
    rows = [_row(row) for row in load(SETS[name])]
    random.Random(f"{SEED}/{name}").shuffle(rows)
    return rows[:most]


def _row(row: Row) -> Judged:
    if "response" in row:
        return Judged(row["context"], row["response"], row["label"] == "faithful")
    return Judged(row["premise"], row["hypothesis"], row["label"] == "entailment", row["label"])


def score(values: Sequence[float | None], truth: Sequence[bool], threshold: float) -> Score:
    p, y = _scored(values, truth)
    low, high = np.nanquantile(_draws(p, y, threshold), [0.025, 0.975])
    areas = [auroc(p[i], y[i]) for i in _places(len(y)) if 0 < y[i].sum() < len(y)]
    auroc_low, auroc_high = np.quantile(areas, [0.025, 0.975])
    return Score(
        balanced_accuracy=balanced(p, y, threshold),
        low=float(low),
        high=float(high),
        auroc=auroc(p, y),
        auroc_low=float(auroc_low),
        auroc_high=float(auroc_high),
        caught=float((p[~y] < threshold).mean()),
        alarmed=float((p[y] < threshold).mean()),
        n=len(y),
        unscored=len(values) - len(y),
    )


def mean_interval(
    sets: Sequence[tuple[Sequence[float | None], Sequence[bool]]], threshold: float
) -> tuple[float, float]:
    """95 % interval of the mean balanced accuracy over sets, resampling rows within each set."""
    draws = np.array([_draws(*_scored(values, truth), threshold) for values, truth in sets])
    low, high = np.nanquantile(draws.mean(axis=0), [0.025, 0.975])
    return float(low), float(high)


def difference(
    first: Sequence[float | None], second: Sequence[float | None], truth: Sequence[bool], threshold: float
) -> tuple[float, float, float]:
    """Balanced accuracy of the second minus that of the first on the same rows, with its 95 % interval."""
    both = [
        (a, b, t) for a, b, t in zip(first, second, truth, strict=True) if a is not None and b is not None
    ]
    p, q = np.array([a for a, _, _ in both]), np.array([b for _, b, _ in both])
    y = np.array([t for *_, t in both], dtype=bool)
    draws = [balanced(q[i], y[i], threshold) - balanced(p[i], y[i], threshold) for i in _places(len(y))]
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return balanced(q, y, threshold) - balanced(p, y, threshold), float(low), float(high)


def _scored(values: Sequence[float | None], truth: Sequence[bool]) -> tuple[Floats, Bools]:
    kept = [(v, t) for v, t in zip(values, truth, strict=True) if v is not None]
    return np.array([v for v, _ in kept]), np.array([t for _, t in kept], dtype=bool)


def _draws(p: Floats, y: Bools, threshold: float) -> list[float]:
    return [balanced(p[i], y[i], threshold) for i in _places(len(y))]


def _places(n: int) -> NDArray[np.int64]:
    """Row indices resampled with replacement, one line per draw; the same every time."""
    return np.random.default_rng(SEED).integers(0, n, (DRAWS, n))


def balanced(p: Floats, y: Bools, threshold: float) -> float:
    if y.all() or not y.any():
        return float("nan")
    return float(((p[y] >= threshold).mean() + (p[~y] < threshold).mean()) / 2)


def auroc(p: Floats, y: Bools) -> float:
    """The probability that a supported row ranks above an unsupported one; ties count half."""
    _, inverse, counts = np.unique(p, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = int(y.sum())
    return float((ranks[y].sum() - positive * (positive + 1) / 2) / (positive * (len(y) - positive)))

"""Verification on sets that shaped nothing: four ways to judge, side by side. `python -m
benchmarks.verification`.

In: CITEWELL_DATA; `--rows N` most rows of a grounding set, `--others N` of another, `--edits N` edits a
kind; CITEWELL_REMEMBERED, a folder that keeps model outputs between runs. Out:
docs/measurements/verification.md and .json: balanced accuracy at thresholds fixed beforehand (overlap 0.3
and cosine 0.8 as the field uses them, the entailer's on calibration data, the full verifier's 0.5 by
construction), AUROC, 95 % bootstrap intervals; what is caught and falsely alarmed about; single edits;
splitting; which claims are said to be contradicted; reliability by kind of source.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.judged import GROUNDING, SETS, Judged, Score, judged, mean_interval, score
from benchmarks.remembered import RememberingEntailer, cosines
from benchmarks.swaps import swaps
from benchmarks.verification_page import write
from benchmarks.verification_splitting import Splitting, splitting
from citewell.core.ports import Entailer
from citewell.core.records import Status
from citewell.core.sentences import sentence_spans
from citewell.core.weights import WEIGHTS
from citewell.models.onnx.embedder import OnnxEmbedder
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.verification.evidence import ClaimEvidence, as_evidence, source_kind
from citewell.verification.support import calibration_card
from citewell.verification.verifier import Verifier
from citewell.verification.words import overlap

Values = list[float | None]
Method = Callable[[Sequence[Judged], Entailer], Values]
VERIFIER = "full verifier"
FEWER = {"SummEval": 400}  # its summaries have four sentences, each checked in six windows of an article


@dataclass(slots=True)
class Results:
    """The data for the page; plain values, so that it can be stored as JSON."""

    entailer: str
    command: str
    rows: int
    others: int
    fewer: dict[str, int]
    thresholds: dict[str, float]
    sets: dict[str, dict[str, Score]] = field(default_factory=dict)
    means: dict[str, tuple[float, float, float, float]] = field(default_factory=dict)
    edits: dict[str, dict[str, Score]] = field(default_factory=dict)
    splitting: list[Splitting] = field(default_factory=list)
    contradicted: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    calibration: dict[str, dict[str, object]] = field(default_factory=dict)


def by_overlap(rows: Sequence[Judged], _: Entailer) -> Values:
    return [overlap(row.claim, row.premise) for row in rows]


def by_cosine(rows: Sequence[Judged], _: Entailer) -> Values:
    usable = [bool(row.premise.strip() and row.claim.strip()) for row in rows]
    pairs = [(row.claim, row.premise) for row, ok in zip(rows, usable, strict=True) if ok]
    found = iter(cosines(OnnxEmbedder(), pairs))
    return [next(found) if ok else None for ok in usable]


def by_entailer(rows: Sequence[Judged], entailer: Entailer) -> Values:
    """The entailer's own rule for a claim of several sentences: the least entailed one. Asked sentence by
    sentence, because the full verifier asks the same."""
    asked = _sentences(rows)
    results = entailer.entail([(row.premise, text) for row, text in asked])
    return _least(rows, asked, [result.entailment for result in results])


def by_verifier(rows: Sequence[Judged], entailer: Entailer) -> Values:
    """Support of the least supported sentence of each claim; None if nothing could be checked."""
    asked = _sentences(rows)
    verdicts = Verifier(entailer).verify_many(
        [ClaimEvidence(claim=text, evidence=(as_evidence(row.premise),)) for row, text in asked]
    )
    return _least(rows, asked, [verdict.support for verdict in verdicts])


def _sentences(rows: Sequence[Judged]) -> list[tuple[Judged, str]]:
    return [(row, row.claim[a:b]) for row in rows for a, b in sentence_spans(row.claim)]


def _least(rows: Sequence[Judged], asked: Sequence[tuple[Judged, str]], found: Values) -> Values:
    least: dict[int, float] = {}
    for (row, _), value in zip(asked, found, strict=True):
        if value is not None:
            least[id(row)] = min(value, least.get(id(row), 1.0))
    return [least.get(id(row)) for row in rows]


METHODS: dict[str, Method] = {
    "word overlap": by_overlap,
    "embedding cosine": by_cosine,
    "entailer": by_entailer,
    VERIFIER: by_verifier,
}


def thresholds() -> dict[str, float]:
    fitted = float(calibration_card(WEIGHTS / "entailer")["entailer"]["threshold"])
    return dict(zip(METHODS, (0.3, 0.8, fitted, 0.5), strict=True))


def measure(rows: Sequence[Judged], entailer: Entailer) -> dict[str, Values]:
    return {name: method(rows, entailer) for name, method in METHODS.items()}


def scored(values: dict[str, Values], rows: Sequence[Judged]) -> dict[str, Score]:
    truth = [row.supported for row in rows]
    return {name: score(values[name], truth, limit) for name, limit in thresholds().items()}


def contradicted(rows: Sequence[Judged], entailer: Entailer) -> dict[str, dict[str, int]]:
    """By the set's label: how many one-sentence claims are called contradicted, and out of how many."""
    single = [row for row in rows if len(sentence_spans(row.claim)) == 1]
    verdicts = Verifier(entailer).verify_many(
        [ClaimEvidence(claim=row.claim, evidence=(as_evidence(row.premise),)) for row in single]
    )
    total = Counter(row.label for row in single)
    said = Counter(
        row.label
        for row, verdict in zip(single, verdicts, strict=True)
        if verdict.status is Status.CONTRADICTED
    )
    return {label: {"said": said[label], "of": total[label]} for label in sorted(total)}


def calibration(pairs: Sequence[tuple[Judged, float | None]], bins: int = 10) -> dict[str, object]:
    """Reliability at equal priors: for each bin of predicted support, the share that was supported."""
    p = np.array([v for _, v in pairs if v is not None])
    y = np.array([r.supported for r, v in pairs if v is not None])
    weight = np.where(y, 0.5 / max(1, y.sum()), 0.5 / max(1, (~y).sum()))
    place = np.minimum((p * bins).astype(int), bins - 1)
    curve = [
        {
            "predicted": float(np.average(p[m], weights=weight[m])),
            "observed": float(np.average(y[m], weights=weight[m])),
            "share": float(weight[m].sum()),
            "n": int(m.sum()),
        }
        for b in range(bins)
        if (m := place == b).any()
    ]
    ece = sum(point["share"] * abs(point["predicted"] - point["observed"]) for point in curve)
    return {"n": len(y), "ece": ece, "curve": curve}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1500, help="most rows of a grounding set")
    parser.add_argument("--others", type=int, default=300, help="most rows of another set")
    parser.add_argument("--edits", type=int, default=200, help="edits of each kind")
    parser.add_argument("--only", nargs="*", default=list(SETS))
    arguments = parser.parse_args()
    entailer = RememberingEntailer(OnnxEntailer())
    command = " ".join(["python -m benchmarks.verification", *sys.argv[1:]])
    results = Results(entailer.maker.hash, command, arguments.rows, arguments.others, FEWER, thresholds())
    grounding: dict[str, tuple[list[Judged], dict[str, Values]]] = {}
    pooled: dict[str, list[tuple[Judged, float | None]]] = {}
    for name in arguments.only:
        most = min(arguments.rows, FEWER.get(name, arguments.rows)) if name in GROUNDING else arguments.others
        rows = judged(name, most)
        values = measure(rows, entailer)
        results.sets[name] = scored(values, rows)
        told = {k: (round(s.balanced_accuracy, 3), round(s.auroc, 3)) for k, s in results.sets[name].items()}
        print(name, len(rows), told, flush=True)
        if name in GROUNDING:
            grounding[name] = rows, values
        if name in GROUNDING or "Tab" in name or "TAB" in name:
            for row, value in zip(rows, values[VERIFIER], strict=True):
                pooled.setdefault(source_kind(row.premise), []).append((row, value))
        if {row.label for row in rows} >= {"entailment", "neutral", "contradiction"}:
            results.contradicted[name] = contradicted(rows, entailer)
    results.means = means(results, grounding)
    results.edits = {
        kind: scored(measure(rows, entailer), rows) for kind, rows in swaps(arguments.edits).items() if rows
    }
    results.calibration = {kind: calibration(pairs) for kind, pairs in pooled.items()}
    rows = [row for kept, _ in grounding.values() for row in kept]
    support = [value for _, values in grounding.values() for value in values[VERIFIER]]
    results.splitting = splitting(rows, support)
    write(results)


def means(
    results: Results, grounding: dict[str, tuple[list[Judged], dict[str, Values]]]
) -> dict[str, tuple[float, float, float, float]]:
    """Mean balanced accuracy with its interval, and mean AUROC, over the grounding sets."""
    found = {}
    for name, limit in results.thresholds.items():
        if not grounding:
            continue
        sets = [(values[name], [row.supported for row in rows]) for rows, values in grounding.values()]
        line = [results.sets[each][name] for each in grounding]
        low, high = mean_interval(sets, limit)
        balanced = float(np.mean([s.balanced_accuracy for s in line]))
        found[name] = (balanced, low, high, float(np.mean([s.auroc for s in line])))
    return found


if __name__ == "__main__":
    main()

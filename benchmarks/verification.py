"""Verification on sets that shaped nothing: four ways to judge, side by side. `python -m
benchmarks.verification`.

In: CITEWELL_DATA; `--rows N` most rows of a grounding set. Out: docs/measurements/verification.md and
.json: balanced accuracy at thresholds fixed beforehand (overlap 0.3 and cosine 0.8 as the field uses
them, the entailer's on calibration data, the full verifier's 0.5 by construction), AUROC, n, 95 %
bootstrap interval; single-edit swaps; reliability by source kind.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.judged import GROUNDING, SETS, Judged, Score, judged, score
from benchmarks.swaps import swaps
from citewell.models.onnx.embedder import OnnxEmbedder
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.ports import Entailer
from citewell.records import Entailment
from citewell.sentences import sentence_spans
from citewell.verification.evidence import as_evidence
from citewell.verification.signals import overlap
from citewell.verification.support import calibration_card, source_kind
from citewell.verification.verifier import Question, Verifier

OUT = Path(__file__).parents[1] / "docs/measurements/verification"
Values = list[float | None]
Method = Callable[[Sequence[Judged], Entailer], Values]


class Remembering:
    """An entailer that answers a pair it has seen from memory: the methods share their questions."""

    def __init__(self, entailer: Entailer) -> None:
        self.maker = entailer.maker
        self._entailer = entailer
        self._known: dict[tuple[str, str], Entailment] = {}

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        new = list(dict.fromkeys(pair for pair in pairs if pair not in self._known))
        self._known.update(zip(new, self._entailer.entail(new), strict=True))
        return [self._known[pair] for pair in pairs]


def by_overlap(rows: Sequence[Judged], _: Entailer) -> Values:
    return [overlap(row.claim, row.premise) for row in rows]


def by_cosine(rows: Sequence[Judged], _: Entailer) -> Values:
    embedder = OnnxEmbedder()
    usable = [bool(row.premise.strip() and row.claim.strip()) for row in rows]
    claims = iter(embedder.embed([r.claim for r, ok in zip(rows, usable, strict=True) if ok]))
    premises = iter(embedder.embed([r.premise for r, ok in zip(rows, usable, strict=True) if ok]))
    return [float(next(claims) @ next(premises)) if ok else None for ok in usable]


def by_entailer(rows: Sequence[Judged], entailer: Entailer) -> Values:
    return [result.entailment for result in entailer.entail([(row.premise, row.claim) for row in rows])]


def by_verifier(rows: Sequence[Judged], entailer: Entailer) -> Values:
    """Support of the least supported sentence of each claim; None where nothing could be checked."""
    sentences = [(row, row.claim[a:b]) for row in rows for a, b in sentence_spans(row.claim)]
    verdicts = Verifier(entailer).verify_many(
        [Question(claim=text, evidence=(as_evidence(row.premise),)) for row, text in sentences]
    )
    least: dict[int, float] = {}
    for (row, _), verdict in zip(sentences, verdicts, strict=True):
        if verdict.support is not None:
            least[id(row)] = min(verdict.support, least.get(id(row), 1.0))
    return [least.get(id(row)) for row in rows]


def methods() -> dict[str, tuple[Method, float]]:
    return {
        "word overlap": (by_overlap, 0.3),
        "embedding cosine": (by_cosine, 0.8),
        "entailer": (by_entailer, calibration_card()["entailer"]["threshold"]),
        "full verifier": (by_verifier, 0.5),
    }


def measure(rows: Sequence[Judged], entailer: Entailer) -> tuple[dict[str, Score], Values]:
    """Each method's score, and the full verifier's probabilities."""
    truth = [row.supported for row in rows]
    values = {name: (method(rows, entailer), limit) for name, (method, limit) in methods().items()}
    scores = {name: score(found, truth, limit) for name, (found, limit) in values.items()}
    return scores, values["full verifier"][0]


def calibration(rows: Sequence[Judged], values: Values, bins: int = 10) -> dict[str, object]:
    """Reliability at equal priors: within bins of predicted support, the share that was supported."""
    p = np.array([v for v in values if v is not None])
    y = np.array([r.supported for r, v in zip(rows, values, strict=True) if v is not None])
    weight = np.where(y, 0.5 / max(1, y.sum()), 0.5 / max(1, (~y).sum()))
    place = np.minimum((p * bins).astype(int), bins - 1)
    curve = [
        {
            "predicted": float(np.average(p[m], weights=weight[m])),
            "observed": float(np.average(y[m], weights=weight[m])),
        }
        | {"share": float(weight[m].sum()), "n": int(m.sum())}
        for b in range(bins)
        if (m := place == b).any()
    ]
    ece = sum(point["share"] * abs(point["predicted"] - point["observed"]) for point in curve)
    return {"n": len(y), "ece": ece, "curve": curve}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300, help="most rows of a grounding set")
    parser.add_argument("--others", type=int, default=200, help="most rows of another set")
    parser.add_argument("--only", nargs="*", default=list(SETS))
    arguments = parser.parse_args()
    entailer = Remembering(OnnxEntailer())
    table: dict[str, dict[str, Score]] = {}
    pooled: dict[str, list[tuple[Judged, float | None]]] = {}
    for name in arguments.only:
        rows = judged(name, arguments.rows if name in GROUNDING else arguments.others)
        table[name], values = measure(rows, entailer)
        print(
            name,
            {k: (round(s.balanced_accuracy, 3), round(s.auroc, 3)) for k, s in table[name].items()},
            flush=True,
        )
        if name in GROUNDING or "Tab" in name:
            for row, value in zip(rows, values, strict=True):
                pooled.setdefault(source_kind(row.premise), []).append((row, value))
    edited = {kind: measure(rows, entailer)[0] for kind, rows in swaps(150).items() if rows}
    curves = {
        kind: calibration([r for r, _ in pairs], [v for _, v in pairs]) for kind, pairs in pooled.items()
    }
    write(table, edited, curves, entailer.maker.hash, arguments.rows)


def write(
    table: dict[str, dict[str, Score]],
    edited: dict[str, dict[str, Score]],
    curves: dict[str, dict[str, object]],
    entailer: str,
    rows: int,
) -> None:
    OUT.parent.mkdir(parents=True, exist_ok=True)
    plain = {
        "entailer": entailer,
        "rows_at_most": rows,
        "sets": {n: {k: asdict(s) for k, s in line.items()} for n, line in table.items()},
        "single_edits": {n: {k: asdict(s) for k, s in line.items()} for n, line in edited.items()},
        "calibration": curves,
    }
    OUT.with_suffix(".json").write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    parts = [
        "# Verification\n",
        f"Balanced accuracy (95 % bootstrap interval) / AUROC; at most {rows} rows a set, drawn with a seed;",
        "none of these sets shaped the weights, the coefficients or the thresholds. Thresholds: "
        + ", ".join(f"{name} {limit:.2f}" for name, (_, limit) in methods().items()) + ".",
        f"Entailer `{entailer}`. Made by `python -m benchmarks.verification`.\n",
        *_lines({n: table[n] for n in GROUNDING if n in table}, "grounding set", mean=True),
        "\n## Other sets\n",
        *_lines({n: line for n, line in table.items() if n not in GROUNDING}, "set"),
        "\n## One thing changed in a real sentence\n",
        "The checks of names were written with misses on these very edits in view, "
        "so entities and roles flatter.\n",
        *_lines(edited, "what changed"),
        "\n## Calibration of the full verifier, at equal priors\n",
        "Pooled over the grounding and table sets above.\n",
        "| source kind | n | ECE |\n|---|---|---|",
        *(f"| {kind} | {curve['n']} | {curve['ece']:.3f} |" for kind, curve in curves.items()),
    ]  # fmt: skip
    OUT.with_suffix(".md").write_text("\n".join(parts) + "\n", encoding="utf-8")


def _lines(table: dict[str, dict[str, Score]], head: str, *, mean: bool = False) -> list[str]:
    if not table:
        return []
    names = list(next(iter(table.values())))
    lines = [f"| {head} | n | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for name, line in table.items():
        cells = [
            f"{s.balanced_accuracy:.3f} ({s.low:.2f}–{s.high:.2f}) / {s.auroc:.2f}" for s in line.values()
        ]
        lines.append(f"| {name} | {next(iter(line.values())).n} | " + " | ".join(cells) + " |")
    if mean:
        means = [np.mean([line[n].balanced_accuracy for line in table.values()]) for n in names]
        aurocs = [np.mean([line[n].auroc for line in table.values()]) for n in names]
        cells = [f"**{m:.3f}** / {a:.2f}" for m, a in zip(means, aurocs, strict=True)]
        lines.append("| **mean** | | " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    main()

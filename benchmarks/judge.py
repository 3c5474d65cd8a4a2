"""The judge alone, and with the small entailer as `embedded` is, on claims that shaped neither.
`python -m benchmarks.judge`.

In: CITEWELL_DATA, `citewell-judge` installed; CITEWELL_REMEMBERED keeps model outputs between runs. Out:
docs/measurements/judge: the grounding sets, plain statements, overstatements, the written examples that are
kept for reporting by how they were made, what each exact check still buys with both, and what five claims of
three spans each cost.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from training.examples import passages

from benchmarks.batteries import share
from benchmarks.judged import GROUNDING, Score, auroc, judged, mean_interval, score
from benchmarks.model_speed import CLAIMS, SPANS, questions, wall
from benchmarks.remembered import RememberingEntailer
from benchmarks.reporting import table, write
from benchmarks.rules import SEED, Case, compared, edits, plain, summed, tables, verified, without, written
from benchmarks.verification import VERIFIER, by_entailer, by_verifier
from citewell.core.ports import Entailer
from citewell.core.weights import WEIGHTS, judge_folder
from citewell.models.naming import entailer_named
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.models.panel import JointEntailer
from citewell.verification.objections import OBJECTIONS
from citewell.verification.support import calibration_card
from citewell.verification.verifier import Verifier

ALONE = "alone"
WRITTEN = 800
"""Written claims at most."""


def grounding(alone: Entailer, full: Entailer, rows: int, border: float) -> dict[str, Any]:
    """Scores of the entailer ``alone`` and of the full verifier with ``full``, by set, and their means."""
    sets: dict[str, dict[str, Score]] = {}
    kept: dict[str, list[tuple[Any, list[bool]]]] = {ALONE: [], VERIFIER: []}
    for name in GROUNDING:
        found = judged(name, rows)
        truth = [row.supported for row in found]
        values = {ALONE: by_entailer(found, alone), VERIFIER: by_verifier(found, full)}
        borders = {ALONE: border, VERIFIER: 0.5}
        sets[name] = {how: score(values[how], truth, borders[how]) for how in values}
        for how in values:
            kept[how].append((values[how], truth))
        line = {how: (round(s.balanced_accuracy, 3), round(s.auroc, 3)) for how, s in sets[name].items()}
        print(name, len(found), line, flush=True)
    means = {
        how: (
            float(np.mean([sets[name][how].balanced_accuracy for name in sets])),
            *mean_interval(kept[how], border if how == ALONE else 0.5),
            float(np.mean([sets[name][how].auroc for name in sets])),
        )
        for how in kept
    }
    return {"sets": sets, "means": means}


def few(cases: Sequence[Case], most: int) -> list[Case]:
    """The cases of at most ``most`` claims, chosen at random."""
    units = sorted({one.unit for one in cases})
    kept = set(random.Random(SEED).sample(units, min(most, len(units))))
    return [one for one in cases if one.unit in kept]


def by_making(entailer: RememberingEntailer, most: int) -> tuple[float, list[tuple[str, str, str]]]:
    """AUROC of the entailer's own probability on the written examples kept for reporting; and how often it is
    on the right side of one half, by how the claim was made."""
    kept = [(p, s) for p in passages() if p.part == "report" for s in p.statements]
    random.Random(SEED).shuffle(kept)
    kept = kept[:most]
    said = entailer.entail([(f"{p.title}\n{s.premise}", s.claim) for p, s in kept])
    right: dict[str, list[bool]] = {}
    values = np.array([one.entailment or 0.0 for one in said])
    truth = np.array([s.label == "entailment" for _, s in kept])
    for (_, statement), value, true in zip(kept, values, truth, strict=True):
        right.setdefault(statement.tag, []).append(bool((value >= 0.5) == true))
    common = sorted(((n, tag) for tag, n in ((t, len(r)) for t, r in right.items()) if n >= 40), reverse=True)
    rows = [(tag, str(n), f"{np.mean(right[tag]):.2f}") for n, tag in common]
    return float(auroc(values, truth)), [
        ("all", str(len(kept)), f"{np.mean((values >= 0.5) == truth):.2f}"),
        *rows,
    ]


def passed(units: Mapping[str, bool], truth: Mapping[str, bool], wanted: bool, prefix: str) -> str:
    seen = [units[unit] for unit, good in truth.items() if good is wanted and unit.startswith(prefix)]
    return share(sum(seen), len(seen))


def milliseconds(entailer: Entailer) -> float:
    checker = Verifier(entailer)
    return wall(SPANS, lambda spans: checker.verify_many(questions(spans)))["p50_ms"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=100, help="most rows of a grounding set")
    parser.add_argument("--claims", type=int, default=WRITTEN, help="most claims of each other kind")
    told = parser.parse_args()
    rows, most = told.rows, told.claims
    folder = judge_folder()
    if folder is None:
        raise SystemExit("citewell-judge is not installed: pip install -e ./judge")
    small, judge = RememberingEntailer(OnnxEntailer()), RememberingEntailer(OnnxEntailer(folder))
    both = JointEntailer([small, judge])
    border = float(calibration_card(folder)["entailer"]["threshold"])
    speed = {"small": milliseconds(OnnxEntailer()), "both": milliseconds(entailer_named("embedded"))}
    print(speed, flush=True)
    area, made = by_making(judge, most)
    print(area, made, flush=True)
    cases: dict[str, Sequence[Case]] = {
        "plain statements, overstatements": few(plain(), most),
        "new texts": written(most),
        "single edits": few(edits(20), most),
        "tables": few(tables(60), most),
    }
    truth = {name: {one.unit: one.supported for one in found} for name, found in cases.items()}
    base = without("", cases, both)
    beside = {name: verified(found, Verifier(small)) for name, found in cases.items()}
    checks = {
        name: summed(compared(base, without(name, cases, both), truth))
        for name in (*OBJECTIONS, "every objection")
    }
    found = grounding(judge, both, rows, border)
    before = grounding(
        small, small, rows, float(calibration_card(WEIGHTS / "entailer")["entailer"]["threshold"])
    )
    values = {
        "model": judge.maker.hash,
        "small": small.maker.hash,
        "border": border,
        **found,
        "small entailer": before,
        "checks": checks,
        "written": {"auroc": area, "by making": made},
        "five claims x three spans, ms": speed,
    }
    body = page(found, before, truth, base, beside, checks, values, rows, most)
    write("judge", "The judge", body, json.loads(json.dumps(values, default=asdict)))


def page(
    found: Mapping[str, Any],
    before: Mapping[str, Any],
    truth: Mapping[str, Mapping[str, bool]],
    base: Mapping[str, Mapping[str, bool]],
    beside: Mapping[str, Mapping[str, bool]],
    checks: Mapping[str, Mapping[str, Any]],
    values: Mapping[str, Any],
    rows: int,
    most: int,
) -> str:
    def cell(line: Score) -> str:
        return "{balanced_accuracy:.3f} ({low:.2f}–{high:.2f}) / {auroc:.2f}".format(**asdict(line))

    lines = [
        (
            name,
            str(line[ALONE].n),
            cell(before["sets"][name][VERIFIER]),
            cell(line[ALONE]),
            cell(line[VERIFIER]),
        )
        for name, line in found["sets"].items()
    ]
    means = [before["means"][VERIFIER], found["means"][ALONE], found["means"][VERIFIER]]
    lines.append(
        ("**mean**", "", *(f"**{b:.3f}** ({low:.3f}–{high:.3f}) / {a:.2f}" for b, low, high, a in means))
    )
    both = "plain statements, overstatements"
    told = [
        (
            what,
            passed(beside[name], truth[name], good, prefix),
            passed(base[name], truth[name], good, prefix),
            aim,
        )
        for what, name, good, prefix, aim in (
            ("plain statements, true: verified", both, True, "p", ".75"),
            ("plain statements, untrue: verified", both, False, "p", "at most .20"),
            ("restatements: verified", both, True, "o", ""),
            ("overstatements: verified", both, False, "o", "at most .30"),
            ("written examples, true: verified", "new texts", True, "", ".85"),
            ("written examples, untrue: verified", "new texts", False, "", "at most .15"),
            ("single edits, true: verified", "single edits", True, "", ".95"),
            ("single edits, untrue: verified", "single edits", False, "", "at most .05"),
            ("tables, true: verified", "tables", True, "", ""),
            ("tables, untrue: verified", "tables", False, "", ""),
        )
    ]
    kept = [
        (name, str(row["right"]), str(row["wrong"]), f"[{row['low']:.2f}, {row['high']:.2f}]")
        for name, row in checks.items()
    ]
    speed = values["five claims x three spans, ms"]
    some = "" if most >= WRITTEN else f" --claims {most}"
    return f"""`python -m benchmarks.judge --rows {rows}{some}`: judge `{values["model"]}`,
small entailer `{values["small"]}`.
None of these rows shaped either, or their calibration. Balanced accuracy with its 95 % bootstrap interval and
AUROC, at most {rows} rows a set; the judge alone at {values["border"]:.2f}, the full verifier at 0.50.

{table(("grounding set", "n", "small, full verifier", "judge alone", "both, full verifier"), lines)}

Claims that the full verifier passes, with exact 95 % intervals:

{table(("", "small", "both", "aimed at"), told)}

Written examples kept for reporting, the judge's own probability at one half
(AUROC {values["written"]["auroc"]:.3f}), by how the claim was made:

{table(("made by", "n", "right"), values["written"]["by making"])}

What each exact check does with both, on the claims of the second table: verdicts that it alone makes
right and wrong, and the exact 95 % interval of the wrong share.

{table(("check", "right", "wrong", "share wrong, 95 %"), kept)}

Five claims under three spans each ({len(CLAIMS) * len(SPANS)} pairs), median: both {speed["both"]:.0f} ms,
small entailer {speed["small"]:.0f} ms, a ratio of {speed["both"] / speed["small"]:.1f}; one run on one
machine."""


if __name__ == "__main__":
    main()

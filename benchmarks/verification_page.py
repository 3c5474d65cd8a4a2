"""Writes docs/measurements/verification.md and .json, every word of them, from the results of a run.

In: Results. Out: the two files. What a reader must know to trust a figure (how rows were drawn, what had
been seen when the rules were written, which figures are flattering) is written here and nowhere else.
Measures nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.judged import GROUNDING, LEFT_OUT, Score
from benchmarks.reporting import code, machine, table
from citewell.core.identity import hash_file
from citewell.core.weights import WEIGHTS
from citewell.verification.support import FILE

if TYPE_CHECKING:
    from benchmarks.verification import Results

OUT = Path(__file__).parents[1] / "docs/measurements/verification"

MEAN, EDIT, AIMED_EDITS = 0.72, 0.95, ("numbers", "dates", "entities", "negation")
"""Targets for the full verifier: mean balanced accuracy, and that on single edits of these kinds."""

INTRODUCTION = """\
Four ways to decide whether a text supports a claim, on sets with human labels.
Balanced accuracy with its 95 %
bootstrap interval / AUROC with its own. Thresholds were fixed before these rows were judged: {thresholds}.
Entailer `{entailer}`; exact checks of commit `{code}`.

Made from start to end by `{command}`: at most {rows} rows of a grounding set{fewer}
and {others} of another, drawn with a seed. None of these sets was used to fit the weights, the coefficients
or the thresholds. A claim of several sentences is supported as much as its least supported sentence."""

CAVEATS = """\
Caveats:

- The grounding sets were looked at while earlier versions were built. The weights, the mix of checkpoints
  and the support model in use now were chosen on held-out documents of training sets (`training/heldout.py`),
  not here, but what was worth trying was partly learnt from earlier figures on these sets.
- Summaries of CNN/DailyMail and XSum are in training too (other documents; rows whose document, claim or
  premise stands in a measured set are dropped before training).
- QAGS, SummEval and CLIFF judge long texts: the entailer reads at most six windows of a text for a sentence
  (of a table, six for each part of its head).
- One choice was made after these sets had been seen: statements made from QAMR were removed from the held-out
claims that fit the support model, when they turned out not to be sentences (mean .662 with them, .669
without). - Every short human-written pair was trained on in the first stage, so hardly any held-out claim has
a single sentence as its source: the threshold is least certain there (see the calibration error).
- Sets with few unsupported rows (SummEval) have wide intervals at equal priors."""

EDITS = """\
Sentences of {documents}, each with one thing changed, under the sentence and its neighbours; supported
claims are the sentence as written or shortened. The checks of names were written on training passages; no
sentence of these documents was looked at. The edits are made by the same code that makes training pairs
from other texts, so these figures measure care with details, not generality."""

DETECTION = """\
The widely quoted table (cosine under 0.8 catches 42 % of unsupported claims with 15 % false alarms, an LLM
judge 78 / 8, claim-by-claim verification 92 / 3) does not name its data. Here is the same comparison on the
rows above: how many of the unsupported claims does each method catch, and on how many supported ones does it
raise an alarm? Means over the {sets} grounding sets, on the rows of the first table; n and exact intervals,
and a language model as judge, are in [detectors](detectors.md)."""

SPLITTING = """\
Only rows that the cut changes, pooled over the grounding sets; the full verifier, border 0.5."""

CONTRADICTED = """\
Single-sentence claims that the verifier calls contradicted, by the set's own label. A contradiction
withholds a whole answer, so what counts is the middle column: claims that are merely not in the text."""

CALIBRATION = """\
The full verifier's probability at equal priors, pooled over the grounding and table sets above: the mean
probability in ten bins, and the share of rows in the bin that is supported."""


def write(results: Results) -> None:
    OUT.parent.mkdir(parents=True, exist_ok=True)
    plain = {
        "machine": machine(),
        "code": code(),
        "support": hash_file(WEIGHTS / "entailer" / FILE),
        **asdict(results),
    }
    OUT.with_suffix(".json").write_text(
        json.dumps(plain, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    OUT.with_suffix(".md").write_text("\n\n".join(_parts(results)) + "\n", encoding="utf-8")


def _parts(results: Results) -> list[str]:
    from benchmarks.swaps import DOCUMENTS

    limits = ", ".join(f"{name} {limit:.2f}" for name, limit in results.thresholds.items())
    grounding = {n: results.sets[n] for n in GROUNDING if n in results.sets}
    others = {n: line for n, line in results.sets.items() if n not in GROUNDING}
    introduction = INTRODUCTION.format(
        thresholds=limits,
        entailer=results.entailer,
        code=code(),
        command=results.command,
        rows=results.rows,
        others=results.others,
        fewer=_fewer(results),
    )
    documents = ", ".join(f"`{name}`" for name in DOCUMENTS)
    return [
        "# Verification",
        introduction,
        CAVEATS,
        _scores("grounding set", grounding, results.means),
        _behind(grounding),
        _aims(results),
        "## Other sets",
        _scores("set", others, {}),
        f"Left out: {'; '.join(f'{name} ({why})' for name, why in LEFT_OUT.items())}.",
        "## One thing changed in a real sentence",
        EDITS.format(documents=documents),
        _scores("what changed", results.edits, {}),
        "## Detection and false alarms",
        DETECTION.format(sets=len(grounding)),
        _detection(grounding),
        "## Splitting claims",
        SPLITTING,
        _splitting(results),
        "## Contradictions",
        CONTRADICTED,
        _contradicted(results.contradicted),
        "## Calibration",
        CALIBRATION,
        _calibration(results.calibration),
    ]


def _cell(score: Score) -> str:
    accuracy = f"{score.balanced_accuracy:.3f} ({score.low:.2f}–{score.high:.2f})"
    return f"{accuracy} / {score.auroc:.2f} ({score.auroc_low:.2f}–{score.auroc_high:.2f})"


def _scores(
    head: str,
    lines: Mapping[str, Mapping[str, Score]],
    means: Mapping[str, tuple[float, float, float, float]],
) -> str:
    if not lines:
        return "Not measured in this run."
    names = list(next(iter(lines.values())))
    rows = [
        [name, str(next(iter(line.values())).n), *(_cell(line[n]) for n in names)]
        for name, line in lines.items()
    ]
    if means:
        rows.append(
            [
                "**mean**",
                "",
                *(
                    f"**{b:.3f}** ({low:.3f}–{high:.3f}) / {a:.2f}"
                    for b, low, high, a in map(means.__getitem__, names)
                ),
            ]
        )
    return table([head, "n", *names], rows)


def _behind(grounding: Mapping[str, Mapping[str, Score]]) -> str:
    """Where the exact checks cost accuracy: they guard details, and these sets seldom turn on one."""
    names = [
        name
        for name, line in grounding.items()
        if line["full verifier"].balanced_accuracy < line["entailer"].balanced_accuracy
    ]
    told = f" ({', '.join(names)})" if names else ""
    count = f"{len(names)} of {len(grounding)}"
    return f"The full verifier is behind the entailer alone on {count} of them{told}."


def _fewer(results: Results) -> str:
    fewer = [f"{name} {most}" for name, most in results.fewer.items() if most < results.rows]
    return f" ({', '.join(fewer)})" if fewer else ""


def _aims(results: Results) -> str:
    """The targets, and whether they were reached."""
    told = [
        f"a mean of {MEAN:.2f} over the grounding sets: {_reached(results.means['full verifier'][0], MEAN)}"
    ]
    told += [
        f"{EDIT:.2f} for {what}: {_reached(results.edits[what]['full verifier'].balanced_accuracy, EDIT)}"
        for what in AIMED_EDITS
        if what in results.edits
    ]
    return "Aimed at: " + "; ".join(told) + "." if results.means else ""


def _reached(value: float, aim: float) -> str:
    return f"{value:.3f}, {'reached' if value >= aim else 'not reached'}"


def _detection(grounding: Mapping[str, Mapping[str, Score]]) -> str:
    if not grounding:
        return "Not measured in this run."
    names = list(next(iter(grounding.values())))

    def mean(name: str, of: str) -> str:
        values = [getattr(line[name], of) for line in grounding.values()]
        return f"{100 * sum(values) / len(values):.0f} %"

    return table(
        ["method", "caught", "false alarms"],
        [[name, mean(name, "caught"), mean(name, "alarmed")] for name in names],
    )


def _splitting(results: Results) -> str:
    rows = [
        [
            each.name,
            str(each.whole.n),
            _cell(each.whole),
            _cell(each.cut),
            f"{each.gain[0]:+.3f} ({each.gain[1]:+.3f} to {each.gain[2]:+.3f})",
        ]
        for each in results.splitting
    ]
    return table(["compared", "n", "first", "second", "second less first"], rows)


def _contradicted(lines: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    labels = ("contradiction", "neutral", "entailment")
    rows = [[name, *(_share(line.get(label)) for label in labels)] for name, line in lines.items()]
    return table(["set", *(f"labelled {label}" for label in labels)], rows)


def _share(count: Mapping[str, int] | None) -> str:
    return f"{100 * count['said'] / count['of']:.0f} % of {count['of']}" if count and count["of"] else "none"


def _calibration(curves: Mapping[str, Mapping[str, Any]]) -> str:
    errors = table(
        ["source kind", "n", "ECE"],
        [[kind, str(curve["n"]), f"{curve['ece']:.3f}"] for kind, curve in curves.items()],
    )
    points: list[Sequence[str]] = [
        [kind, f"{p['predicted']:.2f}", f"{p['observed']:.2f}", str(p["n"])]
        for kind, curve in curves.items()
        for p in curve["curve"]
    ]
    return f"{errors}\n\n{table(['source kind', 'mean probability', 'supported', 'n'], points)}"

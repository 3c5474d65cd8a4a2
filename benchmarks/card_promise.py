"""Is a card's promise kept? 200 random splits into calibration and disjoint test data. `python -m
benchmarks.card_promise`.

In: CITEWELL_DATA; `--rows N` most rows of a set; CITEWELL_REMEMBERED, a folder that keeps model outputs
between runs. Out: docs/measurements/card_promise.md and .json: for each set and each share of errors allowed,
on how many splits a promise was made, and on how many of them the test half shows more errors than promised
(with 95 % confidence: at most 15 of 200), coverage, thresholds. The sets trained nothing and chose nothing;
all but the made edits stand in no reported table.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from training.sources import load

from benchmarks.judged import SEED
from benchmarks.remembered import RememberingEntailer
from benchmarks.reporting import table, write
from benchmarks.swaps import swaps
from citewell.confidence.cards import Outcome
from citewell.config import Verification
from citewell.evaluation.promises import Unit, shown_promise
from citewell.evaluation.scored import Pair, scored_pairs, units_of
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.records import Proof

SETS = {
    "SICK (train part)": "nli/sick.train",
    "SciFact (train part)": "nli/scifact_rte.train",
    "BEGIN (rows outside the verification table)": "nli/begin.dev",
}
REPORTED = 700  # rows of BEGIN that the verification page shows
EDITS = "one thing changed (made)"
ALPHAS = (0.05, 0.10, 0.15, 0.20, 0.25)
SPLITS, ALLOWED = 200, 15

TEXT = """\
A card says: "with 95 % confidence at most so many of the claims shown as VERIFIED (entailed) are
unsupported". Each set is split at random into halves, {splits} times: the threshold is chosen on one half by
the product's own code (`evaluation.promises.shown_promise`), the other half counts the errors. A promise is
broken where the test half shows more errors than were promised; that half is a sample too, so this counts
more broken promises than there are. At most {allowed} of {splits} may break; the worst row has **{worst}**.

Made by `{command}`, entailer `{entailer}`. One unit
is one claim under one text; claims proven by exact code (verbatim, numbers) are not counted. None of these
sets trained or chose anything; SICK, SciFact and these rows of BEGIN are in no other table. The edits are
made by code, and so are their labels: a set on which 5 % can be promised.

{table}

Where too many are wrong even at the strictest threshold that shows enough, no promise is made, and the card
says so; that is the usual outcome at 5 % for the shipped verifier on hard sets. The splits of a set share its
rows, so the counts of a row are not {splits} independent tests.
"""


def pairs_of(name: str, most: int, edits: int) -> list[Pair]:
    if name == EDITS:
        made = [row for rows in swaps(edits).values() for row in rows]
        return [Pair(text=row.claim, sources=(row.premise,), supported=row.supported) for row in made]
    rows = load(SETS[name])
    begin = SETS[name] == "nli/begin.dev"
    random.Random(f"{SEED}/{'BEGIN' if begin else name}").shuffle(rows)
    rows = rows[REPORTED:] if begin else rows
    return [
        Pair(text=row["hypothesis"], sources=(row["premise"],), supported=row["label"] == "entailment")
        for row in rows[:most]
    ]


def split_and_test(units: Sequence[Unit], alpha: float) -> dict[str, Any]:
    """``made`` promises, ``broken`` ones: more than alpha of what the test half shows is in error."""
    thresholds, coverages, rates = [], [], []
    outcomes: dict[str, int] = {}
    broken = 0
    for split in range(SPLITS):
        drawn = list(units)
        random.Random(f"{SEED}/{split}").shuffle(drawn)
        calibration, test = drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]
        card = shown_promise("entailed", "", "", calibration, fallback=0.5, alpha=alpha)
        outcomes[card.outcome.value] = outcomes.get(card.outcome.value, 0) + 1
        if card.outcome is not Outcome.HOLDS:
            continue
        shown = [unit for unit in test if unit.highest >= card.threshold]
        wrong = sum(unit.highest_wrong >= card.threshold for unit in shown)
        rate = wrong / len(shown) if shown else 0.0
        broken += rate > alpha
        thresholds.append(card.threshold)
        coverages.append(card.coverage or 0.0)
        rates.append(rate)
    return {
        "alpha": alpha,
        "splits": SPLITS,
        "outcomes": outcomes,
        "made": len(rates),
        "broken": broken,
        "threshold": float(np.mean(thresholds)) if thresholds else None,
        "coverage": float(np.mean(coverages)) if coverages else None,
        "test_rate": float(np.mean(rates)) if rates else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4000, help="most rows of a set")
    parser.add_argument("--edits", type=int, default=150, help="edits of each kind")
    arguments = parser.parse_args()
    entailer = RememberingEntailer(OnnxEntailer())
    found: dict[str, Any] = {}
    for name in (*SETS, EDITS):
        pairs = pairs_of(name, arguments.rows, arguments.edits)
        scored, unscored = scored_pairs(pairs, entailer, Verification())
        units = units_of(scored, Proof.ENTAILED)
        right = sum(any(unit.right) for unit in units)
        found[name] = {
            "pairs": len(pairs),
            "unscored": unscored,
            "units": len(units),
            "supported": right,
            "alphas": [split_and_test(units, alpha) for alpha in ALPHAS],
        }
        print(name, len(units), flush=True)
    _page(found, entailer.maker.hash, " ".join(["python -m benchmarks.card_promise", *sys.argv[1:]]))


def _page(found: dict[str, Any], entailer: str, command: str) -> None:
    rows = []
    for name, result in found.items():
        for each in result["alphas"]:
            told = ", ".join(f"{n} {word}" for word, n in sorted(each["outcomes"].items()) if word != "holds")
            rows.append(
                [
                    name,
                    str(result["units"]),
                    f"{result['supported'] / result['units']:.0%}",
                    f"{each['alpha']:.0%}",
                    str(each["made"]),
                    f"**{each['broken']}**" if each["made"] else "none made",
                    _share(each["test_rate"]),
                    "" if each["threshold"] is None else f"{each['threshold']:.2f}",
                    _share(each["coverage"]),
                    told,
                ]
            )
    heads = ("set", "n", "supported", "at most", f"made, of {SPLITS}", "broken on the test half")
    more = ("mean test rate", "mean threshold", "mean coverage", "no promise")
    worst = max(each["broken"] for result in found.values() for each in result["alphas"])
    body = TEXT.format(
        splits=SPLITS, allowed=ALLOWED, worst=worst, command=command, entailer=entailer,
        table=table((*heads, *more), rows),
    )  # fmt: skip
    values = {"command": command, "entailer": entailer, "sets": found}
    write("card_promise", "The promise of a card", body, values)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


if __name__ == "__main__":
    main()

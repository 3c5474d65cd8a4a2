"""Is a card's promise kept? 200 random splits into calibration and disjoint test data. `python -m
benchmarks.card_promise`.

In: CITEWELL_DATA; `--rows N` most rows of a set; CITEWELL_REMEMBERED, a folder that keeps model outputs
between runs. Out: docs/measurements/card_promise.md and .json: for each set and each share of errors allowed,
on how many splits a promise was made, and on how many of them the test part shows more errors than promised
(with 95 % confidence: at most 15 of 200), coverage, thresholds. The sets trained nothing and chose
nothing; all but the last stand in no other table.
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
from citewell.core.config import Verification
from citewell.core.records import Proof
from citewell.evaluation.calibration.promises import (
    PromiseSpec,
    Unit,
    distinct,
    highest,
    promise_units,
    scored_claims,
    shown_promise,
)
from citewell.evaluation.cases import LabelledClaim
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.verification.confidence.cards import PromiseOutcome

SETS = {
    "SICK (train part)": "nli/sick.train",
    "COVID-Fact (train part)": "nli/covidfact.train",
    "MCTest statements (train part)": "nli/mctest_statements.train",
    "SciFact (train part)": "nli/scifact_rte.train",
    "BEGIN (rows outside the verification table)": "nli/begin.dev",
    "FEVER-symmetric (in the verification table)": "nli/fever_symmetric.dev",
}
REPORTED = 700  # rows of BEGIN that the verification page shows
ALPHAS = (0.05, 0.10, 0.15, 0.20, 0.25)
SPLITS, ALLOWED = 200, 15
PARTS = {"fifths": 5, "thirds": 3, "halves": 2}
"""The share of a set that calibrates. Fifths are the test proper: the rest must be many times the calibration
part, or its own luck breaks promises that hold; the others show by how much."""

TEXT = """\
A card says: "with 95 % confidence at most so many of the claims shown as VERIFIED (entailed) are
unsupported". Each set is split at random, {splits} times: on a fifth the threshold is chosen by the
product's own code (`calibration.promises.shown_promise`), on the other four the errors are counted. A promise
is **broken** where those four show more errors than were promised. At most {allowed} of {splits} may be
broken: the worst of {rows} rows has **{worst_fifths}**.

The same with a third and a half for calibration: worst **{worst_thirds}** and **{worst_halves}**. What
remains of a set for testing is a sample too, and errs in the opposite direction: if the calibration
part was lucky, the rest is unlucky, so luck counts twice, the more so the smaller the rest. The promise
itself covers everything that the calibration part was drawn from, which is what "by all rows" counts:
broken where the whole set shows
more errors than promised, worst **{worst_all}** with a fifth, **{worst_all_thirds}** with a third,
**{worst_all_halves}** with a half.

Made by `{command}`, entailer `{entailer}`. One unit is one claim about one text; claims proved by exact code
(verbatim, numbers) are not counted. None of these sets was used for training or for choices; all but
FEVER-symmetric and other rows of BEGIN are in no other table.

{table}

If too many are wrong even at the strictest threshold that shows enough, no promise is made, and the card says
so: this is the usual outcome at 5 % for the shipped verifier on such sets. The confidence is over all splits:
of the few promises that luck allows on a set that hardly supports any, most are broken. The splits
of a set share its rows, so the counts of a row are not {splits} independent tests.
"""


def pairs_of(name: str, most: int) -> list[LabelledClaim]:
    rows = load(SETS[name])
    begin = SETS[name] == "nli/begin.dev"
    random.Random(f"{SEED}/{'BEGIN' if begin else name}").shuffle(rows)
    rows = rows[REPORTED:] if begin else rows
    return [
        LabelledClaim(
            claim=row["hypothesis"], sources=(row["premise"],), supported=row["label"] == "entailment"
        )
        for row in rows[:most]
    ]


def split_and_test(units: Sequence[Unit], alpha: float, part: int) -> dict[str, Any]:
    """One ``part``-th calibrates, the rest tests. ``made`` counts promises; ``broken`` those where more than
    alpha of what the test part shows is wrong; ``broken_by_all``: of what all rows of the set show."""
    thresholds, coverages, rates = [], [], []
    outcomes: dict[str, int] = {}
    broken = broken_by_all = 0
    for split in range(SPLITS):
        drawn = list(units)
        random.Random(f"{SEED}/{split}").shuffle(drawn)
        calibration, test = drawn[: len(drawn) // part], drawn[len(drawn) // part :]
        card = shown_promise(
            PromiseSpec(name="entailed", says="", unit="", fallback=0.5, alpha=alpha), calibration
        )
        outcomes[card.outcome.value] = outcomes.get(card.outcome.value, 0) + 1
        if card.outcome is not PromiseOutcome.HOLDS:
            continue
        rate = _rate(test, card.threshold)
        broken += rate > alpha
        broken_by_all += _rate(units, card.threshold) > alpha
        thresholds.append(card.threshold)
        coverages.append(card.coverage or 0.0)
        rates.append(rate)
    return {
        "alpha": alpha,
        "splits": SPLITS,
        "outcomes": outcomes,
        "made": len(rates),
        "broken": broken,
        "broken_by_all": broken_by_all,
        "threshold": float(np.mean(thresholds)) if thresholds else None,
        "coverage": float(np.mean(coverages)) if coverages else None,
        "test_rate": float(np.mean(rates)) if rates else None,
    }


def _rate(units: Sequence[Unit], threshold: float) -> float:
    """The share of errors among the units shown."""
    shown, wrong = (sum(t >= threshold for t in highest(units, right=right)) for right in (None, False))
    return wrong / shown if shown else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3000, help="most rows of a set")
    arguments = parser.parse_args()
    entailer = RememberingEntailer(OnnxEntailer())
    found: dict[str, Any] = {}
    for name in SETS:
        pairs = pairs_of(name, arguments.rows)
        scored, unscored = scored_claims(distinct(pairs), entailer, Verification())
        units = promise_units(scored, Proof.ENTAILED)
        right = sum(any(unit.right) for unit in units)
        found[name] = {
            "pairs": len(pairs),
            "unscored": unscored,
            "units": len(units),
            "supported": right,
            **{
                name: [split_and_test(units, alpha, part) for alpha in ALPHAS] for name, part in PARTS.items()
            },
        }
        print(name, len(units), flush=True)
    _page(found, entailer.maker.hash, " ".join(["python -m benchmarks.card_promise", *sys.argv[1:]]))


def _page(found: dict[str, Any], entailer: str, command: str) -> None:
    rows = []
    for name, result in found.items():
        for each, third, half in zip(*(result[part] for part in PARTS), strict=True):
            outcomes = sorted(each["outcomes"].items())
            rows.append(
                [
                    name,
                    str(result["units"]),
                    f"{result['supported'] / result['units']:.0%}",
                    f"{each['alpha']:.0%}",
                    str(each["made"]),
                    f"**{each['broken']}**" if each["made"] else "",
                    str(each["broken_by_all"]) if each["made"] else "",
                    _share(each["test_rate"]),
                    "" if each["threshold"] is None else f"{each['threshold']:.2f}",
                    _share(each["coverage"]),
                    ", ".join(f"{n} {word}" for word, n in outcomes if word != "holds"),
                    *(f"{other['broken']} of {other['made']}" for other in (third, half)),
                ]
            )
    heads = (
        "set", "n", "supported", "at most", f"made, of {SPLITS}", "broken", "by all rows", "mean test rate",
        "mean threshold", "mean coverage", "no promise", "thirds: broken", "halves: broken",
    )  # fmt: skip

    def worst(part: str, what: str) -> int:
        return max(int(each[what]) for result in found.values() for each in result[part])

    body = TEXT.format(
        splits=SPLITS, allowed=ALLOWED, rows=len(rows), command=command, entailer=entailer,
        **{f"worst_{part}": worst(part, "broken") for part in PARTS},
        worst_all=worst("fifths", "broken_by_all"), worst_all_thirds=worst("thirds", "broken_by_all"),
        worst_all_halves=worst("halves", "broken_by_all"), table=table(heads, rows),
    )  # fmt: skip
    values = {"command": command, "entailer": entailer, "sets": found}
    write("card_promise", "Calibration promises", body, values)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


if __name__ == "__main__":
    main()

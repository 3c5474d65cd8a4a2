"""Does each exact check earn its place? Each is switched off alone, and what changes is counted.

    python -m benchmarks.rules

In: CITEWELL_DATA and ``training/data``; CITEWELL_REMEMBERED keeps model outputs between runs. Out:
docs/measurements/rules: for every check of :data:`citewell.verification.objections.OBJECTIONS`, the proofs
(exact quote, cell), the unsupported claims that it alone stops and the
supported ones that it alone holds down, by set. A check is *defended* where, over all sets, the 95 % interval
of the share of wrong verdicts among those that it changes lies under one half; a test asks for that of every
check. Nothing is refitted: no check is a feature of the calibration.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
from training.examples import passages
from training.heldout import examples
from training.sources import load

from benchmarks.judged import judged
from benchmarks.overstatements import overstatements
from benchmarks.remembered import RememberingEntailer
from benchmarks.reporting import table, write
from benchmarks.swaps import DOCUMENTS, swaps
from citewell.core.ports import Entailer
from citewell.core.records import Status
from citewell.core.sentences import sentence_spans
from citewell.evaluation.intervals import clopper_pearson
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.verification import verifier
from citewell.verification.entities import names
from citewell.verification.evidence import ClaimEvidence, EvidenceText, as_evidence
from citewell.verification.objections import OBJECTIONS, Objection
from citewell.verification.verifier import Verifier

SEED = 20261123
TABLE_SETS = ("InfoTabS dev", "TabFact pairs", "SEM-TAB-FACTS")


@dataclass(frozen=True, slots=True)
class Case:
    """``unit`` is the claim that a case's sentences make up: it is supported if all of them are."""

    question: ClaimEvidence
    supported: bool
    unit: str


def case(claim: str, premise: str | EvidenceText, supported: bool, unit: str, **more: str) -> Case:
    return Case(ClaimEvidence(claim=claim, evidence=(as_evidence(premise),), **more), supported, unit)


def held_out(most: int) -> list[Case]:
    found = examples(SEED)
    random.Random(SEED).shuffle(found)
    return [
        case(sentence, example.premise, example.supported, str(number))
        for number, example in enumerate(found[:most])
        for sentence in example.sentences()
    ]


def edits(most: int) -> list[Case]:
    return [
        case(row.claim, row.premise, row.supported, f"{kind} {number}")
        for kind, rows in swaps(most).items()
        for number, row in enumerate(rows)
    ]


def tables(most: int) -> list[Case]:
    return [
        case(row.claim, row.premise, row.supported, f"{name} {number}")
        for name in TABLE_SETS
        for number, row in enumerate(judged(name, most))
    ]


def cells(most: int) -> list[Case]:
    """A cell stated with its row and column, and the same sentence with the value of another cell."""
    rng = random.Random(SEED)
    made: list[Case] = []
    for row in load("qa/wtq.train"):
        lines = [re.findall(r"([^;:]+): ([^;]*)", line) for line in row["context"].split("\n") if ";" in line]
        grid = (
            [[key.strip() for key, _ in lines[0]], *([v for _, v in line] for line in lines)] if lines else []
        )
        if len(made) >= 2 * most or len(grid) < 4 or len({len(line) for line in grid}) > 1:
            continue
        numeric = [
            (r, c)
            for r in range(1, len(grid))
            for c in range(1, len(grid[0]))
            if re.fullmatch(r"[\d,.]{2,}", grid[r][c].strip()) and grid[r][0].strip() and grid[0][c].strip()
        ]
        others = [grid[r][c] for r, c in numeric]
        if len(set(others)) < 3:
            continue
        r, c = rng.choice(numeric)
        told = f"The {grid[0][c].strip()} of {grid[r][0].strip()} was {{}}."
        if [line[0] for line in grid].count(grid[r][0]) > 1 or grid[0].count(grid[0][c]) > 1:
            continue
        wrong = rng.choice([value for value in others if value.strip() != grid[r][c].strip()])
        text = "\n".join("\t".join(line) for line in grid)
        made.append(case(told.format(grid[r][c].strip()), text, True, f"{len(made)}"))
        made.append(case(told.format(wrong.strip()), text, False, f"{len(made)}"))
    return made


_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def scales(most: int) -> list[Case]:
    """An amount from a table in thousands or millions, stated with its scale and without."""
    made: list[Case] = []
    for row in load("qa/tatqa.dev"):
        scale, grid = row["meta"]["scale"], row["meta"]["table"]
        if scale not in ("thousand", "million") or len(made) >= 2 * most:
            continue
        answer = row["answers"][0]["text"].strip("$ ")
        heads = next((line for line in grid[:3] if any(map(_YEAR.search, line))), [])
        held = [
            (line[0], head)
            for line in grid[1:]
            for head, cell in zip(heads, line, strict=False)
            if cell.strip("$ ") == answer and line[0].strip() and head.strip()
        ]
        if len(held) != 1 or not re.fullmatch(r"\d[\d,.]*", answer):
            continue
        label, head = held[0]
        text = f"({scale}s of dollars)\n" + "\n".join("\t".join(cells) for cells in grid)
        evidence = msgspec.structs.replace(as_evidence(text), context=f"(In {scale}s)")
        told = f"{label} of {head} was ${answer}{{}}."
        made.append(case(told.format(f" {scale}"), evidence, True, f"{len(made)}"))
        made.append(case(told.format(""), evidence, False, f"{len(made)}"))
    return made


_LEANS = re.compile(r"(?:It|Its|He|She|His|Her|They|Their) [a-z]")


def pronouns(most: int) -> list[Case]:
    """A sentence after its pronoun's name, as in an answer, and the same sentence after another name."""
    rng = random.Random(SEED)
    texts = sorted({row["premise"] for name in DOCUMENTS for row in load(name)})
    pool = sorted({name.text for text in texts[:200] for name in names(text) if name.certain})
    made: list[Case] = []
    for text in texts:
        sentences = [text[a:b] for a, b in sentence_spans(text)]
        for first, second in itertools.pairwise(sentences):
            named = [name for name in names(first) if name.certain and name.start == 0]
            if _LEANS.match(second) and len(named) == 1 and len(made) < 2 * most:
                other = rng.choice(pool) + first[named[0].end :]
                made.append(case(second, f"{first} {second}", True, f"{len(made)}", antecedent=first))
                made.append(case(second, f"{first} {second}", False, f"{len(made)}", antecedent=other))
    return made


def written(most: int) -> list[Case]:
    """Statements on texts that no author of a check had seen, from the part kept for reporting."""
    kept = [
        case(
            statement.claim,
            f"{passage.title}\n{statement.premise}",
            statement.label == "entailment",
            f"{n} {m}",
        )
        for n, passage in enumerate(passage for passage in passages() if passage.part == "report")
        for m, statement in enumerate(passage.statements)
    ]
    return random.Random(SEED).sample(kept, min(most, len(kept)))


def plain() -> list[Case]:
    made: list[Case] = []
    for line in Path(__file__).with_name("plain_statements.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        told = [(claim, True) for claim in row["supported"]]
        told += [(wrong["claim"], False) for wrong in row["unsupported"]]
        made += [
            case(claim, row["passage"], good, f"p{len(made)} {n}") for n, (claim, good) in enumerate(told)
        ]
    for n, (text, true, more) in enumerate(overstatements("unseen")):
        made += [case(true, text, True, f"o{n} true"), case(more, text, False, f"o{n} more")]
    return made


def verified(cases: Sequence[Case], checker: Verifier) -> dict[str, bool]:
    """By unit: whether every sentence of it is verified."""
    found: dict[str, bool] = {}
    for one, verdict in zip(cases, checker.verify_many([one.question for one in cases]), strict=True):
        found[one.unit] = found.get(one.unit, True) and verdict.status is Status.VERIFIED
    return found


Patches = Mapping[str, Any]
# Checks that are not objections are switched off in the verifier's own module.
OTHERS: dict[str, Patches] = {
    "exact quote (a proof)": {"stands_whole": lambda *_: False},
    "cell (a proof)": {"proven_by_cells": lambda *_: None},
}


def without(name: str, cases: Mapping[str, Sequence[Case]], entailer: Entailer) -> dict[str, dict[str, bool]]:
    """Verdicts by set and unit with one check off, or all of a group ("every objection")."""
    left: dict[str, Objection] = {key: check for key, check in OBJECTIONS.items() if key != name}
    checker = Verifier(entailer, objections={} if name == "every objection" else left)
    with ExitStack() as silent:
        for attribute, value in OTHERS.get(name, {}).items():
            silent.enter_context(mock.patch.object(verifier, attribute, value))
        return {key: verified(rows, checker) for key, rows in cases.items()}


Counts = dict[str, dict[str, int]]


def compared(
    base: Mapping[str, Mapping[str, bool]],
    off: Mapping[str, Mapping[str, bool]],
    truth: Mapping[str, Mapping[str, bool]],
) -> Counts:
    """By set: verdicts that the check makes right (it "stops" an unsupported claim, "proves" a supported one)
    and wrong (it "holds" a supported claim down, "lets" an unsupported one through)."""

    def count(name: str, supported: bool, with_it: bool) -> int:
        return sum(
            truth[name][unit] is supported and seen is with_it and off[name][unit] is not with_it
            for unit, seen in base[name].items()
        )

    return {
        name: {
            "stops": count(name, False, False),
            "proves": count(name, True, True),
            "holds": count(name, True, False),
            "lets": count(name, False, True),
        }
        for name in base
    }


def summed(counts: Counts) -> dict[str, Any]:
    right = sum(row["stops"] + row["proves"] for row in counts.values())
    wrong = sum(row["holds"] + row["lets"] for row in counts.values())
    low, high = clopper_pearson(wrong, right + wrong) if right + wrong else (0.0, 1.0)
    return {"right": right, "wrong": wrong, "low": low, "high": high, "defended": high < 0.5, "sets": counts}


def _share(seen: Sequence[bool]) -> str:
    return f"{sum(seen) / max(1, len(seen)):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=1000, help="held-out claims at most")
    parser.add_argument("--others", type=int, default=150, help="of another set, or a kind of edit, at most")
    rows = parser.parse_args()
    makers: dict[str, Callable[[], list[Case]]] = {
        "held-out documents": lambda: held_out(rows.rows),
        "single edits": lambda: edits(rows.others),
        "tables": lambda: tables(rows.others),
        "cells": lambda: cells(rows.others),
        "scales": lambda: scales(rows.others),
        "pronouns": lambda: pronouns(rows.others),
        "plain statements, overstatements": plain,
        "new texts": lambda: written(10 * rows.others),
    }
    cases = {name: make() for name, make in makers.items()}
    truth = {name: {one.unit: one.supported for one in found} for name, found in cases.items()}
    entailer = RememberingEntailer(OnnxEntailer())
    base = without("", cases, entailer)
    found = {
        name: summed(compared(base, without(name, cases, entailer), truth))
        for name in (*OBJECTIONS, *OTHERS, "every objection")
    }
    write("rules", "Effect of each exact check", page(found, truth, base), {"checks": found, "n": {
        name: len(units) for name, units in truth.items()
    }})  # fmt: skip


def page(
    found: Mapping[str, Mapping[str, Any]],
    truth: Mapping[str, Mapping[str, bool]],
    base: Mapping[str, Mapping[str, bool]],
) -> str:
    summary = [
        (
            name,
            str(row["right"]),
            str(row["wrong"]),
            f"[{row['low']:.2f}, {row['high']:.2f}]",
            "yes" if row["defended"] else "no",
        )
        for name, row in found.items()
    ]
    by_set = [
        (
            name,
            *(
                f"{c['stops']} / {c['holds']}"
                + (f" (+{c['proves']} / {c['lets']})" if c["proves"] + c["lets"] else "")
                for c in row["sets"].values()
            ),
        )
        for name, row in found.items()
    ]
    shown = [
        (
            name,
            str(len(units)),
            *(
                _share([base[name][unit] for unit, good in units.items() if good is kind])
                for kind in (True, False)
            ),
        )
        for name, units in truth.items()
    ]
    return f"""`python -m benchmarks.rules`: each check is switched off alone, with everything else as
shipped.
*Right* counts the verdicts that only this check makes right: unsupported claims that it stops and supported
ones that it proves. *Wrong* counts supported claims that only it holds down and unsupported ones that only it
lets through. The interval is the exact 95 % one of wrong / (right + wrong); a check is defended if the
interval lies below one half.

{table(("check", "right", "wrong", "share wrong, 95 %", "defended"), summary)}

By set, stops / holds (and proves / lets):

{table(("check", *truth), by_set)}

The sets, and the share of their claims that is verified with every check on:

{table(("set", "claims", "supported, verified", "unsupported, verified"), shown)}

*Held-out documents*: a tenth of the training sets' documents. *Single edits*: real sentences with one thing
changed. *Cells*, *scales* and *pronouns* are generated: a cell of a WikiTableQuestions table stated with its
row and column or attributed to another; an amount of a TAT-QA table in thousands or millions stated with its
scale or without; a sentence with a pronoun after its own name or another. *New texts*: the part of the
written examples that is kept for reporting, about texts that no author of a check had seen. A proof does not
change a verdict that the model gives anyway; it stays because it names how the verdict was reached. The
checks that were deleted after the first run, and their rows, are in [the log](../log.md)."""


if __name__ == "__main__":
    main()

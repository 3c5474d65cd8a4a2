"""The canary: questions about this documentation: ``python -m benchmarks.canary [--home DIR] [--every K]``.

In: ``evaluation/canary.jsonl``, every K-th case of it; a home, made from ``docs/`` where it is not there; or
``--result FILE``, what ``citewell eval run`` wrote. Out: docs/measurements/canary.{md,json}: every measure
with n and interval, and what became of each kind of case. The cases are written by hand by those who wrote
the program.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import citewell
from benchmarks.reporting import table, write
from citewell.evaluation.cases import load_cases
from citewell.evaluation.results import CaseOutcome, MeasureResult, Run, read_run
from citewell.evaluation.running import evaluate_home

ROOT = Path(__file__).parents[1]
CASES = ROOT / "evaluation" / "canary.jsonl"
KINDS = ("answerable", "unanswerable", "near-miss")


def run(home: Path, every: int) -> Run:
    cases = load_cases(CASES)[::every]
    with citewell.open(home) as kb:
        kb.ingest(ROOT / "docs")
        return evaluate_home(kb, cases, progress=lambda done, total, name: print(f"{done}/{total} {name}"))


def page(made: Run, command: str) -> str:
    measured = [one for one in made.measures if one.n]
    silent = ", ".join(one.name for one in made.measures if not one.n)
    rows = [
        (kind, str(len(of)), *(str(sum(told(case) == word for case in of)) for word in TOLD))
        for kind in KINDS
        if (of := [case for case in made.cases if kind in case.tags])
    ]
    whole = len(load_cases(CASES))
    return "\n\n".join(
        (
            f"`{command}`: {len(made.cases)} of the canary's {whole} cases over `docs/` as it stood,"
            f" the embedded defaults (writer `{made.key.model}`). The authors wrote the cases by hand and"
            " nobody else has reviewed them; intervals are 95 % bootstrap over cases.",
            table(("kind of case", "n", *TOLD), rows),
            table(("measure", "value", "n", "unscored", "judged by"), [row(one) for one in measured]),
            f"Not measured: {silent}." if silent else "",
            "What the figures hold for: cases `{}`, configuration `{}`, index `{}`.".format(
                *(getattr(made.key, name)[:19] for name in ("cases", "config", "index"))
            ),
        )
    )


TOLD = ("answered, right", "answered, wrong", "answered, not judged", "refused", "failed")


def told(case: CaseOutcome) -> str:
    if case.error:
        return "failed"
    if not case.answered:
        return "refused"
    return {True: "answered, right", False: "answered, wrong", None: "answered, not judged"}[case.right]


def row(one: MeasureResult) -> Sequence[str]:
    digits = 2 if abs(one.value or 0) < 10 else 0
    shown = f"{one.value:.{digits}f}"
    if one.low is not None and one.high is not None:
        shown += f" [{one.low:.{digits}f}, {one.high:.{digits}f}]"
    return (one.name, shown, str(one.n), str(one.unscored), one.maker)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=Path("build/canary"))
    parser.add_argument("--every", type=int, default=1, metavar="K")
    parser.add_argument("--result", type=Path, help="what eval run wrote, instead of a run")
    options = parser.parse_args()
    made = read_run(options.result) if options.result else run(options.home, options.every)
    command = "python -m benchmarks.canary" + (f" --every {options.every}" if options.every > 1 else "")
    measures = {
        one.name: {k: getattr(one, k) for k in ("value", "n", "unscored", "low", "high")}
        for one in made.measures
    }
    kinds = {kind: Counter(told(case) for case in made.cases if kind in case.tags) for kind in KINDS}
    write(
        "canary",
        "The canary",
        page(made, command),
        {"cases": len(made.cases), "kinds": kinds, "measures": measures},
    )


if __name__ == "__main__":
    main()

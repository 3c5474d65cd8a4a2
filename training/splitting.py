"""The question splitter: written questions -> src/citewell/questions/splitting.json.

    python -m training.splitting

In: training/data/splits.txt, one question per line, its parts in `<...>` and lone question words in `(...)`
(training/data/README.md). Out: the weights of an averaged perceptron over chains of labels (Collins 2002),
with what they were trained on and how often a question is split exactly as written, by five folds of
blocks of lines. Trained on nothing else: the questions of benchmarks/batteries are kept for reporting.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from citewell.evaluation.intervals import clopper_pearson
from citewell.questions.splitting import (
    ALONE,
    BETWEEN,
    FIRST,
    HEAD,
    LABELS,
    MORE_ALONE,
    MORE_OF_FIRST,
    MORE_OF_NEXT,
    NEXT,
    TAIL,
    WEIGHTS,
    Tagger,
    features,
    tokenize_question,
)

DATA = Path(__file__).with_name("data") / "splits.txt"
SEED, PASSES, FOLDS, BLOCK, RARE, SLIGHT = 20261129, 10, 5, 20, 4, 0.4
"""``BLOCK``: lines held out together, since neighbours are alike; features that fewer than RARE words have,
or that weigh less than SLIGHT, are left out."""
LEFT_WHOLE = 0.95
"""Share of the questions asking one thing that should stay whole; if no margin reaches it, the largest is
used."""
SURER = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 2.3, 2.6, 3.0)
_MARK = re.compile(r"<([^<>]*)>|\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class Marked:
    """A question, its words' features and their labels."""

    question: str
    rows: list[list[str]]
    labels: list[int]


def marked(line: str) -> Marked:
    """Raises ValueError for marks that do not match."""
    question, spans, at = "", [], 0
    for found in _MARK.finditer(line):
        if found[2] is not None and not spans:
            continue
        question += line[at : found.start()]
        said = found[1] if found[1] is not None else found[2]
        spans.append((len(question), len(question) + len(said), found[1] is None))
        question += said
        at = found.end()
    question += line[at:]
    if "<" in question or ">" in question or len(spans) == 1 or (spans and spans[0][2]):
        raise ValueError(f"marks that do not fit: {line}")
    return Marked(question, features(words := tokenize_question(question), question), _labels(words, spans))


def _labels(words: Sequence[object], spans: Sequence[tuple[int, int, bool]]) -> list[int]:
    found, begun = [], set()
    for word in words:
        start: int = word.start  # type: ignore[attr-defined]
        inside = next((n for n, (a, b, _) in enumerate(spans) if a <= start < b), None)
        if inside is not None:
            first, alone = inside == 0, spans[inside][2]
            begins = inside not in begun
            begun.add(inside)
            pair = (ALONE, MORE_ALONE) if alone else (FIRST, MORE_OF_FIRST) if first else (NEXT, MORE_OF_NEXT)
            found.append(pair[not begins])
        elif not spans or start < spans[0][0]:
            found.append(HEAD)
        else:
            found.append(TAIL if start >= spans[-1][1] else BETWEEN)
    return found


def trained(examples: Sequence[Marked], passes: int = PASSES) -> Tagger:
    """The mean of the weights over all steps."""
    counts = Counter(name for one in examples for row in one.rows for name in row)
    known = {name for name, n in counts.items() if n >= RARE}
    rows = [[[name for name in row if name in known] for row in one.rows] for one in examples]
    weights: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(LABELS))
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(LABELS))
    steps = [[0.0] * len(LABELS) for _ in LABELS]
    sum_steps = [[0.0] * len(LABELS) for _ in LABELS]
    tagger, rng, clock = Tagger(weights, steps), random.Random(SEED), 0
    order = list(range(len(examples)))

    def change(of: list[float], summed: list[float], label: int, by: float) -> None:
        of[label] += by
        summed[label] += by * clock

    for _ in range(passes):
        rng.shuffle(order)
        for number in order:
            clock += 1
            right, said = examples[number].labels, tagger.labels(rows[number])
            if said == right:
                continue
            for row, yes, no in zip(rows[number], right, said, strict=True):
                if yes != no:
                    for name in row:
                        change(weights[name], sums[name], yes, 1.0)
                        change(weights[name], sums[name], no, -1.0)
            for chain, by in ((right, 1.0), (said, -1.0)):
                for before, label in pairwise(chain):
                    change(steps[before], sum_steps[before], label, by)
    clock += 1

    def mean(of: Sequence[float], summed: Sequence[float]) -> list[float]:
        return [round(value - total / clock, 1) for value, total in zip(of, summed, strict=True)]

    kept = {name: mean(weights[name], sums[name]) for name in sorted(weights)}
    return Tagger(
        {name: row for name, row in kept.items() if max(map(abs, row)) >= SLIGHT},
        [mean(*pair) for pair in zip(steps, sum_steps, strict=True)],
    )


def main() -> None:
    lines = dict.fromkeys(filter(None, map(str.strip, DATA.read_text(encoding="utf-8").splitlines())))
    examples = [marked(line) for line in lines]
    fold = [at // BLOCK % FOLDS for at in range(len(examples))]
    counts: dict[float, Counter[str]] = {surer: Counter() for surer in SURER}
    for number in range(FOLDS):
        tagger = trained([one for one, at in zip(examples, fold, strict=True) if at != number])
        for one in (one for one, at in zip(examples, fold, strict=True) if at == number):
            several = NEXT in one.labels or ALONE in one.labels
            kind = "several" if several else "one"
            for surer, count in counts.items():
                said = replace(tagger, surer=surer).labels(one.rows)
                count[kind] += 1
                count[f"{kind} right"] += said == one.labels
                count["split"] += several and FIRST in said
    for surer, count in counts.items():
        print(surer, dict(count))
    kept = next((s for s, n in counts.items() if n["one right"] >= LEFT_WHOLE * n["one"]), SURER[-1])
    told = {
        name: {
            "n": counts[kept][of],
            "share": round(counts[kept][hit] / counts[kept][of], 3),
            "95 %": [round(x, 3) for x in clopper_pearson(counts[kept][hit], counts[kept][of])],
        }
        for name, of, hit in (
            ("several things, split just so", "several", "several right"),
            ("several things, split", "several", "split"),
            ("one thing, left whole", "one", "one right"),
        )
    }
    tagger = trained(examples)
    stored = {
        "made by": "python -m training.splitting",
        "data": {"training/data/splits.txt": hashlib.sha256(DATA.read_bytes()).hexdigest()},
        "held out (five folds of blocks)": told,
        "surer": kept,
        "steps": tagger.steps,
        "weights": tagger.weights,
    }
    WEIGHTS.write_text(json.dumps(stored, separators=(",", ":")) + "\n", encoding="utf-8")
    print(json.dumps(told, indent=1), len(tagger.weights), WEIGHTS.stat().st_size)


if __name__ == "__main__":
    main()

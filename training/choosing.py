"""What weights of the judge are chosen by: ``python -m training.choosing [CHECKPOINT ...]``.

In: the part "choose" of the written passages and the part "calibrate" of the public sets, which shape no
weights; checkpoints of `training.judge`, "shipped" for the installed ones, "A*0.8+B*0.2" for a mean of two.
Out: AUROC by kind of row, printed. Nothing that is reported is read.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from training.answers import area
from training.encoder import bfloat16_is_quicker
from training.examples import Passage
from training.examples import passages as written_passages
from training.facts import cases, duties, standings, strengths
from training.general import general_items
from training.heldout import examples
from training.judge import (
    SEED,
    Group,
    Judge,
    Question,
    batches,
    collated,
    encoded,
    fact_groups,
    load_tokenizer,
    role_groups,
)
from training.judge_weights import shipped
from training.linked import answering, says_so
from training.near_misses import amendments, asked, cells
from training.passages import part_of

PASSAGES, PUBLIC, GENERAL, ROLES, FACTS, TOKENS = 150, 30, 400, 60, 40, 4096
NATURAL = {"nli/mnli.dev": "mnli", "nli/ling_in_loop.train": "mnli", "nli/fever_rte.dev": "fever"}
WHOLE = 1_400
MAKERS = (duties, cases, strengths, standings, asked, amendments, cells)


def rows() -> Iterator[tuple[str, Group]]:
    """Groups by the kind of row they count for: a claim's label is 0 where it is entailed."""
    rng = random.Random(SEED)
    chosen = [passage for passage in written_passages() if passage.part == "choose"]
    rng.shuffle(chosen)
    recent = [passage for passage in chosen if int(passage.file[1:].split("-")[0]) >= 30]
    older = [passage for passage in chosen if passage not in recent]
    for passage in (*older[:PASSAGES], *recent[:PASSAGES]):
        yield from _of_passage(passage, rng)
    for group in (
        *role_groups(SEED, "choose", ROLES),
        *fact_groups(SEED, "choose", dict.fromkeys(MAKERS, FACTS)),
    ):
        yield group.kind, replace(group, labels=tuple(min(label, 1) for label in group.labels))
    for example in examples(SEED):
        if len(example.premise) <= WHOLE:
            label = 0 if example.supported else 1
            yield f"public {example.name}", Group(example.premise, (example.claim,), (label,), "")
    for item in general_items(SEED):
        if item.kind in NATURAL and part_of(item.windows[0]) != "train":
            label = 0 if item.label == "entailment" else 1
            yield NATURAL[item.kind], Group(item.windows[0], (item.claim,), (label,), "")


def _of_passage(passage: Passage, rng: random.Random) -> Iterator[tuple[str, Group]]:
    number = int(passage.file[1:].split("-")[0])
    kind = f"written {passage.file}" if number >= 30 else "written, older"
    for premise in dict.fromkeys((passage.text, *(s.premise for s in passage.statements))):
        told = [
            (s.claim, 0 if s.label == "entailment" else 1) for s in passage.statements if s.premise == premise
        ]
        claims, labels = (tuple(each) for each in zip(*told, strict=True)) if told else ((), ())
        yield kind, Group(f"{passage.title}\n{premise}", claims, labels, "")
    asked = tuple(Question(q.question, bool(q.answer)) for q in passage.questions)
    yield "passage answers", Group(f"{passage.title}\n{passage.text}", (), (), "", asked)
    for said, both in says_so(passage):
        claims, labels = (tuple(each) for each in zip(*both, strict=True))
        kinds = tuple(0 if label == "entailment" else 1 for label in labels)
        yield "yes or no", Group(f"{passage.title}\n{said}", claims, kinds, "")
    for said, answered in answering(passage, rng):
        yield "sentence answers", Group(said, (), (), "", tuple(Question(*each) for each in answered))


def measure(
    state: Mapping[str, Tensor], found: Sequence[tuple[str, Group]]
) -> dict[str, tuple[float | None, int]]:
    """AUROC and number of rows by kind, of weights in bfloat16 where that is what they were trained in."""
    model = Judge()
    model.load_state_dict(state)
    model.eval()
    tokenizer = load_tokenizer()
    kinds = [kind for kind, _ in found]
    made = [encoded(tokenizer, group) for _, group in found]
    scores: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for batch in batches(made, TOKENS, random.Random(SEED)):
        inputs, truth = collated([made[i] for i in batch])
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=bfloat16_is_quicker()):
            claims, asked = (output.float() for output in model(**inputs))
        odds = claims[:, 0] - torch.logsumexp(claims[:, 1:], 1)
        for each, sure, true in (
            ("claims", odds, truth.labels == 0),
            ("asked", asked, truth.answered > 0),
        ):
            heads = [
                f"{kinds[i]}, asked" if each == "asked" and kinds[i].startswith("facts") else kinds[i]
                for i in batch
                for _ in (made[i].labels if each == "claims" else made[i].answered)
            ]
            for kind, score, right in zip(heads, sure.tolist(), true.tolist(), strict=True):
                scores[kind].append((score, right))
    return {kind: (_area(rows), len(rows)) for kind, rows in scores.items()}


def _area(rows: Sequence[tuple[float, bool]]) -> float | None:
    score, true = (np.array(each, dtype=np.float64) for each in zip(*rows, strict=True))
    return area(score, true)


def weights(name: str) -> dict[str, Tensor]:
    """The state that ``name`` stands for; see the head of this file."""
    if "*" in name:
        parts = [part.rsplit("*", 1) for part in name.split("+")]
        states = [(weights(path), float(share)) for path, share in parts]
        return {key: sum(state[key] * share for state, share in states) for key in states[0][0]}
    if name == "shipped":
        return {**Judge().state_dict(), **shipped()}
    state: dict[str, Tensor] = torch.load(name, weights_only=True)
    return state.get("model", state)  # type: ignore[return-value] - a checkpoint holds a state


def sampled(found: Sequence[tuple[str, Group]]) -> list[tuple[str, Group]]:
    """At most GENERAL rows of a general kind, PUBLIC of a public set."""
    rng = random.Random(SEED)
    by_kind: dict[str, list[tuple[str, Group]]] = defaultdict(list)
    for kind, group in found:
        by_kind[kind].append((kind, group))
    kept = []
    for kind, rows_of in by_kind.items():
        most = PUBLIC if kind.startswith("public") else GENERAL if kind in NATURAL.values() else len(rows_of)
        kept += rng.sample(rows_of, min(most, len(rows_of)))
    return kept


def main(names: Sequence[str]) -> None:
    found = sampled(list(rows()))
    for name in names or ["shipped"]:
        print(f"== {name}", flush=True)
        measured = measure(weights(name), found)
        public = [value for kind, (value, _) in measured.items() if kind.startswith("public") and value]
        for kind, (value, n) in sorted(measured.items()):
            if not kind.startswith("public"):
                print(f"{kind:24} {value if value is None else round(value, 3)}  n {n}")
        print(f"{'public sets, mean':24} {np.mean(public):.3f}  of {len(public)} sets", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

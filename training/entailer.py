"""The entailer's recipe. `python -m training.entailer` trains it, or goes on where it was stopped.

In: CITEWELL_DATA, CITEWELL_ENCODER, CITEWELL_CHECKPOINTS. Out: checkpoints in
CITEWELL_CHECKPOINTS/entailer. Stage "general" is one pass over short pairs; stage "grounding" is
documents, made pairs and a share of the general ones. Each is a run of `Training` with its own schedule;
the second starts from the weights of the first.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from training.encoder import Encoder, Schedule, Training, load_tokenizer
from training.general import general_items
from training.grounding import grounding_items
from training.items import Bags, Item, bag_loss, encode_items

SEED = 20261121


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    items: Callable[[int], list[Item]]
    peak: float
    floor: float
    passes: float
    tokens_per_batch: int = 1536


STAGES = {
    "general": Stage("general", general_items, peak=1.2e-4, floor=0.3, passes=1.0),
    "grounding": Stage("grounding", grounding_items, peak=1.0e-4, floor=0.01, passes=0.9),
}
ORDER = ("general", "grounding")


def checkpoints() -> Path:
    return Path(os.environ.get("CITEWELL_CHECKPOINTS", "checkpoints")) / "entailer"


def train(stage: Stage, start: Path | None) -> None:
    torch.manual_seed(SEED)
    torch.set_num_threads(int(os.environ.get("CITEWELL_THREADS", "1")))
    bags = encode_items(load_tokenizer(), stage.items(SEED))
    model = Encoder(3)
    if start is not None:
        model.load_state_dict(torch.load(start, weights_only=True)["model"])
    batches = _batches(bags, stage)
    tokens = sum(bags.lengths())
    print(f"{stage.name}: {len(bags.rows)} items, {tokens} tokens, {len(batches)} steps", flush=True)

    def loss_of(module: nn.Module, step: int) -> Tensor:
        inputs, bag, labels = bags.batch(batches[step])
        return bag_loss(module(**inputs), bag, labels)

    schedule = Schedule(len(batches), stage.peak, floor=stage.floor)
    Training(model, schedule, loss_of, checkpoints() / stage.name).run()


def _batches(bags: Bags, stage: Stage) -> list[list[int]]:
    """Every step's items, fixed before the first step: a resumed run continues the same list."""
    batches: list[list[int]] = []
    for number in range(int(stage.passes) + 1):
        rng = random.Random(f"{SEED}/{stage.name}/{number}")
        share = min(1.0, stage.passes - number)
        one_pass = bags.batches(stage.tokens_per_batch, rng)
        batches += one_pass[: round(share * len(one_pass))]
    return batches


def main(names: list[str]) -> None:
    before: Path | None = None
    for name in ORDER:
        if not names or name in names:
            train(STAGES[name], before)
        before = checkpoints() / name / "last.pt"


if __name__ == "__main__":
    main(sys.argv[1:])

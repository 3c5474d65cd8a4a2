"""Real passages with their sentences, from which made pairs are made.

In: the question sets that may ship. Out: Passage values, each in the part "train" or "calibrate" by the
hash of its text (a tenth is held out, so that calibration sees passages that training never saw).
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from citewell.core.sentences import sentence_spans
from training.edits import names_in
from training.sources import Row, load_for_training

SETS = (
    "qa/squad2_cs224n.dev",
    "qa/squadshifts_wiki.test",
    "qa/tydiqa_en.train",
    "qa/qed_nq.train",
    "qa/covidqa_paragraph.all",
    "qa/policyqa.dev",
    "qa/boolq.train_sample",
)
NEWS = ("nli/fib_xsum.all",)  # documents without questions, in the casing and style of what is summarised


@dataclass(frozen=True, slots=True)
class Passage:
    text: str
    sentences: tuple[str, ...]
    names: tuple[str, ...]
    questions: tuple[Row, ...]


def part_of(text: str) -> str:
    """A document's part, from its text alone: every row about it falls on the same side."""
    return "calibrate" if hashlib.sha256(text.encode()).digest()[0] < 26 else "train"


def passages(part: str, seed: int) -> list[Passage]:
    """All passages of a part, in an order given by the seed."""
    found = list(_passages(part))
    random.Random(seed).shuffle(found)
    return found


@cache
def _passages(part: str) -> tuple[Passage, ...]:
    by_text: dict[str, list[Row]] = {}
    for name in SETS:
        for row in load_for_training(name):
            by_text.setdefault(row["context"], []).append(row)
    for name in NEWS:
        for row in load_for_training(name):
            by_text.setdefault(row["premise"], [])
    return tuple(passage_of(text, rows) for text, rows in by_text.items() if part_of(text) == part)


def passage_of(text: str, rows: Sequence[Row] = ()) -> Passage:
    clean = tidy(text)
    sentences = tuple(clean[a:b] for a, b in sentence_spans(clean))
    return Passage(clean, sentences, tuple(names_in(clean)), tuple(rows))


def tidy(text: str) -> str:
    """Without reference marks, and without the extra spaces of tokenised text."""
    text = re.sub(r"\[\d+\]", "", text)
    text = re.sub(r" ([.,;:!?%)\]])", r"\1", text)
    text = re.sub(r"([(\[]) ", r"\1", text)
    text = re.sub(r" ('s|'re|'ve|n't|'ll|'d)\b", r"\1", text)
    return re.sub(r" +", " ", text.replace("``", '"').replace("''", '"')).strip()


def good_sentences(passage: Passage) -> Iterator[int]:
    """Sentences that can stand as a claim: whole, neither short nor long."""
    for i, sentence in enumerate(passage.sentences):
        if 7 <= len(sentence.split()) <= 40 and sentence.endswith(".") and sentence[0].isupper():
            yield i

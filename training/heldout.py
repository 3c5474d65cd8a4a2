"""Judged claims that shaped no weights, for choosing weights and fitting support.

In: the part "calibrate" of the training sets (a tenth of their documents, which no stage trained on) and
training sets that no stage uses. Out: Example values. A claim may have several sentences: it is supported if
all of them are. Short human-written pairs of the general stage are excluded, since that stage trained on
all of them. Independent of models.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from citewell.core.sentences import sentence_spans
from training.border import NEAR_MISSES, OPTIONS, QUESTIONS, TABLES, near_missed
from training.copying import copied_claims
from training.grounding import DOCUMENTS, document_rows
from training.pairs import document_claims, made_items
from training.passages import part_of, passages, tidy
from training.sources import load_for_training
from training.statements import statement, yes_no_statement
from training.written import judged

MOST = 260  # rows per set
TABLE_MOST = 160
WRITTEN_MOST = 700
MADE_MOST = 24  # rows per kind of made pair
UNSEEN = ("nli/mpe.dev",)
# Without mpe.train: the general stage took rows of it regardless of their part.
SETS = tuple(name for name in DOCUMENTS if name != "nli/mpe.train")


@dataclass(frozen=True, slots=True)
class Example:
    premise: str
    claim: str
    supported: bool
    name: str

    def sentences(self) -> list[str]:
        """The claim's sentences of more than two words; the claim itself if there are none."""
        cut = [self.claim[a:b] for a, b in sentence_spans(self.claim)]
        return [s for s in cut if len(s.split()) > 2] or [self.claim]


def examples(seed: int) -> list[Example]:
    rng = random.Random(f"heldout/{seed}")
    found: list[Example] = []
    for name in SETS:
        rows = [row for row in document_rows(name) if part_of(row[0]) == "calibrate"]
        most = TABLE_MOST if name in TABLES else MOST
        found += _sampled([Example(p, c, label == "entailment", name) for p, c, label in rows], rng, most)
    for name in UNSEEN:
        rows = [(r["premise"], r["hypothesis"], r["label"]) for r in load_for_training(name)]
        found += _sampled([Example(p, c, label == "entailment", name) for p, c, label in rows], rng)
    found += _questions()
    found += _sampled(list(_long_answers()), rng)
    found += _made(seed, rng)
    written = [
        Example(text, said, label == "entailment", "written") for text, said, label in judged("calibrate")
    ]
    found += _sampled(written, rng, WRITTEN_MOST)
    return [e for e in found if e.premise.strip() and e.claim.strip() and len(e.sentences()) <= 5]


def _sampled(rows: list[Example], rng: random.Random, most: int = MOST) -> list[Example]:
    """At most half of `most` for each label."""
    rng.shuffle(rows)
    taken: Counter[bool] = Counter()
    kept = []
    for row in rows:
        taken[row.supported] += 1
        if taken[row.supported] <= most // 2:
            kept.append(row)
    return kept


def _questions() -> Iterator[Example]:
    for name in QUESTIONS:
        for row in load_for_training(name):
            text, answer = tidy(row["context"]), row["answers"][0]["text"].lower()
            claim = yes_no_statement(row["question"], text)
            if claim and part_of(row["context"]) == "calibrate" and answer in ("yes", "no"):
                yield Example(text, claim, answer == "yes", "qa/boolq")
    for name in OPTIONS:
        for row in load_for_training(name):
            if part_of(row["premise"]) == "calibrate":
                claim = statement(row["meta"]["question"], row["meta"]["answer"]) or row["hypothesis"]
                yield Example(row["premise"], claim, row["label"] == "entailment", name)


def _long_answers() -> Iterator[Example]:
    """Answers that people wrote from selected sentences; without those sentences they are unsupported."""
    for row in load_for_training("qa/clapnq.dev"):
        if not row["answerable"]:
            continue
        told = {sentence for group in row["meta"]["selected_sentences"][:1] for sentence in group}
        text = tidy(row["context"])
        for answer in row["answers"][:1]:
            claim = tidy(answer["text"])
            yield Example(text, claim, True, "qa/clapnq.dev")
            kept = [text[a:b] for a, b in sentence_spans(text) if not _among(text[a:b], told)]
            if len(kept) >= 2:
                yield Example(" ".join(kept), claim, False, "qa/clapnq.dev")


def _among(sentence: str, told: set[str]) -> bool:
    words = set(sentence.lower().split())
    return any(len(words & set(tidy(t).lower().split())) > 0.7 * len(words) for t in told)


def _made(seed: int, rng: random.Random) -> Iterator[Example]:
    few = [p for p in passages("calibrate", seed) if len(p.text) < 4000]
    taken: Counter[str] = Counter()
    for passage in few:
        for kind, claim, label in copied_claims(passage, rng):
            name = f"made/{kind.split('/')[0]}"
            taken[name, label] += 1
            if taken[name, label] <= MOST // 2:
                yield Example(passage.text, claim, label == "entailment", name)
    for passage in [p for p in few if not p.questions][: MOST // 3]:
        for claim, label in document_claims(passage, rng):
            yield Example(passage.text, claim, label == "entailment", "made/document")
    for text, claim, right in near_missed("calibrate", seed, NEAR_MISSES // 20):
        yield Example(text, claim, right, "made/near-miss")
    counts: Counter[str] = Counter()
    for item in made_items("calibrate", seed):
        counts[item.kind] += 1
        if counts[item.kind] <= MADE_MOST:
            many = "chunk" if len(item.windows) > 1 or len(item.windows[0]) > 250 else "sentence"
            yield Example(item.windows[0], item.claim, item.label == "entailment", f"made/{many}")

"""Turns questions with the passage that answers them into examples, near misses included.

In: `Question`s of one set, and a function that embeds texts. Out: `Example`s. Kinds of near miss: the same
article's nearest other paragraph, the nearest paragraph of any article, the passage without the answer's
sentences, the question with its year or a name changed to one the passage does not have. "Nearest" is
by cosine and by BM25 in turn, as in retrieval's pools: with cosine alone, the model would learn that what
cosine likes is wrong. Independent of the model to be trained.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citewell.core.sentences import sentence_spans
from training.reading_pairs import Question, Span

Embed = Callable[[Sequence[str]], NDArray[np.float32]]

_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'’-]+(?: (?:of |the |and )?[A-Z][\w'’-]+)*")
_NORMAL = re.compile(r"[a-z0-9]+")
POOL = 30  # nearest passages that a near miss is drawn from


@dataclass(frozen=True, slots=True)
class Example:
    """`spans`: offsets into `passage` (context included); () trains the reader to give no answer; None does
    not train it. `kind` says how the example was made."""

    source: str
    group: str
    question: str
    passage: str
    relevant: bool
    spans: tuple[Span, ...] | None
    kind: str


# How often each near miss is made per answered question, by set; the other sets take the default.
DEFAULT = {"article": 0.5, "anywhere": 0.6, "removed": 0.35, "swapped": 0.2}
RATES: dict[str, dict[str, float]] = {
    # "What is this good for?" fits any product: another review may well answer it
    "qa/squadshifts_amazon.test": {"removed": 0.35, "swapped": 0.2},
    "qa/qamr.dev": {"anywhere": 0.3, "swapped": 0.3},
    "qa/policyqa.dev": {"article": 0.3},
    "qa/boolq.train_sample": {"anywhere": 0.8},
    "qa/boolq.dev": {"anywhere": 0.8},
    "qa/conditionalqa_evidence.train": {"article": 0.3, "anywhere": 0.5},
    "qa/wtq.train": {"anywhere": 0.5, "swapped": 0.2},
    "relevance/medquad.train": {},
    "relevance/conditionalqa.train": {"anywhere": 0.2},
    "relevance/contractnli_clauses.dev": {},
    "made/finance": {"anywhere": 0.2},
    "qa/tatqa.dev": {"article": 0.3, "anywhere": 0.8},
}


def examples(questions: Sequence[Question], embed: Embed, rng: random.Random) -> list[Example]:
    """Every question once, and its near misses."""
    made = [_example(q, q.question, q.passage, q.spans, "given", rng) for q in questions]
    answered = [q for q in questions if q.spans != ()]
    rates = {q.source: RATES.get(q.source, DEFAULT) for q in answered}
    passages = sorted({(q.passage, q.group, q.context) for q in questions})
    near = _nearest(answered, passages, embed) if any("anywhere" in r for r in rates.values()) else None
    names = sorted({name for q in questions for name in _NAME.findall(q.question)})
    for number, question in enumerate(answered):
        rate = rates[question.source]
        if near is not None:
            for kind, same in (("article", True), ("anywhere", False)):
                if rng.random() < rate.get(kind, 0.0):
                    found = _miss(question, [passages[i] for i in near[number]], same, rng)
                    if found:
                        other = Question(question.source, found[1], "", found[0], (), found[2])
                        made.append(_example(other, question.question, found[0], (), kind, rng))
        if question.spans and rng.random() < rate.get("removed", 0.0):
            rest = _without(question)
            if rest:
                made.append(_example(question, question.question, rest, (), "removed", rng))
        if question.spans and rng.random() < rate.get("swapped", 0.0):
            swapped = _swapped(question, names, rng)
            if swapped:
                made.append(_example(question, swapped, question.passage, (), "swapped", rng))
    return made


def _example(
    q: Question, question: str, passage: str, spans: tuple[Span, ...] | None, kind: str, rng: random.Random
) -> Example:
    """The passage under its context, as the product shows it to the model, but not always, so that a bare
    passage is understood too."""
    always = q.source == "made/finance"
    lead = f"{q.context}\n" if q.context and (always or rng.random() < 0.6) else ""
    moved = tuple((a + len(lead), b + len(lead)) for a, b in spans) if spans else spans
    return Example(q.source, q.group, question, lead + passage, spans != (), moved, kind)


def _nearest(
    questions: Sequence[Question], passages: Sequence[tuple[str, str, str]], embed: Embed
) -> NDArray[np.int64]:
    """Per question, `POOL` * 4 passages by cosine and as many by BM25, in turn: (questions, POOL * 8)."""
    import bm25s

    texts, wanted = [p[0] for p in passages], [q.question for q in questions]
    most = min(POOL * 4, len(texts))
    vectors, asked = embed(texts), embed(wanted)
    near = np.concatenate(
        [np.argsort(-(asked[i : i + 512] @ vectors.T), axis=1)[:, :most] for i in range(0, len(asked), 512)]
    )
    words = bm25s.BM25()
    words.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    tokens = bm25s.tokenize(wanted, stopwords="en", show_progress=False)
    alike, _ = words.retrieve(tokens, k=most, show_progress=False)
    return np.stack([near, alike.astype(np.int64)], axis=2).reshape(len(wanted), 2 * most)


def _miss(
    question: Question, near: Sequence[tuple[str, str, str]], same: bool, rng: random.Random
) -> tuple[str, str, str] | None:
    """One of the nearest passages that contain none of the answers."""
    answers = {_normal(question.passage[a:b]) for a, b in question.spans or ()}
    found = []
    for rank, (passage, group, context) in enumerate(near):
        if (
            passage == question.passage
            or (group == question.group) != same
            or (not same and rank >= 2 * POOL)
        ):
            continue
        text = _normal(passage)
        if not any(answer in text for answer in answers):
            found.append((passage, group, context))
        if len(found) == 8:
            break
    return rng.choice(found) if found else None


def _without(question: Question) -> str | None:
    """The passage without the sentences that contain an answer's words."""
    text = question.passage
    answers = {_normal(text[a:b]) for a, b in question.spans or ()}
    kept = [text[a:b] for a, b in sentence_spans(text) if not any(x in _normal(text[a:b]) for x in answers)]
    return " ".join(kept) if len(" ".join(kept).split()) >= 25 else None


def _swapped(question: Question, names: Sequence[str], rng: random.Random) -> str | None:
    """The question with another year, or another name, that the passage does not mention."""
    year = _YEAR.search(question.question)
    if year and rng.random() < 0.7:
        near = [str(int(year.group()) + d) for d in (-3, -2, -1, 1, 2, 3, 10)]
        other = [y for y in near if y not in question.passage and y not in question.context]
        return question.question.replace(year.group(), rng.choice(other)) if other else None
    own = [n for n in _NAME.findall(question.question) if n in question.passage or n in question.context]
    if not own or not names:
        return None
    name = rng.choice(own)
    for _ in range(10):
        other_name = rng.choice(names)
        if _normal(other_name) not in _normal(question.passage + question.context) and name not in other_name:
            return question.question.replace(name, other_name)
    return None


def _normal(text: str) -> str:
    return " ".join(_NORMAL.findall(text.lower()))


def by_source(questions: Sequence[Question]) -> dict[str, list[Question]]:
    grouped: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        grouped[question.source].append(question)
    return dict(grouped)

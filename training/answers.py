"""How sure a sentence is to answer a question: one line over the reader's, the ranker's and the judge's word.

In: questions whose passages shaped no weights: the written examples' part "choose", and rows of public sets
that no stage saw. Each with its own passage and, of the others, the one nearest in words, read as at run
time: the reader points, the judge reads what it points at, under the passage's title and headings. Out: the
coefficients of a logistic line over the log odds, and, under cross-validation by question, its AUROC beside
the reader's alone and what the surest stretch of each question comes to at LEAST.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from citewell.core.records import Chunk
from citewell.models.onnx.entailer import OnnxAnswerCheck, OnnxEntailer
from citewell.models.onnx.reading import OnnxRanker, OnnxReader
from citewell.questions.evidence import framed
from citewell.questions.quotable import heading_above, pointed_at
from citewell.verification.support import log_odds
from training.entailer import SEED
from training.examples import passages as written_passages
from training.judge import ASKED_MOST
from training.reading_pairs import held_out
from training.reading_pairs import questions as asked

Floats = NDArray[np.float64]
WORD = re.compile(r"\w+")
WRITTEN, PUBLIC, AMONG = 360, 25, 300
"""Questions over written passages and of each public set at most, and the passages that the strange one is
taken from."""
NAMES = ("reader", "ranker", "judge")
HELD = 0.6
"""The share of an answer that a stretch must hold to be one."""
LEAST = 0.55
"""From here on it answers. By the surest stretch, of 95 answerable questions about 130 written passages that
choose, .65, .6, .55 and .5 answer 24, 29, 34 and 37 rightly, 8, 9, 11 and 14 otherwise; of 47 others they
decline 44, 43, 41 and 39."""
NOTHING = {"border": 0.5, "least": LEAST, "line": dict.fromkeys(("intercept", *NAMES), 0.0)}
"""The calibration of a check whose own word alone is asked."""


@dataclass(frozen=True, slots=True)
class Read:
    """A question with its own passage and others; ``places`` are its answers in its own, () where there is
    none."""

    question: str
    chunk: Chunk
    others: tuple[Chunk, ...]
    places: tuple[tuple[int, int], ...]
    source: str


def chunk_of(title: str, text: str) -> Chunk:
    return Chunk(
        chunk_id="",
        document_id="",
        document_version="",
        start_offset=0,
        end_offset=len(text),
        content=text,
        context=title,
        title=title,
    )


def nearest(question: str, chunks: Sequence[Chunk]) -> Chunk:
    """The chunk that shares most of the question's words, the rarer the better: what a search would find."""
    words = [set(WORD.findall(chunk.in_context.lower())) for chunk in chunks]
    held = Counter(word for each in words for word in each)
    asked = set(WORD.findall(question.lower()))
    rare = {word: 1.0 / held[word] for word in asked if held[word]}
    best = max(range(len(chunks)), key=lambda i: sum(rare.get(word, 0.0) for word in words[i] & asked))
    return chunks[best]


def written(rng: random.Random) -> Iterator[Read]:
    found = [passage for passage in written_passages() if passage.part == "choose"]
    for passage in found:
        others = [chunk_of(other.title, other.text) for other in found if other is not passage]
        for one in passage.questions:
            start = passage.text.find(one.answer) if one.answer else -1
            yield Read(
                one.question,
                chunk_of(passage.title, passage.text),
                (nearest(one.question, others),),
                ((start, start + len(one.answer)),) if start >= 0 else (),
                "examples",
            )


def public(rng: random.Random) -> Iterator[Read]:
    for name, most in ASKED_MOST.items():
        rows = asked(name)
        kept = [row for row in rows[most:] if held_out(row.source, row.group) and row.spans is not None]
        for row in rng.sample(kept, min(PUBLIC, len(kept))):
            others = rng.sample(
                [other for other in rows if other.group != row.group], min(AMONG, len(rows) // 2)
            )
            yield Read(
                row.question,
                chunk_of(row.context, row.passage),
                (nearest(row.question, [chunk_of(other.context, other.passage) for other in others]),),
                tuple(row.spans or ()),
                name,
            )


def measured(check: OnnxAnswerCheck) -> tuple[Floats, Floats, NDArray[np.int_]]:
    """A row for each stretch that the reader points at: the log odds of NAMES; whether it answers; and the
    number of its question."""
    rng = random.Random(SEED)
    reads = list(written(rng))
    reads = [*rng.sample(reads, min(WRITTEN, len(reads))), *public(rng)]
    ranker, reader = OnnxRanker(), OnnxReader()
    x, y, of = [], [], []
    for number, one in enumerate(reads):
        chunks = (one.chunk, *one.others)
        texts = [chunk.in_context for chunk in chunks]
        relevance = ranker.rank(one.question, texts)
        for chunk, rel, reading in zip(chunks, relevance, reader.extract(one.question, texts), strict=True):
            pointed = pointed_at(chunk, reading)
            read = [
                framed((chunk.title, heading_above(chunk.content, p.start)), chunk.content[p.start : p.end])
                for p in pointed
            ]
            said = check.answers([(text, one.question) for text in read]) if read else []
            for at, p in zip(pointed, said, strict=True):
                answers = chunk is one.chunk and any(
                    min(at.end, end) - max(at.start, start) >= HELD * (end - start)
                    for start, end in one.places
                )
                x.append([log_odds(at.share), log_odds(rel), log_odds(p)])
                y.append(float(answers))
                of.append(number)
    return np.array(x), np.array(y), np.array(of)


def fitted(judge: OnnxEntailer) -> dict[str, object]:
    """The line, and how good it is on questions that did not fit it."""
    x, y, of = measured(OnnxAnswerCheck(judge, NOTHING))
    held = np.zeros(len(y))
    for fold in range(5):
        out = of % 5 == fold
        held[out] = _with_one(x[out]) @ _line(x[~out], y[~out])
    names = ("intercept", *NAMES)
    surest = [
        rows[np.argmax(held[rows])] for rows in (np.flatnonzero(of == number) for number in np.unique(of))
    ]
    has = np.array([y[of == of[row]].max() for row in surest]) > 0
    shown, right = 1 / (1 + np.exp(-held[surest])) >= LEAST, y[surest] > 0
    return {
        "least": LEAST,
        "line": dict(zip(names, (round(float(value), 5) for value in _line(x, y)), strict=True)),
        "line (5-fold)": {
            "stretches": len(y),
            "auroc": area(held, y),
            "auroc of the reader": area(x[:, 0], y),
            "questions": {"answerable": int(has.sum()), "others": int((~has).sum())},
            "right": round(float((shown & right)[has].mean()), 3),
            "something else": round(float((shown & ~right)[has].mean()), 3),
            "declined": round(float((~shown)[~has].mean()), 3),
        },
    }


def area(score: Floats, y: Floats) -> float | None:
    """AUROC; None where all are alike."""
    if y.min() == y.max():
        return None
    true, false = score[y == 1][:, None], score[y == 0]
    return round(float((true > false).mean() + (true == false).mean() / 2), 4)


def _with_one(x: Floats) -> Floats:
    return np.c_[np.ones(len(x)), x]


def _line(x: Floats, y: Floats, penalty: float = 0.002) -> Floats:
    rows = _with_one(x)

    def loss(beta: Floats) -> float:
        z = rows @ beta
        return float((np.logaddexp(0.0, z) - y * z).mean() + penalty * (beta[1:] ** 2).sum() / 2)

    return np.asarray(minimize(loss, np.zeros(rows.shape[1]), method="L-BFGS-B").x)

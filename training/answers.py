"""How likely a sentence is to answer a question: one line over the reader's, ranker's and judge's scores.

In: questions whose passages shaped no weights: the written examples' part "choose", and rows of public sets
that no stage saw. Each is asked of a small home, its own passage among FIRM - 1 others: the NEAREST in words
are ranked, the reader points into the READ best and the judge reads what it points at, under the passage's
title and headings, as at run time. Out: the coefficients of a logistic line over the log odds and,
cross-validated by question, its AUROC next to the reader's alone and the outcome for the surest stretch of
each question at LEAST and around it.
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
from citewell.questions.evidence import MOST_JUDGED, framed
from citewell.questions.quotable import heading_above, pointed_at
from citewell.verification.support import log_odds
from training.entailer import SEED
from training.examples import passages as written_passages
from training.judge import ASKED_MOST
from training.reading_pairs import held_out
from training.reading_pairs import questions as asked

Floats = NDArray[np.float64]
WORD = re.compile(r"\w+")
WRITTEN, PUBLIC = 320, 10
"""Most questions over written passages, and of each public set."""
FIRM, NEAREST, READ = 12, 8, 5
TRIED = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7)
NAMES = ("reader", "ranker", "judge")
HELD = 0.6
"""The share of an answer that a stretch must contain to count as one."""
LEAST = 0.3
"""The least probability that counts as an answer. Chosen on the table "at" of the tenth round (390 questions
in homes of twelve papers): .644 right, .047 something else and .791 of the others declined; at .25 .655, .069
and .739; at .5 .564, .029 and .861."""
NOTHING = {
    "border": 0.5,
    "least": LEAST,
    "line": dict.fromkeys(("intercept", *NAMES), 0.0),
    "says": {"border": 1.0},
}
"""The calibration of a check that is asked only for its own probability."""


@dataclass(frozen=True, slots=True)
class Read:
    """A question with its own passage and all of its home; ``places`` are its answers in that passage, () if
    there are none."""

    question: str
    chunk: Chunk
    home: tuple[Chunk, ...]
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


def nearest(question: str, chunks: Sequence[Chunk]) -> list[Chunk]:
    """The NEAREST chunks by shared question words, rarer words counting more: what a search would find."""
    words = [set(WORD.findall(chunk.in_context.lower())) for chunk in chunks]
    held = Counter(word for each in words for word in each)
    rare = {word: 1.0 / held[word] for word in set(WORD.findall(question.lower())) if held[word]}
    shared = [sum(rare.get(word, 0.0) for word in each) for each in words]
    return [chunks[i] for i in sorted(range(len(chunks)), key=lambda i: -shared[i])[:NEAREST]]


def written(rng: random.Random) -> Iterator[Read]:
    found = [passage for passage in written_passages() if passage.part == "choose"]
    rng.shuffle(found)
    for begin in range(0, len(found), FIRM):
        firm = found[begin : begin + FIRM]
        chunks = tuple(chunk_of(passage.title, passage.text) for passage in firm)
        for passage, chunk in zip(firm, chunks, strict=True):
            for one in passage.questions:
                start = passage.text.find(one.answer) if one.answer else -1
                places = ((start, start + len(one.answer)),) if start >= 0 else ()
                yield Read(one.question, chunk, chunks, places, "examples")


def public(rng: random.Random) -> Iterator[Read]:
    for name, most in ASKED_MOST.items():
        rows = asked(name)
        kept = [row for row in rows[most:] if held_out(row.source, row.group) and row.spans is not None]
        for row in rng.sample(kept, min(PUBLIC, len(kept))):
            strange = [other for other in rows if other.group != row.group]
            others = rng.sample(strange, min(FIRM - 1, len(strange)))
            own = chunk_of(row.context, row.passage)
            firm = (own, *(chunk_of(other.context, other.passage) for other in others))
            yield Read(row.question, own, firm, tuple(row.spans or ()), name)


def measured(check: OnnxAnswerCheck) -> tuple[list[Read], Floats, Floats, NDArray[np.int_]]:
    """The questions; and a row for each judged stretch: the log odds of NAMES, whether it answers, and the
    number of its question."""
    rng = random.Random(SEED)
    reads = list(written(rng))
    reads = [*rng.sample(reads, min(WRITTEN, len(reads))), *public(rng)]
    ranker, reader = OnnxRanker(), OnnxReader()
    x, y, of = [], [], []
    for number, one in enumerate(reads):
        near = nearest(one.question, one.home)
        ranked = zip(ranker.rank(one.question, [chunk.in_context for chunk in near]), near, strict=True)
        best = sorted(ranked, key=lambda pair: -pair[0])[:READ]
        readings = reader.extract(one.question, [chunk.in_context for _, chunk in best])
        pointed = [
            (relevance, chunk, at)
            for (relevance, chunk), reading in zip(best, readings, strict=True)
            for at in pointed_at(chunk, reading)
        ]
        pointed = sorted(pointed, key=lambda each: -each[0] * each[2].share)[:MOST_JUDGED]
        read = [
            framed((chunk.title, heading_above(chunk.content, at.start)), chunk.content[at.start : at.end])
            for _, chunk, at in pointed
        ]
        said = check.answers([(text, one.question) for text in read])
        for (relevance, chunk, at), p in zip(pointed, said, strict=True):
            answers = chunk is one.chunk and any(
                min(at.end, end) - max(at.start, start) >= HELD * (end - start) for start, end in one.places
            )
            x.append([log_odds(at.share), log_odds(relevance), log_odds(p)])
            y.append(float(answers))
            of.append(number)
    return reads, np.array(x), np.array(y), np.array(of)


def fitted(judge: OnnxEntailer) -> dict[str, object]:
    """The line, and how good it is on questions it was not fitted to."""
    reads, x, y, of = measured(OnnxAnswerCheck(judge, NOTHING))
    held = np.zeros(len(y))
    for fold in range(5):
        out = of % 5 == fold
        held[out] = _with_one(x[out]) @ _line(x[~out], y[~out])
    names = ("intercept", *NAMES)
    surest = [
        rows[np.argmax(held[rows])] for rows in (np.flatnonzero(of == number) for number in np.unique(of))
    ]
    # If the reader never points at the right stretch, the question is refused or answered with another.
    has = np.array([bool(reads[of[row]].places) for row in surest])
    sure, right = 1 / (1 + np.exp(-held[surest])), y[surest] > 0

    def at(least: float) -> dict[str, float]:
        shown = sure >= least
        return {
            "right": round(float((shown & right)[has].mean()), 3),
            "something else": round(float((shown & ~right)[has].mean()), 3),
            "declined": round(float((~shown)[~has].mean()), 3),
        }

    return {
        "least": LEAST,
        "line": dict(zip(names, (round(float(value), 5) for value in _line(x, y)), strict=True)),
        "line (5-fold)": {
            "stretches": len(y),
            "auroc": area(held, y),
            "auroc of the reader": area(x[:, 0], y),
            "questions": {"answerable": int(has.sum()), "others": int((~has).sum())},
            **at(LEAST),
            "at": {str(least): at(least) for least in TRIED},
        },
    }


def area(score: Floats, y: Floats) -> float | None:
    """AUROC; None if all labels are alike."""
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

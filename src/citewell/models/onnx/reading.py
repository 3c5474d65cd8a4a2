"""The encoder shared by ranker and reader: a question and a passage, read in windows.

In: a question and passages (a chunk's context lines above its text) of any length. Out: for each passage the
calibrated probability that it answers (the ranker), and the likeliest answers as offsets into it (the
reader). A passage that fits is one window. A longer one is cut between sentences (or table rows) into runs
that fill a window, each starting with the last sentence of the previous run; its heading lines are repeated
at the top of every window. Nothing is left out.

The ranker's rule: a passage scores as its best window, whose logit goes through a logistic curve with
coefficients from the card, fitted at equal priors on data held out from training.

The reader's rule: spans of all windows compete as log odds against "no answer here"; the no-answer
probability comes from the best span's odds and the best window's relevance through another logistic curve in
the card; a span's probability is its share among the spans times the probability of an answer.

Within a pass the ranker, the gate and the writer read the same pairs, and a second try most of the first's:
`RememberingReading` reads each once. Independent of indexes and thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from citewell.core.errors import UsageError
from citewell.core.ports import Extraction, Reading
from citewell.core.sentences import sentence_spans
from citewell.core.weights import WEIGHTS
from citewell.models.onnx.session import Session, Tokens
from citewell.models.remembering import Memory
from citewell.verification.support import logistic

Floats = NDArray[np.float32]
Token = tuple[int, tuple[int, int]]
"""A token's id, and its offsets in the passage."""
HEAD_LINES, HEAD_CHARACTERS, HEAD_TOKENS = 3, 520, 96
CANDIDATES = 5
CONSIDERED = 60  # spans considered, best first, to find candidates that do not overlap


@dataclass(frozen=True, slots=True)
class Window:
    """`starts` and `ends`: log odds of each token as the first or last of an answer against no answer;
    `longest`: the most tokens in a span; `offsets`: each token's place in the passage, one row per token."""

    relevance: float
    starts: Floats
    ends: Floats
    longest: int
    offsets: NDArray[np.int32]

    @property
    def odds(self) -> Floats:
        """`odds[i, j]`: log odds of the span from the i-th to the j-th token against no answer, -inf if
        j < i or the span is too long."""
        reach = np.arange(len(self.ends))[None, :] - np.arange(len(self.starts))[:, None]
        odds = self.starts[:, None] + self.ends[None, :]
        return np.where((reach >= 0) & (reach < self.longest), odds, np.float32(-np.inf)).astype(np.float32)


class ReadingModel:
    """One session for both: `shared()` returns the same one to every caller in the process."""

    def __init__(self, folder: Path = WEIGHTS / "reading") -> None:
        self.session = Session(folder)
        self.card = self.session.card
        self._first, self._last = self.session.tokenizer.encode("").ids
        self._window: int = self.card["window_tokens"]
        self._longest: int = self.card["max_tokens"]
        self._span: int = self.card["max_span_tokens"]

    @staticmethod
    @lru_cache(maxsize=1)
    def shared() -> ReadingModel:
        return ReadingModel()

    def read(self, question: str, passages: Sequence[str]) -> list[list[Window]]:
        """The windows of each passage. Raises UsageError for a question or passage without words, or a
        question that leaves no room for a passage."""
        asked = self.session.tokenizer.encode(question, add_special_tokens=False).ids
        if not asked:
            raise UsageError("the question has no words")
        room = max(self._window - len(asked), self._window // 2) - 3
        if len(asked) + room + 3 > self._longest:
            raise UsageError(
                f"the question has {len(asked)} tokens; "
                f"at most {self._longest - self._window // 2} can be read",
                hint="ask a shorter question",
            )
        plans = [self._cut(passage, room, number) for number, passage in enumerate(passages)]
        opening = [self._first, *asked, self._last]
        flat = [
            Tokens(
                [*opening, *(t[0] for t in window), self._last],
                [0] * len(opening) + [1] * (len(window) + 1),
            )
            for plan in plans
            for window in plan
        ]
        outputs = iter(self.session.run(flat))
        return [[self._window_of(next(outputs), window, len(opening)) for window in plan] for plan in plans]

    def _cut(self, passage: str, room: int, number: int) -> list[list[Token]]:
        encoding = self.session.tokenizer.encode(passage, add_special_tokens=False)
        tokens: list[Token] = list(zip(encoding.ids, encoding.offsets, strict=True))
        if not tokens:
            raise UsageError(f"passage {number} has no words: {passage[:40]!r}")
        if len(tokens) <= room:
            return [tokens]
        head_end = heading_end(passage)
        head = [t for t in tokens if t[1][1] <= head_end]
        head = head if len(head) <= min(HEAD_TOKENS, room // 3) else []
        pieces = _pieces(passage, tokens[len(head) :], room - len(head))
        return [[*head, *run] for run in _runs(pieces, room - len(head))]

    def _window_of(self, output: Sequence[Floats], tokens: list[Token], first: int) -> Window:
        relevance, starts, ends = output
        place = slice(first, first + len(tokens))
        return Window(
            relevance=float(relevance),
            starts=starts[place] - starts[0],
            ends=ends[place] - ends[0],
            longest=self._span,
            offsets=np.array([t[1] for t in tokens], dtype=np.int32),
        )


class RememberingReading:
    """Caches the readings of `model`: `limit` passages (about 8 kB each; a question reads fifty to two
    hundred), the oldest dropped first."""

    def __init__(self, model: ReadingModel, *, limit: int = 8_192) -> None:
        self.session, self.card = model.session, model.card
        self._model = model
        self._memory: Memory[tuple[str, str], list[Window]] = Memory(limit)

    def read(self, question: str, passages: Sequence[str]) -> list[list[Window]]:
        """Like :meth:`ReadingModel.read`."""
        return self._memory.recall(
            [(question, passage) for passage in passages],
            lambda pairs: self._model.read(question, [passage for _, passage in pairs]),
        )


Reads: TypeAlias = ReadingModel | RememberingReading


class OnnxRanker:
    """The default ranker; needs no hub, no key and no torch."""

    def __init__(self, model: Reads | None = None) -> None:
        self._model = model or ReadingModel.shared()
        self.maker = self._model.session.maker
        self.card = self._model.card
        self._curve: dict[str, float] = self.card["relevance"]

    def rank(self, question: str, passages: Sequence[str]) -> list[float]:
        """Probabilities in the passages' order. Raises UsageError for a question or passage without words."""
        return [self._probability(windows) for windows in self._model.read(question, passages)]

    def _probability(self, windows: Sequence[Window]) -> float:
        best = max(window.relevance for window in windows)
        return logistic(self._curve["slope"] * best + self._curve["bias"])


class OnnxReader:
    """The default extractor; needs no hub, no key and no torch."""

    def __init__(self, model: Reads | None = None) -> None:
        self._model = model or ReadingModel.shared()
        self.maker = self._model.session.maker
        self._curve: dict[str, float] = self._model.card["no_answer"]

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """One reading per passage, in order. Raises UsageError for a question or passage without words."""
        return [self._reading(windows) for windows in self._model.read(question, passages)]

    def _reading(self, windows: Sequence[Window]) -> Reading:
        spans, total = _spans(windows)
        best, relevance = spans[0][0], max(window.relevance for window in windows)
        answer = logistic(
            self._curve["odds"] * best + self._curve["relevance"] * relevance + self._curve["bias"]
        )
        found: list[Extraction] = []
        for odds, start, end in spans:
            if len(found) < CANDIDATES and not any(e.start < end and start < e.end for e in found):
                share = math.exp(odds - total)
                found.append(Extraction(start=start, end=end, probability=answer * share))
        return Reading(candidates=tuple(found), no_answer=1.0 - answer)


def heading_end(passage: str) -> int:
    """The end of the heading lines: at most three short lines before the first sentence or table row."""
    end = 0
    for line in passage.split("\n")[:HEAD_LINES]:
        body = "\t" in line or line.rstrip().endswith((".", "!", "?", ";")) or len(line) > HEAD_CHARACTERS
        if body or end + len(line) >= len(passage):
            break
        end += len(line) + 1
    return end


def _pieces(passage: str, tokens: list[Token], room: int) -> list[list[Token]]:
    """The tokens by sentence; a sentence longer than ``room`` is cut."""
    pieces: list[list[Token]] = []
    at = 0
    for end in [*(end for _, end in sentence_spans(passage)), len(passage)]:
        piece = []
        while at < len(tokens) and tokens[at][1][0] < end:
            piece.append(tokens[at])
            at += 1
        pieces += [piece[i : i + room] for i in range(0, len(piece), room)]
    return pieces


def _runs(pieces: list[list[Token]], room: int) -> list[list[Token]]:
    """Runs of pieces that fill a window; each repeats the last piece of the previous one if it fits."""
    runs, start = [], 0
    while start < len(pieces):
        end, held = start, 0
        while end < len(pieces) and held + len(pieces[end]) <= room:
            held += len(pieces[end])
            end += 1
        runs.append([token for piece in pieces[start:end] for token in piece])
        if end == len(pieces):
            break
        overlap = end - 1 > start and len(pieces[end - 1]) + len(pieces[end]) <= room
        start = end - 1 if overlap else end
    return runs


def _spans(windows: Sequence[Window]) -> tuple[list[tuple[float, int, int]], float]:
    """The best spans of all windows as (log odds, start, end), and the logarithm of their summed odds. A span
    in two windows counts once, with its higher odds."""
    spans: dict[tuple[int, int], float] = {}
    for window in windows:
        flat = window.odds.ravel()
        top = np.argpartition(-flat, min(CONSIDERED, flat.size - 1))[:CONSIDERED]
        places = window.offsets.tolist()
        width = len(places)
        for index in top.tolist():
            odds = float(flat[index])
            if odds > -math.inf:
                place = (places[index // width][0], places[index % width][1])
                spans[place] = max(odds, spans.get(place, -math.inf))
    ordered = sorted(
        ((odds, start, end) for (start, end), odds in spans.items()), key=lambda s: (-s[0], s[1:])
    )
    largest = ordered[0][0]
    rest = sum(math.exp(odds - largest) for odds, _, _ in ordered)
    return ordered, largest + math.log(rest)

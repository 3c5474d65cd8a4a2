"""Does a text entail a claim? The embedded three-way model, applied to windows of the text.

In: pairs of premise and claim, of any length. Out: one Entailment per pair, bit-identical whatever else is
asked. How windows are combined: a sentence of the claim is entailed as much as by its best window; of the
remainder, contradiction gets the share it has in the window that contradicts most. A claim of several
sentences is entailed as much as its weakest sentence, and contradicted as much as its most contradicted one.
Nothing is truncated silently: a claim too long to be read at once is returned as unchecked, with the reason.
Independent of numbers, names and thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from citewell.core.ports import Candidate
from citewell.core.records import Entailment
from citewell.core.sentences import sentence_spans
from citewell.core.weights import WEIGHTS, judge_folder
from citewell.models.onnx.session import Tokens, open_session
from citewell.models.onnx.windows import WindowRule
from citewell.models.remembering import Memory
from citewell.questions.parsing import yes_or_no
from citewell.verification.support import log_odds, logistic

Logits = NDArray[np.float32]


class _Part(NamedTuple):
    """One sentence of a claim: the sequences to run, and how much of the premise they cover."""

    sequences: list[Tokens]
    read: int
    units: int


class OnnxEntailer:
    """The default entailer; needs no hub, no key and no torch. ``by_sentence`` False reads a claim of several
    sentences at once, to measure what reading by sentence gains.
    """

    def __init__(
        self, folder: Path = WEIGHTS / "entailer", *, threads: int = 0, by_sentence: bool = True
    ) -> None:
        self.session = open_session(folder, threads=threads)
        self.maker = self.session.maker
        card = self.session.card
        self._order = [card["labels"].index(label) for label in ("entailment", "neutral", "contradiction")]
        self._rule = WindowRule(**card["windows"])
        self.max_tokens: int = card["max_tokens"]
        self._by_sentence = by_sentence

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """Unchecked, with the reason, for an empty premise or claim and for a claim that is too long."""
        plans = [self._plan(premise, claim) for premise, claim in pairs]
        asked = [
            run for plan in plans if not isinstance(plan, str) for part in plan for run in part.sequences
        ]
        logits = iter([output[0][self._order] for output in self.session.run(asked)])
        return [
            Entailment.without(plan)
            if isinstance(plan, str)
            else _combined(plan, [_best([next(logits) for _ in part.sequences]) for part in plan])
            for plan in plans
        ]

    def _plan(self, premise: str, claim: str) -> list[_Part] | str:
        """What to run for each sentence of the claim, or why it is unchecked."""
        if not premise.strip():
            return "empty premise"
        sentences = [claim[a:b] for a, b in sentence_spans(claim)]
        if not sentences:
            return "empty claim"
        if not self._by_sentence:
            sentences = [claim.strip()]
        plan = []
        for sentence in sentences:
            tokens = len(self.session.tokenizer.encode(sentence, add_special_tokens=False).ids)
            if tokens > self.max_tokens // 2:
                most = self.max_tokens // 2
                return f"a sentence of the claim has {tokens} tokens; at most {most} are read at once"
            cut = self._rule.cut(premise, sentence)
            sequences = [e for window in cut.windows for e in self._encoded(window, sentence)]
            plan.append(_Part(sequences, cut.read, cut.units))
        return plan

    def _encoded(self, window: str, sentence: str) -> list[Tokens]:
        """One sequence; a window with too many tokens is split in halves."""
        encoding = self.session.tokenizer.encode(window, sentence)
        if len(encoding.ids) <= self.max_tokens:
            return [Tokens(encoding.ids, encoding.type_ids)]
        middle = len(window) // 2
        cut = window.find(" ", middle)
        cut = cut if 0 < cut < len(window) - 1 else middle
        return self._encoded(window[:cut], sentence) + self._encoded(window[cut:], sentence)


@cache
def installed_judge() -> OnnxEntailer | None:
    """The weights of `citewell-judge`, loaded once per process; None if it is not installed."""
    folder = judge_folder()
    return OnnxEntailer(folder) if folder else None


class OnnxAnswerCheck:
    """The judge's second output: whether a text answers a question. ``calibration`` is the part "answers" of
    its support.json: the threshold of its own output, and the line that joins reader, ranker and judge."""

    def __init__(self, judge: OnnxEntailer, calibration: Mapping[str, Any]) -> None:
        self.border: float = calibration["border"]
        self.least: float = calibration["least"]
        self._line: Mapping[str, float] = calibration["line"]
        self._says: float = calibration["says"]["border"]
        self._judge = judge
        self._session = judge.session
        self._max_tokens = judge.max_tokens
        self._memory: Memory[tuple[str, str], float] = Memory(8_192)
        self.maker = msgspec.structs.replace(judge.maker, threshold=self.border)

    def weigh(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """Logistic regression over the three log odds, each clipped at one in ten thousand."""
        said = self.answers([(candidate.text, question) for candidate in candidates])
        line = self._line
        return [
            logistic(
                line["intercept"]
                + line["reader"] * log_odds(candidate.reader)
                + line["ranker"] * log_odds(candidate.ranker)
                + line["judge"] * log_odds(p)
            )
            for candidate, p in zip(candidates, said, strict=True)
        ]

    def says(self, question: str, text: str) -> str:
        """By the judge's probability of one answer less that of the other, from its first output."""
        said = ("Yes.", "No.")
        found = self._judge.entail([(text, yes_or_no(each, question)) for each in said])
        yes, no = (each.entailment or 0.0 for each in found)
        return said[no > yes] if abs(yes - no) >= self._says else ""

    def answers(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (text, question) the probability in [0, 1] that the text answers the question; if both
        together are too long for the model, that of the likeliest piece. Results are cached."""
        return self._memory.recall(pairs, self._read)

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        cut = [self._pieces(text, question) for text, question in pairs]
        said = iter(self._session.run([piece for pieces in cut for piece in pieces]))
        return [max(logistic(float(next(said)[1])) for _ in pieces) for pieces in cut]

    def _pieces(self, text: str, question: str) -> list[Tokens]:
        """The text with the question, in as many pieces as needed; a question takes at most half of one."""
        encode, most = self._session.tokenizer.encode, self._max_tokens
        asked = encode(question, add_special_tokens=False)
        if len(asked.ids) > most // 2:
            question = question[: asked.offsets[most // 2 - 1][1]]
        room = most - 4 - min(len(asked.ids), most // 2)
        places = encode(text, add_special_tokens=False).offsets
        starts = range(0, max(1, len(places)), room)
        texts = [text[places[at][0] : places[min(at + room, len(places)) - 1][1]] for at in starts]
        read = [encode(piece, question) for piece in (texts if len(texts) > 1 else [text])]
        return [Tokens(both.ids[:most], both.type_ids[:most]) for both in read]


def _best(logits: Sequence[Logits]) -> tuple[float, float]:
    """Entailment and contradiction over the windows of one sentence of the claim."""
    rows = [_softmax(row) for row in logits]
    entailment = max(row[0] for row in rows)
    _, neutral, contradiction = max(rows, key=lambda row: row[2])
    rest = neutral + contradiction
    return entailment, (1.0 - entailment) * (contradiction / rest if rest > 0.0 else 0.0)


def _combined(plan: Sequence[_Part], sentences: Sequence[tuple[float, float]]) -> Entailment:
    entailment = min(e for e, _ in sentences)
    contradiction = min(max(c for _, c in sentences), 1.0 - entailment)
    neutral = max(0.0, 1.0 - entailment - contradiction)
    return Entailment(
        entailment=entailment,
        neutral=neutral,
        contradiction=contradiction,
        read=min(part.read for part in plan),
        units=plan[0].units,
    )


def _softmax(row: Logits) -> tuple[float, float, float]:
    """In double precision and a fixed order, as "same input, same bits" requires."""
    top = max(float(value) for value in row)
    e, n, c = (math.exp(float(value) - top) for value in row)
    total = e + n + c
    return e / total, n / total, c / total

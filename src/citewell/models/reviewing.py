"""A language model that judges passages before, and an answer after: strict reading, and no benefit of doubt.

In: a question with passages, or with an answer too, and a function that sends one prompt. Out: SUFFICIENT or
INSUFFICIENT; grounded, complete and the reasoning. An answer outside the rubric, an error or a time-out is
UNCHECKED with its reason, which counts as not passed. Knows no provider.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from citewell.errors import ModelError
from citewell.models.judging import defuse, read_object
from citewell.ports import Evaluation, GateVerdict, Sufficiency
from citewell.prompts.loading import load_prompt
from citewell.records import Maker, Passage, Record

GATE = load_prompt("gate_judge", ("question", "passages"))
ANSWER = load_prompt("answer_judge", ("question", "answer", "passages"))
GATE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "verdict": {"enum": [Sufficiency.SUFFICIENT.value, Sufficiency.INSUFFICIENT.value]},
        "reason": {"type": "string"},
    },
    "required": ["verdict", "reason"],
    "additionalProperties": False,
}
ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "grounded": {"type": "boolean"},
        "complete": {"type": "boolean"},
    },
    "required": ["reasoning", "grounded", "complete"],
    "additionalProperties": False,
}
Send = Callable[[str], str]


class _Gate(Record, frozen=True, kw_only=True):
    verdict: Sufficiency
    reason: str


class _Answer(Record, frozen=True, kw_only=True):
    reasoning: str
    grounded: bool
    complete: bool


class ModelGateJudge:
    """``send`` takes the prompt and returns the model's whole answer; it raises ModelError without one."""

    def __init__(self, name: str, send: Send) -> None:
        self.maker = Maker(name=name, prompt_hash=GATE.hash)
        self._send = send

    def sufficient(self, question: str, passages: Sequence[Passage]) -> GateVerdict:
        if not passages:
            return self._verdict(Sufficiency.INSUFFICIENT, "there is no passage")
        try:
            said = read_object(
                self._send(GATE.fill(question=defuse(question), passages=_shown(passages))), _Gate
            )
        except ModelError as error:
            return self._verdict(Sufficiency.UNCHECKED, str(error))
        # UNCHECKED is ours to say: a judge that writes it has judged nothing.
        return self._verdict(said.verdict, said.reason)

    def _verdict(self, verdict: Sufficiency, reason: str) -> GateVerdict:
        return GateVerdict(verdict=verdict, reason=reason, maker=self.maker)


class ModelAnswerJudge:
    """As :class:`ModelGateJudge`, for an answer."""

    def __init__(self, name: str, send: Send) -> None:
        self.maker = Maker(name=name, prompt_hash=ANSWER.hash)
        self._send = send

    def evaluate(self, question: str, answer: str, passages: Sequence[Passage]) -> Evaluation:
        if not answer.strip() or not passages:
            return self._unchecked("there is nothing to judge")
        prompt = ANSWER.fill(question=defuse(question), answer=defuse(answer), passages=_shown(passages))
        try:
            said = read_object(self._send(prompt), _Answer)
        except ModelError as error:
            return self._unchecked(str(error))
        return Evaluation(
            grounded=said.grounded, complete=said.complete, reasoning=said.reasoning, maker=self.maker
        )

    def _unchecked(self, reason: str) -> Evaluation:
        return Evaluation(grounded=None, complete=None, reasoning="", maker=self.maker, unchecked=reason)


def _shown(passages: Sequence[Passage]) -> str:
    return "\n\n".join(f"({number}) {defuse(p.chunk.in_context)}" for number, p in enumerate(passages, 1))

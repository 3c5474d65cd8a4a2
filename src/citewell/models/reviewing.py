"""A language model that judges passages before, and an answer after: strict reading, and no benefit of doubt.

In: a question with passages, or with an answer too, and a language model. Out: SUFFICIENT or INSUFFICIENT;
grounded, complete and the reasoning; what asking took. An answer outside the rubric, a prompt of which
the server read a part, an error or a time-out is UNCHECKED with its reason, which counts as not passed.
Knows no provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from citewell.core.errors import GeneratorError, ModelError, SameModelError
from citewell.core.independence import refuse_own_work
from citewell.core.ports import Completion, Evaluation, GateVerdict, LanguageModel, Sufficiency
from citewell.core.prompts.loading import load_prompt
from citewell.core.records import Passage, Record
from citewell.models.judging import ask, defuse, read_object, refuse_part_read

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
Judged = TypeVar("Judged", GateVerdict, Evaluation)


class _Gate(Record, frozen=True, kw_only=True):
    verdict: Sufficiency
    reason: str


class _Answer(Record, frozen=True, kw_only=True):
    reasoning: str
    grounded: bool
    complete: bool


class ModelGateJudge:
    """Asked at temperature 0, held to the rubric's schema where the model has one."""

    def __init__(self, model: LanguageModel) -> None:
        self.maker = msgspec.structs.replace(model.maker, prompt_hash=GATE.hash)
        self._model = model

    def sufficient(self, question: str, passages: Sequence[Passage]) -> GateVerdict:
        if not passages:
            return self._verdict(Sufficiency.INSUFFICIENT, "there is no passage")
        prompt = GATE.fill(question=defuse(question), passages=_shown(passages))
        try:
            said = ask(self._model, prompt, GATE_SCHEMA)
        except GeneratorError as error:
            return self._verdict(Sufficiency.UNCHECKED, str(error))
        return _costing(said, self._read(said, prompt))

    def _read(self, said: Completion, prompt: str) -> GateVerdict:
        try:
            refuse_part_read(said, prompt)
            judged = read_object(said.text, _Gate)
        except ModelError as error:
            return self._verdict(Sufficiency.UNCHECKED, str(error))
        # UNCHECKED is ours to say: a judge that writes it has judged nothing.
        return self._verdict(judged.verdict, judged.reason)

    def _verdict(self, verdict: Sufficiency, reason: str) -> GateVerdict:
        return GateVerdict(verdict=verdict, reason=reason, maker=self.maker)


class ModelAnswerJudge:
    """As :class:`ModelGateJudge`, for an answer."""

    def __init__(self, model: LanguageModel) -> None:
        self.maker = msgspec.structs.replace(model.maker, prompt_hash=ANSWER.hash)
        self._model = model

    def evaluate(self, question: str, answer: str, passages: Sequence[Passage]) -> Evaluation:
        if not answer.strip() or not passages:
            return self._unchecked("there is nothing to judge")
        prompt = ANSWER.fill(question=defuse(question), answer=defuse(answer), passages=_shown(passages))
        try:
            said = ask(self._model, prompt, ANSWER_SCHEMA)
        except GeneratorError as error:
            return self._unchecked(str(error))
        return _costing(said, self._read(said, prompt))

    def _read(self, said: Completion, prompt: str) -> Evaluation:
        try:
            refuse_part_read(said, prompt)
            refuse_own_work(said.served)
            judged = read_object(said.text, _Answer)
        except (ModelError, SameModelError) as error:
            return self._unchecked(str(error))
        return Evaluation(
            grounded=judged.grounded, complete=judged.complete, reasoning=judged.reasoning, maker=self.maker
        )

    def _unchecked(self, reason: str) -> Evaluation:
        return Evaluation(grounded=None, complete=None, reasoning="", maker=self.maker, unchecked=reason)


def _costing(said: Completion, judged: Judged) -> Judged:
    return msgspec.structs.replace(judged, usage=said.usage, cost=said.cost, notes=said.notes)


def _shown(passages: Sequence[Passage]) -> str:
    return "\n\n".join(f"({number}) {defuse(p.chunk.in_context)}" for number, p in enumerate(passages, 1))

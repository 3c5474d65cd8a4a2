"""A language model as judge of a claim, of the passages before an answer, and of the answer.

In: texts and a language model. Out: its judgement under the rubric of its prompt file, and the cost. Parsing
is strict: an answer outside the rubric, a prompt that the server read only in part, an error, a timeout, or
the model that wrote the answer (:mod:`citewell.core.metering`) is UNCHECKED with a reason; that never passes.
Independent of providers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from citewell.core.errors import FormRefusedError, GeneratorError, ModelError, SameModelError
from citewell.core.metering import refuse_own_work, spent
from citewell.core.ports import Completion, Evaluation, GateVerdict, LanguageModel, Prompted, Sufficiency
from citewell.core.prompts.loading import Prompt, load_prompt
from citewell.core.records import Entailment, Label, Passage, Record

ENTAILMENT = load_prompt("entailment_judge", ("premise", "claim"))
GATE = load_prompt("gate_judge", ("question", "passages"))
ANSWER = load_prompt("answer_judge", ("question", "answer", "passages"))
MAX_TOKENS = 512
_FENCE = re.compile(r"\A\s*(?:```(?:json)?\s*)?(\{.*\})\s*(?:```)?\s*\Z", re.S)
_BLOCK = re.compile(r"<\s*/?\s*(source|claim|question|answer|passages?|conversation)\s*>", re.I)
_STRING = {"type": "string"}
_BOOLEAN = {"type": "boolean"}


class _Relation(Record, frozen=True, kw_only=True):
    label: Label
    reason: str


class _Gate(Record, frozen=True, kw_only=True):
    verdict: Sufficiency
    reason: str


class _Answer(Record, frozen=True, kw_only=True):
    reasoning: str
    grounded: bool
    complete: bool


_Shape = TypeVar("_Shape", bound=Record)
_SCHEMAS: dict[type[Record], dict[str, Any]] = {
    _Relation: {"label": {"enum": [label.value for label in Label]}, "reason": _STRING},
    # UNCHECKED is not offered: a judge must decide.
    _Gate: {"verdict": {"enum": ["SUFFICIENT", "INSUFFICIENT"]}, "reason": _STRING},
    _Answer: {"reasoning": _STRING, "grounded": _BOOLEAN, "complete": _BOOLEAN},
}


class _Judge:
    """Asked at temperature 0, constrained to the rubric's schema if the server accepts one."""

    def __init__(self, model: LanguageModel, prompt: Prompt) -> None:
        self.maker = msgspec.structs.replace(model.maker, prompt_hash=prompt.hash)
        self._model, self._prompt = model, prompt

    def _ask(
        self, shape: type[_Shape], *, own_work: bool = True, **texts: str
    ) -> tuple[Completion, _Shape | str]:
        """The completion (empty, with no calls, if asking failed), and the judgement or why there is none.
        ``own_work``: the model might have written what it judges, so check that it did not."""
        prompt = self._prompt.fill(**{name: escape_tags(text) for name, text in texts.items()})
        try:
            said = self._complete(prompt, shape)
        except GeneratorError as error:
            return Completion(text="", calls=0), str(error)
        try:
            _refuse_part_read(said, prompt)
            if own_work:
                refuse_own_work(said.served)
            return said, _read(said.text, shape)
        except (ModelError, SameModelError) as error:
            return said, str(error)

    def _complete(self, prompt: str, shape: type[Record]) -> Completion:
        """Retries without the schema if the server refuses it, with a note. Raises GeneratorError."""
        properties = _SCHEMAS[shape]
        schema = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
        prompted = Prompted(system="", user=prompt, schema=schema, temperature=0.0, max_tokens=MAX_TOKENS)
        try:
            return self._model.complete(prompted)
        except FormRefusedError as error:
            said = self._model.complete(msgspec.structs.replace(prompted, schema=None))
            return msgspec.structs.replace(said, notes=(f"asked without a schema: {error}", *said.notes))


class JudgingEntailer(_Judge):
    """One-hot probabilities, because the model returns only a label."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model, ENTAILMENT)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """Reports the cost to :mod:`citewell.core.metering`."""
        return [self._one(premise, claim) for premise, claim in pairs]

    def _one(self, premise: str, claim: str) -> Entailment:
        if not premise.strip() or not claim.strip():
            return Entailment.without("nothing to compare")
        said, judged = self._ask(_Relation, premise=premise, claim=claim)
        if said.calls:
            spent(said)
        if isinstance(judged, str):
            return Entailment.without(judged)
        return Entailment(
            entailment=float(judged.label is Label.ENTAILMENT),
            neutral=float(judged.label is Label.NEUTRAL),
            contradiction=float(judged.label is Label.CONTRADICTION),
        )


class ModelGateJudge(_Judge):
    """Whether the passages suffice, before anything is written."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model, GATE)

    def sufficient(self, question: str, passages: Sequence[Passage]) -> GateVerdict:
        if not passages:
            return GateVerdict(
                verdict=Sufficiency.INSUFFICIENT, reason="there is no passage", maker=self.maker
            )
        said, judged = self._ask(_Gate, own_work=False, question=question, passages=_shown(passages))
        if isinstance(judged, str):
            judged = _Gate(verdict=Sufficiency.UNCHECKED, reason=judged)
        return GateVerdict(
            verdict=judged.verdict,
            reason=judged.reason,
            maker=self.maker,
            usage=said.usage,
            cost=said.cost,
            notes=said.notes,
        )


class ModelAnswerJudge(_Judge):
    """Whether an answer is grounded and complete."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model, ANSWER)

    def evaluate(self, question: str, answer: str, passages: Sequence[Passage]) -> Evaluation:
        nothing = Evaluation(grounded=None, complete=None, reasoning="", maker=self.maker)
        if not answer.strip() or not passages:
            return msgspec.structs.replace(nothing, unchecked="there is nothing to judge")
        said, judged = self._ask(_Answer, question=question, answer=answer, passages=_shown(passages))
        found = {"unchecked": judged} if isinstance(judged, str) else msgspec.structs.asdict(judged)
        return msgspec.structs.replace(nothing, usage=said.usage, cost=said.cost, notes=said.notes, **found)


def escape_tags(text: str) -> str:
    """Neutralizes tags, so that the text cannot open or close a block of a prompt."""
    return _BLOCK.sub(r"[\1]", text)


def _shown(passages: Sequence[Passage]) -> str:
    return "\n\n".join(f"({number}) {p.chunk.in_context}" for number, p in enumerate(passages, 1))


def _refuse_part_read(said: Completion, prompt: str) -> None:
    """Raises ModelError if the server reports fewer tokens read than ``prompt`` has words, since common
    tokenizers never join two words. Some servers silently truncate to their context; one that reports no
    count is trusted."""
    words = len(prompt.split())
    if 0 < said.usage.prompt < words:
        raise ModelError(
            f"the server read {said.usage.prompt} tokens of a prompt of {words} words",
            hint="give it a longer context, or have it include cached tokens in its count",
        )


def _read(answer: str, shape: type[_Shape]) -> _Shape:
    """The single JSON object in ``answer``, bare or in a code fence; raises ModelError for anything else."""
    match = _FENCE.match(answer)
    if match is None:
        raise ModelError("the judge did not answer with one JSON object")
    try:
        return msgspec.json.decode(match[1], type=shape)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ModelError(f"the judge's answer does not fit the rubric: {error}") from error

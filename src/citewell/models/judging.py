"""A language model as entailer: the rubric, and strict reading of what comes back.

In: (premise, claim) and a language model. Out: one-hot probabilities, because a label is all that was said;
anything but exactly one valid object is unchecked, with the reason, and so is what the server read a part of,
or what the same model wrote (:mod:`citewell.core.independence`). What asking took goes to
:mod:`citewell.models.spending`. Knows no provider.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from citewell.core.errors import FormRefusedError, GeneratorError, ModelError, SameModelError
from citewell.core.independence import refuse_own_work
from citewell.core.ports import Completion, LanguageModel, Prompted
from citewell.core.prompts.loading import load_prompt
from citewell.core.records import Entailment, Label, Record
from citewell.models.spending import spent

PROMPT = load_prompt("entailment_judge", ("premise", "claim"))
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"label": {"enum": [label.value for label in Label]}, "reason": {"type": "string"}},
    "required": ["label", "reason"],
    "additionalProperties": False,
}
ONE_HOT = {
    Label.ENTAILMENT: Entailment(entailment=1.0, neutral=0.0, contradiction=0.0),
    Label.NEUTRAL: Entailment(entailment=0.0, neutral=1.0, contradiction=0.0),
    Label.CONTRADICTION: Entailment(entailment=0.0, neutral=0.0, contradiction=1.0),
}
MAX_TOKENS = 512
_FENCE = re.compile(r"\A\s*(?:```(?:json)?\s*)?(\{.*\})\s*(?:```)?\s*\Z", re.S)


Shape = TypeVar("Shape", bound=Record)


class Judgement(Record, frozen=True, kw_only=True):
    label: Label
    reason: str


class JudgingEntailer:
    """Asked at temperature 0, held to the rubric's schema where the model has one."""

    def __init__(self, model: LanguageModel) -> None:
        self.maker = msgspec.structs.replace(model.maker, prompt_hash=PROMPT.hash)
        self._model = model

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        return [self._one(premise, claim) for premise, claim in pairs]

    def _one(self, premise: str, claim: str) -> Entailment:
        if not premise.strip() or not claim.strip():
            return _unchecked("nothing to compare")
        try:
            prompt = PROMPT.fill(premise=defuse(premise), claim=defuse(claim))
            said = ask(self._model, prompt, SCHEMA)
            spent(said)
            refuse_part_read(said, prompt)
            refuse_own_work(said.served)
            return ONE_HOT[read_judgement(said.text).label]
        except (GeneratorError, ModelError, SameModelError) as error:
            return _unchecked(str(error))


def ask(model: LanguageModel, prompt: str, schema: dict[str, Any]) -> Completion:
    """The model's whole answer; a schema that its server refuses is told and gone without. Raises
    GeneratorError."""
    prompted = Prompted(system="", user=prompt, schema=schema, temperature=0.0, max_tokens=MAX_TOKENS)
    try:
        return model.complete(prompted)
    except FormRefusedError as error:
        said = model.complete(msgspec.structs.replace(prompted, schema=None))
        return msgspec.structs.replace(said, notes=(f"asked without a schema: {error}", *said.notes))


def refuse_part_read(said: Completion, prompt: str) -> None:
    """Raises ModelError where the server says that it read fewer tokens than ``prompt`` has words: the usual
    tokenizers make no token of two words. Some servers cut to their context in silence; one that does not
    say what it read is believed."""
    words = len(prompt.split())
    if 0 < said.usage.prompt < words:
        raise ModelError(
            f"the server read {said.usage.prompt} tokens of a prompt of {words} words",
            hint="give it a longer context, or have it count what it had in its cache too",
        )


def read_judgement(answer: str) -> Judgement:
    """The one JSON object of ``answer``, alone or in a code fence; raises ModelError for anything else."""
    return read_object(answer, Judgement)


def read_object(answer: str, shape: type[Shape]) -> Shape:
    """The one JSON object of ``answer`` as ``shape``, alone or in a code fence; ModelError for anything
    else."""
    match = _FENCE.match(answer)
    if match is None:
        raise ModelError("the judge did not answer with one JSON object")
    try:
        return msgspec.json.decode(match[1], type=shape)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise ModelError(f"the judge's answer does not fit the rubric: {error}") from error


def defuse(text: str) -> str:
    """A text cannot close or open a block of a prompt."""
    return re.sub(
        r"<\s*/?\s*(source|claim|question|answer|passages?|conversation)\s*>", r"[\1]", text, flags=re.I
    )


def _unchecked(reason: str) -> Entailment:
    return Entailment(entailment=None, neutral=None, contradiction=None, unchecked=reason)

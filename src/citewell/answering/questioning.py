"""What a language model may do to a question before retrieval. Each is off by default.

    hypothesis    a passage that might answer, for its vector alone: its words are never shown       (HyDE)
    aspects       the parts that each need evidence of their own
    reformulate   the same question in other words, after a failed gate
    stand_alone   a follow-up with its references resolved from the conversation

In: a question and a language model. Out: words, with their cost in the stage's notes. Output that cannot be
parsed strictly, or that adds a number or a name, is noted and discarded: the question then stays as it is.
Independent of retrieval.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from citewell.answering.journal import Journal
from citewell.core.config import Questions
from citewell.core.errors import FormRefusedError, GeneratorError
from citewell.core.ports import LanguageModel, Prompted
from citewell.core.prompts.loading import Prompt, load_prompt
from citewell.core.records import Maker, Trace
from citewell.questions.parsing import name_occurs, names_in

HYPOTHESIS = load_prompt("hypothesis", ("question",))
DECOMPOSITION = load_prompt("decomposition", ("question", "most"))
REFORMULATION = load_prompt("reformulation", ("question",))
FOLLOW_UP = load_prompt("follow_up", ("conversation", "question"))
MOST_ASPECTS, MOST_TURNS, MOST_CHARACTERS = 8, 6, 1_000

_BLOCK = re.compile(r"<\s*/?\s*(question|conversation)\s*>", re.IGNORECASE)
_OBJECT = re.compile(r"\A\s*(?:```\w*\s*)?(\{.*\})\s*(?:```)?\s*\Z", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")

HYPOTHESISED, WITHOUT = "hypothesis", "searched without one"
"""The stage's name, and its note when the model returned nothing."""


class _Reworded(msgspec.Struct, forbid_unknown_fields=True):
    question: str


class _Parts(msgspec.Struct, forbid_unknown_fields=True):
    parts: list[str]


def _schema(key: str, inner: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {key: inner}, "required": [key], "additionalProperties": False}


_ONE = _schema("question", {"type": "string"})
_LIST = _schema("parts", {"type": "array", "items": {"type": "string"}})


class Questioner:
    """``settings`` says which of the four are on; the model is the writer's or a separate one."""

    def __init__(self, model: LanguageModel, settings: Questions) -> None:
        self._model, self._settings = model, settings
        self.maker = model.maker

    def stand_alone(self, question: str, turns: Sequence[Trace], journal: Journal) -> str:
        """``question`` with its references resolved from the session's earlier ``turns``; unchanged if there
        are none or the option is off."""
        if not self._settings.follow_up or not turns:
            return question
        told = "\n".join(
            f"Question: {turn.query}\nAnswer: {turn.final_returned[:MOST_CHARACTERS]}"
            for turn in turns[-MOST_TURNS:]
        )
        with journal.stage("follow-up") as notes:
            said = self._ask(FOLLOW_UP, _ONE, journal, notes, question=question, conversation=told)
            reworded = _reworded(said, f"{question}\n{told}", notes)
            if reworded and reworded != question:
                notes.append(f"rewritten to stand alone: {reworded}")
        return reworded or question

    def aspects(self, question: str, split: Sequence[str], journal: Journal) -> tuple[str, ...]:
        """The parts of ``question``; ``split`` are those found by rules, used if the option is off."""
        if not self._settings.decompose:
            return tuple(split)
        with journal.stage("decomposition") as notes:
            said = self._ask(DECOMPOSITION, _LIST, journal, notes, question=question, most=str(MOST_ASPECTS))
            found = _read(said, _Parts, notes)
            parts = tuple(dict.fromkeys(" ".join(part.split()) for part in found.parts)) if found else ()
            parts = tuple(part for part in parts if part and _asks(part, question, notes))
            if not 1 <= len(parts) <= MOST_ASPECTS:
                notes.append("the question is split as before")
                return tuple(split)
            notes.append(f"{len(parts)} parts: {'; '.join(parts)}")
        return parts

    def hypothesis(self, question: str, journal: Journal) -> str:
        """Words to embed along with the question, "" for none. They reach no reader and no record."""
        if not self._settings.hypothesis:
            return ""
        with journal.stage(HYPOTHESISED) as notes:
            said = self._ask(HYPOTHESIS, None, journal, notes, question=question)
            notes.append(f"searched with {len(said.split())} additional words" if said else WITHOUT)
        return said

    def reformulate(self, question: str, journal: Journal) -> str:
        """The question to search for after the gate has failed."""
        if not self._settings.reformulate:
            return question
        with journal.stage("reformulation") as notes:
            said = self._ask(REFORMULATION, _ONE, journal, notes, question=question)
            if reworded := _reworded(said, question, notes):
                notes.append(f"searched as: {reworded}")
        return reworded or question

    def _ask(
        self, prompt: Prompt, schema: dict[str, Any] | None, journal: Journal, notes: list[str], **values: str
    ) -> str:
        """The model's reply, "" if it fails, with tokens and cost in the notes and the record."""
        filled = prompt.fill(**{name: _BLOCK.sub(r"[\1]", value) for name, value in values.items()})
        prompted = Prompted(system="", user=filled, schema=schema, temperature=0.0, max_tokens=512)
        try:
            try:
                said = self._model.complete(prompted)
            except FormRefusedError as error:
                notes.append(f"asked again without a schema: {error}")
                said = self._model.complete(msgspec.structs.replace(prompted, schema=None))
        except GeneratorError as error:
            notes.append(f"failed, so the question is used as it is: {error}")
            return ""
        journal.makers.append(Maker(name=self.maker.name, hash=self.maker.hash, prompt_hash=prompt.hash))
        notes.append(journal.paid(said.usage, said.cost))
        notes += said.notes
        return said.text.strip()


def _read(said: str, shape: type[Any], notes: list[str]) -> Any:
    """The single object in ``said``; None, with a note, for anything else."""
    if not said:
        return None
    match = _OBJECT.match(said)
    try:
        return msgspec.json.decode(match[1] if match else said, type=shape)
    except (msgspec.DecodeError, RecursionError) as error:
        notes.append(f"the model's reply does not have the expected form: {error}")
        return None


def _reworded(said: str, given: str, notes: list[str]) -> str:
    """The question in ``said``, "" if there is none that asks for no more than ``given``."""
    found = _read(said, _Reworded, notes)
    question = " ".join(found.question.split()) if found else ""
    return question if question and _asks(question, given, notes) else ""


def _asks(reworded: str, given: str, notes: list[str]) -> bool:
    """Whether ``reworded`` has the same scope: it adds no number or name and is not too long for a
    question."""
    known = _NUMBER.findall(given)
    fresh = [number for number in _NUMBER.findall(reworded) if number not in known]
    # A capital at the start of a sentence does not make a name.
    names = names_in(reworded[:1].lower() + reworded[1:])
    fresh += [name for name in names if not name_occurs(name, given)]
    if fresh:
        notes.append(
            f"not used, because it adds what was not asked for ({', '.join(fresh)}): {reworded[:160]}"
        )
        return False
    if len(reworded) > max(400, 4 * len(given)):
        notes.append(f"not used, because {len(reworded)} characters are too long for a question")
        return False
    return True

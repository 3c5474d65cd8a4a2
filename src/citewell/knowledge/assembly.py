"""Configuration -> objects. With :mod:`citewell.knowledge.stores`, the only module that knows which
implementation serves each port.

In: a home folder and a Config. Out: an :class:`Assembly`, whose parts are built on first use and then kept.
Refuses a generator that would verify itself. Knows nothing about what the parts do.
"""

from __future__ import annotations

import copy
import dataclasses
import os
import shlex
from collections.abc import Callable, Collection, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from citewell.core import config as configuration
from citewell.core.commands import tell_command
from citewell.core.config import Config
from citewell.core.environment import environment
from citewell.core.errors import ConfigError
from citewell.core.identity import hash_value
from citewell.core.metering import refuse_same_maker, refuse_same_model
from citewell.core.records import Maker
from citewell.knowledge.sealing import prompt_hashes
from citewell.knowledge.stores import Stores

if TYPE_CHECKING:
    from citewell.answering.answering import Answering
    from citewell.answering.force import InForce
    from citewell.answering.questioning import Questioner
    from citewell.core.ports import (
        AnswerCheck,
        AnswerJudge,
        Clock,
        Embedder,
        Entailer,
        Extractor,
        GateJudge,
        Generator,
        LanguageModel,
        Ranker,
    )
    from citewell.documents.index import LanceIndex
    from citewell.knowledge.feedback.implicit import ImplicitFeedback
    from citewell.models.onnx.reading import Reads
    from citewell.retrieval import Retriever
    from citewell.retrieval.retriever import Readable
    from citewell.verification.checking import Checker
    from citewell.verification.confidence.cards import Card, CardState, Corpus, CurrentSetup

Make = TypeVar("Make", bound=Callable[..., object])

CONFIG_FILE = "citewell.toml"
EMBEDDED, EXTRACTIVE = "embedded", "extractive"
_REMEMBERING = ("reading", "ranker", "extractor", "generator", "retriever", "checker", "answering")
"""Parts that cache model results, and parts that hold one of those."""
MODELS = ("embedder", "ranker", "extractor", "generator", "entailer")
"""The parts that produce scores and text."""
_VERDICTS = "verdicts"
_READERS = ("reading", "ranker", "extractor")
_SHARED = ("embedder", "entailer", "evidence", "index", "log", "traces")


def load_config(home: Path, said: Mapping[str, str] | None = None) -> Config:
    """``CITEWELL_CONFIG``, else ``home/citewell.toml`` if present, overridden by the environment and then by
    ``said``, further variables."""
    named = os.environ.get("CITEWELL_CONFIG")
    path = Path(named) if named else home / CONFIG_FILE
    return configuration.load(path if named or path.is_file() else None, {**os.environ, **(said or {})})


class Assembly(Stores):
    """The parts of one home. Raises ConfigError for an unknown implementation name."""

    def __init__(self, home: Path, config: Config, clock: Clock | None = None) -> None:
        self.card: Card | None = None
        if config.confidence.card:
            from citewell.verification.confidence.cards import laid_over, read_card

            self.card = read_card(home / config.confidence.card)
            config = laid_over(config, self.card.settings)
        super().__init__(home, config, clock)
        self._card_states: dict[str, CardState] = {}
        refuse_same_model(config)

    # --- models -----------------------------------------------------------------------------------

    @cached_property
    def embedder(self) -> Embedder:
        from citewell.models.onnx.embedder import OnnxEmbedder

        return _chosen("embedder", self.config.embedder, {EMBEDDED: OnnxEmbedder})()

    @cached_property
    def reading(self) -> Reads:
        """The model shared by the ranker and the reader, cached because both read the same pairs."""
        from citewell.models.onnx.reading import ReadingModel, RememberingReading

        return RememberingReading(ReadingModel.shared())

    @cached_property
    def ranker(self) -> Ranker:
        from citewell.models.naming import ranker_named
        from citewell.models.onnx.reading import OnnxRanker

        if self.config.ranker == EMBEDDED:
            return OnnxRanker(self.reading)
        return ranker_named(self.config.ranker)

    @cached_property
    def extractor(self) -> Extractor:
        from citewell.models.onnx.reading import OnnxReader

        return _chosen("extractor", self.config.extractor, {EMBEDDED: lambda: OnnxReader(self.reading)})()

    @cached_property
    def entailer(self) -> Entailer:
        from citewell.models.naming import entailer_named

        return entailer_named(self.config.entailer)

    @cached_property
    def generator(self) -> Generator:
        generator = self._language_writer() if self.composes else self._extractive_writer()
        refuse_same_maker(generator.maker, self.entailer.maker)
        return generator

    def _extractive_writer(self) -> Generator:
        from citewell.generation.extractive import ExtractiveGenerator

        border = self.config.gate.max_no_answer
        return ExtractiveGenerator(self.extractor, max_no_answer=border, check=self.answer_check)

    def _language_writer(self) -> Generator:
        from citewell.generation.writer import LanguageModelWriter
        from citewell.models.naming import language_model_named

        name = self.config.generator
        if ":" not in name:
            raise ConfigError(
                f"generator = {name!r}",
                hint=f"use {EXTRACTIVE}, openai:MODEL, anthropic:MODEL, ollama:MODEL, local:PATH",
            )
        return LanguageModelWriter(language_model_named(name, self.config.writer), self.config.writer)

    # --- stages -----------------------------------------------------------------------------------

    @cached_property
    def index(self) -> LanceIndex:
        from citewell.documents.index import LanceIndex

        return LanceIndex(self.home / "index", self.embedder, hash_value(self.config.chunking))

    @cached_property
    def retriever(self) -> Retriever:
        return self.retriever_on(self.index)

    def retriever_on(self, index: Readable) -> Retriever:
        """A retriever over one version of the index, or always the newest."""
        from citewell.documents.agreement import IndexChecker
        from citewell.retrieval import Retriever

        agreed = IndexChecker(self.evidence, self.config.chunking)
        # A replay on an older version applies the access lists of that time.
        hold = agreed.hold if index is self.index else lambda chunks, _: agreed.hold(chunks)
        return Retriever(index, self.ranker, self.config.retrieval, hold)

    @cached_property
    def checker(self) -> Checker:
        from citewell.models.remembering import RememberingEntailer
        from citewell.verification.checking import Checker
        from citewell.verification.verifier import Verifier

        # A language model's streamed text is checked twice: claim by claim, then as a whole.
        entailer = RememberingEntailer(self.entailer) if self.composes else self.entailer
        settings = self.config.verification
        return Checker(Verifier(entailer, settings, card=self.card_hash), self.evidence, settings)

    @property
    def in_force(self) -> InForce:
        """Which statements the documents declare superseded."""
        from citewell.answering.force import InForce
        from citewell.documents.supersession import find_superseded, speaks_for

        evidence = self.evidence
        return InForce(
            superseded=lambda documents: find_superseded(evidence, documents),
            counts=speaks_for(evidence, self.config.sources.rank),
            access=evidence.access,
            document=evidence.get,
        )

    @property
    def composes(self) -> bool:
        """True if the writer is a language model."""
        return self.config.generator != EXTRACTIVE

    @cached_property
    def questioner(self) -> Questioner | None:
        """None unless one of its options is on."""
        from citewell.answering.questioning import Questioner

        settings = self.config.questions
        if not (settings.hypothesis or settings.decompose or settings.reformulate or settings.follow_up):
            return None
        line = settings.model or (self.config.generator if self.composes else "")
        if not line:
            raise ConfigError(
                "the options under [questions] need a language model",
                hint="set questions.model, for example to openai:MODEL",
            )
        return Questioner(self._beside_the_writer(line, "questions.model"), settings)

    @cached_property
    def gate_judge(self) -> GateJudge | None:
        from citewell.models.judges import ModelGateJudge

        line = self.config.judges.gate
        return ModelGateJudge(self._beside_the_writer(line, "judges.gate")) if line else None

    @cached_property
    def answer_check(self) -> AnswerCheck | None:
        """The judge's check, where installed; without it, a verified quote counts as the answer."""
        from citewell.core.weights import judge_folder
        from citewell.models.onnx.entailer import OnnxAnswerCheck, installed_judge
        from citewell.verification.support import calibration_card

        folder, judge = judge_folder(), installed_judge()
        if folder is None or judge is None:
            return None
        return OnnxAnswerCheck(judge, calibration_card(folder)["answers"])

    @cached_property
    def answer_judge(self) -> AnswerJudge | None:
        from citewell.models.judges import ModelAnswerJudge

        line = self.config.judges.answer
        return ModelAnswerJudge(self._beside_the_writer(line, "judges.answer")) if line else None

    def _beside_the_writer(self, line: str, key: str) -> LanguageModel:
        """A model with the writer's time-out and retries. The configured prices apply only to the writer's
        model; any other model's cost is what its server reports, else unknown."""
        from citewell.models.naming import language_model_named

        settings = self.config.writer
        if line != self.config.generator:
            settings = msgspec.structs.replace(settings, price_prompt=0.0, price_completion=0.0)
        return language_model_named(line, settings, key)

    @cached_property
    def answering(self) -> Answering:
        from citewell.answering.answering import Answering

        models = (self.embedder, self.ranker, self.extractor, self.generator, self.entailer)
        judges = (self.gate_judge, self.answer_judge)
        check = self.answer_check
        for judge in judges:
            if judge is not None:
                refuse_same_maker(self.generator.maker, judge.maker)
        escalate = shlex.split(self.config.escalate)
        return Answering(
            retriever=self.retriever,
            ranker=self.ranker,
            extractor=self.extractor,
            generator=self.generator,
            checker=self.checker,
            entailer=self.entailer,
            log=self.log,
            traces=self.traces,
            config=self.config,
            embedder=self.embedder.maker.name,
            makers=tuple(model.maker for model in (*models, *judges, check) if model is not None),
            environment=environment(),
            pin=self.index.pin,
            escalate=partial(tell_command, escalate) if self.config.escalate else None,
            clock=self.clock,
            composes=self.composes,
            questioner=self.questioner,
            gate_judge=self.gate_judge,
            answer_judge=self.answer_judge,
            answer_check=check,
            in_force=self.in_force,
            card=self.card_state,
        )

    @cached_property
    def implicit(self) -> ImplicitFeedback:
        from citewell.knowledge.feedback.implicit import ImplicitFeedback

        return ImplicitFeedback(
            intake=self.intake, settings=self.config.feedback, embedder=lambda: self.embedder
        )

    # --- calibration ------------------------------------------------------------------------------

    @property
    def card_hash(self) -> str:
        """Hash of the calibration card in use, "" for none."""
        return self.card.hash if self.card is not None else ""

    def card_state(self, *, verdicts: bool = False) -> CardState:
        """The calibration card in use, and whether it still matches what is in use. With ``verdicts``, checks
        only what a verdict depends on, without opening the index or the writer."""
        from citewell.verification.confidence.cards import NO_CARD, check_card, of_verdicts

        if self.card is None:
            return NO_CARD
        looked = of_verdicts(self.card) if verdicts else self.card
        at = _VERDICTS if verdicts else self.index.version() if looked.corpus is not None else ""
        if at not in self._card_states:
            today = self.today(looked.makers, corpus=looked.corpus is not None)
            found = check_card(looked, self.config.confidence.card, today)
            # Only the newest index version is ever asked for, so older states are dropped.
            kept = {name: state for name, state in self._card_states.items() if name == _VERDICTS}
            self._card_states = kept | {at: msgspec.structs.replace(found, card=self.card.hash)}
        return self._card_states[at]

    def today(self, makers: Collection[str] = (*MODELS, "verifier"), *, corpus: bool = True) -> CurrentSetup:
        """What a calibration card made now would depend on: ``makers``, prompts, settings and documents."""
        from citewell.verification.confidence.cards import CurrentSetup, conduct_of

        return CurrentSetup(
            makers={
                role: self.support_maker if role == "verifier" else getattr(self, role).maker
                for role in makers
            },
            prompts=prompt_hashes(),
            corpus=self._corpus() if corpus else None,
            config=conduct_of(self.config),
        )

    @property
    def support_maker(self) -> Maker:
        """What combines the entailer's score with the exact checks."""
        from citewell.verification.support import card_of
        from citewell.verification.verifier import NAME

        return Maker(name=NAME, hash=card_of(self.entailer.maker))

    def _corpus(self) -> Corpus:
        from citewell.documents.evidence.catalogue import INDEXED
        from citewell.verification.confidence.cards import corpus_of

        indexed = [entry for entry in self.evidence.catalogue() if entry.state == INDEXED]
        return corpus_of(self.index.version(), ((e.document_id, e.version) for e in indexed))

    def under(self, config: Config) -> Assembly:
        """The same stores and models under other settings and without a card, for calibration."""
        other = self._sharing(*_SHARED, *_READERS)
        other.card, other.config, other._card_states = None, config, {}
        return other

    def without_memory(self) -> Assembly:
        """The same stores with uncached models, for comparing with a record."""
        return self._sharing(*_SHARED)

    def _sharing(self, *names: str) -> Assembly:
        """The same home with these parts, opened here so that both have them, and others that remember
        nothing yet."""
        for name in names:
            getattr(self, name)
        other = copy.copy(self)
        for name in set(_REMEMBERING) - set(names):
            other.__dict__.pop(name, None)
        return other

    def without_escalation(self) -> Assembly:
        """The same parts without escalation on failure, for questions that no person asked."""
        answering = dataclasses.replace(self.answering, escalate=None)
        other = copy.copy(self)
        other.__dict__["answering"] = answering
        return other


def _chosen(key: str, name: str, table: dict[str, Make]) -> Make:
    if name not in table:
        raise ConfigError(f"unknown value {key} = {name!r}", hint=f"use one of {', '.join(table)}")
    return table[name]

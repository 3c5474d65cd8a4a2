"""The accountable pass: one question in, one sealed record and one answer out. *The* page to read.

In: a question, who asks it and what they may see. Out: an Answer whose record was durable before it.

    aspects -> retrieval -> poison filter -> gate (fail: broaden once, then abstain)
            -> generation, claims, binding, verification (:mod:`.writing`; fail: one stricter retry;
               an aspect without evidence, or what the writer names missing: one broader search for it)
            -> consistency -> conflicts -> confidence -> decision -> record sealed -> answer

Poisoned passages are set aside *before* the gate, so that an attacker's passage cannot open it. Every stage
is timed; every fallback, skip and retry is a note of its stage, in the trace and in the record. An error in
any stage is sealed like an answer and raised. If the log cannot be written, nobody sees anything.
Knows nothing about the models and stores behind the stages: :mod:`citewell.knowledge.assembly` chose them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import msgspec

from citewell.answering.asking import Ask, refuse
from citewell.answering.deciding import ABSTENTION, Deciding
from citewell.answering.finding import BROADENED, Aside, Finding, Gate, searchable
from citewell.answering.journal import Journal
from citewell.answering.questioning import Questioner
from citewell.answering.streaming import Streaming, Tell
from citewell.answering.writing import Writing
from citewell.audit import EntryKind, Log
from citewell.audit.keys import asker
from citewell.core.clock import stamp
from citewell.core.config import Config
from citewell.core.errors import AbandonedError, CitewellError, LogError
from citewell.core.ports import (
    AnswerCheck,
    AnswerJudge,
    Clock,
    Entailer,
    Extractor,
    GateJudge,
    Generator,
    Ranker,
    TraceStore,
)
from citewell.core.records import Answer, AuditRecord, Maker
from citewell.questions.aspects import split_aspects
from citewell.retrieval import Retriever
from citewell.retrieval.gate import check_gate
from citewell.retrieval.quarantine import set_poison_aside
from citewell.verification.checking import Checker, nothing_to_check
from citewell.verification.confidence.cards import NO_CARD, CardState

__all__ = ["ABSTENTION", "Answering", "Escalate"]

Escalate = Callable[[str], str]
"""Told the id of a request that people should look at; what it returns, if anything, went wrong."""


@dataclass(frozen=True, kw_only=True)
class Answering:
    """One home's pass, ready to be asked any number of times, from any thread."""

    retriever: Retriever
    ranker: Ranker
    extractor: Extractor
    generator: Generator
    checker: Checker
    entailer: Entailer
    log: Log
    traces: TraceStore
    config: Config
    clock: Clock
    embedder: str
    makers: tuple[Maker, ...]
    environment: dict[str, str]
    pin: Callable[[str], None]
    escalate: Escalate | None
    composes: bool = False
    questioner: Questioner | None = None
    gate_judge: GateJudge | None = None
    answer_judge: AnswerJudge | None = None
    answer_check: AnswerCheck | None = None
    card: Callable[[], CardState] = lambda: NO_CARD
    aside: Aside = set_poison_aside
    gate: Gate = check_gate

    def ask(self, ask: Ask, tell: Tell | None = None, gone: Callable[[], bool] = lambda: False) -> Answer:
        """``tell`` hears the answer being made; once nobody waits for it any more, which ``gone`` says, no
        further stage begins. Raises UsageError, LogError (nothing could be sealed), or what a stage raised,
        AbandonedError too, sealed first."""
        refuse(ask)
        journal = self._journal(ask)
        streaming = self._streaming(ask, tell, journal)
        journal.begins = partial(_begins, gone, streaming)
        try:
            asked_as = self._pass(ask, journal, streaming)
            if streaming is not None:
                streaming.note(journal.claims)
            journal.begins = None  # what is decided is sealed, and given to whoever may still come
            with journal.stage("trace"):
                self.traces.put(journal.trace())
            with journal.stage("record"):
                digest = self.log.append(journal.record())
        except BaseException as error:
            journal.failed(error)
            if streaming is not None:
                streaming.fail(f"the request failed: {type(error).__name__}")
                streaming.note(())
            self._keep_trace(journal)
            if not isinstance(error, LogError):
                self._seal_failure(journal)
            raise
        self._call_people(journal)
        answer = msgspec.structs.replace(journal.answer(digest), asked_as=asked_as)
        if streaming is not None:
            streaming.settle(answer)
        return answer

    def _seal_failure(self, journal: Journal) -> None:
        try:
            self.log.append(journal.record())
        except LogError:
            raise
        except (ValueError, TypeError, OverflowError) as error:  # what canonical JSON refuses
            journal.emptied(error)
            self.log.append(journal.record())

    def rehearse(self, ask: Ask) -> AuditRecord:
        """What this pass would seal; nothing is sealed, traced or told. For a replay. Raises what a stage
        raises."""
        journal = self._journal(ask)
        self._pass(ask, journal, None)
        return journal.record()

    def _journal(self, ask: Ask) -> Journal:
        return journal_of(
            ask,
            clock=self.clock,
            config=self.config,
            environment=self.environment,
            embedder=self.embedder,
            makers=self.makers,
        )

    def _pass(self, ask: Ask, journal: Journal, streaming: Streaming | None) -> str:
        """The question as it was rewritten to stand alone, "" when it was not."""
        with journal.metered():
            return self._stages(ask, journal, streaming)

    def _stages(self, ask: Ask, journal: Journal, streaming: Streaming | None) -> str:
        original = ask.question
        if self.questioner is not None and ask.session_id:
            turns = self.traces.session(ask.session_id)
            ask = msgspec.structs.replace(ask, question=self.questioner.stand_alone(original, turns, journal))
        with journal.stage("aspects"):
            aspects = split_aspects(ask.question)
        if self.questioner is not None:
            aspects = self.questioner.aspects(ask.question, aspects, journal)
        for aspect in aspects:
            self.extractor.extract(aspect, ())  # a question too long to be read is refused before the search
        writing = Writing(generator=self.generator, checker=self.checker, streaming=streaming)
        find = self._finding.find
        if find(ask, aspects, journal) or find(ask, aspects, journal, broaden=True):
            if streaming is not None:
                streaming.found(journal.passages)
            checked = writing.checked(ask, aspects, journal)
            lacking = searchable(checked.missing, aspects)
            broadened = any(stage.name == BROADENED for stage in journal.stages)
            once = self.composes and lacking and checked.claims and not broadened
            if once and (fresh := self._finding.find_more(ask, lacking, journal)):
                checked = writing.completed(ask, aspects, lacking, fresh, checked, journal)
            self._finding.find_contrary(ask, [c.text for c in checked.claims if c.shown], journal)
        else:
            checked = nothing_to_check(aspects)
            journal.failure_reason = "relevance_gate_failed"
        self._deciding.decide(ask, aspects, checked, writing, journal)
        return ask.question if ask.question != original else ""

    @property
    def _finding(self) -> Finding:
        return Finding(
            retriever=self.retriever,
            extractor=self.extractor,
            config=self.config,
            pin=self.pin,
            questioner=self.questioner,
            judge=self.gate_judge,
            aside=self.aside,
            gate=self.gate,
        )

    @property
    def _deciding(self) -> Deciding:
        return Deciding(
            config=self.config,
            entailer=self.entailer,
            ranker=self.ranker.maker.name,
            composes=self.composes,
            judge=self.answer_judge,
            check=self.answer_check,
            card=self.card,
        )

    def _streaming(self, ask: Ask, tell: Tell | None, journal: Journal) -> Streaming | None:
        if tell is None:
            return None
        subject = asker(ask.user, journal.session_id)
        return Streaming(tell, lambda body: self.log.note(EntryKind.NOTICE, body, subject=subject), journal)

    def _keep_trace(self, journal: Journal) -> None:
        """For a pass that failed: its own failure must not hide the first one."""
        try:
            self.traces.put(journal.trace())
        except CitewellError as error:
            journal.note(f"the trace could not be kept: {error}")

    def _call_people(self, journal: Journal) -> None:
        """The hook for failed gates, contradictions and broken citations; the record can be looked up."""
        if self.escalate is None or not journal.failure_reason:
            return
        trouble = self.escalate(journal.request_id)
        if trouble:
            self.log.note(EntryKind.NOTICE, {"request_id": journal.request_id, "escalate": trouble})


def _begins(gone: Callable[[], bool], streaming: Streaming | None, stage: str) -> None:
    if gone():
        raise AbandonedError(f"whoever asked has gone before the stage {stage!r}")
    if streaming is not None:
        streaming.begins(stage)


def journal_of(
    ask: Ask,
    *,
    clock: Clock,
    config: Config,
    environment: dict[str, str],
    embedder: str = "",
    makers: tuple[Maker, ...] = (),
) -> Journal:
    """An empty journal; ``makers`` are none where a pass could not even be put together."""
    return Journal(
        question=ask.question,
        user=ask.user,
        session_id=ask.session_id,
        timestamp=stamp(clock),
        config_hash=config.hash,
        embedder=embedder,
        parameters=ask.parameters,
        makers=makers,
        environment=environment,
        request_id=ask.request_id,
    )

"""The accountable pass: one question in, one sealed record and one answer out. *The* page to read.

In: a question, who asks it and what they may see. Out: an Answer whose record is durable before it is returned.

    aspects -> retrieval -> poison filter -> gate (fail: broaden once, then abstain) -> generation
            -> claims, binding, verification (fail: one stricter retry) -> consistency -> confidence
            -> decision -> record sealed -> answer

Poisoned passages are set aside *before* the gate, so that an attacker's passage cannot open it.
Every stage is timed; every fallback, skip and retry is a note of its stage, in the trace and in the record. An
error in any stage is sealed like an answer and raised. If the log cannot be written, nobody sees anything.
Knows nothing about which models and stores are behind the stages: :mod:`citewell.assembly` chose them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from citewell.aspects import split_aspects
from citewell.audit.log import SqliteLog
from citewell.checking import Checked, Checker
from citewell.clock import stamp
from citewell.confidence import measure_consistency, report
from citewell.config import Config
from citewell.conflicts import find_conflicts
from citewell.errors import GeneratorError, LogError, UsageError
from citewell.gate import check_gate
from citewell.journal import Journal
from citewell.poison import set_poison_aside
from citewell.ports import Clock, Entailer, Extractor, GenerationRequest, Generator, TraceStore
from citewell.records import Answer, Decision, Draft, Maker, Measure, Passage, Record, Status
from citewell.retrieval import Filters, Retriever

ABSTENTION = "The available sources do not contain enough information to answer this question reliably."
MAX_QUESTION = 8_000
"""Characters; a longer question is refused, never cut."""

Escalate = Callable[[str], str]
"""Told the request id of a pass that people should look at; what it returns is noted in the log."""


class Ask(Record, frozen=True, kw_only=True):
    """A question and its circumstances. ``runs`` > 1 measures consistency over so many drafts."""

    question: str
    user: str = ""
    session_id: str = ""
    filters: Filters = Filters()
    top_k: int = 5
    pool: int = 50
    runs: int = 1


class Answering:
    """One home's pass, ready to be asked any number of times, from any thread."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        extractor: Extractor,
        generator: Generator,
        checker: Checker,
        entailer: Entailer,
        log: SqliteLog,
        traces: TraceStore,
        config: Config,
        makers: Sequence[Maker],
        environment: dict[str, str],
        pin: Callable[[str], None],
        escalate: Escalate | None,
        clock: Clock,
        notes: Sequence[str] = (),
    ) -> None:
        self._retriever, self._extractor, self._generator = retriever, extractor, generator
        self._checker, self._entailer = checker, entailer
        self._log, self._traces, self._config, self._clock = log, traces, config, clock
        self._makers, self._environment, self._notes = tuple(makers), environment, tuple(notes)
        self._pin, self._escalate = pin, escalate

    def ask(self, ask: Ask) -> Answer:
        """Raises UsageError, whatever a stage raised (sealed first), or LogError (nothing could be sealed)."""
        _refuse(ask)
        journal = Journal(
            question=ask.question,
            user=ask.user,
            session_id=ask.session_id,
            timestamp=stamp(self._clock),
            config_hash=self._config.hash,
            embedder=self._embedder,
            makers=self._makers,
            environment=self._environment,
        )
        try:
            self._pass(ask, journal)
            with journal.stage("trace"):
                self._traces.put(journal.trace())
            digest = self._log.append(journal.record())
        except BaseException as error:
            journal.failed(error)
            self._keep_trace(journal)
            if not isinstance(error, LogError):
                self._log.append(journal.record())
            raise
        self._call_people(journal)
        return journal.answer(digest)

    def _pass(self, ask: Ask, journal: Journal) -> None:
        with journal.stage("aspects") as notes:
            notes += self._notes
            aspects = split_aspects(ask.question)
        if self._find(ask, aspects, journal) or self._find(ask, aspects, journal, broaden=True):
            checked = self._check(ask, aspects, self._write(ask, aspects, journal), journal)
        else:
            checked = nothing_to_check(aspects)
            journal.failure_reason = "relevance_gate_failed"
        self._decide(ask, checked, journal)

    def _find(self, ask: Ask, aspects: Sequence[str], journal: Journal, *, broaden: bool = False) -> bool:
        """Passages into the journal; whether they can answer. ``broaden`` on the second and last try."""
        with journal.stage("broadened retrieval" if broaden else "retrieval") as notes:
            found = self._retriever.retrieve(
                ask.question, filters=ask.filters, top_k=ask.top_k, pool=ask.pool, broaden=broaden
            )
            journal.index_version = found.index_version
            self._pin(found.index_version)
            notes += found.notes
        with journal.stage("poison filter") as notes:
            passages = set_poison_aside(ask.question, found.passages)
            notes += [f"{p.chunk.chunk_id} set aside: {p.set_aside}" for p in passages if p.set_aside]
            journal.passages = tuple(passages)
        with journal.stage("gate") as notes:
            gate = check_gate(ask.question, aspects, passages, self._extractor, self._config.gate)
            notes += [gate.reason, *gate.notes]
            journal.gate_passed, journal.missing, journal.reason = gate.passed, gate.missing, gate.reason
        return gate.passed

    def _write(self, ask: Ask, aspects: Sequence[str], journal: Journal, strict: Sequence[str] = ()) -> Draft:
        """A draft from what is relevant and not set aside; ``strict`` claims failed and stay out."""
        usable = tuple(passage for passage in journal.passages if passage.relevant and not passage.set_aside)
        with journal.stage("stricter retry" if strict else "generation") as notes:
            request = GenerationRequest(
                question=ask.question, aspects=tuple(aspects), passages=usable, strict=tuple(strict)
            )
            journal.draft = draft = self._generator.generate(request)
            journal.mark_used(usable)
            notes += draft.notes
        return draft

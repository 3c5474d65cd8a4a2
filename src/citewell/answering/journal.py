"""A question with its parameters, and the journal that a pass keeps while it runs.

In: the asker's words and options; what each stage finds, as it finds it (stages are timed here). Out: an
AuditRecord and a Trace, complete at any moment, so that a pass that ends in an error is recorded like any
other. Independent of where they are stored and of what the stages do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from citewell.answering.force import NONE, Force
from citewell.core import identity
from citewell.core.config import Config
from citewell.core.environment import stamp
from citewell.core.errors import AbandonedError, UsageError
from citewell.core.metering import Meter, metered
from citewell.core.ports import Clock
from citewell.core.records import (
    Answer,
    AuditRecord,
    Claim,
    ConfidenceReport,
    Conflict,
    Decision,
    Draft,
    Maker,
    Passage,
    Record,
    RetrievalResult,
    Stage,
    Status,
    Streamed,
    TokenUsage,
    Trace,
)
from citewell.questions.parsing import MAX_QUESTION
from citewell.retrieval.gate import nearest_places
from citewell.retrieval.retriever import MAX_TOP_K
from citewell.retrieval.wording import Filters, is_day

_MOST = {"top_k": MAX_TOP_K, "pool": 1000, "runs": 20}


class Ask(Record, frozen=True, kw_only=True):
    """A question and its parameters. ``runs`` > 1 measures consistency over that many drafts; ``request_id``
    is for callers who need it before the answer, "" draws one; ``as_of`` is the ISO date on which text must
    be in force, "" for today or the period in the question."""

    question: str
    user: str = ""
    session_id: str = ""
    filters: Filters = Filters()
    top_k: int | None = None
    pool: int | None = None
    runs: int = 1
    request_id: str = ""
    as_of: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """What a replay needs besides the question."""
        return {
            "filters": identity.plain(self.filters),
            "top_k": self.top_k,
            "pool": self.pool,
            "runs": self.runs,
            "as_of": self.as_of,
        }


def validate_question(ask: Ask) -> None:
    """Rejects invalid questions before anything is recorded. Raises UsageError."""
    for name in ("question", "user", "session_id"):
        if not isinstance(given := getattr(ask, name), str):
            raise UsageError(f"{name} must not be {given!r}", hint="pass some text")
    for name, most in _MOST.items():
        given = getattr(ask, name)
        if given is None and name != "runs":
            continue
        if type(given) is not int or not 1 <= given <= most:
            raise UsageError(f"{name} must not be {given!r}", hint=f"choose 1 to {most}")
    if ask.as_of and not is_day(ask.as_of):
        raise UsageError(f"as_of must not be {ask.as_of!r}", hint="write a date such as 2026-11-21")
    question = ask.question
    if len(question) > MAX_QUESTION:
        raise UsageError(f"the question has {len(question)} characters", hint=f"use at most {MAX_QUESTION}")
    if not any(character.isalnum() for character in question):
        raise UsageError("the question is empty", hint="write the question in words")
    try:
        (question + ask.user + ask.session_id).encode()
    except UnicodeEncodeError as error:
        raise UsageError("the question is not valid Unicode", hint="check the terminal's encoding") from error


ABANDONED = "abandoned"
FAILURES = {ABANDONED: ABANDONED, "generation": "generator_failed", "stricter retry": "generator_failed"}


class Journal:
    """The journal of one request. ``environment`` and ``makers`` record where and by what models everything
    was computed; they are empty if the pass could not be assembled."""

    def __init__(
        self,
        ask: Ask,
        *,
        clock: Clock,
        config: Config,
        environment: dict[str, str],
        embedder: str = "",
        makers: tuple[Maker, ...] = (),
    ) -> None:
        self.request_id = ask.request_id or identity.request_id()
        self.session_id = ask.session_id or identity.session_id()
        self.question, self.user, self.timestamp = ask.question, ask.user, stamp(clock)
        self.config_hash, self.embedder, self.environment = config.hash, embedder, environment
        self.parameters = ask.parameters
        self.makers = list(makers)
        self.stages: list[Stage] = []
        self.index_version = ""
        self.passages: tuple[Passage, ...] = ()
        self.counter_evidence: tuple[Passage, ...] = ()
        self.force: Force = NONE
        self.gate_passed: bool | None = None
        self.gate_reason = ""
        self.draft: Draft | None = None
        self.usage: list[TokenUsage] = []
        self.cost: float | None = None
        self.claims: tuple[Claim, ...] = ()
        self.missing: tuple[str, ...] = ()
        self.conflicts: tuple[Conflict, ...] = ()
        self.confidence: ConfidenceReport | None = None
        self.decision: Decision | None = None
        self.shown = ""
        self.failure_reason = ""
        self.error = ""
        self.streamed: tuple[Streamed, ...] = ()
        self._began = time.perf_counter()
        self._inner_ms, self._inner_reads = 0.0, 0.0
        self._failing = ""
        self.meter = Meter()
        self.begins: Callable[[str], object] | None = None

    @contextmanager
    def stage(self, name: str) -> Iterator[list[str]]:
        """Times a stage; it appends its notes to the list. A failed stage is recorded too.

        ``begins`` is called with its name first, and may raise AbandonedError.
        Time and reads of a nested stage count for the inner one alone, so that stages add up.
        """
        if self.begins is not None:
            try:
                self.begins(name)
            except AbandonedError:
                self._failing = self._failing or ABANDONED
                raise
        notes: list[str] = []
        began, read = time.perf_counter(), self.meter.reads
        outer, self._inner_ms = self._inner_ms, 0.0
        outer_reads, self._inner_reads = self._inner_reads, 0.0
        try:
            yield notes
        except BaseException as error:
            notes.append(f"failed: {type(error).__name__}: {error}")
            # The innermost stage that failed, not the ones it failed through.
            self._failing = self._failing or (ABANDONED if isinstance(error, AbandonedError) else name)
            raise
        finally:
            took = (time.perf_counter() - began) * 1000
            own = round(took - self._inner_ms, 3)
            self._inner_ms = outer + took
            reads = self.meter.reads - read
            mine = round(reads - self._inner_reads, 3)
            self._inner_reads = outer_reads + reads
            self.stages.append(Stage(name=name, latency_ms=own, notes=tuple(notes), reads=mine))

    def paid(self, usage: TokenUsage, cost: float | None) -> str:
        """Counts a call to a language model other than the writer; returns its tokens and cost in words."""
        self.usage.append(usage)
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
        return f"{usage.total} tokens, cost {'not known' if cost is None else f'{cost:.6f}'}"

    @contextmanager
    def metered(self) -> Iterator[None]:
        """Counts reads, and the tokens and cost of an entailer that is a language model. The latter get a
        stage of their own without time, which counts for the stages that called it."""
        try:
            with metered(self.meter):
                yield
        finally:
            if said := self.meter.judgements:
                for one in said:
                    self.paid(one.usage, one.cost)
                costs = [one.cost for one in said if one.cost is not None]
                took = f"{sum(one.usage.total for one in said)} tokens"
                cost = f"{sum(costs):.6f}" if costs else "not known"
                # A note that every call repeats appears once.
                told = dict.fromkeys(note for one in said for note in one.notes)
                notes = (f"{len(said)} judgements, {took}, cost {cost}", *told)
                self.stages.append(Stage(name="entailment", latency_ms=0.0, notes=notes))

    def failed(self, error: BaseException) -> None:
        """The pass ends in ``error``: no answer, and the failing stage is named."""
        stage = self._failing or "pass"
        self.failure_reason = FAILURES.get(stage, f"{stage.replace(' ', '_')}_failed")
        self.error = f"{type(error).__name__}: {error}"
        self.decision, self.shown = None, ""

    def emptied(self, error: Exception) -> None:
        """Drops content that cannot be sealed, such as a NaN probability, so that the failure can be."""
        self.passages, self.claims, self.missing, self.conflicts = (), (), (), ()
        self.draft, self.cost, self.confidence = None, None, None
        self.note(f"the answer could not be recorded in the log: {type(error).__name__}: {error}")

    @property
    def total_ms(self) -> float:
        """Wall time since the question came in."""
        return round((time.perf_counter() - self._began) * 1000, 3)

    def record(self) -> AuditRecord:
        """The record so far. Stages of the same name add up in ``latency_ms``; ``total`` is wall time."""
        latency: dict[str, float] = {}
        reads: dict[str, float] = {}
        for stage in self.stages:
            latency[stage.name] = round(latency.get(stage.name, 0.0) + stage.latency_ms, 3)
            if stage.reads:
                reads[stage.name] = round(reads.get(stage.name, 0.0) + stage.reads, 3)
        draft = self.draft
        return AuditRecord(
            request_id=self.request_id,
            timestamp=self.timestamp,
            user=self.user,
            session_id=self.session_id,
            user_query=self.question,
            query_embedding_model=self.embedder,
            index_version=self.index_version,
            config_hash=self.config_hash,
            retrieval_results=tuple(map(RetrievalResult.of, self.passages)),
            generation_model=draft.maker.name if draft else "",
            generation_prompt_hash=draft.maker.prompt_hash if draft else "",
            generated_response=draft.raw if draft else "",
            shown_response=self.shown,
            claims=self.claims,
            confidence_report=self.confidence,
            response_decision=self.decision.value if self.decision else "",
            missing=self.missing,
            conflicts=self.conflicts,
            failure_reason=self.failure_reason,
            error=self.error,
            makers=tuple(dict.fromkeys(self.makers)),
            parameters=self.parameters,
            environment=self.environment,
            latency_ms=latency | {"total": self.total_ms},
            reads=reads | {"total": round(self.meter.reads, 3)},
            token_usage=TokenUsage(
                prompt=sum(usage.prompt for usage in self.usage),
                completion=sum(usage.completion for usage in self.usage),
                total=sum(usage.total for usage in self.usage),
            ),
            cost=self.cost,
            notes=tuple(f"{stage.name}: {note}" for stage in self.stages for note in stage.notes),
            streamed=self.streamed,
        )

    def looked_into(self, documents: Sequence[str]) -> None:
        """Adds documents that passages or notes name: only those who may see all of them may see this."""
        known = self.parameters.get("looked_into", ())
        self.parameters["looked_into"] = list(dict.fromkeys((*known, *documents)))

    def note(self, text: str) -> None:
        """Records a note outside any stage, as a stage of its own that takes no time."""
        self.stages.append(Stage(name="note", latency_ms=0.0, notes=(text,)))

    def survived(self, error: Exception, instead: str) -> None:
        """A stage failed and the pass continues without it; ``instead`` says how."""
        self._failing = ""
        self.note(f"{instead}: {error}")

    def wrote(self, draft: Draft, used: Sequence[Passage]) -> None:
        """``draft`` was written from the passages ``used``."""
        self.draft = draft
        self.usage.append(draft.usage)
        if draft.cost is not None:
            self.cost = (self.cost or 0.0) + draft.cost
        keys = {(passage.chunk.document_id, passage.chunk.chunk_id) for passage in used}
        self.passages = tuple(
            msgspec.structs.replace(p, used=p.used or (p.chunk.document_id, p.chunk.chunk_id) in keys)
            for p in self.passages
        )

    def answer(self, record_hash: str) -> Answer:
        """The asker's answer. Raises RuntimeError if there is no decision yet."""
        if self.confidence is None or self.decision is None:
            raise RuntimeError("there is no answer without a decision")
        return Answer(
            request_id=self.request_id,
            session_id=self.session_id,
            question=self.question,
            text=self.shown,
            claims=self.claims,
            passages=self.passages,
            confidence=self.confidence,
            decision=self.decision,
            missing=self.missing,
            conflicts=self.conflicts,
            trace=self.trace(),
            record_hash=record_hash,
            nearest=self.force.located(nearest_places(self.question, self.force.only_in_force(self.passages)))
            if self.decision is Decision.ABSTAIN
            else (),
        )

    def trace(self) -> Trace:
        """The trace stored in the session's history."""
        checked = bool(self.claims)
        return Trace(
            session_id=self.session_id,
            request_id=self.request_id,
            timestamp=self.timestamp,
            query=self.question,
            retrieved_chunks=tuple(passage.chunk.chunk_id for passage in self.passages),
            retrieval_scores=tuple(passage.relevance for passage in self.passages),
            relevance_gate_passed=self.gate_passed,
            generated_response=self.draft.raw if self.draft else "",
            eval_grounded=all(c.verdict.status is Status.VERIFIED for c in self.claims) if checked else None,
            eval_complete=not self.missing if checked else None,
            final_returned=self.shown,
            failure_reason=self.failure_reason,
            stages=tuple(self.stages),
        )

"""The accountable pass: one question in, one sealed record and one answer out. *The* page to read.

In: a question, who asks it and what they may see. Out: an Answer whose record was durable before it.

    aspects -> retrieval -> poison filter -> gate (fail: broaden once, then abstain) -> generation
            -> claims, binding, verification (fail: one stricter retry) -> consistency -> conflicts
            -> confidence -> decision -> record sealed -> answer

Poisoned passages are set aside *before* the gate, so that an attacker's passage cannot open it. Every stage
is timed; every fallback, skip and retry is a note of its stage, in the trace and in the record. An error in
any stage is sealed like an answer and raised. If the log cannot be written, nobody sees anything.
Knows nothing about the models and stores behind the stages: :mod:`citewell.assembly` chose them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from citewell.asking import Ask, refuse
from citewell.aspects import split_aspects
from citewell.audit import EntryKind, SqliteLog
from citewell.checking import Checked, Checker, nothing_to_check
from citewell.clock import stamp
from citewell.confidence import measure_consistency, report
from citewell.config import Config
from citewell.conflicts import find_conflicts
from citewell.errors import CitewellError, LogError
from citewell.gate import check_gate
from citewell.journal import Journal
from citewell.poison import set_poison_aside
from citewell.ports import Clock, Entailer, Extractor, GenerationRequest, Generator, Ranker, TraceStore
from citewell.records import Answer, Decision, Draft, Maker, Measure, Status
from citewell.retrieval import Retriever

ABSTENTION = "The available sources do not contain enough information to answer this question reliably."

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
    log: SqliteLog
    traces: TraceStore
    config: Config
    clock: Clock
    embedder: str
    makers: tuple[Maker, ...]
    environment: dict[str, str]
    pin: Callable[[str], None]
    escalate: Escalate | None
    notes: tuple[str, ...] = ()

    def ask(self, ask: Ask) -> Answer:
        """Raises UsageError, LogError (nothing could be sealed), or what a stage raised, sealed first."""
        refuse(ask)
        journal = Journal(
            question=ask.question,
            user=ask.user,
            session_id=ask.session_id,
            timestamp=stamp(self.clock),
            config_hash=self.config.hash,
            embedder=self.embedder,
            parameters=ask.parameters,
            makers=self.makers,
            environment=self.environment,
        )
        try:
            self._pass(ask, journal)
            with journal.stage("trace"):
                self.traces.put(journal.trace())
            with journal.stage("record"):
                digest = self.log.append(journal.record())
        except BaseException as error:
            journal.failed(error)
            self._keep_trace(journal)
            if not isinstance(error, LogError):
                self.log.append(journal.record())
            raise
        self._call_people(journal)
        return journal.answer(digest)

    def _pass(self, ask: Ask, journal: Journal) -> None:
        with journal.stage("aspects") as notes:
            notes += self.notes
            aspects = split_aspects(ask.question)
        if self._find(ask, aspects, journal) or self._find(ask, aspects, journal, broaden=True):
            checked = self._write_and_check(ask, aspects, journal)
        else:
            checked = nothing_to_check(aspects)
            journal.failure_reason = "relevance_gate_failed"
        self._decide(ask, aspects, checked, journal)

    def _find(self, ask: Ask, aspects: Sequence[str], journal: Journal, *, broaden: bool = False) -> bool:
        """Passages into the journal; whether they can answer. ``broaden`` on the second and last try."""
        with journal.stage("broadened retrieval" if broaden else "retrieval") as notes:
            found = self.retriever.retrieve(
                ask.question, filters=ask.filters, top_k=ask.top_k, pool=ask.pool, broaden=broaden
            )
            # The version is kept for ever: the record names it, and a replay opens it again.
            self.pin(found.index_version)
            journal.index_version = found.index_version
            notes += [*found.notes, *(f"{name} {took:.1f} ms" for name, took in found.latencies.items())]
        with journal.stage("poison filter") as notes:
            journal.passages = tuple(set_poison_aside(ask.question, found.passages))
            notes += [f"{p.chunk.chunk_id}: {p.set_aside}" for p in journal.passages if p.set_aside]
        with journal.stage("gate") as notes:
            gate = check_gate(ask.question, aspects, journal.passages, self.extractor, self.config.gate)
            journal.gate_passed, journal.gate_reason = gate.passed, gate.reason
            notes += [gate.reason, *gate.notes]
        return gate.passed

    def _write_and_check(self, ask: Ask, aspects: Sequence[str], journal: Journal) -> Checked:
        """The draft's check, or that of one stricter retry when it holds more than the first."""
        first = self._check(ask, aspects, self._write(ask, aspects, journal), journal)
        if not first.failing:
            return first
        draft = journal.draft
        second = self._check(ask, aspects, self._write(ask, aspects, journal, first.failing), journal)
        better = _merit(second) > _merit(first)
        if not better:
            journal.draft = draft
        journal.note(f"the {'stricter retry' if better else 'first draft'} holds more and is kept")
        return second if better else first

    def _write(
        self, ask: Ask, aspects: Sequence[str], journal: Journal, strict: Sequence[str] = (), seed: int = 0
    ) -> Draft:
        """A draft from what is relevant and not set aside; claims in ``strict`` failed and stay out."""
        usable = tuple(passage for passage in journal.passages if passage.relevant and not passage.set_aside)
        with journal.stage("stricter retry" if strict else "generation") as notes:
            request = GenerationRequest(
                question=ask.question,
                aspects=tuple(aspects),
                passages=usable,
                strict=tuple(strict),
                seed=seed,
            )
            draft = self.generator.generate(request)
            journal.wrote(draft, usable)
            notes += draft.notes
        return draft

    def _check(self, ask: Ask, aspects: Sequence[str], draft: Draft, journal: Journal) -> Checked:
        with journal.stage("verification") as notes:
            checked = self.checker.check(ask.question, aspects, draft, journal.passages)
            notes += checked.notes
        return checked

    def _decide(self, ask: Ask, aspects: Sequence[str], checked: Checked, journal: Journal) -> None:
        """Confidence, decision, and what of it all may be shown."""
        with journal.stage("consistency") as notes:
            consistency = self._consistency(ask, aspects, journal)
            notes += [f"not measured: {consistency.note}"] if consistency.value is None else []
        with journal.stage("conflicts"):
            journal.conflicts = find_conflicts(aspects, journal.passages)
        with journal.stage("confidence") as notes:
            journal.confidence = report(
                ask.question,
                checked,
                journal.passages,
                self.config.confidence,
                consistency=consistency,
                ranker=self.ranker.maker.name,
            )
            notes += journal.confidence.reasons
        if not journal.gate_passed:
            reasons = (f"the gate: {journal.gate_reason}", *journal.confidence.reasons)
            journal.confidence = msgspec.structs.replace(journal.confidence, reasons=reasons)
        journal.decision = journal.confidence.decision
        journal.missing = checked.missing
        journal.failure_reason = journal.failure_reason or checked.failure
        withheld = journal.decision is Decision.ABSTAIN
        journal.shown = ABSTENTION if withheld else checked.shown_text
        journal.claims = tuple(
            msgspec.structs.replace(claim, shown=claim.shown and not withheld) for claim in checked.claims
        )

    def _consistency(self, ask: Ask, aspects: Sequence[str], journal: Journal) -> Measure:
        """Over ``ask.runs`` drafts of one question; a writer that would say the same again is not asked."""
        draft = journal.draft
        if draft is None:
            return Measure(value=None, n=0, note="nothing was written")
        others = [] if draft.deterministic else range(1, ask.runs)
        drafts = [draft, *(self._write(ask, aspects, journal, seed=seed) for seed in others)]
        journal.draft = draft
        claims = [[claim.text for claim in other.claims] for other in drafts]
        return measure_consistency(claims, self.entailer, deterministic=draft.deterministic and ask.runs > 1)

    def _keep_trace(self, journal: Journal) -> None:
        """For a pass that failed: its own failure must not hide the first one."""
        try:
            self.traces.put(journal.trace())
        except CitewellError as error:
            journal.note(f"trace not kept: {error}")

    def _call_people(self, journal: Journal) -> None:
        """The hook for failed gates, contradictions and broken citations; the record can be looked up."""
        if self.escalate is None or not journal.failure_reason:
            return
        trouble = self.escalate(journal.request_id)
        if trouble:
            self.log.note(EntryKind.NOTICE, {"request_id": journal.request_id, "escalate": trouble})


def _merit(checked: Checked) -> tuple[int, int, int]:
    """Fewer broken or contradicted claims first, then more verified ones, then fewer without support."""
    statuses = [claim.verdict.status for claim in checked.claims]
    wrong = statuses.count(Status.BROKEN) + statuses.count(Status.CONTRADICTED)
    return (-wrong, statuses.count(Status.VERIFIED), -statuses.count(Status.UNSUPPORTED))

"""Answers written by another system: checked by this home's models, sealed in its log.

In: an answer from a vendor's response, with the sources of its request. Out: a report; a record like that
of a Citewell answer, with the sources kept as caller-supplied evidence of that record alone; whether a policy
withholds the answer, and what its client is told. Knows nothing about who passes the answer on, or how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from citewell.answering.journal import Ask, Journal
from citewell.core.environment import environment
from citewell.core.records import (
    EXTERNAL,
    Claim,
    ConfidenceReport,
    Decision,
    Draft,
    Maker,
    Measure,
    Record,
    Status,
)
from citewell.documents.text import caller_document
from citewell.questions.parsing import MAX_QUESTION

if TYPE_CHECKING:
    from citewell.answering.verifying import VerifyReport
    from citewell.core.config import Proxy
    from citewell.core.ports import Entailer
    from citewell.knowledge.assembly import Assembly
    from citewell.vendors.reading import VendorAnswer

FAILURES = {
    Status.CONTRADICTED: "hallucination_detected",
    Status.UNSUPPORTED: "hallucination_detected",
    Status.BROKEN: "citation_broken",
    Status.UNCHECKED: "unchecked",
    Status.VERIFIED: "",
}
_NOT_OURS = Measure(value=None, n=0, note="another system's: not measured")


class ExternalOutcome(Record, frozen=True, kw_only=True):
    """The result of a check. ``unchecked`` says why there was none; ``shown`` is the text passed on, "" for
    none."""

    request_id: str
    status: Status
    unchecked: str = ""
    shown: str = ""
    claims: tuple[Claim, ...] = ()
    supported: float | None = None
    hallucination_gap: float | None = None
    judged_claims: int = 0
    notes: tuple[str, ...] = ()


def check(
    parts: Assembly, answered: VendorAnswer, request_id: str, entailer: Entailer | None = None
) -> ExternalOutcome:
    """Checks ``answered`` and stores nothing; ``entailer`` stands for that of ``parts``. Raises as
    :func:`citewell.answering.verifying.verify` does."""
    from citewell.answering.verifying import verify

    reason = (
        "the answer calls tools and is not final"
        if answered.calls_tools
        else "the answer is empty"
        if not answered.text.strip()
        else "the request gave no sources"
        if not answered.sources
        else ""
    )
    if reason:
        return unchecked(request_id, reason, answered.notes)
    report: VerifyReport = verify(
        answered.text,
        [(source.id, source.text) for source in answered.sources],
        answered.question[:MAX_QUESTION] or None,
        entailer=entailer or parts.entailer,
        embedder=parts.embedder,
        settings=parts.config.verification,
        card=parts.card_state(verdicts=True),
        citations=answered.citations,
    )
    return ExternalOutcome(
        request_id=request_id,
        status=report.status,
        unchecked="" if report.claims else "the answer makes no claim",
        claims=report.claims,
        supported=report.supported,
        hallucination_gap=report.hallucination_gap,
        judged_claims=report.judged_claims,
        notes=(*answered.notes, *report.notes),
    )


def unchecked(request_id: str, reason: str, notes: tuple[str, ...] = ()) -> ExternalOutcome:
    return ExternalOutcome(request_id=request_id, status=Status.UNCHECKED, unchecked=reason, notes=notes)


def withholds(settings: Proxy, answered: VendorAnswer, outcome: ExternalOutcome) -> bool:
    """Whether the policy keeps the answer from its client."""
    if settings.policy != "withhold" or answered.calls_tools or outcome.status is Status.VERIFIED:
        return False
    return outcome.status is not Status.UNCHECKED or settings.unchecked == "withhold"


def notice(outcome: ExternalOutcome, record: str) -> str:
    """The text that replaces a withheld answer; ``record`` is the address or id of its record."""
    bad = sum(claim.verdict.status is not Status.VERIFIED for claim in outcome.claims)
    why = outcome.unchecked or f"{bad} of {len(outcome.claims)} statements are not supported by the sources"
    return f"This answer was withheld: {why}. Record: {record}"


def mark(outcome: ExternalOutcome, record: str) -> dict[str, Any]:
    """The check's result for the client; ``source`` is a source's id in its own request."""
    return {
        "record": record,
        "request_id": outcome.request_id,
        "status": outcome.status.value,
        "unchecked": outcome.unchecked,
        "supported": outcome.supported,
        "claims": [
            {
                "text": claim.text,
                "answer_start": claim.answer_start,
                "answer_end": claim.answer_end,
                "status": claim.verdict.status.value,
                "reason": claim.verdict.reason,
                "citations": [
                    {"source": one.document_id, "start": one.start, "end": one.end, "quote": one.quote}
                    for one in claim.citations
                    if one.start >= 0
                ],
            }
            for claim in outcome.claims
        ],
        "notes": outcome.notes,
    }


def seal(
    parts: Assembly,
    answered: VendorAnswer,
    outcome: ExternalOutcome,
    *,
    user: str,
    model: str,
    about: dict[str, Any],
) -> None:
    """Stores the sources, then the record under ``outcome.request_id``, durably, then its trace. ``about``
    says how the answer was passed on. Raises LogError, EvidenceError."""
    parts.seal_configuration()
    name = outcome.request_id
    for source in answered.sources:
        parts.evidence.put(
            caller_document(f"{name}/{source.id}", source.text, title=source.title or source.uri)
        )
    ask = Ask(question=answered.question[:MAX_QUESTION], user=user, request_id=name)
    entailer = parts.entailer.maker if outcome.claims else None
    journal = Journal(
        ask,
        clock=parts.clock,
        config=parts.config,
        environment=environment(),
        makers=(entailer,) if entailer else (),
    )
    journal.parameters |= {EXTERNAL: about}
    journal.claims = tuple(_of_record(claim, name) for claim in outcome.claims)
    journal.draft = Draft(text=answered.text, raw=answered.text, claims=(), maker=Maker(name=model))
    journal.shown = outcome.shown
    journal.failure_reason = FAILURES[outcome.status]
    journal.looked_into([f"{name}/{source.id}" for source in answered.sources])
    for note in (*([f"UNCHECKED: {outcome.unchecked}"] if outcome.unchecked else []), *outcome.notes):
        journal.note(note)
    journal.confidence = _confidence(parts, outcome)
    journal.decision = journal.confidence.decision
    parts.log.append(journal.record())
    parts.traces.put(journal.trace())


def _of_record(claim: Claim, name: str) -> Claim:
    """The claim, citing sources by their ids in the evidence store."""
    citations = tuple(
        msgspec.structs.replace(citation, document_id=f"{name}/{citation.document_id}")
        if citation.document_version
        else citation  # it names no source
        for citation in claim.citations
    )
    return msgspec.structs.replace(claim, citations=citations)


def _confidence(parts: Assembly, outcome: ExternalOutcome) -> ConfidenceReport:
    """The decision is never ANSWER, as completeness was not measured."""
    known = [claim.verdict.support for claim in outcome.claims if claim.verdict.support is not None]
    maker = parts.entailer.maker.name if outcome.claims else ""
    mean = sum(known) / len(known) if known else None
    return ConfidenceReport(
        retrieval_score=_NOT_OURS,
        coverage_score=_NOT_OURS,
        entailment_score=Measure(value=mean, n=len(known), maker=maker),
        consistency_score=_NOT_OURS,
        weights={"entailment": 1.0} if known else {},
        overall=0.0 if outcome.status is Status.CONTRADICTED else mean,
        hallucination_gap=Measure(value=outcome.hallucination_gap, n=outcome.judged_claims, maker=maker),
        decision=Decision.PARTIAL if outcome.shown else Decision.ABSTAIN,
        reasons=(f"another system wrote this answer; its worst verdict is {outcome.status}",),
    )

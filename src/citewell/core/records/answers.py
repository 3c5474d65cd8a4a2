"""Values of what is decided and kept: answers, traces, audit records, cases."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import msgspec

from citewell.core.records.claims import Citation, Claim, Status, TokenUsage
from citewell.core.records.documents import Likeliest, Maker, Measure, Passage, Record, Supersession


class Decision(StrEnum):
    """What the asker gets: all of it, what is supported, or a refusal with its reason."""

    ANSWER = "ANSWER"
    PARTIAL = "PARTIAL"
    ABSTAIN = "ABSTAIN"


class ConfidenceReport(Record, frozen=True, kw_only=True):
    """Four components, each with its n; ``overall`` is their mean with ``weights`` renormalised over
    what was measured (None if nothing was). ``card_note`` says why the calibration ``card`` in use is
    stale, "" if it is not."""

    retrieval_score: Measure
    coverage_score: Measure
    entailment_score: Measure
    consistency_score: Measure
    weights: dict[str, float]
    overall: float | None
    hallucination_gap: Measure
    decision: Decision
    reasons: tuple[str, ...] = ()
    card: str = ""
    card_note: str = ""


class Conflict(Record, frozen=True, kw_only=True):
    """Sources that disagree: on what, and each side's citation with its date, version and rank, the one the
    owner trusts most first. ``ranks`` is empty if all are equal. With a ``supersession``, the first side is
    not in force, and the second, if any, is in force instead."""

    about: str
    sides: tuple[Citation, ...]
    dates: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    supersession: Supersession | None = None


class Stage(Record, frozen=True, kw_only=True):
    """One step of a pass: its time, what the embedded models read for it (a read is 256 tokens through the
    small encoder) and its notes (fallbacks, skips, retries, counts)."""

    name: str
    latency_ms: float
    notes: tuple[str, ...] = ()
    reads: float = 0.0


class Trace(Record, frozen=True, kw_only=True):
    """What happened in one request. ``eval_grounded``: every claim is verified; ``eval_complete``: nothing is
    missing; None if there was no check. ``failure_reason`` is "" or a code like ``relevance_gate_failed``."""

    session_id: str
    request_id: str
    timestamp: str
    query: str
    retrieved_chunks: tuple[str, ...] = ()
    retrieval_scores: tuple[float | None, ...] = ()
    relevance_gate_passed: bool | None = None
    generated_response: str = ""
    eval_grounded: bool | None = None
    eval_complete: bool | None = None
    final_returned: str = ""
    failure_reason: str = ""
    stages: tuple[Stage, ...] = ()
    flags: tuple[str, ...] = ()


class _Issued:
    """What issues an answer's receipt. A slot, not a field: part of neither its JSON nor its equality."""

    __slots__ = ("_issue",)
    _issue: Callable[..., Any]


class Answer(_Issued, Record, frozen=True, kw_only=True):
    """What the asker gets; one from a knowledge base can issue its receipt. ``asked_as`` is a follow-up
    question rewritten to be self-contained; empty if it was not. An abstention lists the places that came
    ``nearest``, which are not verified as answers."""

    request_id: str
    session_id: str
    question: str
    text: str
    claims: tuple[Claim, ...]
    passages: tuple[Passage, ...]
    confidence: ConfidenceReport
    decision: Decision
    missing: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    trace: Trace | None = None
    record_hash: str = ""
    asked_as: str = ""
    nearest: tuple[Citation, ...] = ()

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from citewell.core.display import answer_html

        return answer_html(self)

    def __str__(self) -> str:
        from citewell.core.display import answer_text

        return answer_text(self)

    def issued_by(self, issue: Callable[..., Any]) -> Answer:
        """The same answer, with its receipts issued by ``issue``."""
        answer = msgspec.structs.replace(self)
        _Issued.__dict__["_issue"].__set__(answer, issue)
        return answer

    def receipt(self, **options: Any) -> Any:
        """The :class:`citewell.audit.receipts.Receipt` of this answer; see ``issue`` for the options.

        Raises ValueError for an answer that was read from JSON: ask the knowledge base for it by id.
        """
        issue = getattr(self, "_issue", None)
        if issue is None:
            raise ValueError(
                "this answer was read from JSON and does not know its log;"
                " use KnowledgeBase.audit.receipt(request_id)"
            )
        return issue(self.request_id, **options)


EXTERNAL = "external"
"""The record parameter of an answer that another system wrote; its value says how it was passed on."""


class RetrievalResult(Record, frozen=True, kw_only=True):
    """One passage as kept in a record: cosine, the ranker's probability in [0, 1], and where an answer is
    likeliest."""

    chunk_id: str
    document_id: str
    document_version: str
    similarity_score: float | None
    reranker_score: float | None
    was_used_in_generation: bool
    likeliest: Likeliest | None = None

    @staticmethod
    def of(passage: Passage) -> RetrievalResult:
        return RetrievalResult(
            chunk_id=passage.chunk.chunk_id,
            document_id=passage.chunk.document_id,
            document_version=passage.chunk.document_version,
            similarity_score=passage.similarity,
            reranker_score=passage.relevance,
            was_used_in_generation=passage.used,
            likeliest=passage.likeliest,
        )


class Streamed(Record, frozen=True, kw_only=True):
    """A claim as it was shown before its verdict was final, with its number in the stream; ``withdrawn`` is
    why it was taken back, "" if it was not."""

    number: int
    text: str
    status: Status
    withdrawn: str = ""


class AuditRecord(Record, frozen=True, kw_only=True):
    """The full record of one question, abstentions and errors included; ``makers`` names each model and its
    hash. ``parameters`` are those of the question (filters, top_k, pool, runs), for a replay; ``looked_into``
    among them lists the documents that retrieval and its notes name. ``latency_ms`` and ``reads`` are by
    stage, with their ``total``; what was read for an earlier question is not counted again.
    """

    request_id: str
    timestamp: str
    user: str
    session_id: str
    user_query: str
    query_embedding_model: str
    index_version: str
    config_hash: str
    retrieval_results: tuple[RetrievalResult, ...]
    generation_model: str
    generation_prompt_hash: str
    generated_response: str
    shown_response: str
    claims: tuple[Claim, ...]
    confidence_report: ConfidenceReport | None
    response_decision: str
    missing: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    failure_reason: str = ""
    error: str = ""
    makers: tuple[Maker, ...] = ()
    parameters: dict[str, Any] = {}
    environment: dict[str, str] = {}
    latency_ms: dict[str, float] = {}
    reads: dict[str, float] = {}
    token_usage: TokenUsage = TokenUsage()
    cost: float | None = None
    notes: tuple[str, ...] = ()
    streamed: tuple[Streamed, ...] = ()


# --- cases ----------------------------------------------------------------------------------------


class CaseSpan(Record, frozen=True, kw_only=True):
    """Words that a correct answer rests on, exactly as in the document's canonical text."""

    document: str
    quote: str


class Case(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a case file: a question and its correct outcome.

    ``abstain`` is why the documents cannot answer ("" if they can); ``groups`` are the asker's groups;
    ``reviewed`` is the reviewer ("" if not yet reviewed).
    """

    id: str
    question: str
    expected: str = ""
    spans: tuple[CaseSpan, ...] = ()
    abstain: str = ""
    tags: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    reviewed: str = ""

"""Records to seal, for tests and measurements: short, complete, with every field that can be queried.

In: what matters to the caller. Out: an AuditRecord with everything else made up, the same every time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.core.records import (
    AuditRecord,
    Citation,
    Claim,
    ConfidenceReport,
    Decision,
    Kind,
    Maker,
    Measure,
    Proof,
    Status,
    Verdict,
)

TEXT = "Revenue was 12 million. Costs were 7 million."
MAKER = Maker(name="exact/1", prompt_hash="sha256:judge")


def some_claim(
    place: int = 0,
    *,
    text: str = "",
    status: Status = Status.VERIFIED,
    document: str = "filings/a.pdf",
    version: str = "sha256:v1",
    quote: str = TEXT[:23],
    start: int = 0,
    maker: Maker = MAKER,
    **verdict: Any,
) -> Claim:
    """A claim that cites ``quote`` in ``document``; ``verdict``: further fields of its verdict."""
    proof = Proof.VERBATIM if status is Status.VERIFIED else None
    judged = Verdict(**({"status": status, "reason": "r", "maker": maker, "proof": proof} | verdict))
    span = {"answer_start": 0, "answer_end": 5}
    citation = Citation(
        chunk_id=f"sha256:c{place}",
        document_id=document,
        document_version=version,
        start=start,
        end=start + len(quote),
        quote=quote,
        verdict=judged,
        **span,
    )
    return Claim(
        text=text or f"claim {place}", kind=Kind.CITED, verdict=judged, citations=(citation,), **span
    )


def some_record(
    number: int,
    *,
    statuses: Sequence[Status] = (Status.VERIFIED,),
    document: str = "filings/a.pdf",
    version: str = "sha256:v1",
    user: str = "alice",
    session: str = "ses_1",
    overall: float | None = 0.9,
    timestamp: str = "",
    question: str = "",
    claim: str = "",
    quote: str = TEXT[:23],
    decision: str = "ANSWER",
    config_hash: str = "sha256:x",
    model: str = "extractive",
    prompt: str = "",
    failure: str = "",
    error: str = "",
    maker: Maker = MAKER,
    **fields: Any,
) -> AuditRecord:
    """A record with one claim for each of ``statuses``; ``fields`` sets any other fields of the record."""
    none = Measure(value=None, n=0)
    made: dict[str, Any] = {
        "request_id": f"req_{number:024d}",
        "timestamp": timestamp or f"2026-11-{number % 28 + 1:02d}T10:00:00.000000Z",
        "user": user,
        "session_id": session,
        "user_query": question or f"question {number}?",
        "query_embedding_model": "minilm",
        "index_version": "1",
        "config_hash": config_hash,
        "retrieval_results": (),
        "generation_model": model,
        "generation_prompt_hash": prompt,
        "generated_response": "raw",
        "shown_response": "shown",
        "claims": tuple(
            some_claim(
                place, text=claim, status=status, document=document, version=version, quote=quote, maker=maker
            )
            for place, status in enumerate(statuses)
        ),
        "confidence_report": ConfidenceReport(
            retrieval_score=none,
            coverage_score=none,
            entailment_score=none,
            consistency_score=none,
            weights={"retrieval": 0.3},
            overall=overall,
            hallucination_gap=none,
            decision=Decision.ANSWER,
        ),
        "response_decision": "" if error else decision,
        "failure_reason": failure,
        "error": error,
        "makers": (maker,),
    }
    return AuditRecord(**(made | fields))

"""Records to seal: short, whole, and with everything that can be asked for."""

from __future__ import annotations

from citewell.records import (
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


def some_record(
    number: int,
    *,
    statuses: tuple[Status, ...] = (Status.VERIFIED,),
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
) -> AuditRecord:
    """A record whose every claim cites ``quote`` at the beginning of ``document``."""
    none = Measure(value=None, n=0)

    def verdict(status: Status) -> Verdict:
        proof = Proof.VERBATIM if status is Status.VERIFIED else None
        return Verdict(status=status, reason="r", maker=MAKER, proof=proof)

    claims = tuple(
        Claim(
            text=claim or f"claim {place}",
            kind=Kind.CITED,
            answer_start=0,
            answer_end=5,
            verdict=verdict(status),
            citations=(
                Citation(
                    chunk_id=f"sha256:c{place}",
                    document_id=document,
                    document_version=version,
                    start=0,
                    end=len(quote),
                    quote=quote,
                    answer_start=0,
                    answer_end=5,
                    verdict=verdict(status),
                ),
            ),
        )
        for place, status in enumerate(statuses)
    )
    report = ConfidenceReport(
        retrieval_score=none,
        coverage_score=none,
        entailment_score=none,
        consistency_score=none,
        weights={"retrieval": 0.3},
        overall=overall,
        hallucination_gap=none,
        decision=Decision.ANSWER,
    )
    return AuditRecord(
        request_id=f"req_{number:024d}",
        timestamp=timestamp or f"2026-11-{number % 28 + 1:02d}T10:00:00.000000Z",
        user=user,
        session_id=session,
        user_query=question or f"question {number}?",
        query_embedding_model="minilm",
        index_version="1",
        config_hash=config_hash,
        retrieval_results=(),
        generation_model=model,
        generation_prompt_hash=prompt,
        generated_response="raw",
        shown_response="shown",
        claims=claims,
        confidence_report=report,
        response_decision="" if error else decision,
        failure_reason=failure,
        error=error,
        makers=(MAKER,),
    )

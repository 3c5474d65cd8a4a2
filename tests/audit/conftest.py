"""Records to seal, and a log of five of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.audit import SqliteLog
from citewell.records import (
    AuditRecord,
    Citation,
    Claim,
    ConfidenceReport,
    Decision,
    Kind,
    Maker,
    Measure,
    Status,
    Verdict,
)

TEXT = "Revenue was 12 million. Costs were 7 million."
MAKER = Maker(name="exact/1")
Make = Callable[..., AuditRecord]


def make_record(
    number: int,
    *,
    statuses: tuple[Status, ...] = (Status.VERIFIED,),
    document: str = "filings/a.pdf",
    version: str = "sha256:v1",
    user: str = "alice",
    overall: float | None = 0.9,
    timestamp: str = "",
    prompt: str = "",
    error: str = "",
) -> AuditRecord:
    """A record whose every claim cites the first sentence of ``TEXT``."""
    not_measured = Measure(value=None, n=0)
    claims = tuple(
        Claim(
            text=f"claim {place}",
            kind=Kind.CITED,
            answer_start=0,
            answer_end=5,
            verdict=Verdict(status=status, reason="r", maker=MAKER),
            citations=(
                Citation(
                    chunk_id="sha256:c",
                    document_id=document,
                    document_version=version,
                    start=0,
                    end=23,
                    quote=TEXT[:23],
                    answer_start=0,
                    answer_end=5,
                    verdict=Verdict(status=status, reason="r", maker=MAKER),
                ),
            ),
        )
        for place, status in enumerate(statuses)
    )
    return AuditRecord(
        request_id=f"req_{number:024d}",
        timestamp=timestamp or f"2026-11-{number % 28 + 1:02d}T10:00:00.000000Z",
        user=user,
        session_id="ses_1",
        user_query=f"question {number}?",
        query_embedding_model="m",
        index_version="1",
        config_hash="sha256:x",
        retrieval_results=(),
        generation_model="extractive",
        generation_prompt_hash=prompt,
        generated_response="raw",
        shown_response="shown",
        claims=claims,
        confidence_report=ConfidenceReport(
            retrieval_score=not_measured,
            coverage_score=not_measured,
            entailment_score=not_measured,
            consistency_score=not_measured,
            weights={},
            overall=overall,
            hallucination_gap=not_measured,
            decision=Decision.ANSWER,
        ),
        response_decision="ANSWER",
        error=error,
    )


@pytest.fixture
def make() -> Make:
    return make_record


@pytest.fixture
def log_path(tmp_path: Path) -> Path:
    """Five sealed records: the log every tampering starts from."""
    path = tmp_path / "audit.sqlite"
    log = SqliteLog(path)
    for number in range(1, 6):
        log.append(make_record(number))
    log.close()
    return path

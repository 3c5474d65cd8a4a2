"""A made-up run: one case of each outcome, and texts that can be made hostile all at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from citewell.core.records import (
    CaseSpan,
    Citation,
    Claim,
    ConfidenceReport,
    Decision,
    Kind,
    Maker,
    Measure,
    Stage,
    Status,
    Verdict,
)
from citewell.evaluation.results import (
    CaseOutcome,
    CaseTiming,
    MeasureResult,
    RetrievedPassage,
    Run,
    RunKey,
    Score,
    Timings,
)

CONTENT = "The signing key is kept in the folder keys. Rotate it with audit key rotate."
QUOTE = "audit key rotate"


def made_run(word: str = "") -> Run:
    """``word`` is put into every text of the run."""

    def verdict(status: Status) -> Verdict:
        return Verdict(
            status=status, reason="as written" + word, maker=Maker(name="entailer" + word, hash="h")
        )

    start = CONTENT.index(QUOTE)
    citation = Citation(
        chunk_id="c" + word,
        document_id="docs/keys.md" + word,
        document_version="sha256:1",
        start=100 + start,
        end=100 + start + len(QUOTE),
        quote=QUOTE + word,
        answer_start=0,
        answer_end=5,
        section_path=("Keys" + word,),
        verdict=verdict(Status.VERIFIED),
    )
    claims = tuple(
        Claim(
            text=f"Claim {status}{word}",
            kind=Kind.CITED,
            answer_start=0,
            answer_end=5,
            verdict=verdict(status),
            citations=(citation,),
            shown=status is Status.VERIFIED,
            aspect=word,
        )
        for status in Status
    )
    passage = RetrievedPassage(
        chunk_id="c",
        document_id="docs/keys.md" + word,
        document_version="sha256:1",
        start=100,
        end=100 + len(CONTENT),
        text=CONTENT + word,
        relevance=0.91,
        relevant=True,
        used=True,
        expected=True,
        set_aside=word,
    )
    measure = Measure(value=0.9, n=1, maker="m" + word)
    confidence = ConfidenceReport(
        retrieval_score=measure,
        coverage_score=measure,
        entailment_score=measure,
        consistency_score=Measure(value=None, n=0),
        weights={},
        overall=0.91,
        hallucination_gap=measure,
        decision=Decision.ANSWER,
        reasons=("every claim is verified" + word,),
    )
    right = CaseOutcome(
        id="right" + word,
        question="How do I rotate the signing key?" + word,
        expected="with audit key rotate" + word,
        spans=(CaseSpan(document="docs/keys.md" + word, quote="Rotate it"),),
        tags=("answerable" + word, "keys"),
        decision="ANSWER",
        answered=True,
        right=True,
        why="the span is cited" + word,
        answer="Rotate it with audit key rotate." + word,
        claims=claims,
        missing=("when" + word,),
        confidence=confidence,
        passages=(passage,),
        notes=("a note" + word,),
        scores={"alce_recall" + word: Score(points=((1.0,), (0.5, 1.0)), unscored=1, reason="why" + word)},
    )
    wrong = CaseOutcome(
        id="wrong" + word,
        question="Who signed the lease of the office?" + word,
        abstain="no document says" + word,
        tags=("unanswerable",),
        decision="PARTIAL",
        answered=True,
        right=False,
    )
    failed = CaseOutcome(id="failed" + word, question="Why?" + word, error="the model is gone" + word)
    unknown = CaseOutcome(
        id="unknown" + word, question="When?" + word, decision="ABSTAIN" + word, answered=False
    )
    return Run(
        key=RunKey(
            cases="sha256:cases" + word, model="extractive" + word, config="c" + word, prompt="p" + word
        ),
        makers=(Maker(name="ranker" + word, hash="sha256:2", threshold=0.7, card="card" + word),),
        environment={"python": "3.11" + word},
        measures=(
            MeasureResult(
                name="alce_recall" + word, value=0.5, n=2, unscored=1, low=0.2, high=0.8, maker="e" + word
            ),
            MeasureResult(name="consistency", value=None, n=0, unscored=4),
            MeasureResult(
                name="tokens_total", value=1234.5, n=2, low=1000.0, high=1500.0, maker="tokenizer" + word
            ),
        ),
        cases=(right, wrong, failed, unknown),
        timings=Timings(
            started="2026-11-21T23:00:00Z" + word,
            took_ms=8000.0,
            measures=(
                MeasureResult(name="latency retrieval" + word, value=120.0, n=2, low=100.0, high=140.0),
            ),
            cases={
                "right" + word: CaseTiming(
                    request_id="req_1" + word,
                    session_id="ses_1" + word,
                    total_ms=210.0,
                    stages=(Stage(name="retrieval" + word, latency_ms=120.0, notes=("fell back" + word,)),),
                )
            },
        ),
    )


@pytest.fixture
def run_with() -> Callable[[str], Run]:
    return made_run

"""One case: asked, judged, scored. Whatever a pipeline raises is that case's outcome and stops no other.

In: a pipeline, a case, the verifier that judges. Out: a :class:`Judged`, and the :class:`Outcome` for the
result file. Knows nothing about averages or files.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import asdict

from citewell.core.errors import CitewellError
from citewell.core.records import Case, Passage
from citewell.evaluation.judging.correctness import judged_right
from citewell.evaluation.judging.relevance import Located, hits, locate
from citewell.evaluation.judging.support import judge
from citewell.evaluation.measures import ALL
from citewell.evaluation.observed import Judged, Observed
from citewell.evaluation.pipelines import Pipeline
from citewell.evaluation.results import CaseTiming, Found, Outcome, Score
from citewell.verification.verifier import Verifier


def evaluate(pipeline: Pipeline, case: Case, verifier: Verifier) -> tuple[Outcome, CaseTiming]:
    """What became of ``case``; never raises for what the pipeline does."""
    try:
        judged = _judged(pipeline, case, pipeline.observe(case), verifier)
    except CitewellError as error:
        return _failed(case, f"{type(error).__name__}: {error}"), CaseTiming()
    except Exception as error:  # noqa: BLE001 - whatever a pipeline raises is that case's outcome
        return _failed(case, f"unexpected {type(error).__name__}: {error}"), CaseTiming()
    return _outcome(judged), judged.observed.timing


def _judged(pipeline: Pipeline, case: Case, observed: Observed, verifier: Verifier) -> Judged:
    located = _located(pipeline, case, observed)
    found, unfound = hits(located, observed.passages)
    right, why = judged_right(case, located, observed)
    known = bool(case.spans) and not located.problem
    return Judged(
        case=case,
        observed=observed,
        support=judge(case.question, observed, verifier),
        hits=found if known else None,
        unfound=unfound,
        unlocated=located.problem,
        right=right,
        why=why,
    )


def _located(pipeline: Pipeline, case: Case, observed: Observed) -> Located:
    if case.spans and pipeline.nameless:
        return Located(problem=pipeline.nameless)
    chunks = [passage.chunk for passage in observed.passages]
    versions = [(chunk.document_id, chunk.document_version) for chunk in chunks]
    versions += [
        (citation.document_id, citation.document_version)
        for claim in observed.claims
        for citation in claim.citations
        if citation.start >= 0
    ]
    return locate(case, versions, pipeline.texts, whole=pipeline.whole)


def _failed(case: Case, error: str) -> Outcome:
    lost = Score(unscored=1, reason=error)
    return Outcome(**asdict(case), error=error, why=error, scores={measure.name: lost for measure in ALL})


def _outcome(judged: Judged) -> Outcome:
    seen = judged.observed
    return Outcome(
        **asdict(judged.case),
        decision=seen.decision,
        answered=seen.answered,
        right=judged.right,
        why=judged.why,
        answer=seen.text,
        claims=seen.claims,
        missing=seen.missing,
        conflicts=seen.conflicts,
        confidence=seen.confidence,
        gate_passed=seen.gate_passed,
        passages=_found(seen.passages, judged.hits),
        failure_reason=seen.failure_reason,
        usage=seen.usage,
        cost=seen.cost,
        index=seen.index,
        prompt=seen.prompt,
        notes=(judged.unlocated,) if judged.unlocated else (),
        scores={measure.name: measure.of(judged) for measure in ALL},
    )


def _found(passages: Sequence[Passage], expected: Sequence[bool] | None) -> tuple[Found, ...]:
    return tuple(
        Found(
            chunk_id=passage.chunk.chunk_id,
            document_id=passage.chunk.document_id,
            document_version=passage.chunk.document_version,
            start=passage.chunk.start_offset,
            end=passage.chunk.end_offset,
            text=passage.chunk.content,
            page=passage.chunk.page,
            similarity=passage.similarity,
            relevance=passage.relevance,
            relevant=passage.relevant,
            used=passage.used,
            set_aside=passage.set_aside,
            expected=None if expected is None else expected[number],
        )
        for number, passage in enumerate(passages)
    )

"""One run: every case through a pipeline, judged, scored, aggregated, and sealed in the home's log.

In: a pipeline, cases. Out: a :class:`Run`. A case that raises is unscored, with the
reason, and the others continue. The same cases on the same home produce the same run, except for its
``timings``. Knows nothing about which measures there are or how a run is shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict

from citewell.audit import EntryKind, Log
from citewell.core.environment import environment, format_time
from citewell.core.errors import CitewellError
from citewell.core.identity import hash_value, plain
from citewell.core.records import Case, Maker, Passage
from citewell.evaluation.cases import Recorded, hash_cases
from citewell.evaluation.intervals import interval
from citewell.evaluation.judging import JudgedCase, LocatedSpans, ObservedAnswer, hits, judged_right, locate
from citewell.evaluation.measure import CaseMeasure, Judge, latencies
from citewell.evaluation.measures import ALL
from citewell.evaluation.pipelines import HomePipeline, Pipeline, RecordedPipeline
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
from citewell.evaluation.support import judge

if TYPE_CHECKING:
    from citewell.knowledge.assembly import Assembly
    from citewell.knowledge.home import KnowledgeBase


def evaluate(pipeline: Pipeline, case: Case) -> tuple[CaseOutcome, CaseTiming]:
    """The outcome of ``case``; never raises for pipeline errors."""
    try:
        judged = _judged(pipeline, case, pipeline.observe(case))
    except CitewellError as error:
        return _failed(case, f"{type(error).__name__}: {error}"), CaseTiming()
    except Exception as error:  # noqa: BLE001 - whatever a pipeline raises is that case's outcome
        return _failed(case, f"unexpected {type(error).__name__}: {error}"), CaseTiming()
    return _outcome(judged), judged.observed.timing


def _judged(pipeline: Pipeline, case: Case, observed: ObservedAnswer) -> JudgedCase:
    located = _located(pipeline, case, observed)
    found, unfound = hits(located, observed.passages)
    right, why = judged_right(case, located, observed)
    known = bool(case.spans) and not located.problem
    return JudgedCase(
        case=case,
        observed=observed,
        support=judge(case.question, observed, pipeline.verifier),
        hits=found if known else None,
        unfound=unfound,
        unlocated=located.problem,
        right=right,
        why=why,
    )


def _located(pipeline: Pipeline, case: Case, observed: ObservedAnswer) -> LocatedSpans:
    if case.spans and pipeline.nameless:
        return LocatedSpans(problem=pipeline.nameless)
    chunks = [passage.chunk for passage in observed.passages]
    versions = [(chunk.document_id, chunk.document_version) for chunk in chunks]
    versions += [
        (citation.document_id, citation.document_version)
        for claim in observed.claims
        for citation in claim.citations
        if citation.start >= 0
    ]
    return locate(case, versions, pipeline.texts, whole=pipeline.whole)


def _failed(case: Case, error: str) -> CaseOutcome:
    lost = Score(unscored=1, reason=error)
    return CaseOutcome(**asdict(case), error=error, why=error, scores={measure.name: lost for measure in ALL})


_KEPT = (
    *("decision", "answered", "claims", "missing", "conflicts", "confidence", "gate_passed"),
    *("failure_reason", "usage", "cost", "index", "prompt"),
)
"""Fields of an outcome copied from what was observed."""


def _outcome(judged: JudgedCase) -> CaseOutcome:
    seen = judged.observed
    return CaseOutcome(
        **asdict(judged.case),
        **{name: getattr(seen, name) for name in _KEPT},
        right=judged.right,
        why=judged.why,
        answer=seen.text,
        passages=_found(seen.passages, judged.hits),
        notes=(judged.unlocated,) if judged.unlocated else (),
        scores={measure.name: measure.of(judged) for measure in ALL},
    )


def _found(passages: Sequence[Passage], expected: Sequence[bool] | None) -> tuple[RetrievedPassage, ...]:
    return tuple(
        RetrievedPassage(
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


CODE = "citewell-evaluation/2"
"""Maker of what exact code decides; increment it when any definition changes."""

Progress = Callable[[int, int, str], None]
"""(cases done, total cases, id of the next case)."""


def evaluate_home(
    kb: KnowledgeBase,
    cases: Sequence[Case],
    *,
    runs: int = 1,
    top_k: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Asks ``kb`` every case and seals the run in its log. Raises LogError."""
    return _run(HomePipeline(kb, runs=runs, top_k=top_k), cases, kb, progress)


def evaluate_recorded(
    recorded: Mapping[str, Recorded],
    digest: str,
    cases: Sequence[Case],
    assembly: Assembly,
    kb: KnowledgeBase | None = None,
    *,
    progress: Progress | None = None,
) -> Run:
    """Judges answers from a file with hash ``digest``; sealed if there is a home."""
    return _run(RecordedPipeline(recorded, digest, cases, assembly), cases, kb, progress)


def _run(
    pipeline: Pipeline, cases: Sequence[Case], kb: KnowledgeBase | None, progress: Progress | None
) -> Run:
    """Runs every case. Failing cases are in the run; raises only errors that stop everything, such as
    KeyboardInterrupt."""
    started, began = format_time(pipeline.parts.clock.now()), time.perf_counter()
    judge = pipeline.verifier.maker
    done: list[tuple[CaseOutcome, CaseTiming]] = []
    for number, case in enumerate(cases):
        if progress is not None:
            progress(number, len(cases), case.id)
        done.append(evaluate(pipeline, case))
    outcomes = [outcome for outcome, _ in done]
    timings = {outcome.id: timing for outcome, timing in done if not outcome.error}
    makers = {Judge.CODE: CODE, Judge.VERIFIER: judge.name, Judge.PASS: _pass_maker(outcomes)}
    made = Run(
        key=RunKey(
            cases=hash_cases(cases),
            config=pipeline.config,
            model=pipeline.model,
            prompt=_distinct(outcome.prompt for outcome in outcomes),
            index=_distinct(outcome.index for outcome in outcomes) or pipeline.index,
            answers=pipeline.answers,
            runs=pipeline.runs,
            top_k=pipeline.top_k,
            judge=" ".join(filter(None, (judge.name, judge.hash, judge.prompt_hash))),
            citewell=environment()["citewell"],
        ),
        makers=tuple(dict.fromkeys((Maker(name=CODE), judge, *pipeline.makers()))),
        environment=environment(),
        measures=tuple(
            summed(measure, [outcome.scores[measure.name] for outcome in outcomes], makers[measure.judge])
            for measure in ALL
        ),
        notes=(pipeline.stale,) if pipeline.stale else (),
        cases=tuple(outcomes),
        timings=Timings(
            started=started,
            took_ms=round((time.perf_counter() - began) * 1000, 3),
            measures=_latencies(list(timings.values())),
            cases=timings,
        ),
    )
    if kb is None:
        return made
    kb.parts.seal_configuration()
    entry = _seal(kb.parts.log, made)
    return msgspec.structs.replace(made, timings=msgspec.structs.replace(made.timings, entry=entry))


def _seal(log: Log, run: Run) -> str:
    """Seals the run; returns the entry's hash. ``hash`` covers the run without timings. Raises LogError."""
    untimed = plain(run)
    del untimed["timings"]
    measures = [
        {key: value for key, value in plain(result).items() if key != "maker"} for result in run.measures
    ]
    body = {
        "measure": "eval run",
        "hash": hash_value(untimed),
        "config_hash": run.key.config,
        "index_version": run.key.index,
        "generation_model": run.key.model,
        "generation_prompt_hash": run.key.prompt,
        "cases": run.key.cases,
        "answers": run.key.answers,
        "runs": run.key.runs,
        "top_k": run.key.top_k,
        "judge": run.key.judge,
        "notes": run.notes,
        "n_cases": len(run.cases),
        "n_failed": sum(bool(outcome.error) for outcome in run.cases),
        "measures": measures,
        "requests": [{"request_id": timing.request_id} for timing in run.timings.cases.values()],
    }
    return log.note(EntryKind.EVALUATION, body)


def summed(measure: CaseMeasure, scores: Sequence[Score], maker: str) -> MeasureResult:
    """Value, n and interval of one measure from the scores of all cases."""
    points = [point for score in scores for point in score.points]
    value = measure.over(points)
    low, high = interval([score.points for score in scores], measure.over, bounded=measure.bounded)
    measured = value is not None
    return MeasureResult(
        name=measure.name,
        value=value,
        n=len(points) if measured else 0,
        unscored=sum(score.unscored for score in scores) + (0 if measured else len(points)),
        low=low if measured else None,
        high=high if measured else None,
        maker=maker,
    )


def _latencies(timings: Sequence[CaseTiming]) -> tuple[MeasureResult, ...]:
    stages = sorted({stage.name for timing in timings for stage in timing.stages})
    return tuple(
        summed(measure, [measure.of(timing) for timing in timings], "clock") for measure in latencies(stages)
    )


def _pass_maker(outcomes: Sequence[CaseOutcome]) -> str:
    """The pipeline's own judge of the answers' claims."""
    reports = (outcome.confidence for outcome in outcomes)
    return _distinct(report.hallucination_gap.maker for report in reports if report) or "citewell-verifier/1"


def _distinct(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(name for name in names if name))

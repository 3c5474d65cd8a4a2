"""For auditors. ``/audit``: log queries with shareable URLs, counts and exports; one record in full, its
replay, and the integrity of the log. ``/health``: quality over time from the log alone, with trends,
intervals, changes and alerts; and whether the calibration card still matches what is in use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from citewell.audit.pages import BY, OF, Counts
from citewell.audit.question import ANY, CONFIDENCES, DECISIONS, PROOFS, STATUSES, AuditQuery, dated_query
from citewell.audit.tabular import FORMATS
from citewell.core.access import Role
from citewell.core.errors import AbandonedError, CitewellError, UsageError
from citewell.core.records import AuditRecord, Stage
from citewell.core.vocabulary import (
    counted_name,
    display_state,
    is_fully_supported,
    maker_words,
    readable_name,
)
from citewell.evaluation import charts, drift
from citewell.knowledge.feedback import Signal
from citewell.knowledge.feedback.signals import FAILING, FAILURES, STAGES
from citewell.knowledge.feedback.store import ACCEPTED, DISMISSED
from citewell.knowledge.revisiting.replaying import Replay
from citewell.knowledge.sealing import prompts_behind
from citewell.server.pages.access import Posting, Reading, SignedInRoute, Trouble, Visit, trouble_of
from citewell.server.pages.answers import outdated, passages_read
from citewell.server.pages.rendering import address
from citewell.server.problems import looking_up
from citewell.server.site import site

router = APIRouter(include_in_schema=False, route_class=SignedInRoute)

FILTERS = tuple(name for name in AuditQuery.__struct_fields__ if name not in ("limit", "cursor"))
COUNTED = {name: {"status": "verdicts", "confidence": "confidence"}.get(name, f"{name}s") for name in OF}
CHOICES = {
    "status": tuple(STATUSES),
    "confidence": CONFIDENCES,
    "decision": DECISIONS,
    "proof": PROOFS,
    "flag": (*Signal, *(FAILING + stage for stage in STAGES), ACCEPTED, DISMISSED),
    "failure": (ANY, *FAILURES),
}
"""Choices offered by the form; other values in the URL are kept."""
TRENDS = {
    "Confidence": ("confidence", "retrieval", "entailment"),
    "Not answered": ("abstention", "gate_failures", "errors"),
    "Claims that failed": (
        *("entailment_failures", "contradictions", "broken_citations", "unchecked", "hallucination_gap"),
    ),
    "User feedback": ("negative_signals", "thumbs_up"),
    "Canary questions": ("canary_hit", "canary_precision"),
    "Time to answer": ("latency_ms",),
}
"""Measures drawn together; one without data is shown as not measured."""
SECONDS = "latency_ms"
"""The measure drawn in seconds but logged in milliseconds."""


@router.get("/audit")
def audit(reading: Reading, cursor: str = "", of: str = "decision", by: str = "day") -> Response:
    reading.need(Role.AUDITOR)
    given = dict(reading.request.query_params)
    if not all(given.values()):
        return RedirectResponse(address("/audit", **given), status_code=303)
    asked = {name: given[name] for name in FILTERS if name in given}
    found: dict[str, Any] = {"records": (), "outdated": (), "following": "", "counts": None, "chart": None}
    problem = None
    try:
        query = dated_query(asked, reading.kb.now())
        page = reading.kb.audit.query(msgspec.structs.replace(query, cursor=cursor))
        found["records"] = page.records
        found["outdated"] = outdated(filter(is_fully_supported, page.records), reading.kb)
        if page.next:
            found["following"] = address("/audit", **given | {"cursor": page.next})
        found["counts"] = counts = reading.kb.audit.counts(query, by=by, of=of)
        found["chart"] = _chart(counts)
    except UsageError as error:
        problem = trouble_of(error)
    forms = [suffix.strip(".") for suffix in FORMATS]
    return reading.page(
        "audit.html",
        problem=problem,
        asked={name: asked.get(name, "") for name in FILTERS},
        choices=CHOICES,
        **found,
        of=of,
        by=by,
        counting="of" in given or "by" in given,
        counted=COUNTED,
        stretches=tuple(BY),
        tally=_tally,
        exports={form: address("/v1/audit/export", format=form, **asked) for form in forms},
    )


@router.get("/audit/records/{request_id}")
def record(reading: Reading, request_id: str) -> Response:
    return _record(reading, request_id)


@router.post("/audit/records/{request_id}/replay")
async def replay(posting: Posting, request_id: str) -> Response:
    posting.need(Role.AUDITOR)

    def recomputed() -> Response:
        again, problem = None, None
        try:
            again = posting.kb.audit.replay(request_id)
        except AbandonedError:
            raise
        except CitewellError as error:
            problem = trouble_of(error)
        return _record(posting, request_id, again, problem)

    return await site(posting.request).reading(posting.request, posting.caller, recomputed)


@router.get("/audit/integrity")
def integrity(reading: Reading) -> Response:
    return _integrity(reading)


@router.post("/audit/integrity")
async def check(posting: Posting) -> Response:
    """Checks the whole log, including evidence and prompts."""
    here = site(posting.request)
    return await here.reading(posting.request, posting.caller, lambda: _integrity(posting, True))


def _integrity(visit: Visit, checked: bool = False) -> Response:
    visit.need(Role.AUDITOR)
    log = visit.kb.log
    report = log.check(api_keys=site(visit.request).keys.all()) if checked else None
    return visit.page("integrity.html", checkpoint=log.checkpoint(), report=report)


def _record(
    visit: Visit, request_id: str, again: Replay | None = None, problem: Trouble | None = None
) -> Response:
    with looking_up():
        one = visit.kb.audit.record(request_id)
    trace = visit.kb.audit.trace_of(one)
    steps = _steps(one, trace.stages if trace else ())
    own = one.generation_prompt_hash
    return visit.page(
        "record.html",
        problem=problem,
        record=one,
        outdated=outdated([one], visit.kb),
        trace=trace,
        steps=steps,
        whole=max([one.latency_ms.get("total", 0.0), *(step.start + step.took for step in steps)]),
        claims=[(number, claim, display_state(claim)) for number, claim in enumerate(one.claims, 1)],
        prompts=prompts_behind(own),
        makers=[
            (maker_words(maker), prompts_behind(maker.prompt_hash) if maker.prompt_hash != own else ())
            for maker in one.makers
        ],
        again=again,
        read=passages_read(one, visit.kb),
        threshold=visit.kb.config.retrieval.relevance_threshold
        if visit.kb.config.hash == one.config_hash
        else None,
        **_afterwards(visit, request_id),
    )


def _afterwards(visit: Visit, request_id: str) -> dict[str, Any]:
    """What users, reviewers and readers did with an answer; for non-auditors, only their own feedback."""
    if not visit.caller.has(Role.AUDITOR):
        said = visit.kb.said_of(request_id)
        return {"signals": said, "review": None, "readers": (), "may_audit": False}
    item = visit.kb.review.show(request_id).item
    readers = visit.kb.audit.readers(request_id)
    return {"signals": item.signals, "review": item, "readers": readers, "may_audit": True}


class StageStep(NamedTuple):
    """A stage in the waterfall; times in milliseconds, ``start`` from the start of the request."""

    name: str
    start: float
    took: float
    notes: tuple[str, ...]


def _steps(one: AuditRecord, stages: tuple[Stage, ...]) -> list[StageStep]:
    """The stages in the order they ran; times are from the record, order and notes from the trace."""
    said: dict[str, list[str]] = {}
    for stage in stages:
        said.setdefault(stage.name, []).extend(stage.notes)
    names = [stage.name for stage in stages if stage.name in one.latency_ms]
    steps, at = [], 0.0
    for name in dict.fromkeys([*names, *one.latency_ms]):
        if name != "total":
            steps.append(StageStep(name, at, one.latency_ms[name], tuple(said.get(name, ()))))
            at += one.latency_ms[name]
    return steps


def _tally(one: AuditRecord) -> dict[str, int]:
    return Counter(display_state(claim).name for claim in one.claims)


def _chart(counts: Counts) -> object:
    """A chart of shares over time; None for fewer than two periods."""
    if len(counts.stretches) < 2:
        return None
    kinds = [share.value for share in counts.shares]
    words = [counted_name(counts.of, kind) for kind in kinds]
    shares = []
    for stretch in counts.stretches:
        label = stretch.since[:16].replace("T", " ") if counts.by == "hour" else stretch.since[:10]
        numbers = {share.value: share.n for share in stretch.shares}
        shares.append(charts.ChartShare(label=label, counts=tuple(numbers.get(kind, 0) for kind in kinds)))
    return charts.shares(f"Records by {counts.by}", words, shares)


# --- health ----------------------------------------------------------------------------------------


@router.get("/health")
def health(reading: Reading, since: str = "90d", by: str = "week") -> Response:
    reading.need(Role.AUDITOR)
    measured, problem = None, None
    try:
        measured = drift.drift(reading.kb, since=since, by=by)
    except UsageError as error:
        problem = trouble_of(error)
    return reading.page(
        "health.html",
        problem=problem,
        found=measured,
        drawn=_drawn(measured.points) if measured else (),
        card=reading.kb.card_state(),
        since=since,
        by=by,
        periods=tuple(drift.BY),
    )


def _drawn(points: Sequence[drift.DriftPoint]) -> list[Markup]:
    taken = {point.measure for point in points}
    made = []
    for title, names in TRENDS.items():
        series = {readable_name(name): _series(points, name) for name in names if name in taken}
        made.append(charts.line(title, series or {title: []}, unit="s" if names[0] == SECONDS else ""))
    return made


def _series(points: Sequence[drift.DriftPoint], measure: str) -> list[charts.ChartPoint]:
    """A point for each period in ``points``, without a value where ``measure`` has none."""
    taken = {one.period: one for one in points if one.measure == measure}
    scale = 0.001 if measure == SECONDS else 1.0
    series = []
    for period in sorted({point.period for point in points}):
        if (one := taken.get(period)) is None:
            series.append(charts.ChartPoint(label=period, value=None))
        else:
            low, high = (None if end is None else end * scale for end in (one.low, one.high))
            series.append(charts.ChartPoint(period, one.value * scale, low, high, one.n))
    return series

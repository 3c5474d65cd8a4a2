"""``/audit``: questions to the log as filters whose address can be shared, counts and export of all that;
one record as its whole chain, its replay, and the integrity of the log itself."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from citewell.audit.pages import BY, OF, Counts
from citewell.audit.question import ANY, CONFIDENCES, DECISIONS, PROOFS, STATUSES, AuditQuery, moment
from citewell.audit.tabular import FORMATS
from citewell.core.access import Role
from citewell.core.errors import CitewellError, UsageError
from citewell.core.records import AuditRecord, Record, Stage
from citewell.evaluation import charts
from citewell.knowledge.feedback import Signal
from citewell.knowledge.feedback.signals import FAILING, FAILURES, STAGES
from citewell.knowledge.feedback.store import ACCEPTED, DISMISSED
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.revisiting.replaying import Replay
from citewell.knowledge.sealing import prompts_behind
from citewell.server.pages.answers import maker_words, words_of
from citewell.server.pages.here import Here, Inside, Posting, Reading
from citewell.server.pages.rendering import address, page
from citewell.server.pages.words import bars, state_of
from citewell.server.problems import looking_up
from citewell.server.site import site

router = APIRouter(include_in_schema=False, route_class=Inside)

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
"""What a form offers; an address may hold what is not in it, and keeps it."""


class Found(Record, frozen=True, kw_only=True):
    """A record in the list, with how many of its claims have each state."""

    record: AuditRecord
    states: tuple[tuple[str, int], ...]


@router.get("/audit")
def audit(reading: Reading, cursor: str = "", of: str = "decision", by: str = "day") -> Response:
    reading.need(Role.AUDITOR)
    given = dict(reading.request.query_params)
    if any(not value for value in given.values()):
        return RedirectResponse(address("/audit", **given), status_code=303)
    asked = {name: given[name] for name in FILTERS if name in given}
    records: tuple[Found, ...] = ()
    problem, following, expired, counts, chart = None, "", 0, None, None
    try:
        query = _query(reading.kb, asked)
        found = reading.kb.audit.query(msgspec.structs.replace(query, cursor=cursor))
        records = tuple(Found(record=one, states=_states(one)) for one in found.records)
        following, expired = found.next, len(found.expired)
        counts = reading.kb.audit.counts(query, by=by, of=of)
        chart = _chart(counts)
    except UsageError as error:
        problem = words_of(error)
    return page(
        reading.request,
        "audit.html",
        status=400 if problem else 200,
        caller=reading.caller,
        asked={name: asked.get(name, "") for name in FILTERS},
        choices=CHOICES,
        records=records,
        following=address("/audit", **asked, of=given.get("of"), by=given.get("by"), cursor=following)
        if following
        else "",
        expired=expired,
        counts=counts,
        chart=chart,
        of=of,
        by=by,
        counted=COUNTED,
        stretches=tuple(BY),
        problem=problem,
        exports={
            suffix.strip("."): address("/v1/audit/export", format=suffix.strip("."), **asked)
            for suffix in FORMATS
        },
    )


@router.get("/audit/records/{request_id}")
def record(reading: Reading, request_id: str) -> Response:
    return _record(reading, request_id)


@router.post("/audit/records/{request_id}/replay")
async def replay(posting: Posting, request_id: str) -> Response:
    """The record made anew, compared bit by bit."""
    posting.need(Role.AUDITOR)
    again, problem = None, None
    try:
        again = await run_in_threadpool(posting.kb.audit.replay, request_id)
    except CitewellError as error:
        problem = words_of(error)
    return await run_in_threadpool(_record, posting, request_id, again, problem)


@router.get("/audit/integrity")
def integrity(reading: Reading) -> Response:
    return _integrity(reading)


@router.post("/audit/integrity")
async def check(posting: Posting) -> Response:
    """The whole log derived again, with evidence and prompts."""
    return await run_in_threadpool(_integrity, posting, True)


def _integrity(reading: Here, checked: bool = False) -> Response:
    reading.need(Role.AUDITOR)
    return page(
        reading.request,
        "integrity.html",
        caller=reading.caller,
        checkpoint=reading.kb.log.checkpoint(),
        report=reading.kb.log.check(api_keys=site(reading.request).keys.all()) if checked else None,
    )


class Step(Record, frozen=True, kw_only=True):
    """A stage in the waterfall: milliseconds from the start of the request."""

    name: str
    start: float
    took: float
    notes: tuple[str, ...]


def _record(
    reading: Here,
    request_id: str,
    again: Replay | None = None,
    problem: tuple[str, str] | None = None,
) -> Response:
    with looking_up():
        one = reading.kb.audit.record(request_id)
    trace = reading.kb.audit.trace_of(one)
    steps = _steps(one, trace.stages if trace else ())
    report = one.confidence_report
    return page(
        reading.request,
        "record.html",
        caller=reading.caller,
        record=one,
        trace=trace,
        steps=steps,
        whole=max(
            [one.latency_ms.get("total", 0.0), *(step.start + step.took for step in steps)], default=0.0
        ),
        claims=[(number, claim, state_of(claim)) for number, claim in enumerate(one.claims, 1)],
        bars=bars(report) if report else (),
        prompts=prompts_behind(one.generation_prompt_hash),
        makers=[
            (
                maker_words(maker),
                prompts_behind(maker.prompt_hash) if maker.prompt_hash != one.generation_prompt_hash else (),
            )
            for maker in one.makers
        ],
        again=again,
        problem=problem,
        may_audit=reading.caller.has(Role.AUDITOR),
    )


def _steps(one: AuditRecord, stages: tuple[Stage, ...]) -> list[Step]:
    """In the order they ran; a record alone has their times, the trace also what they had to say."""
    said: dict[str, list[str]] = {}
    for stage in stages:
        said.setdefault(stage.name, []).extend(stage.notes)
    names = [stage.name for stage in stages if stage.name in one.latency_ms] or list(one.latency_ms)
    steps, at = [], 0.0
    for name in dict.fromkeys([*names, *one.latency_ms]):
        if name == "total":
            continue
        took = one.latency_ms[name]
        steps.append(Step(name=name, start=at, took=took, notes=tuple(said.get(name, ()))))
        at += took
    return steps


def _query(kb: KnowledgeBase, asked: dict[str, str]) -> AuditQuery:
    """Raises UsageError for a filter that means nothing."""
    times = {name: moment(asked[name], kb.now()) for name in ("since", "until") if asked.get(name)}
    return msgspec.convert({**asked, **times}, AuditQuery)


def _states(one: AuditRecord) -> tuple[tuple[str, int], ...]:
    names = [state_of(claim).name for claim in one.claims]
    return tuple((name, names.count(name)) for name in dict.fromkeys(names))


def _chart(counts: Counts) -> object:
    """Shares over time; None when there is nothing to draw."""
    if len(counts.stretches) < 2:
        return None
    kinds = [share.value for share in counts.shares]
    shares = [
        charts.Share(
            label=stretch.since[:16].replace("T", " ") if counts.by == "hour" else stretch.since[:10],
            counts=tuple(
                next((share.n for share in stretch.shares if share.value == kind), 0) for kind in kinds
            ),
        )
        for stretch in counts.stretches
    ]
    return charts.shares(f"Records by {counts.by}", kinds, shares)

"""``/health``: how quality moved, by the log alone: trends with intervals, changes, alerts; and whether the
calibration card still fits what is in use."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import Response

from citewell.core.access import Role
from citewell.core.errors import UsageError
from citewell.evaluation import charts
from citewell.evaluation.drift import BY, Drift, Point, drift
from citewell.evaluation.drift.series import GROUPS, MEASURES
from citewell.server.pages.answers import words_of
from citewell.server.pages.here import Inside, Reading
from citewell.server.pages.rendering import page

router = APIRouter(include_in_schema=False, route_class=Inside)

TRENDS = (
    ("Confidence", ("confidence", "retrieval", "entailment"), ""),
    ("Not answered", ("abstention", "gate_failures", "errors"), ""),
    (
        "Claims that failed",
        ("entailment_failures", "contradictions", "broken_citations", "unchecked", "hallucination_gap"),
        "",
    ),
    ("User feedback", ("negative_signals", "thumbs_up"), ""),
    ("Canary questions", ("canary_hit", "canary_precision"), ""),
    ("Time to answer", ("latency_ms",), "s"),
)
"""What is drawn together; a measure that nobody took is said to be none."""
SCALES = {"latency_ms": 0.001}
"""From the log's unit to the drawn one."""


@router.get("/health")
def health(
    reading: Reading,
    since: str = "90d",
    by: str = "week",
    of: str = "all",
    measure: str = "confidence",
) -> Response:
    reading.need(Role.AUDITOR)
    found: Drift | None = None
    problem = None
    try:
        found = drift(reading.kb, since=since, by=by, of=of)
    except UsageError as error:
        problem = words_of(error)
    return page(
        reading.request,
        "health.html",
        status=400 if problem else 200,
        caller=reading.caller,
        found=found,
        problem=problem,
        drawn=_drawn(found, of, measure) if found else (),
        card=reading.kb.card_state(),
        asked={"since": since, "by": by, "of": of, "measure": measure},
        choices={"by": tuple(BY), "of": tuple(GROUPS), "measure": tuple(MEASURES)},
    )


def _drawn(found: Drift, of: str, measure: str) -> list[Markup]:
    """Over all answers, every trend; by group, one measure with a line a group."""
    periods = sorted({point.period for point in found.points})
    if of != "all":
        groups = sorted({point.group for point in found.points})
        unit = next((unit for _, names, unit in TRENDS if measure in names), "")
        series = {
            group: _series(found.points, periods, measure, group)
            for group in groups
            if any(point.group == group and point.measure == measure for point in found.points)
        }
        return [charts.line(_called(measure), series, unit=unit)] if series else []
    made = []
    for title, names, unit in TRENDS:
        taken = [name for name in names if any(point.measure == name for point in found.points)]
        series = {_called(name): _series(found.points, periods, name, "all") for name in taken}
        made.append(charts.line(title, series or {title: []}, unit=unit))
    return made


def _called(measure: str) -> str:
    return measure.removesuffix("_ms").replace("_", " ")


def _series(points: Sequence[Point], periods: Sequence[str], measure: str, group: str) -> list[charts.Point]:
    taken = {one.period: one for one in points if one.measure == measure and one.group == group}
    scale = SCALES.get(measure, 1.0)

    def scaled(value: float | None) -> float | None:
        return None if value is None else value * scale

    return [
        charts.Point(
            label=period, value=scaled(one.value), low=scaled(one.low), high=scaled(one.high), n=one.n
        )
        if (one := taken.get(period))
        else charts.Point(label=period, value=None)
        for period in periods
    ]

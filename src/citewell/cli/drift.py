"""``citewell eval drift``: quality over time as the audit log shows it, change points, and alerts.

In: words. Out: a table; 5 when an alert fires.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from citewell.cli.commands import Found, command
from citewell.cli.eval_run import evaluation
from citewell.cli.printing import FAILED, OK, aside, columns, say
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.evaluation.drift import Drift, Point


@command(evaluation)
def drift(kb: KnowledgeBase, since: str = "90d", by: str = "week", canary: Path | None = None) -> Found:
    """Show how quality changes over time: confidence, failures, abstention, signals and latency. Exits with 5
    if an alert fires.

    --by: day or week.
    --canary CASES: First measure retrieval on these cases and seal the result.
    """
    from citewell.evaluation import drift as drifting
    from citewell.evaluation.cases import load_cases

    if canary is not None:
        found = drifting.canary(kb, load_cases(canary))
        aside(
            f"canary: evidence found for {found.hit:.1%} of {found.n} cases, precision {found.precision:.2f}"
        )
        for note in found.notes:
            aside(f"note: {note}")
    moved = drifting.drift(kb, since=since, by=by)
    firing = any(one.state == "firing" for one in moved.alerts)
    return Found(moved, lambda: _tell(moved), FAILED if firing else OK)


def _tell(moved: Drift) -> None:
    if not moved.points:
        say("No records found.")
    else:
        periods = sorted({point.period for point in moved.points})
        cells = {(point.measure, point.period): point for point in moved.points}
        rows = [
            (measure, *(_cell(cells.get((measure, period))) for period in periods))
            for measure in sorted({point.measure for point in moved.points})
        ]
        columns([("measure", *periods), *rows])
    for change in moved.changes:
        say(
            f"changed: {change.measure} from {change.before:.3g} to {change.after:.3g}"
            f" as of {change.period} (p {change.p:.2g})"
        )
    for one in moved.alerts:
        say(f"alert {one.state}: {one.text}")


def _cell(point: Point | None) -> str:
    return "" if point is None else f"{point.value:.3g} ({point.n})"

"""``citewell eval drift``: quality over time as the audit log shows it, change points, and alerts.

In: words. Out: a table; 5 when an alert fires.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import FAILED, aside, columns, say, say_json

if TYPE_CHECKING:
    from citewell.evaluation.drift import Drift, Point


def register(group: typer.Typer) -> None:
    group.command("drift")(drift)


def drift(
    context: typer.Context,
    since: Annotated[str, typer.Option(metavar="WHEN", help="90d, 12h, or a date.")] = "90d",
    by: Annotated[str, typer.Option(help="day or week.")] = "week",
    of: Annotated[str, typer.Option("--of", help="all, document, source, topic or configuration.")] = "all",
    canary: Annotated[
        Path | None,
        typer.Option(metavar="CASES", help="First measure retrieval on these cases and seal the result."),
    ] = None,
    alert: Annotated[
        bool, typer.Option("--alert", help="Send alerts that fire to the configured command and webhook.")
    ] = False,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Show how quality changes over time: confidence, failures, abstention, signals and latency. Exits with 5
    if an alert fires."""
    from citewell.evaluation.cases import load_cases
    from citewell.evaluation.drift import canary as measure_canary
    from citewell.evaluation.drift import drift as measure
    from citewell.evaluation.drift import tell

    knowledge_base = open_home(context, home)
    if canary is not None:
        found = measure_canary(knowledge_base, load_cases(canary))
        aside(
            f"canary: evidence found for {found.hit:.1%} of {found.n} cases, precision {found.precision:.2f}"
        )
        for note in found.notes:
            aside(f"note: {note}")
    moved = measure(knowledge_base, since=since, by=by, of=of)
    troubles = tell(knowledge_base, moved.alerts) if alert else {}
    if json:
        say_json(moved)
    else:
        _tell(moved)
    for rule, sinks in troubles.items():
        for name, trouble in sinks.items():
            aside(f"{rule}: {name} failed: {trouble}" if trouble else f"{rule}: sent by {name}")
    if any(one.state == "firing" for one in moved.alerts):
        raise typer.Exit(FAILED)


def _tell(moved: Drift) -> None:
    if not moved.points:
        say("No records found.")
    else:
        periods = sorted({point.period for point in moved.points})
        cells = {(point.measure, point.group, point.period): point for point in moved.points}
        names = sorted({(point.measure, point.group) for point in moved.points})
        columns([("measure", moved.of, *periods)] + [
            (measure, group, *(_cell(cells.get((measure, group, period))) for period in periods))
            for measure, group in names
        ])  # fmt: skip
    if moved.left_out:
        say(f"{moved.left_out} smaller groups not shown")
    for change in moved.changes:
        where = f" ({change.group})" if moved.of != "all" else ""
        say(
            f"changed: {change.measure}{where} from {change.before:.3g} to {change.after:.3g}"
            f" as of {change.period} (p {change.p:.2g})"
        )
    for one in moved.alerts:
        say(f"alert {one.state}: {one.text}")


def _cell(point: Point | None) -> str:
    return "" if point is None else f"{point.value:.3g} ({point.n})"

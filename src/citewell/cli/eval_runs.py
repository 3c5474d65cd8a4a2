"""``citewell eval compare`` and ``citewell eval gate``: comparing a run with another, or with thresholds.

In: result files. Out: what improved or got worse; whether thresholds are met (5 if not).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.eval_run import evaluate, warn
from citewell.cli.home import HomeOption, JsonOption
from citewell.cli.printing import FAILED, aside, columns, say, say_json

if TYPE_CHECKING:
    from citewell.evaluation.comparing import Difference


def register(group: typer.Typer) -> None:
    group.command("compare")(compare)
    group.command("gate")(gate)


def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="A result file of `eval run`.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="A later result file.")],
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the page here.")] = None,
    json: JsonOption = False,
) -> None:
    """Show what improved or got worse from A to B, and which cases flipped."""
    from citewell.evaluation.comparing import compare as compared
    from citewell.evaluation.results import read_run

    earlier, later = read_run(before), read_run(after)
    found = compared(earlier, later)
    if html is not None:
        from citewell.evaluation.report.page import write_comparison

        write_comparison(earlier, later, html)
    if json:
        return say_json(found)
    measured = [one for one in found.measures if one.difference is not None]
    if measured:
        columns([("measure", "A", "B", "B - A", "95 % interval", "n", ""), *map(_row, measured)])
        chance = f"about {len(measured) / 20:.1f} of them would appear to differ by chance alone"
        say(f"\n{len(measured)} measures, each with its own 95 % interval: {chance}")
    whole = [one for one in found.times if one.name.endswith("@total")]
    if whole:
        say("\ntimings, which vary even between identical runs:")
        columns([("time", "A", "B", "B - A", "95 % interval", "n", ""), *map(_row, whole)])
    for flip in found.flips:
        say(f"flipped: {flip.id}: {flip.was} -> {flip.now}: {flip.question}")
    say(f"{found.cases} cases in both, {len(found.flips)} flipped, {len(found.left_out)} left out")
    for name, (was, now) in found.changed.items():
        say(f"{name} differs: {was} -> {now}")
    return None


def gate(
    context: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN|CASES", help="A result file, or cases to run now.")],
    thresholds: Annotated[Path, typer.Option(metavar="FILE", help="The thresholds to reach, as TOML.")],
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With CASES: judge these recorded answers.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With CASES: also write the result file here.")
    ] = None,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Check a run against thresholds. Exits with 0 if all are met, else 5; a measure without a value does not
    meet its threshold."""
    from citewell.evaluation.gating import check, load_rules
    from citewell.evaluation.results import is_run, read_run

    rules = load_rules(thresholds)
    made = read_run(run) if is_run(run) else evaluate(context, home, run, answers=answers, out=out)
    report = check(made, rules)
    if json:
        say_json(report)
    else:
        for one in report.checks:
            say(f"{'met' if one.holds else 'NOT met'}: {one.measure}: {one.reason}")
        kept = sum(one.holds for one in report.checks)
        say(f"{kept} of {len(report.checks)} thresholds met")
    warn(made)
    for reason in report.skipped:
        aside(f"note: {reason}")
    if not report.checks:
        aside("note: no rule applies to this run, so nothing was checked; this does not count as a pass")
    if not report.ok:
        raise typer.Exit(FAILED)


def _row(found: Difference) -> tuple[str, ...]:
    between = "" if found.low is None or found.high is None else f"[{found.low:+.3f}, {found.high:+.3f}]"
    values = (f"{found.before:.3f}", f"{found.after:.3f}", f"{found.difference:+.3f}")
    return (found.name, *values, between, str(found.n), "" if found.says == "undecided" else found.says)

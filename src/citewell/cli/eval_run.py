"""``citewell eval run``: cases through the pipeline, or recorded answers, and the measures, each with its n.

In: a case file. Out: a table, the result file, the page. Progress goes to standard error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.home import HomeOption, JsonOption, home_of, open_home
from citewell.cli.printing import ERROR, aside, columns, say, say_json, visible
from citewell.core.errors import UsageError

if TYPE_CHECKING:
    from citewell.core.records import Case
    from citewell.evaluation.keeping import Keeper
    from citewell.evaluation.results import Result, Run
    from citewell.evaluation.running import Progress

Runs = Annotated[
    int,
    typer.Option(
        min=1, max=10, metavar="N", help="How many drafts of each answer to compare for consistency."
    ),
]


def register(group: typer.Typer) -> None:
    group.command("run")(run)


def run(
    context: typer.Context,
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="Cases, one JSON object per line.")],
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judge these recorded answers instead of asking.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the result file here.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the page here.")] = None,
    runs: Runs = 1,
    top_k: Annotated[
        int | None, typer.Option("--top-k", min=1, max=10, help="Passages to pass on. [default: 5]")
    ] = None,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Measure answers against cases, each measure with its n, interval and maker. Exits with 1 if a case
    failed; the measures then cover the other cases only."""
    refuse_unwritable(html)
    made = evaluate(context, home, cases, answers=answers, runs=runs, top_k=top_k, out=out)
    if html is not None:
        from citewell.evaluation.report.page import write_page

        write_page(made, html)
    if json:
        say_json(made)
    else:
        tell(made)
    warn(made)
    if any(outcome.error for outcome in made.cases):
        raise typer.Exit(ERROR)


def evaluate(
    context: typer.Context,
    home: str | None,
    path: Path,
    *,
    answers: Path | None = None,
    runs: int = 1,
    top_k: int | None = None,
    out: Path | None = None,
) -> Run:
    """Runs the cases of ``path`` through the home or against recorded answers; seals the run if there is a
    home. With ``out``, an interrupted run of the same cases is resumed."""
    from citewell.evaluation.cases import load_cases
    from citewell.evaluation.keeping import Keeper
    from citewell.evaluation.results import write_run
    from citewell.evaluation.running import evaluate_home

    refuse_unwritable(out)
    cases = load_cases(path)
    keeper = Keeper(out) if out is not None else None
    with progress_bar() as progress:
        if answers is not None:
            made = _judge_recorded(context, home, cases, answers, progress, keeper)
        else:
            kb = open_home(context, home)
            made = evaluate_home(kb, cases, runs=runs, top_k=top_k, progress=progress, keeper=keeper)
    if out is not None and keeper is not None:
        if keeper.found:
            aside(f"note: resumed an interrupted run; {keeper.found} cases were already done")
        write_run(made, out)
        keeper.finish()
    return made


def refuse_unwritable(path: Path | None) -> None:
    """Raises UsageError if no file can be written there, before the work rather than after it."""
    if path is None:
        return
    above = next(folder for folder in path.absolute().parents if folder.exists())
    # A folder; or a stream, whose place a file would take.
    special = (path.exists() and not path.is_file()) or path.absolute().parts[1:2] in (("dev",), ("proc",))
    if special or not above.is_dir() or not os.access(above, os.W_OK):
        raise UsageError(f"{path} cannot be written", hint="name a file in a folder that you can write to")


def _judge_recorded(
    context: typer.Context,
    home: str | None,
    cases: Sequence[Case],
    answers: Path,
    progress: Progress,
    keeper: Keeper | None,
) -> Run:
    """Uses the home, if there is one, for its configuration, documents and log."""
    from citewell.evaluation.recorded import load_answers
    from citewell.evaluation.running import evaluate_recorded
    from citewell.knowledge.assembly import Assembly, load_config

    recorded, digest = load_answers(answers, cases)
    unknown = sorted(set(recorded) - {case.id for case in cases})
    if unknown:
        aside(f"note: {len(unknown)} recorded answers match no case in this file, for example {unknown[0]!r}")
    folder = home_of(context, home)
    kb = open_home(context, home) if folder.is_dir() else None
    assembly = kb.parts if kb is not None else Assembly(folder, load_config(folder))
    return evaluate_recorded(recorded, digest, cases, assembly, kb, progress=progress, keeper=keeper)


def tell(run: Run) -> None:
    """Prints the measures as a table and what they apply to; of the times, only the totals."""
    total = [result for result in run.timings.measures if result.name.endswith("@total")]
    measured = [result for result in (*run.measures, *total) if result.n]
    columns([("measure", "value", "95 % interval", "n", "unscored", "by"), *map(_row, measured)])
    silent = [result.name for result in run.measures if not result.n]
    if silent:
        say(f"\nnot measured: {', '.join(silent)}")
    failed = sum(bool(outcome.error) for outcome in run.cases)
    unreviewed = sum(not outcome.reviewed for outcome in run.cases)
    say(f"\n{len(run.cases)} cases, {failed} failed, {unreviewed} not reviewed")
    for name in ("model", "prompt", "config", "index", "cases", "answers", "runs", "top_k", "judge"):
        value = getattr(run.key, name)
        if value:
            say(f"{name:<8}{value}")


def warn(run: Run) -> None:
    """Prints what affects all measures of the run, and which cases they leave out."""
    for note in run.notes:
        aside(f"WARNING {note}")
    for outcome in run.cases:
        if outcome.error:
            aside(f"unscored: {outcome.id}: {outcome.error}")


def _row(result: Result) -> tuple[str, ...]:
    between = (
        ""
        if result.low is None or result.high is None
        else f"[{_number(result.low)}, {_number(result.high)}]"
    )
    value = "not measured" if result.value is None else _number(result.value)
    return (result.name, value, between, str(result.n), str(result.unscored or ""), result.maker)


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """On standard error, and only on a terminal."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        TimeRemainingColumn(),
        console=Console(stderr=True, markup=False, emoji=False),
        transient=True,
    )
    with bar:
        task = bar.add_task("cases", total=None)

        def advance(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=visible(name))

        yield advance

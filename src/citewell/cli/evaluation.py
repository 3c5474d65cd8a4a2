"""``citewell eval run``, ``compare``, ``gate`` and ``drift``: measure answers, compare two runs, check one
against thresholds, track quality in the log; ``draft`` and ``import``: cases from documents or from other
tools' data.

In: a case file or result files. Out: tables, the result file, the page; 5 if a threshold is not met.
Progress goes to standard error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.commands import CommandResult, Home, command, group, refuse_unwritable
from citewell.cli.printing import ERROR, FAILED, OK, aside, format_columns, progress, say, say_json
from citewell.core.errors import DocumentError, UsageError
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.evaluation.comparing import Comparison, Difference
    from citewell.evaluation.results import MeasureResult, Run
    from citewell.evaluation.running import Progress

evaluation = group("eval", "Measure how good the answers are.")


@command(evaluation)
def run(
    home: Home,
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="Cases, one JSON object per line.")],
    answers: Path | None = None,
    out: Path | None = None,
    html: Path | None = None,
    runs: Annotated[int, typer.Option(min=1, max=10)] = 1,
    top_k: Annotated[int | None, typer.Option(min=1, max=10)] = None,
) -> CommandResult:
    """Measure answers against cases, each measure with its n, interval and maker. Exits with 1 if a case
    failed; the measures then cover the other cases only.

    --runs N: Drafts of each answer to compare for consistency.
    --top-k: Passages to pass on. [default: 5]
    """
    from citewell.evaluation.cases import load_answers, load_cases
    from citewell.evaluation.report import write_page
    from citewell.evaluation.results import write_run
    from citewell.evaluation.running import evaluate_home, evaluate_recorded

    refuse_unwritable(html)
    refuse_unwritable(out)
    read = load_cases(cases)
    with progress_bar() as bar:
        if answers is None:
            made = evaluate_home(home.open(), read, runs=runs, top_k=top_k, progress=bar)
        else:
            recorded, digest = load_answers(answers)
            unknown = sorted(set(recorded) - {case.id for case in read})
            if unknown:
                told = f"{len(unknown)} recorded answers match no case in this file"
                aside(f"note: {told}, for example {unknown[0]!r}")
            found = home.open() if home.path.is_dir() else None
            parts = found.parts if found is not None else home.parts()
            made = evaluate_recorded(recorded, digest, read, parts, found, progress=bar)
    if out is not None:
        write_run(made, out)
    if html is not None:
        write_page(made, html)
    _warn(made)
    failed = any(outcome.error for outcome in made.cases)
    return CommandResult(made, lambda: _tell(made), ERROR if failed else OK)


@command(evaluation)
def compare(
    before: Annotated[Path, typer.Argument(metavar="A", help="A result file of `eval run`.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="A later result file.")],
) -> CommandResult:
    """Show what improved or got worse from A to B, and which cases flipped."""
    from citewell.evaluation.comparing import compare as compared
    from citewell.evaluation.results import read_run

    found = compared(read_run(before), read_run(after))
    return CommandResult(found, lambda: _tell_apart(found))


def _tell_apart(found: Comparison) -> None:
    measured = [one for one in found.measures if one.difference is not None]
    if measured:
        _differences("measure", measured)
        chance = f"about {len(measured) / 20:.1f} of them would appear to differ by chance alone"
        say(f"\n{len(measured)} measures, each with its own 95 % interval: {chance}")
    whole = [one for one in found.times if one.name.endswith("@total")]
    if whole:
        say("\ntimings, which vary even between identical runs:")
        _differences("time", whole)
    for flip in found.flips:
        say(f"flipped: {flip.id}: {flip.was} -> {flip.now}: {flip.question}")
    say(f"{found.cases} cases in both, {len(found.flips)} flipped, {len(found.left_out)} left out")
    for name, (was, now) in found.changed.items():
        say(f"{name} differs: {was} -> {now}")


@command(evaluation)
def gate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A result file of `eval run`.")],
    thresholds: Path,
) -> CommandResult:
    """Check a run against thresholds. Exits with 0 if all are met, else 5; a measure without a value does not
    meet its threshold.

    --thresholds FILE: The thresholds to reach, as TOML.
    """
    from citewell.evaluation.gating import check, load_rules
    from citewell.evaluation.results import read_run

    rules = load_rules(thresholds)
    made = read_run(run)
    report = check(made, rules)
    _warn(made)
    for reason in report.skipped:
        aside(f"note: {reason}")
    if not report.checks:
        aside("note: no rule applies to this run, so nothing was checked; this does not count as a pass")

    def tell() -> None:
        for one in report.checks:
            say(f"{'met' if one.holds else 'NOT met'}: {one.measure}: {one.reason}")
        say(f"{sum(one.holds for one in report.checks)} of {len(report.checks)} thresholds met")

    return CommandResult(report, tell, OK if report.ok else FAILED)


@command(evaluation)
def drift(
    kb: KnowledgeBase, since: str = "90d", by: str = "week", canary: Path | None = None
) -> CommandResult:
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
    shown = str(moved) if moved.points else "No records found."
    return CommandResult(moved, lambda: say(shown), FAILED if firing else OK)


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A progress bar over cases."""
    with progress("cases") as advance:
        yield lambda done, total, name: advance(done, total, f"{done}/{total} {name}")


def _tell(run: Run) -> None:
    """Prints the measures and, of the timings, only the totals."""
    total = [result for result in run.timings.measures if result.name.endswith("@total")]
    measured = [result for result in (*run.measures, *total) if result.n]
    format_columns([("measure", "value", "95 % interval", "n", "unscored", "by"), *map(_row, measured)])
    silent = [result.name for result in run.measures if not result.n]
    if silent:
        say(f"\nnot measured: {', '.join(silent)}")
    failed = sum(bool(outcome.error) for outcome in run.cases)
    unreviewed = sum(not outcome.reviewed for outcome in run.cases)
    say(f"\n{len(run.cases)} cases, {failed} failed, {unreviewed} not reviewed")
    for name in ("model", "prompt", "config", "index", "cases", "answers", "runs", "top_k", "judge"):
        if value := getattr(run.key, name):
            say(f"{name:<8}{value}")


def _warn(run: Run) -> None:
    for note in run.notes:
        aside(f"WARNING {note}")
    for outcome in run.cases:
        if outcome.error:
            aside(f"unscored: {outcome.id}: {outcome.error}")


def _row(result: MeasureResult) -> tuple[str, ...]:
    known = result.low is not None and result.high is not None
    between = f"[{_number(result.low)}, {_number(result.high)}]" if known else ""
    return (
        *(result.name, _number(result.value), between),
        *(str(result.n), str(result.unscored or ""), result.maker),
    )


def _number(value: float | None) -> str:
    if value is None:
        return "not measured"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"


def _differences(what: str, found: list[Difference]) -> None:
    rows = [(what, "A", "B", "B - A", "95 % interval", "n", "")]
    for one in found:
        between = "" if one.low is None or one.high is None else f"[{one.low:+.3f}, {one.high:+.3f}]"
        values = (f"{one.before:.3f}", f"{one.after:.3f}", f"{one.difference:+.3f}")
        rows.append((one.name, *values, between, str(one.n), "" if one.says == "undecided" else one.says))
    format_columns(rows)


# --- case files --------------------------------------------------------------------------------------


@command(evaluation)
def draft(
    home: Home,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files and folders, as for `ingest`.")
    ],
    out: Path | None = None,
    n: Annotated[int, typer.Option(min=1)] = 50,
    seed: int = 0,
) -> int:
    """Draft answerable and unanswerable cases from documents, for a person to review.

    --n: The maximum number of cases.
    """
    from citewell.documents.files import FileFailure, walk
    from citewell.documents.worker import ParsingWorker
    from citewell.evaluation.cases import write_cases
    from citewell.evaluation.drafting import draft_cases

    documents, failed = [], False
    with ParsingWorker(home.config().documents) as worker:
        for source in walk(paths):
            try:
                if isinstance(source, FileFailure):
                    raise source.error
                documents.append(worker.read(source.place, document_id=source.document_id))
            except DocumentError as error:
                aside(f"{source.path}: {error}")
                failed = True
    cases = draft_cases(documents, n=n, seed=seed)
    if not cases:
        raise UsageError(
            f"no questions could be drafted from {len(documents)} documents",
            hint='give documents with tables or "label: value" lines, or write cases by hand',
        )
    if out:
        write_cases(cases, out)
    else:
        for case in cases:
            say_json(case)
    kinds = Counter(case.tags[0] for case in cases)
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    aside(f"{len(cases)} drafts from {len(documents)} documents ({told}), not yet reviewed")
    return ERROR if failed else 0


@command(evaluation, "import")
def read(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="ragas, deepeval")],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The file to import.")],
    out: Path,
    answers: Path | None = None,
) -> None:
    """Import cases, with answers if there are any, from another tool's data.

    --out FILE: Where to write the cases.
    --answers FILE: Where to write its answers, for `eval run --answers`.
    """
    import msgspec

    from citewell.evaluation.cases import read_format, write_cases, write_file

    found = read_format(form, path)
    if answers is not None:
        if not found.answers:
            raise UsageError(f"{path} contains no answers", hint="leave --answers out")
        write_file(answers, b"".join(msgspec.json.encode(line) + b"\n" for line in found.answers))
    write_cases(found.cases, out)
    aside(f"{len(found.cases)} cases, {len(found.answers)} answers")
    if found.answers and answers is None:
        aside("note: the answers were not written; add --answers FILE to write them")

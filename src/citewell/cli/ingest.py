"""``citewell ingest``: a progress bar, one line a bad file with its remedy, and 1 when any file failed.

What readers noted of new and changed files (pages without text, hidden text, a guessed encoding) is a line a
file, and a count where there are many. What a folder holds beside documents is counted in one line, by its
kinds; ``--skipped`` names each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import ERROR, aside, say, say_json

if TYPE_CHECKING:
    from citewell.documents.ingesting import IngestReport, Progress

_MOST_NOTED = 20  # files told one by one


def register(app: typer.Typer) -> None:
    app.command("ingest")(ingest)


def ingest(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files and folders.")],
    acl: Annotated[
        list[str] | None, typer.Option(metavar="GROUP", help="Only this group may see them; may be repeated.")
    ] = None,
    id: Annotated[str | None, typer.Option("--id", help="The document id; for a single file.")] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="T", help="A label; may be repeated.")] = None,
    skipped: Annotated[
        bool, typer.Option("--skipped", help="Name each file of a folder that is no document.")
    ] = False,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Read documents in. Unchanged files are skipped, an interrupted ingest resumes."""
    knowledge_base = open_home(context, home, make=True)
    try:
        with progress_bar() as progress:
            report = knowledge_base.ingest(
                *paths, acl=acl or (), tags=tag or (), document_id=id, progress=progress
            )
    except KeyboardInterrupt:
        aside("stopped: what was read is kept and can be asked; the same command goes on from there")
        raise
    if json:
        say_json(report)
    tell(report, quiet=json, name_skipped=skipped)
    if report.failed:
        raise typer.Exit(ERROR)


def tell(report: IngestReport, *, quiet: bool = False, name_skipped: bool = False) -> None:
    """The failures with their remedies on standard error, notes, what was skipped, and the counts."""
    from citewell.documents.ingesting import UNCHANGED

    counts = Counter(
        "still withdrawn" if outcome.status == UNCHANGED and outcome.message else outcome.status
        for outcome in report.files
    )
    for outcome in report.failed:
        remedy = f"; {outcome.hint}" if outcome.hint else ""
        aside(f"failed: {outcome.path}: {' '.join((outcome.message + remedy).split())}")
    if not quiet:
        tell_notes(report)
    if name_skipped:
        for outcome in report.skipped:
            aside(f"skipped: {outcome.path}: {outcome.message}")
    elif report.skipped and not quiet:
        kinds = Counter(outcome.message.removeprefix("it is ") for outcome in report.skipped)
        told = ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common())
        aside(f"skipped, not documents: {told}; --skipped lists them")
    if not quiet:
        told = ", ".join(f"{count} {status}" for status, count in counts.items()) or "no files found"
        pages, chunks = (sum(getattr(o, name) for o in report.files) for name in ("pages", "chunks"))
        say(told + (f" ({pages} pages, {chunks} chunks)" if chunks else ""))


def tell_notes(report: IngestReport) -> None:
    """What was left out of the first few files, and on how many more there is something to say."""
    noted = [
        outcome for outcome in report.files if outcome.status in ("added", "updated") and outcome.message
    ]
    for outcome in noted[:_MOST_NOTED]:
        aside(f"note: {outcome.path}: {' '.join(outcome.message.split())}")
    if more := len(noted[_MOST_NOTED:]):
        files = "file" if more == 1 else "files"
        aside(f"notes on {more} more {files}: `citewell documents show ID` tells those of one document")


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """On standard error, and only where a person looks at it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, markup=False, emoji=False)
    bar = Progress(
        BarColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("looking for files", total=None)

        def advance(files: int, of: int, pages: int, chunks: int) -> None:
            told = f"{files}/{of} files, {pages} pages, {chunks} chunks"
            bar.update(task, completed=files, total=of, description=told)

        yield advance

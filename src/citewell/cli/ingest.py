"""``citewell ingest``: a progress bar, one line per failed file with its remedy, and exit code 1 if any
failed.

Notes on new and changed files (pages without text, hidden text, a guessed encoding) get a line per file, and
a count if there are many. Files in a folder that are not documents are counted by kind in one line;
``--skipped`` lists them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import ERROR, aside, counted, say, say_json

if TYPE_CHECKING:
    from citewell.documents.ingesting import IngestReport, Progress

_MOST_NOTED = 20  # files whose notes are printed one by one
_NOUN = re.compile(
    r"\b(archive|book|database|device|document|file|image|link|presentation|program|video|workbook)\b"
)


def register(app: typer.Typer) -> None:
    app.command("ingest")(ingest)


def ingest(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files and folders to ingest.")],
    acl: Annotated[
        list[str] | None, typer.Option(metavar="GROUP", help="Only this group may see them; repeatable.")
    ] = None,
    id: Annotated[str | None, typer.Option("--id", help="The document id, for a single file.")] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="T", help="A label; repeatable.")] = None,
    supersedes: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A document that this one file replaces; repeatable."),
    ] = None,
    skipped: Annotated[
        bool,
        typer.Option("--skipped", help="List each skipped file of a folder (files that are not documents)."),
    ] = False,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Ingest documents. Unchanged files are left as they are; an interrupted ingest resumes."""
    knowledge_base = open_home(context, home, make=True)
    try:
        with progress_bar() as progress:
            report = knowledge_base.ingest(
                *paths,
                acl=acl or (),
                tags=tag or (),
                document_id=id,
                supersedes=supersedes or (),
                progress=progress,
            )
    except KeyboardInterrupt:
        aside(
            "Stopped. What was ingested so far is kept and searchable."
            " Run the same command again to continue."
        )
        raise
    if json:
        say_json(report)
    tell(report, quiet=json, name_skipped=skipped)
    if report.failed:
        raise typer.Exit(ERROR)


def tell(report: IngestReport, *, quiet: bool = False, name_skipped: bool = False) -> None:
    """Prints failures with their remedies, notes and skipped files on standard error, then the counts."""
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
        listed = ", ".join(_counted(kind, count) for kind, count in kinds.most_common())
        one = len(report.skipped) == 1
        files, them = (
            ("1 file that is not a document", "it")
            if one
            else (f"{len(report.skipped)} files that are not documents", "them")
        )
        aside(f"Skipped {files} ({listed}). List {them} with --skipped.")
    if not quiet:
        told = ", ".join(f"{count} {status}" for status, count in counts.items()) or "No files found."
        pages, chunks = (sum(getattr(o, name) for o in report.files) for name in ("pages", "chunks"))
        say(told + (f" ({counted(pages, 'page')}, {counted(chunks, 'chunk')})" if chunks else ""))


def _counted(kind: str, count: int) -> str:
    """``3 PNG images`` for "a PNG image"."""
    words = re.sub("^an? ", "", kind)
    if count != 1:
        words = _NOUN.sub(r"\1s", words, count=1)
    return f"{count} {words}"


def tell_notes(report: IngestReport) -> None:
    """Prints which files have pages of which text is missing, what was left out of the first few others, and
    how many more files have notes."""
    noted = [
        outcome for outcome in report.files if outcome.status in ("added", "updated") and outcome.message
    ]
    for outcome in noted:
        if outcome.incomplete:
            aside(f"incomplete: {outcome.path}: {' '.join(outcome.message.split())}")
    noted = [outcome for outcome in noted if not outcome.incomplete]
    for outcome in noted[:_MOST_NOTED]:
        aside(f"note: {outcome.path}: {' '.join(outcome.message.split())}")
    for note in report.notes[:_MOST_NOTED]:
        aside(f"note: {note}")
    if more := len(noted[_MOST_NOTED:]):
        files = "file has" if more == 1 else "files have"
        aside(f"{more} more {files} notes. `citewell documents show ID` prints those of one document.")


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """On standard error, and only on a terminal."""
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

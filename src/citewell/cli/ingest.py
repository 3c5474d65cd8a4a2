"""``citewell ingest``: shows progress, one line per failed file with its remedy; exit code 1 if any failed.
``citewell watch``: ingests a folder whenever something in it changes.

Notes on new and changed files (pages without text, hidden text, a guessed encoding) get a line per file, and
a count if there are many. Files in a folder that are not documents are counted by kind in one line;
``--skipped`` lists them.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.commands import Words, app, command
from citewell.cli.errors import of_the_machine
from citewell.cli.printing import ERROR, OK, aside, counted, progress, say, say_json
from citewell.core.errors import UsageError
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.documents.outcomes import IngestProgress, IngestReport, Progress

_SILENCE_S = 30.0
_PATIENCE = 10  # looks; then a watched file that never stops changing is read as it is
_MOST_NOTED = 20  # files whose notes are printed one by one
_NOUN = re.compile(
    r"\b(archive|book|database|device|document|file|image|link|presentation|program|video|workbook)\b"
)


@command(app, new_home=True)
def ingest(
    kb: KnowledgeBase,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders and addresses (s3://, https://) to ingest."),
    ],
    acl: Words = None,
    id: str | None = None,
    tag: Words = None,
    supersedes: Words = None,
    skipped: bool = False,
    json: bool = False,
) -> int:
    """Ingest documents. Unchanged files are skipped; an interrupted ingest resumes.

    --acl GROUP: Only this group may see them; repeatable.
    --id: The document id, for a single file.
    --tag T: A label; repeatable.
    --supersedes ID: A document that this one file replaces; repeatable.
    --skipped: List each skipped file of a folder (files that are not documents).
    """
    try:
        with progress_bar() as bar:
            report = kb.ingest(
                *paths,
                acl=acl or (),
                tags=tag or (),
                document_id=id,
                supersedes=supersedes or (),
                progress=bar,
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
    return ERROR if report.failed else OK


def tell(report: IngestReport, *, quiet: bool = False, name_skipped: bool = False) -> None:
    from citewell.documents.outcomes import UNCHANGED

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
        done = ", ".join(f"{count} {status}" for status, count in counts.items()) or "No files found."
        pages, chunks = (sum(getattr(o, name) for o in report.files) for name in ("pages", "chunks"))
        say(done + (f" ({counted(pages, 'page')}, {counted(chunks, 'chunk')})" if chunks else ""))


def _counted(kind: str, count: int) -> str:
    """``3 PNG images`` for "a PNG image"."""
    words = re.sub("^an? ", "", kind)
    if count != 1:
        words = _NOUN.sub(r"\1s", words, count=1)
    return f"{count} {words}"


def tell_notes(report: IngestReport) -> None:
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
    """Progress on standard error: a bar on a terminal, elsewhere a line every half minute."""
    with progress("looking for files") as advance:
        told_s = 0.0

        def step(now: IngestProgress) -> None:
            nonlocal told_s
            advance(now.files, now.of, progress_line(now))
            if not sys.stderr.isatty() and now.elapsed_s - told_s >= _SILENCE_S:
                told_s = now.elapsed_s
                aside(progress_line(now))

        yield step


def progress_line(step: IngestProgress) -> str:
    """``2/8 files, 120 pages (1.5 a second), about 3 min left: handbook.pdf``"""
    rate = f" ({step.pages / step.elapsed_s:.1f} a second)" if step.pages and step.elapsed_s > 1 else ""
    done = counted(step.pages, "page") + rate if step.pages else counted(step.chunks, "chunk")
    left = ""
    if step.left_s is not None:
        minutes = round(step.left_s / 60)
        left = f", about {f'{minutes} min' if minutes else f'{step.left_s:.0f} s'} left"
    name = " ".join(step.path.rpartition("/")[2].split())
    return f"{step.files}/{step.of} files, {done}{left}: {name}"


# --- watch ------------------------------------------------------------------------------------------


@command(app, new_home=True)
def watch(
    kb: KnowledgeBase,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to watch.")],
    every: Annotated[float, typer.Option(min=0.1)] = 5.0,
    acl: Words = None,
    tag: Words = None,
) -> int:
    """Ingest a folder, and again whenever something in it changes, until Ctrl-C or SIGTERM.

    --every SECONDS: How often to look for changes. [default: 5]
    --acl GROUP: Only this group may see them; repeatable.
    --tag T: A label; repeatable.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", hint="name a folder that exists")
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(one, signal.default_int_handler) for one in signals]
    try:
        aside(f"Watching {folder}, every {every:g} s. Stop with Ctrl-C.")
        _watch(kb, folder, every, tuple(acl or ()), tuple(tag or ()))
    except KeyboardInterrupt:
        aside("Stopped. What was ingested so far is kept and searchable.")
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)
    return OK


def _watch(
    kb: KnowledgeBase, folder: Path, every_s: float, acl: tuple[str, ...], tags: tuple[str, ...]
) -> None:
    """Ingests the folder when its state is another one, and the same twice in a row: no file is read while it
    is being written."""
    told: set[str] = set()
    ingested: set[tuple[object, ...]] | None = None
    last, waited = _state(folder), 0
    while True:
        seen = _state(folder)
        settled = seen == last or ingested is None or waited >= _PATIENCE
        last, waited = seen, 0 if settled else waited + 1
        if seen != ingested and settled:
            try:
                report = kb.ingest(folder, acl=acl, tags=tags)
            except Exception as error:  # noqa: BLE001 - told; the next look tries again
                failures = {f"error: {of_the_machine(error) or error}"}
            else:
                ingested, failures = seen, _tell_changes(report)
            for line in sorted(failures - told):
                aside(line)
            told = failures
            sys.stdout.flush()
        time.sleep(every_s)


def _state(folder: Path) -> set[tuple[object, ...]]:
    """What is in the folder, as far as names, sizes and times show it."""
    from citewell.documents.files import FileFailure, walk

    state: set[tuple[object, ...]] = set()
    for item in walk([folder]):
        try:
            about = os.stat(item.place) if not isinstance(item, FileFailure) else None
        except OSError:
            about = None
        times = about and (about.st_size, about.st_mtime_ns, about.st_ctime_ns)
        state.add((str(item.path), times))
    return state


def _tell_changes(report: IngestReport) -> set[str]:
    """Prints the changes; the failures, which may have been told before, are returned."""
    for one in report.files:
        if one.status in ("added", "updated", "withdrawn"):
            note = f" ({' '.join(one.message.split())})" if one.message else ""
            say(f"{one.status}: {one.document_id}{note}")
    for note in report.notes:
        aside(f"note: {note}")
    return {f"failed: {one.path}: {' '.join(f'{one.message}; {one.hint}'.split())}" for one in report.failed}

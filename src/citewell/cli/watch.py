"""``citewell watch``: ingests a folder whenever something in it changes; a line for each change.

Looks at names, sizes and times only; files are read once those are the same twice in a row, so that a file is
not read while it is being written. Knows nothing about formats.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.commands import Words, app, command
from citewell.cli.errors import of_the_machine
from citewell.cli.printing import OK, aside, say
from citewell.core.errors import UsageError
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.documents.outcomes import IngestReport

_PATIENCE = 10  # looks; then a file that never stops changing is read as it is
Seconds = Annotated[float, typer.Option(min=0.1)]


@command(app, new_home=True)
def watch(
    kb: KnowledgeBase,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to watch.")],
    every: Seconds = 5.0,
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
                ingested, failures = seen, _tell(report)
            for line in sorted(failures - told):
                aside(line)
            told = failures
            sys.stdout.flush()
        time.sleep(every_s)


def _state(folder: Path) -> set[tuple[object, ...]]:
    """What is in the folder, as far as it shows without opening a file."""
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


def _tell(report: IngestReport) -> set[str]:
    """Prints the changes; the failures, which may have been told before, are returned."""
    for one in report.files:
        if one.status in ("added", "updated", "withdrawn"):
            note = f" ({' '.join(one.message.split())})" if one.message else ""
            say(f"{one.status}: {one.document_id}{note}")
    for note in report.notes:
        aside(f"note: {note}")
    return {f"failed: {one.path}: {' '.join(f'{one.message}; {one.hint}'.split())}" for one in report.failed}

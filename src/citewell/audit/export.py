"""Exports the log as files in an open format: C2SP tlog-tiles, plus the bodies.

In: a log. Out: ``checkpoint``, ``keys.pub``, hash tiles, entry bundles and ``bodies/`` in the layout of
:mod:`citewell.audit.tiles`; an earlier export of the same log in the folder is updated without rewriting full
tiles. Personal texts are not exported: bodies are written as sealed. Checked by ``python -m citewell.audit
FOLDER``, which needs no home.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.audit.entries import leaf
from citewell.audit.notes import read_checkpoint
from citewell.audit.tiles import (
    CHECKPOINT,
    FULL,
    KEYS,
    bodies_path,
    bundle_path,
    tile_path,
    write_bundle,
)
from citewell.audit.writer import stored_tree, tree_hashes
from citewell.core.errors import LogError, UsageError
from citewell.core.files import replace_file

if TYPE_CHECKING:
    from citewell.audit.database import Rows
    from citewell.audit.log import Log


def export(log: Log, folder: Path) -> int:
    """Returns the number of entries. The checkpoint is written last: an interrupted export has the old one.

    Raises UsageError for a folder with another log, LogError if it cannot be written.
    """
    text = log.checkpoint()
    newest = read_checkpoint(text)
    there = folder / CHECKPOINT
    try:
        if there.exists():
            held = read_checkpoint(there.read_text(encoding="utf-8"))
            with log.database.reading() as rows:
                goes_on = held.origin == newest.origin and held.size <= newest.size
                # The same origin is not enough: full tiles of another history would stay.
                goes_on = goes_on and stored_tree(rows, newest.size).root(held.size) == held.root
            if not goes_on:
                raise UsageError(
                    f"{folder} contains {held.size} entries of log {held.origin} that this log does not"
                    " continue",
                    hint="export to another folder and keep this one as evidence of what was there",
                )
        with log.database.reading() as rows:
            _tiles(rows, newest.size, folder)
            _entries(rows, newest.size, folder)
        replace_file(folder / KEYS, (log.published() + "\n").encode())
        replace_file(there, text.encode())
    except (OSError, ValueError) as error:
        raise LogError(f"export to {folder}: {error}", hint="choose a folder that can be written") from error
    return newest.size


def _tiles(rows: Rows, size: int, folder: Path) -> None:
    level, count = 0, size
    while count:
        for number in range(-(-count // FULL)):
            width = min(FULL, count - number * FULL)
            path = folder / tile_path(level, number, width)
            if path.exists():
                continue
            replace_file(path, b"".join(tree_hashes(rows, level, number * FULL, width)))
        level, count = level + 1, count // FULL


def _entries(rows: Rows, size: int, folder: Path) -> None:
    for number in range(-(-size // FULL)):
        first = number * FULL + 1
        width = min(FULL, size - number * FULL)
        # Bodies are rewritten: retention may have removed some since.
        found = rows.execute(
            "SELECT seq, kind, timestamp, subject, body_hash, body FROM entries"
            " WHERE seq >= ? AND seq < ? ORDER BY seq",
            (first, first + width),
        ).fetchall()
        replace_file(
            folder / bundle_path(number, width), write_bundle([leaf(*row[:5]).data() for row in found])
        )
        lines = [json.dumps({"seq": row[0], "body": row[5]}, ensure_ascii=False) + "\n" for row in found]
        replace_file(folder / bodies_path(number), "".join(lines).encode("utf-8", "surrogatepass"))

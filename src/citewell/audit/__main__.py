"""``python -m citewell.audit PATH``: check an export or a log file without the home that wrote it.

PATH is a folder written by `citewell audit export`, or an ``audit.sqlite``. ``--key FILE`` is the issuer's
published key; without it the key shipped with the export is used, which shows that nothing was changed since
it was signed, but not by whom. ``--checkpoint FILE`` (repeatable) is a checkpoint that somebody else kept.
Exits with 0 if the log is whole, 5 if it is not, 2 if there is nothing to check.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from functools import partial
from pathlib import Path

from citewell.audit.checker import CheckReport, ExportSource, RowsSource, check
from citewell.audit.tiles import KEYS

FAILED, USAGE = 5, 2


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m citewell.audit", description="Check a sealed log.")
    parser.add_argument("path", type=Path, help="an export folder, or an audit.sqlite")
    parser.add_argument("--key", type=Path, help="the issuer's published key")
    parser.add_argument(
        "--checkpoint",
        type=Path,
        action="append",
        default=[],
        help="a checkpoint kept elsewhere; may be repeated",
    )
    given = parser.parse_args(words)
    beside = given.path / KEYS if given.path.is_dir() else given.path.parent / "keys" / "signing.pub"
    try:
        key = (given.key or beside).read_text(encoding="utf-8") if given.key or beside.is_file() else ""
        outside = [path.read_text(encoding="utf-8") for path in given.checkpoint]
        report = _check(given.path, key, outside)
    except (OSError, ValueError, KeyError, sqlite3.Error) as error:
        print(f"the log cannot be checked: {error}", file=sys.stderr)
        return USAGE
    for finding in report.findings:
        print(f"{finding.kind}: entry {finding.seq}: {finding.reason}")
    verdict = "whole" if report.ok else "NOT whole"
    print(f"{verdict}: {report.size} entries, {len(report.findings)} findings")
    own = (
        ()
        if given.key
        else (
            "the key came with the log, so this shows integrity but not origin; pass --key with"
            " the key published by the issuer",
        )
    )
    for note in (*report.skipped, *own, *report.notes):
        print(f"note: {note}", file=sys.stderr)
    return 0 if report.ok else FAILED


def _check(path: Path, key: str, outside: list[str]) -> CheckReport:
    if path.is_dir():
        return check(ExportSource(path), key=key, outside=outside)
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    # Tampered text may not be valid Unicode; it must be reported, not stop the check.
    connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
    try:
        return check(RowsSource(connection), key=key, outside=outside)
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())

"""Terminal output and exit codes. Document text is never trusted here.

In: values and text from anywhere. Out: lines on standard output, errors and progress on standard error.
Control characters and escape sequences in documents, questions or file names are printed visibly, never
interpreted, and nothing is treated as markup.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from citewell.core.display import UNSAFE, visible
from citewell.core.errors import CitewellError, UsageError
from citewell.core.identity import plain
from citewell.core.records import Answer, Claim, Decision, Status

OK, ERROR, USAGE, PARTIAL, ABSTAINED, FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

DECISIONS = {Decision.ANSWER: OK, Decision.PARTIAL: PARTIAL, Decision.ABSTAIN: ABSTAINED}


def say(text: str = "") -> None:
    """Prints a line on standard output."""
    print(visible(text))


def aside(text: str) -> None:
    """Prints a line on standard error: progress, warnings, anything that is not the result."""
    print(visible(text), file=sys.stderr)


def say_json(value: Any) -> None:
    """Prints ``value`` as one line of JSON on standard output, with control characters escaped."""
    print(escaped(json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))))


def escaped(text: str) -> str:
    """JSON ``text`` with control characters as ``\\u`` escapes; they only occur inside strings."""
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def say_error(error: BaseException) -> None:
    text = " ".join(str(error).split()) or type(error).__name__
    aside(f"error: {text}")


def counted(number: int, noun: str) -> str:
    """``1 case``, ``2 cases``: for nouns whose plural ends in s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_columns(rows: Iterable[tuple[str, ...]]) -> None:
    """Prints rows as aligned columns, the last one ragged."""
    cells = [tuple(visible(cell).replace("\n", " ").replace("\t", " ") for cell in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(line.rstrip())


def facts(named: Mapping[str, str]) -> None:
    format_columns([(f"{name}:", value) for name, value in named.items() if value])


@contextmanager
def progress(first: str) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on standard error, shown only on a terminal: call it with what is done, of how many, and
    words."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    said = TextColumn("{task.description}", markup=False)
    columns = (BarColumn(bar_width=20), TimeElapsedColumn(), TimeRemainingColumn(), said)
    console = Console(stderr=True, markup=False, emoji=False)
    if not console.is_terminal:  # rich 13 would end even a disabled bar with an empty line
        yield lambda done, of, words: None
        return
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(first, total=None)
        yield lambda done, of, words: bar.update(task, completed=done, total=of, description=visible(words))


def code_of(error: CitewellError) -> int:
    return USAGE if isinstance(error, UsageError) else ERROR


def code_of_answer(answer: Answer) -> int:
    """Exit code 5 if a claim is contradicted or broken, else by the decision."""
    return FAILED if _failed(answer.claims) else DECISIONS[answer.decision]


def code_of_claims(claims: Iterable[Claim]) -> int:
    """Exit code 0 if there are claims and all are verified, 5 if one is contradicted or broken, else 3."""
    claims = tuple(claims)
    if _failed(claims):
        return FAILED
    verified = bool(claims) and all(claim.verdict.status is Status.VERIFIED for claim in claims)
    return OK if verified else PARTIAL


def _failed(claims: Iterable[Claim]) -> bool:
    return any(claim.verdict.status in (Status.BROKEN, Status.CONTRADICTED) for claim in claims)

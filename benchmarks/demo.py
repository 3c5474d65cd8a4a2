"""``python -m benchmarks.demo``: a demonstration on this project's own documentation.

Reads this project's docs/ into ``.demo``, asks one question that they answer and one that they do not, prints
both answers, the record of the first and the check of the log. Exits with 1 unless the first is answered
correctly, the second is refused and the log is intact. README.md is not read: it quotes what the demo prints,
and so would answer its questions.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from typer.testing import CliRunner

from citewell.cli import app

HOME = ".demo"
ANSWERED, ANSWER = "What is the default relevance threshold?", "relevance_threshold – default: 0.7"
UNANSWERED, ABSTAINED = "What did Citewell earn in fiscal year 2031?", 4


def run(*words: str, ends: int = 0) -> str:
    """Runs one command as a user would type it, prints its output and returns it. Exits if the command ends
    with a code other than ``ends``."""
    print(f"\n$ citewell {shlex.join(words)}", flush=True)
    result = CliRunner().invoke(app, ["--home", HOME, *words])
    print(result.output, end="")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    print(f"(exit code {result.exit_code})")
    if result.exit_code != ends:
        sys.exit(f"`citewell {shlex.join(words)}` exited with {result.exit_code}, not {ends}")
    return result.output


def main() -> None:
    run("ingest", str(Path(__file__).parents[1] / "docs"))
    answered = run("ask", ANSWERED)
    if ANSWER not in answered:
        sys.exit(f"the answer to {ANSWERED!r} does not say {ANSWER!r}")
    run("ask", UNANSWERED, ends=ABSTAINED)
    record = next(line.split()[1] for line in answered.splitlines() if line.startswith("record"))
    run("audit", "show", record)
    run("audit", "check")


if __name__ == "__main__":
    main()

"""``python -m citewell.cli.demo``: see it work on documents that we wrote ourselves.

Reads this project's README.md and docs/ into ``.demo``, asks one question that they answer and
one that they do not, prints both answers, the record of the first and the check of the log. 1 when anything
of that fails.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from typer.testing import CliRunner

from citewell.cli.program import app

HOME = ".demo"
ANSWERED = "What is the default relevance threshold?"
UNANSWERED = "What did Citewell earn in fiscal year 2031?"


def run(*words: str) -> str:
    """One command as a user would type it, its output printed; what it printed."""
    print(f"\n$ citewell {shlex.join(words)}", flush=True)
    result = CliRunner().invoke(app, ["--home", HOME, *words])
    print(result.output, end="")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code in (1, 2):
        sys.exit(f"`citewell {shlex.join(words)}` ended with {result.exit_code}")
    print(f"(exit code {result.exit_code})")
    return result.output


def main() -> None:
    root = Path(__file__).parents[3]
    if not (root / "docs").is_dir():
        sys.exit("the demo reads the project's own documentation: run it in a checkout")
    run("ingest", str(root / "README.md"), str(root / "docs"))
    answered = run("ask", ANSWERED)
    run("ask", UNANSWERED)
    record = next(line.split()[1] for line in answered.splitlines() if line.startswith("record"))
    run("audit", "show", record)
    run("audit", "check")


if __name__ == "__main__":
    main()

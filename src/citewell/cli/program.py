"""The program: the root command and every module that adds commands to it, in the order of its help.

In: command-line arguments. Out: an exit code (0 answered or all verified, 3 partial, 4 abstained, 5 a failed
check, 1 error, 2 usage). Knows nothing about what the commands do.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from citewell.cli import printing
from citewell.cli.commands import SHARED, app


def _version(wanted: bool) -> None:
    if wanted:
        from citewell.core.environment import environment

        printing.say(f"citewell {environment()['citewell']}")
        raise typer.Exit


@app.callback()
def _root(
    home: Annotated[str | None, SHARED["home"]] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    traceback: Annotated[bool, typer.Option("--traceback", help="Show the traceback of an error.")] = False,
) -> None:
    """Options that apply to every command."""


for module in (
    *("installation", "ingest", "documents", "ask", "verify"),
    *("audit", "audit_uses", "review"),
    *("evaluation", "probes", "spotcheck", "calibrate", "serve"),
):
    import_module(f"citewell.cli.{module}")


def main() -> None:
    app(prog_name="citewell")

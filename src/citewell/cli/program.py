"""The root command: every group, the errors as one line, the exit code as the verdict.

In: words of the command line. Out: an exit code (0 answered or all verified, 3 partial, 4 abstained, 5 a
failed check, 1 error, 2 usage). Knows nothing about what the commands do.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from citewell.cli import (  # noqa: F401 - they add to the group `eval`
    ask,
    audit,
    calibrate,
    casefiles,
    doctor,
    documents,
    drift,
    eval_run,
    feedback,
    ingest,
    mcp,
    printing,
    probes,
    review,
    serve,
    setup,
    spotcheck,
    verify,
)
from citewell.cli.home import HomeOption
from citewell.core.errors import CitewellError


class Commands(TyperGroup):
    """Turns every error into one line and an exit code; prints a traceback only on request."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except CitewellError as error:
            code = printing.code_of(error)
            self._tell(ctx, error)
        except KeyboardInterrupt as error:
            code = printing.INTERRUPTED
            printing.aside("interrupted")
            if ctx.params.get("traceback"):
                traceback.print_exception(error)
        except BrokenPipeError:
            # Whoever read our output stopped; Python must not complain about it again while it shuts down.
            sys.stderr.close()
            code = printing.ERROR
        except Exception as error:
            if _of_the_parser(error):
                raise
            code = printing.ERROR
            known = of_the_machine(error)
            self._tell(ctx, known or error, unexpected=known is None)
        ctx.exit(code)
        return None

    def _tell(self, ctx: Any, error: Exception, *, unexpected: bool = False) -> None:
        if ctx.params.get("traceback"):
            traceback.print_exception(error)
        elif unexpected:
            printing.aside(
                f"error: unexpected {type(error).__name__}: {' '.join(str(error).split())}"
                " (this is a bug; please report it with the output of `citewell --traceback ...`)"
            )
        else:
            printing.say_error(error)


# What an operating system refuses, whichever library was told so, and what to do.
_REFUSALS = {
    errno.ENOSPC: "free disk space, then run the same command again; it continues where it stopped",
    errno.EDQUOT: "free space within your quota, then run the same command again",
    errno.EROFS: "choose a writable place with --home",
    errno.EACCES: "check the permissions, or choose another place with --home",
    errno.EPERM: "check the permissions, or choose another place with --home",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
    errno.EIO: "check the disk",
}


def of_the_machine(error: BaseException) -> CitewellError | None:
    """The error as one of the operating system with its remedy, if it is one; None for a bug."""
    named = getattr(error, "filename", None)
    for number, hint in _REFUSALS.items():
        said = os.strerror(number)
        if getattr(error, "errno", None) == number:
            return CitewellError(f"{said.lower()} ({named})" if named else said.lower(), hint=hint)
        # The index's store says it in words alone.
        if isinstance(error, RuntimeError | OSError) and said in str(error):
            return CitewellError(f"the index: {said.lower()}", hint=hint)
    return None


def _of_the_parser(error: Exception) -> bool:
    """Exits, aborts and usage errors of the parser; it prints those itself and ends with 2."""
    return type(error).__module__.split(".")[0] in {"click", "typer"}


app = typer.Typer(
    cls=Commands,
    name="citewell",
    help="Ask your documents questions. Every quote in an answer is checked, and every answer is recorded.",
    epilog='Start with `citewell ingest FOLDER`, then `citewell ask "QUESTION"`.',
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from citewell.core.environment import environment

        printing.say(f"citewell {environment()['citewell']}")
        raise typer.Exit


@app.callback()
def _root(
    home: HomeOption = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    traceback: Annotated[bool, typer.Option("--traceback", help="Show the traceback of an error.")] = False,
) -> None:
    """Options that apply to every command."""


for group in (
    setup,
    doctor,
    ingest,
    documents,
    ask,
    verify,
    audit,
    feedback,
    review,
    eval_run,
    serve,
    calibrate,
    mcp,
):
    group.register(app)


def main() -> None:
    """The ``citewell`` program."""
    app(prog_name="citewell")

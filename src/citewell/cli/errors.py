"""Turns every error of a command into one line and an exit code; a traceback only on request.

In: whatever a command raises. Out: a line on standard error with the problem and the remedy. Knows nothing
about commands.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Any

from typer.core import TyperGroup

from citewell.cli import printing
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
            # The reader of our output stopped; keep Python from complaining again at shutdown.
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


# Errors of the operating system, whichever library raises them, and their remedies.
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
    """The error with its remedy if the operating system caused it; None for a bug."""
    named = getattr(error, "filename", None)
    for number, hint in _REFUSALS.items():
        said = os.strerror(number)
        if getattr(error, "errno", None) == number:
            return CitewellError(f"{said.lower()} ({named})" if named else said.lower(), hint=hint)
        # The index's store reports it only in the message.
        if isinstance(error, RuntimeError | OSError) and said in str(error):
            return CitewellError(f"the index: {said.lower()}", hint=hint)
    return None


def _of_the_parser(error: Exception) -> bool:
    """True for exits, aborts and usage errors of the parser, which handles and prints those itself."""
    return type(error).__module__.split(".")[0] in {"click", "typer"}

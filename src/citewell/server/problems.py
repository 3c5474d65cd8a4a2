"""What went wrong, as problem details (RFC 9457): a title, what to do, whether trying again can help.

In: the errors of :mod:`citewell.core.errors`. Out: a status and a body; never a traceback, never a text of a
document. Knows nothing about routes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec
from starlette.responses import Response

from citewell.core import errors
from citewell.core.records import Record

PROBLEM_TYPE = "application/problem+json"


class Details(Record, frozen=True, kw_only=True):
    """The body of every response from 400 on. ``retryable``: the same request may succeed later."""

    title: str
    status: int
    hint: str = ""
    retryable: bool = False
    type: str = "about:blank"


class Problem(Exception):
    """Ends a request with ``status``."""

    def __init__(
        self,
        status: int,
        title: str,
        *,
        hint: str = "",
        retryable: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(title)
        self.details = Details(title=title, status=status, hint=hint, retryable=retryable)
        self.headers = dict(headers or {})


ABSENT = "there is nothing here, or you may not see it"


def absent() -> Problem:
    """One answer for what is not there and for what the caller may not see."""
    return Problem(404, ABSENT, hint="check the address and the id")


# The first that fits; what stands in none is the server's own fault, and its words stay in the server.
STATUS: tuple[tuple[type[errors.CitewellError], int], ...] = (
    (errors.UsageError, 400),
    (errors.AccessError, 403),
    # Nobody is there to see it: the status that access logs have for it.
    (errors.AbandonedError, 499),
    (errors.EvidenceError, 500),
    (errors.LimitError, 413),
    (errors.DocumentError, 422),
    (errors.FormRefusedError, 502),
    (errors.GeneratorError, 502),
    (errors.LogIntegrityError, 500),
    (errors.LogError, 503),
)


def problem_of(error: Exception) -> Problem:
    """The problem that an error of the core is to the one who asked."""
    if isinstance(error, Problem):
        return error
    for kind, status in STATUS:
        if isinstance(error, kind):
            # Words about the request are the asker's; those about our parts may hold a provider's secrets.
            title = error.args[0] if status < 500 else f"the server failed ({type(error).__name__})"
            return Problem(status, title, hint=error.hint, retryable=error.retryable)
    hint = "the server's log names the error; `citewell doctor` tries every part"
    return Problem(500, f"the server failed ({type(error).__name__})", hint=hint)


def response_of(problem: Problem) -> Response:
    return Response(
        msgspec.json.encode(problem.details),
        status_code=problem.details.status,
        headers=problem.headers,
        media_type=PROBLEM_TYPE,
    )


@contextmanager
def looking_up() -> Iterator[None]:
    """What the core does not know, or does not show this caller, is a 404 with one and the same body."""
    try:
        yield
    except (errors.UsageError, errors.EvidenceError) as error:
        raise absent() from error

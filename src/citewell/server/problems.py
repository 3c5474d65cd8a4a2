"""Errors as problem details (RFC 9457): a title, a remedy, and whether retrying can help.

In: any error. Out: a status and a body; never a traceback or document text. Knows nothing about routes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from citewell.core import errors
from citewell.core.records import Record
from citewell.server.limits import Busy

PROBLEM_TYPE = "application/problem+json"
TOO_LARGE = "send less, or raise server.max_body_kb or server.max_upload_mb"


class Details(Record, frozen=True, kw_only=True):
    """The body of every response from 400 on. ``retryable``: the same request may succeed later."""

    title: str
    status: int
    hint: str = ""
    retryable: bool = False
    type: str = "about:blank"


class Problem(Exception):
    """Ends a request with ``status``. ``retry_after_s``: seconds after which the same may succeed."""

    def __init__(
        self,
        status: int,
        title: str,
        *,
        hint: str = "",
        retryable: bool = False,
        retry_after_s: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(title)
        self.headers = dict(headers or {})
        if retry_after_s is not None:
            retryable, after = True, str(math.ceil(retry_after_s))
            hint, self.headers["Retry-After"] = hint or f"try again in {after} s", after
        self.details = Details(title=title, status=status, hint=hint, retryable=retryable)


def not_found() -> Problem:
    """The same problem for what does not exist and what the caller may not see."""
    title = "there is nothing here, or you may not see it"
    return Problem(404, title, hint="check the address and the id")


def forbidden(hint: str, title: str = "you do not have permission to do this") -> Problem:
    return Problem(403, title, hint=hint)


# The first match counts; anything else is a server error, whose message is not sent.
STATUS: tuple[tuple[type[errors.CitewellError], int], ...] = (
    (errors.UsageError, 400),
    (errors.AccessError, 403),
    # The client has gone and sees nothing, or has waited long enough.
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
    match error:
        case Problem():
            return error
        case Busy():
            return Problem(503, "the server is too busy to take this request", retry_after_s=error.after)
        case HTTPException():
            hint = TOO_LARGE if error.status_code == 413 else ""
            return Problem(error.status_code, str(error.detail), hint=hint, headers=error.headers)
        case RequestValidationError():
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"][1:])
            return Problem(
                422, f"{where}: {first['msg']}", hint="see /openapi.json for this route's parameters"
            )
    failed = f"the server failed ({type(error).__name__})"
    for kind, status in STATUS:
        if isinstance(error, kind):
            # Messages about the request may be sent; those about our parts may contain a provider's secrets.
            title = error.args[0] if status < 500 else failed
            return Problem(status, title, hint=error.hint, retryable=error.retryable)
    return Problem(
        500, failed, hint="the server's log names the error; `citewell doctor` tests every component"
    )


def response_of(problem: Problem) -> Response:
    body = msgspec.json.encode(problem.details)
    return Response(body, problem.details.status, headers=problem.headers, media_type=PROBLEM_TYPE)


@contextmanager
def looking_up() -> Iterator[None]:
    """Turns what the core does not find, or does not show this caller, into the same 404."""
    try:
        yield
    except (errors.UsageError, errors.EvidenceError) as error:
        raise not_found() from error

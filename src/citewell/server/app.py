"""A home behind HTTP: the routes, the guards before them, and the errors after them.

In: a knowledge base. Out: an ASGI application; models are loaded when it starts. The pages stand on the same
application and are added last. Knows nothing about sockets: :mod:`citewell.server.serving` opens them.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from citewell.core.environment import environment
from citewell.core.errors import CitewellError
from citewell.knowledge.home import KnowledgeBase
from citewell.server.guards import LOOPBACK_NAMES, Guards
from citewell.server.limits import Busy
from citewell.server.logs import NAME
from citewell.server.oidc import IssuerError
from citewell.server.pages import add_pages, error_page
from citewell.server.problems import Problem, problem_of, response_of
from citewell.server.routes import ROUTERS
from citewell.server.shapes import described
from citewell.server.site import Site
from citewell.server.watching import Watching

log = logging.getLogger(NAME)

UPLOADS = ("/v1/documents", "/documents")


def create_app(
    kb: KnowledgeBase,
    *,
    local: bool = True,
    grace_s: float | None = None,
    leave: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The application of one home. ``local`` says that only this machine can reach it: then, as long as no
    key was ever made and no issuer is configured, whoever comes is the owner. When it is stopped, work has
    ``grace_s`` to end, None for as long as it takes; ``leave`` is called where some is running still."""
    here = Site.of(kb, local=local)

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        threading.Thread(target=here.load, name="citewell-load", daemon=True).start()
        here.looking.start()
        yield
        if not here.close(grace_s):
            log.warning("work was still running when the server ended", extra={"pieces": here.work.waiting})
            leave()

    app = FastAPI(
        title="Citewell",
        version=environment()["citewell"],
        summary="Answers from your own documents, with a source for every claim.",
        lifespan=running,
        docs_url=None,  # its page would load scripts from somebody else's server
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False},  # its spans hold addresses, and those hold contents
    )
    app.state.site, app.state.kb = here, kb
    for router in ROUTERS:
        app.include_router(router)
    # What is caught as Exception is raised again behind the response, for the server's own log.
    for kind in (Problem, CitewellError, Busy, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, _failed)
    settings = here.settings
    app.add_middleware(
        Guards,
        hosts=(*LOOPBACK_NAMES, *settings.hosts) if local or settings.hosts else (),
        named=settings.hosts,
        max_body=settings.max_body_kb << 10,
        max_upload=settings.max_upload_mb << 20,
        uploads=UPLOADS,
    )
    app.add_middleware(Watching, metrics=here.metrics)
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    add_pages(app)
    return app


def _document(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title,
            version=app.version,
            summary=app.summary,
            routes=app.routes,
            tags=app.openapi_tags,
        )
        app.openapi_schema = described(made)
    return app.openapi_schema


async def _failed(request: Request, error: Exception) -> Response:
    """A problem for programs; for browsers, a page that says the same."""
    problem = _problem(error)
    if problem.details.status >= 500 and not isinstance(error, Busy | Problem):
        request.app.state.site.metrics.failed(type(error).__name__)
        log.error("a request failed", exc_info=error)
    wants = request.headers.get("accept", "")
    if "text/html" in wants and not request.url.path.startswith("/v1/"):
        if problem.details.status == 401:
            return RedirectResponse(f"/login?next={quote(_asked_for(request), safe='')}", status_code=303)
        page = error_page(request, problem.details.status, problem.details.title, problem.details.hint)
        page.headers.update(problem.headers)
        return page
    return response_of(problem)


def _asked_for(request: Request) -> str:
    """Path and query, as an address that leads there again."""
    path, query = quote(request.scope["path"]), request.scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


def _problem(error: Exception) -> Problem:
    match error:
        case Busy():
            return Problem(
                503,
                "the server is too busy to take this request",
                hint=f"try again in {math.ceil(error.after)} s",
                retryable=True,
                headers={"Retry-After": str(math.ceil(error.after))},
            )
        case IssuerError():
            return Problem(
                503,
                "the signing keys of the token issuer could not be fetched",
                hint=error.hint,
                retryable=True,
            )
        case HTTPException():
            return Problem(error.status_code, str(error.detail), headers=error.headers)
        case RequestValidationError():
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"][1:])
            return Problem(
                422, f"{where}: {first['msg']}", hint="see /openapi.json for this route's parameters"
            )
    return problem_of(error)

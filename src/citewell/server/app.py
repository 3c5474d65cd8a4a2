"""A home behind HTTP: routes, guards and error handling.

In: a knowledge base. Out: an ASGI application, which loads the models at startup. Knows nothing about
sockets: :mod:`citewell.server.serving` opens them.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from citewell.core.environment import environment
from citewell.core.errors import CitewellError
from citewell.knowledge.home import KnowledgeBase
from citewell.server.guards import LOOPBACK_NAMES, Guards
from citewell.server.limits import Busy
from citewell.server.logs import RequestLog, log
from citewell.server.pages import ROUTERS as PAGES
from citewell.server.pages.rendering import error_page
from citewell.server.problems import Problem, problem_of, response_of
from citewell.server.routes import ROUTERS, grounding, proxy
from citewell.server.shapes import add_schemas
from citewell.server.site import Site


class App(FastAPI):
    """FastAPI with the schemas of our own values in its OpenAPI document."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            self.openapi_schema = add_schemas(super().openapi())
        return self.openapi_schema


def create_app(
    kb: KnowledgeBase,
    *,
    local: bool = True,
    grace_s: float | None = None,
    leave: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The application of one home. ``local``: only this machine can reach it, so until a key is made or an
    issuer configured, every caller is the owner. On shutdown, work has ``grace_s`` to finish (None: as long
    as it takes); ``leave`` is called if some is still running then, or if the process has not ended after
    another ``grace_s``."""
    here = Site(kb, local=local)
    upstream = proxy.Upstream(kb.config.proxy) if kb.config.proxy.to else None

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        here.start()
        yield
        if upstream is not None:
            await upstream.client.aclose()
        if not here.close(grace_s):
            running = here.work.waiting + here.checks.waiting
            log.warning("work was still running when the server stopped", extra={"pieces": running})
            leave()
        elif grace_s is not None:  # a thread may still be making a page or an export
            late = threading.Timer(grace_s, leave)
            late.daemon = True
            late.start()

    app = App(
        title="Citewell",
        version=environment()["citewell"],
        summary="Answers from your own documents, with a source for every claim.",
        lifespan=running,
        docs_url=None,  # its page would load scripts from another server
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False},  # its spans contain URLs, which contain contents
    )
    app.state.site, app.state.kb, app.state.upstream = here, kb, upstream
    for router in (*ROUTERS, *PAGES, *([proxy.router] if upstream is not None else [])):
        app.include_router(router)
    # What is caught as Exception is raised again after the response, for the server's own log.
    for kind in (Problem, CitewellError, Busy, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, _failed)
    settings = here.settings
    app.add_middleware(
        Guards,
        hosts=(*LOOPBACK_NAMES, *settings.hosts) if local or settings.hosts else (),
        named=settings.hosts,
        max_body=settings.max_body_kb << 10,
        max_upload=settings.max_upload_mb << 20,
    )
    app.add_middleware(RequestLog, metrics=here.metrics)
    return app


async def _failed(request: Request, error: Exception) -> Response:
    """A problem response for programs; for browsers, a page with the same content."""
    problem = problem_of(error)
    if problem.details.status >= 500 and not isinstance(error, Busy | Problem):
        request.app.state.site.metrics.failed(type(error).__name__)
        log.error("a request failed", exc_info=error)
    if request.url.path.endswith(grounding.ENDS):
        return grounding.error_response(problem)
    if "text/html" not in request.headers.get("accept", "") or request.url.path.startswith("/v1"):
        return response_of(problem)
    if problem.details.status == 401:
        # Path and query, to return to after signing in.
        path, query = quote(request.scope["path"]), request.scope["query_string"].decode("latin-1")
        asked_for = quote(f"{path}?{query}" if query else path, safe="")
        return RedirectResponse(f"/login?next={asked_for}", status_code=303)
    page = error_page(request, problem.details)
    page.headers.update(problem.headers)
    return page

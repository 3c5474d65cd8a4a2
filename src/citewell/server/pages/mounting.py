"""All pages on one application."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from starlette.responses import Response

from citewell.server.pages import asking, auditing, documents, health, reviewing
from citewell.server.pages import login as door
from citewell.server.pages.rendering import file
from citewell.server.problems import absent

ROUTERS = (asking.router, documents.router, auditing.router, reviewing.router, health.router, door.router)

static = APIRouter(include_in_schema=False)


@static.get("/static/{name}")
def static_file(name: str) -> Response:
    found = file(name)
    if found is None:
        raise absent()
    return found


def add_pages(app: FastAPI) -> None:
    """The last routes of ``app``: they need its ``state.site``."""
    for router in (static, *ROUTERS):
        app.include_router(router)

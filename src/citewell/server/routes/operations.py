"""``/healthz``, ``/readyz``, ``/metrics``: liveness, readiness and metrics."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from citewell.core.access import Role
from citewell.server.identity import identify, require
from citewell.server.keys import Scope
from citewell.server.problems import Problem, forbidden
from citewell.server.shapes import described
from citewell.server.site import DeadlineRoute, Here

router = APIRouter(tags=["operations"], route_class=DeadlineRoute)


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(here: Here) -> dict[str, str]:
    """200 once models and stores are open, 503 before and when they could not be."""
    if here.failed:
        # The reason is only in the server's log, as anyone who can reach the port may ask.
        raise Problem(503, "a component could not be loaded", hint="run `citewell doctor` to see which one")
    if not here.ready.is_set():
        raise Problem(503, "the models are still loading", hint="try again in a few seconds", retryable=True)
    return {"status": "ready"}


def may_scrape(request: Request) -> None:
    """Metrics cover the whole home, including what the caller may not see, so they require an admin, or an
    auditor's key with the scope ``metrics``."""
    caller = require(Role.AUDITOR, scope=Scope.METRICS)(request)
    if not caller.unrestricted and Scope.METRICS not in identify(request).scopes:
        raise forbidden("you need a key with the scope metrics, or the role admin")


@router.get(
    "/metrics",
    dependencies=[Depends(may_scrape)],
    **described(None, "Prometheus text", media="text/plain"),
)
def metrics(here: Here) -> Response:
    """Counts and times over the whole home; no words of anybody."""
    return Response(here.metrics.text(), media_type=CONTENT_TYPE_LATEST)

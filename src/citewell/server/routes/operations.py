"""``/healthz``, ``/readyz``: whether the process lives, and whether it can answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from citewell.server.problems import Problem
from citewell.server.site import Site, site

router = APIRouter(tags=["operations"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz")
async def readyz(here: Annotated[Site, Depends(site)]) -> dict[str, str]:
    """200 once models and stores are open, 503 before and when they could not be."""
    if here.failed:
        # Its reason is in the server's log: this is open to everybody who can reach the port.
        raise Problem(503, "a part cannot be made", hint="`citewell doctor` tries every part")
    if not here.ready.is_set():
        raise Problem(503, "the models are being loaded", hint="try again soon", retryable=True)
    return {"status": "ready"}

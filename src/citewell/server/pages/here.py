"""What a page's handler is given: the home as its caller may see it, and a form that was ours.

In: a request. Out: who calls and their KnowledgeBase; Problems for strangers and foreign forms. Knows nothing
about templates.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Form, Request
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from citewell.core.access import Caller, Role
from citewell.knowledge.home import KnowledgeBase
from citewell.server.identity import check_csrf, require
from citewell.server.keys import Scope
from citewell.server.problems import Problem
from citewell.server.site import site


@dataclass(frozen=True, kw_only=True)
class Here:
    """One request's."""

    request: Request
    caller: Caller
    kb: KnowledgeBase

    def need(self, *roles: Role) -> None:
        """Raises the Problem of somebody who holds none of ``roles``."""
        if not self.caller.has(*roles):
            names = " or ".join(role.value for role in roles)
            raise Problem(403, "your role may not open this page", hint=f"you need the role {names}")


_let_in = require(scope=Scope.PAGES)


def here(request: Request) -> Here:
    """Raises Problem 401 for nobody known, 403 for a key that is not for the pages."""
    who = _let_in(request)
    return Here(request=request, caller=who, kb=site(request).kb_for(who))


def posted(request: Request, csrf: Annotated[str, Form()] = "") -> Here:
    """As :func:`here`, for a form: one that none of our pages made is refused."""
    check_csrf(request, csrf)
    return here(request)


class Inside(APIRoute):
    """A page behind the door: who comes is known before anything of what they send is read, for a form may
    hold whole files."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def known_first(request: Request) -> Response:
            await run_in_threadpool(_let_in, request)
            return await handle(request)

        return known_first


Reading = Annotated[Here, Depends(here)]
Posting = Annotated[Here, Depends(posted)]

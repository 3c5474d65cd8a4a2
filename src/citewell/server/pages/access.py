"""Access to pages: ``/login`` and ``/logout``, and the context passed to page handlers.

A browser signs in with an API key, which is checked and not stored. Forms are accepted only from our pages.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from citewell.core.access import Caller, Role
from citewell.core.errors import CitewellError
from citewell.knowledge.home import KnowledgeBase
from citewell.server.identity import check_csrf, require, sign_in, sign_out
from citewell.server.keys import Scope
from citewell.server.pages.rendering import page
from citewell.server.problems import forbidden
from citewell.server.site import DeadlineRoute, site

router = APIRouter(include_in_schema=False)
Field = Annotated[str, Form()]
"""A text field of a form; give it a default."""
Trouble = tuple[str, str]
"""(what went wrong, remedy)."""

_let_in = require(scope=Scope.PAGES)


@dataclass(frozen=True, kw_only=True)
class Visit:
    """One request for a page: the caller, and the home as they may see it."""

    request: Request
    caller: Caller
    kb: KnowledgeBase

    def need(self, *roles: Role) -> None:
        """Raises Problem 403 if the caller holds none of ``roles``."""
        if not self.caller.has(*roles):
            names = " or ".join(role.value for role in roles)
            raise forbidden(f"you need the role {names}", "your role may not open this page")

    def page(self, template: str, *, problem: Trouble | None = None, **values: Any) -> Response:
        """The rendered page, with status 400 if there is a ``problem``."""
        status = 400 if problem else 200
        return page(self.request, template, status=status, caller=self.caller, problem=problem, **values)


def visit(request: Request) -> Visit:
    """The visit. Raises Problem 401 for an unknown caller, 403 for a key without access to the pages."""
    who = _let_in(request)
    return Visit(request=request, caller=who, kb=site(request).kb.as_(who))


def post(request: Request, csrf: Field = "") -> Visit:
    """As :func:`visit`, for a form, which must come from one of our pages."""
    check_csrf(request, csrf)
    return visit(request)


Reading = Annotated[Visit, Depends(visit)]
Posting = Annotated[Visit, Depends(post)]


class SignedInRoute(DeadlineRoute):
    """A page for signed-in users: callers are authenticated before their body is read, as a form may contain
    whole files."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def known_first(request: Request) -> Response:
            await run_in_threadpool(_let_in, request)
            return await handle(request)

        return known_first


def trouble_of(error: CitewellError) -> Trouble:
    return str(error.args[0]), error.hint


@router.get("/login")
def login(request: Request, next: str = "/") -> Response:
    return page(request, "login.html", next=_inside(next), wrong=False)


@router.post("/login")
def enter(request: Request, key: Field = "", next: Field = "/", csrf: Field = "") -> Response:
    check_csrf(request, csrf)
    response = RedirectResponse(_inside(next), status_code=303)
    if sign_in(request, response, key) is None:
        return page(request, "login.html", status=401, next=_inside(next), wrong=True)
    return response


@router.post("/logout")
def leave(request: Request, csrf: Field = "") -> Response:
    check_csrf(request, csrf)
    response = RedirectResponse("/login", status_code=303)
    sign_out(request, response)
    return response


def _inside(address: str) -> str:
    """The address if on this server, else that of the start page."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if plain else "/"

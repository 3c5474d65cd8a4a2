"""``/login`` and ``/logout``: a browser is let in with an API key, which is checked and not kept."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from citewell.server.identity import check_csrf, sign_in, sign_out
from citewell.server.pages.rendering import page

router = APIRouter(include_in_schema=False)


@router.get("/login")
def login(request: Request, next: str = "/") -> Response:
    return page(request, "login.html", next=_inside(next), wrong=False)


@router.post("/login")
def enter(
    request: Request,
    key: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    check_csrf(request, csrf)
    response = RedirectResponse(_inside(next), status_code=303)
    if sign_in(request, response, key) is None:
        return page(request, "login.html", status=401, next=_inside(next), wrong=True)
    return response


@router.post("/logout")
def leave(request: Request, csrf: Annotated[str, Form()] = "") -> Response:
    check_csrf(request, csrf)
    response = RedirectResponse("/login", status_code=303)
    sign_out(request, response)
    return response


def _inside(address: str) -> str:
    """An address of this server; anything else leads to the first page."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if plain else "/"

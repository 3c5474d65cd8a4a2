"""Templates and static files, and what every page needs: the tabs that a role may see, theme, form token.

In: a request and values. Out: a response. Everything a template shows is escaped unless this project wrote it
itself. Knows nothing about answers or documents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from citewell.core.access import Caller, Role
from citewell.evaluation import charts
from citewell.server.identity import csrf_token, known
from citewell.server.pages.words import DECISIONS, RESOLUTIONS, STATES, cause
from citewell.server.problems import Problem

FOLDER = Path(__file__).parent
MEDIA = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
THEMES = ("light", "dark")

REVIEWING = (Role.CURATOR, Role.AUDITOR)


@dataclass(frozen=True, kw_only=True)
class Tab:
    """``roles`` who may see it; empty is everybody."""

    name: str
    href: str
    roles: tuple[Role, ...] = ()
    here: bool = False


TABS = (
    Tab(name="Ask", href="/"),
    Tab(name="Documents", href="/documents"),
    Tab(name="Audit", href="/audit", roles=(Role.AUDITOR,)),
    Tab(name="Review", href="/review", roles=REVIEWING),
    Tab(name="Health", href="/health", roles=(Role.AUDITOR,)),
)


@dataclass(frozen=True, kw_only=True)
class Who:
    name: str
    roles: str
    can_leave: bool


def page(
    request: Request, template: str, *, status: int = 200, caller: Caller | None = None, **values: Any
) -> Response:
    """``caller`` is None where nobody is known yet: then there are no tabs."""
    theme = request.cookies.get("theme", "")
    path = request.url.path
    text = (
        templates()
        .get_template(template)
        .render(
            csrf=csrf_token(request),
            theme=theme if theme in THEMES else "",
            tabs=_tabs(caller, path) if caller else (),
            who=_who(request, caller) if caller else None,
            **values,
        )
    )
    return HTMLResponse(text, status_code=status)


def error_page(request: Request, status: int, title: str, hint: str) -> Response:
    """What went wrong, for a browser."""
    try:
        caller: Caller | None = known(request).caller
    except Problem:
        caller = None
    return page(request, "error.html", status=status, caller=caller, title=title, hint=hint, number=status)


def file(name: str) -> Response | None:
    """A static file; its address changes with its content, so it is kept for ever. None for no such file."""
    if name not in _hashes():
        return None
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(_files()[name], media_type=MEDIA[Path(name).suffix], headers=headers)


def address(path: str, **query: object) -> str:
    """``path?query`` of the values that say something."""
    kept = {name: str(value) for name, value in query.items() if value not in (None, "", ())}
    return f"{path}?{urlencode(kept)}" if kept else path


@lru_cache(maxsize=1)
def templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "static": _static,
        "states": STATES,
        "decisions": DECISIONS,
        "resolutions": RESOLUTIONS,
        "address": address,
    }
    environment.filters |= FILTERS
    return environment


def _static(name: str) -> str:
    return f"/static/{name}?{_hashes()[name]}"


@lru_cache(maxsize=1)
def _hashes() -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest()[:12] for name, content in _files().items()}


@lru_cache(maxsize=1)
def _files() -> dict[str, bytes]:
    """Those of the folder, and the stylesheet of the charts."""
    found = {path.name: path.read_bytes() for path in (FOLDER / "static").iterdir() if path.suffix in MEDIA}
    return {**found, "charts.css": charts.STYLE.encode()}


def _tabs(caller: Caller, path: str) -> list[Tab]:
    seen = [tab for tab in TABS if not tab.roles or caller.has(*tab.roles)]
    return [Tab(name=tab.name, href=tab.href, here=_within(path, tab.href)) for tab in seen]


def _within(path: str, href: str) -> bool:
    if href == "/":
        return path == "/" or path.startswith("/answers/")
    if href == "/review" and path.startswith("/spot-check"):
        return True
    return path == href or path.startswith(f"{href}/")


def _who(request: Request, caller: Caller) -> Who:
    keyed = known(request).credential != "owner"
    return Who(
        name=caller.user or ("owner" if not keyed else "signed in"),
        roles=", ".join(role.value for role in caller.roles),
        can_leave=keyed,
    )


def _short(text: str) -> str:
    """A hash as people compare it."""
    return text.rpartition(":")[2][:10]


def _shorten(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size - 1].rstrip()}…"


def _share(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.2f}"


def _when(text: str) -> str:
    """``2026-11-21 03:41 UTC`` of a record's time; what is no time, as it is."""
    try:
        return datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M UTC")
    except ValueError:
        return text


def _size(count: int) -> str:
    return (
        f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB" if count >= 1e3 else f"{count} B"
    )


def _ms(value: float) -> str:
    return (
        f"{value / 1000:.2f} s" if value >= 1000 else f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"
    )


FILTERS: Mapping[str, Callable[..., str]] = {
    "short": _short,
    "shorten": _shorten,
    "share": _share,
    "when": _when,
    "size": _size,
    "ms": _ms,
    "cause": cause,
}

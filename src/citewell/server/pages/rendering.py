"""Templates, static files, and what every page needs: the tabs visible to a role, and a form token.

In: a request and values. Out: a response. Everything in a template is escaped unless this project wrote it.
Knows nothing about answers or documents.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from citewell.core.access import Caller, Role
from citewell.core.records import Citation, read_by_ocr
from citewell.core.vocabulary import (
    DECISIONS,
    PROOFS,
    RESOLUTIONS,
    STATES,
    answers_line,
    bars,
    counted_name,
    display_state,
    incomplete_words,
    is_fully_supported,
    maker_words,
    ocr_of,
    quotes_line,
    readable_name,
    state_of_verdict,
)
from citewell.evaluation import charts
from citewell.server.identity import csrf_token, identify
from citewell.server.problems import Details, Problem, not_found
from citewell.verification.evidence import not_english

router = APIRouter(include_in_schema=False)

FOLDER = Path(__file__).parent
MEDIA = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
REVIEWING = (Role.CURATOR, Role.AUDITOR)
TABS: tuple[tuple[str, str, tuple[Role, ...]], ...] = (
    ("Ask", "/", ()),
    ("History", "/history", ()),
    ("Documents", "/documents", ()),
    ("Audit", "/audit", (Role.AUDITOR,)),
    ("Review", "/review", REVIEWING),
    ("Health", "/health", (Role.AUDITOR,)),
)
"""(name, path, roles that may see it); no roles means everybody."""


def page(
    request: Request, template: str, *, status: int = 200, caller: Caller | None = None, **values: Any
) -> Response:
    """A rendered page; without a ``caller`` there are no tabs."""
    path = request.url.path
    keyed = caller is not None and identify(request).credential != "owner"
    text = (
        templates()
        .get_template(template)
        .render(
            csrf=csrf_token(request),
            tabs=[
                {"name": name, "href": href, "here": _within(path, href)}
                for name, href, roles in TABS
                if caller is not None and (not roles or caller.has(*roles))
            ],
            who=(caller.user or ("signed in" if keyed else "owner")) if caller else "",
            roles=", ".join(role.value for role in caller.roles) if caller else "",
            can_leave=keyed,
            **values,
        )
    )
    return HTMLResponse(text, status_code=status)


def error_page(request: Request, problem: Details) -> Response:
    """A problem as a page."""
    try:
        caller: Caller | None = identify(request).caller
    except Problem:
        caller = None
    return page(request, "error.html", status=problem.status, caller=caller, error=problem)


@router.get("/static/{name}")
def static_file(name: str) -> Response:
    """Cached for ever, as its URL changes with its content."""
    content = _files().get(name)
    if content is None:
        raise not_found()
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(content, media_type=MEDIA[Path(name).suffix], headers=headers)


def address(path: str, /, **query: object) -> str:
    """``path?query`` without empty values."""
    kept = {name: str(value) for name, value in query.items() if value not in (None, "", ())}
    return f"{path}?{urlencode(kept)}" if kept else path


def view_address(
    document_id: str, version: str, start: int, end: int, also: str = "", *, answer: str = "", claim: int = 0
) -> str:
    """The URL of a document at a span; ``also`` lists further spans, as ``12-15 40-42``; ``answer`` and
    ``claim`` are for the link back."""
    place = {"id": document_id, "version": version, "start": start, "end": end, "also": also}
    return f"{address('/documents/view', **place, answer=answer, claim=claim or '')}#here"


def view_of(citation: Citation, answer: str = "") -> str:
    """The URL of a citation in its document; "" if it is not located in a source."""
    if citation.start < 0:
        return ""
    place = (citation.document_id, citation.document_version, citation.start, citation.end)
    return view_address(*place, answer=answer)


@cache
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
        "proofs": PROOFS,
    }
    functions = (
        *(answers_line, bars, counted_name, display_state, incomplete_words, is_fully_supported),
        *(not_english, ocr_of, quotes_line, read_by_ocr, readable_name, state_of_verdict),
        *(address, view_of, view_address),
    )
    environment.globals |= {one.__name__: one for one in functions}
    filters = (_short, _shorten, _share, _when, _ms, readable_name, maker_words)
    environment.filters |= {one.__name__.lstrip("_"): one for one in filters}
    return environment


@cache
def _static(name: str) -> str:
    return f"/static/{name}?{hashlib.sha256(_files()[name]).hexdigest()[:12]}"


@cache
def _files() -> dict[str, bytes]:
    """The static folder's files, and the stylesheet of the charts."""
    found = {path.name: path.read_bytes() for path in (FOLDER / "static").iterdir() if path.suffix in MEDIA}
    return {**found, "charts.css": charts.STYLE.encode()}


def _within(path: str, href: str) -> bool:
    match href:
        case "/":
            return path == "/" or path.startswith("/answers/")
        case "/review":
            return path.startswith(("/review", "/spot-check"))
    return path == href or path.startswith(f"{href}/")


def _short(text: str) -> str:
    """A hash, shortened for display."""
    return text.rpartition(":")[2][:10]


def _shorten(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size - 1].rstrip()}…"


def _share(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.2f}"


def _when(text: str) -> str:
    """A record's time as ``2026-11-21 03:41 UTC``, which the script converts to local time; other text
    unchanged."""
    try:
        said = datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M UTC")
    except ValueError:
        return text
    return Markup('<time datetime="{}">{}</time>').format(text, said)


def _ms(value: float) -> str:
    if value >= 1000:
        return f"{value / 1000:.2f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"

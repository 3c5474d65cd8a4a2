"""``/v1/documents``: the documents, their versions, text and pages; upload and withdrawal.

A document id contains slashes, so it is always a query parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from fastapi import APIRouter, Depends, Request
from starlette.datastructures import UploadFile
from starlette.responses import Response

from citewell.core.access import Caller, Role
from citewell.core.records import Box, Document, Page, Record
from citewell.documents.evidence.catalogue import CatalogueEntry
from citewell.documents.outcomes import IngestReport
from citewell.knowledge.home import KnowledgeBase
from citewell.server.files import page_image, upload
from citewell.server.identity import require
from citewell.server.keys import Scope
from citewell.server.problems import Problem, looking_up, not_found
from citewell.server.shapes import body_of, described, query_of, reply
from citewell.server.site import DeadlineRoute, Here

router = APIRouter(prefix="/v1/documents", tags=["documents"], route_class=DeadlineRoute)

Reader = Annotated[Caller, Depends(require(scope=Scope.READ))]
Curator = Annotated[Caller, Depends(require(Role.CURATOR, scope=Scope.INGEST))]


class ListQuery(Record, frozen=True, kw_only=True):
    """``after`` is ``next`` of the page before."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1000
    after: str = ""


class Catalogue(Record, frozen=True, kw_only=True):
    documents: tuple[CatalogueEntry, ...]
    next: str = ""


@router.get("", **described(Catalogue, "The newest version of each document", query=ListQuery))
def documents(caller: Reader, here: Here, asked: ListQuery = query_of(ListQuery)) -> Response:
    """By id."""
    behind = [entry for entry in here.kb.as_(caller).documents() if entry.document_id > asked.after]
    page = tuple(
        msgspec.structs.replace(entry, uri=public_source(entry.uri)) for entry in behind[: asked.limit]
    )
    more = page[-1].document_id if len(behind) > len(page) else ""
    return reply(Catalogue(documents=page, next=more))


class OneQuery(Record, frozen=True, kw_only=True):
    """``version`` is the newest when it is empty."""

    id: str
    version: str = ""


_UNTOLD = ("text", "boxes", "tables", "replaces", "caller_supplied", "headers")
_TOLD = [(one.name, one.type) for one in msgspec.structs.fields(Document) if one.name not in _UNTOLD]
About = msgspec.defstruct("About", [*_TOLD, ("length", int)], bases=(Record,), frozen=True, kw_only=True)
About.__doc__ = "A version without its text; ``length`` in code points."


@router.get("/show", **described(About, "The metadata of a version", query=OneQuery))
def show(caller: Reader, here: Here, asked: OneQuery = query_of(OneQuery)) -> Response:
    """All but its text."""
    found = _version(here.kb.as_(caller), asked.id, asked.version)
    own = {name: getattr(found, name) for name, _ in _TOLD}
    return reply(About(length=len(found.text), **own | {"uri": public_source(found.uri)}))


class Versions(Record, frozen=True, kw_only=True):
    document_id: str
    versions: tuple[str, ...]


class NamedQuery(Record, frozen=True, kw_only=True):
    id: str


@router.get("/versions", **described(Versions, "Every version, oldest first", query=NamedQuery))
def versions(caller: Reader, here: Here, asked: NamedQuery = query_of(NamedQuery)) -> Response:
    """A version that was ever cited stays readable."""
    found = _versions(here.kb.as_(caller), asked.id)
    return reply(Versions(document_id=asked.id, versions=tuple(found)))


class TextQuery(OneQuery, frozen=True, kw_only=True):
    """``[start, end)`` in code points; an ``end`` of 0 is the end of the text, at most a million further."""

    start: Annotated[int, msgspec.Meta(ge=0)] = 0
    end: Annotated[int, msgspec.Meta(ge=0)] = 0


class Text(Record, frozen=True, kw_only=True):
    """``text`` is the document's from ``start`` to ``end``; ``length`` is the whole document's."""

    document_id: str
    version: str
    start: int
    end: int
    length: int
    text: str


_AT_ONCE = 1_000_000


@router.get("/text", **described(Text, "A range of the canonical text", query=TextQuery))
def text(caller: Reader, here: Here, asked: TextQuery = query_of(TextQuery)) -> Response:
    """A citation's `quote` is exactly this for its `start` and `end`."""
    found = _version(here.kb.as_(caller), asked.id, asked.version)
    length = len(found.text)
    start = min(asked.start, length)
    end = min(asked.end or length, length, start + _AT_ONCE)
    known: dict[str, Any] = {"document_id": found.document_id, "version": found.version, "length": length}
    return reply(Text(**known, start=start, end=max(start, end), text=found.text[start:end]))


class PageQuery(OneQuery, frozen=True, kw_only=True):
    """``number`` from 1; ``start`` and ``end`` choose the rectangles, all of the page's when both are 0."""

    number: Annotated[int, msgspec.Meta(ge=1)]
    start: Annotated[int, msgspec.Meta(ge=0)] = 0
    end: Annotated[int, msgspec.Meta(ge=0)] = 0


class PageOf(Record, frozen=True, kw_only=True):
    """A page and its lines' rectangles, in PDF points from the bottom left."""

    page: Page
    boxes: tuple[Box, ...]


@router.get("/page", **described(PageOf, "A page's size and rectangles", query=PageQuery))
def page(caller: Reader, here: Here, asked: PageQuery = query_of(PageQuery)) -> Response:
    """What is needed to light a span on the picture of the page."""
    found = _version(here.kb.as_(caller), asked.id, asked.version)
    one = next((page for page in found.pages if page.number == asked.number), None)
    if one is None:
        raise not_found()
    end = asked.end or 2**62
    boxes = tuple(
        box for box in found.boxes if box.page == one.number and box.start < end and box.end > asked.start
    )
    return reply(PageOf(page=one, boxes=boxes))


class PictureQuery(OneQuery, frozen=True, kw_only=True):
    """``scale`` in pixels a point: 1 is 72 dots an inch."""

    number: Annotated[int, msgspec.Meta(ge=1)]
    scale: Annotated[float, msgspec.Meta(ge=0.25, le=4)] = 1.5


@router.get(
    "/page.png",
    **described(None, "The page as an image", media="image/png", query=PictureQuery),
)
async def picture(
    request: Request, caller: Reader, here: Here, asked: PictureQuery = query_of(PictureQuery)
) -> Response:
    """Drawn from the bytes whose hash is the version; 404 when they are not there any more."""

    def draw(gone: Callable[[], str]) -> bytes:
        found = _version(here.kb.as_(caller), asked.id, asked.version)
        return page_image(found, asked.number, round(asked.scale, 2), here.kb.config.documents, gone)

    drawn = await here.attended(here.checks, request, caller, draw, timeout_s=here.settings.timeout_s)
    # A version never changes, but access to it can, so shared caches must not keep it.
    return Response(drawn, media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})


_NAMES = {"type": "array", "items": {"type": "string"}}
UPLOAD = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {"type": "string", "format": "binary"},
        "id": {"type": "string", "description": "The document's id; uploads/NAME if left out"},
        "acl": _NAMES,
        "tag": _NAMES,
    },
}


@router.post("", **described(IngestReport, "The result of the upload", form=UPLOAD))
async def put(request: Request, caller: Curator, here: Here) -> Response:
    """Reads one file into the knowledge base. What cannot be read is 422 with the remedy."""
    async with request.form(max_files=1, max_fields=200) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise Problem(422, "the form contains no file", hint="send the file as the form field `file`")
        options: dict[str, Any] = {
            "document_id": str(form.get("id") or ""),
            "acl": [str(group) for group in form.getlist("acl")],
            "tags": [str(tag) for tag in form.getlist("tag")],
        }
        take = partial(upload, here.kb.as_(caller), file.file, file.filename or "", **options)
        report = await here.changed(request, caller, take)
    if report.failed:
        failure = report.failed[0]
        raise Problem(422, failure.message, hint=failure.hint)
    files = tuple(msgspec.structs.replace(one, path=public_source(one.path)) for one in report.files)
    return reply(msgspec.structs.replace(report, files=files))


def public_source(uri: str) -> str:
    """A document's origin without private details: of a file only its name, as its folders are the
    server's."""
    return uri if urlsplit(uri).scheme in ("http", "https") else uri.rstrip("/").rpartition("/")[2]


class Withdrawal(Record, frozen=True, kw_only=True):
    document_id: str
    reason: Annotated[str, msgspec.Meta(max_length=2000)] = ""


class Withdrawn(Record, frozen=True, kw_only=True):
    document_id: str
    state: str = "withdrawn"


@router.post(
    "/withdraw",
    **described(Withdrawn, "The document is no longer retrieved", body=Withdrawal),
)
def withdraw(caller: Curator, here: Here, asked: Withdrawal = body_of(Withdrawal)) -> Response:
    """It stays readable as evidence of past answers."""
    kb = here.kb.as_(caller)
    _versions(kb, asked.document_id)
    with here.changing():
        kb.withdraw(asked.document_id, reason=asked.reason, user=caller.user)
    return reply(Withdrawn(document_id=asked.document_id))


def _versions(kb: KnowledgeBase, document_id: str) -> list[str]:
    with looking_up():
        found = kb.versions(document_id)
    if not found:
        raise not_found()
    return found


def _version(kb: KnowledgeBase, document_id: str, version: str) -> Document:
    """A version. Raises 404 before opening it, so that later errors reveal nothing about access."""
    if version not in {"", *_versions(kb, document_id)}:
        raise not_found()
    return kb.document(document_id, version)

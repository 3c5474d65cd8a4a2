"""Page images, and the rectangles of cited text on them.

In: a Document, its pages, spans. Out: values for the macro ``sheet``. Knows nothing about answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from citewell.core.records import Document, Page
from citewell.documents.detect import PAGED
from citewell.server.pages.marking import ClaimSpan
from citewell.server.pages.rendering import address

MOST = 6
"""Maximum pages per document shown next to an answer."""


class Rectangle(NamedTuple):
    """In points from the top left of the page, as in its image; ``claims`` are those citing it."""

    x: float
    y: float
    width: float
    height: float
    claims: tuple[int, ...]


class Paper(NamedTuple):
    """``image`` is the URL of the page image."""

    number: int
    width: float
    height: float
    image: str
    rectangles: tuple[Rectangle, ...]


def paper_of(document: Document, page: Page | None, spans: Sequence[ClaimSpan]) -> Paper | None:
    """The page with its rectangles; None if it cannot be drawn."""
    if page is None or document.media_type not in PAGED:
        return None
    which = {"id": document.document_id, "version": document.version, "number": page.number}
    image = address("/v1/documents/page.png", **which)
    return Paper(page.number, page.width, page.height, image, _rectangles(document, page, spans))


def papers_of(document: Document, spans: Sequence[ClaimSpan]) -> list[Paper]:
    """The first pages that contain a span, in order."""
    held = [page for page in document.pages if any(s.start < page.end and page.start < s.end for s in spans)]
    return [paper for page in held[:MOST] if (paper := paper_of(document, page, spans)) is not None]


def _rectangles(document: Document, page: Page, spans: Sequence[ClaimSpan]) -> tuple[Rectangle, ...]:
    """A rectangle for each printed line or table cell that a span overlaps. In prose it covers the words,
    assuming characters of equal width. A table row known only as a line is covered whole, as its columns
    could be anywhere."""
    found: dict[tuple[float, float, float, float], dict[int, None]] = {}
    for box in document.boxes:
        if box.page != page.number:
            continue
        row = "\t" in document.text[box.start : box.end]
        for span in spans:
            start, end = max(box.start, span.start), min(box.end, span.end)
            if start >= end:
                continue
            step = (box.x1 - box.x0) / (box.end - box.start)
            left = box.x0 if row else box.x0 + (start - box.start) * step
            right = box.x1 if row else box.x0 + (end - box.start) * step
            place = (left, page.height - box.y1, right - left, box.y1 - box.y0)
            found.setdefault(place, {}).update(dict.fromkeys(span.claims))
    return tuple(Rectangle(*place, tuple(claims)) for place, claims in found.items())

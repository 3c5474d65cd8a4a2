"""Whether a piece of text is visible on the page.

In: its colour, size and render mode, and what is painted on the page. Out: "" or the reason why it is
hidden. Hidden text must not become evidence: a reader who checks a citation would not find it.
Text painted over by a later shape is not recognised. Knows nothing about words or layout.
"""

from __future__ import annotations

import ctypes
from typing import Any

from citewell.documents.pdf.pdfium import IMAGE, PATH, SHADING, Bounds, PageCalls

TINY = 1.0
"""Points: smaller type cannot be read on paper."""

_INVISIBLE_MODES = {3, 7}
_STROKE_ONLY = {1, 5}
_WHITE = 240
_MIN_ALPHA = 16
_MAX_SHAPES = 5_000


class Visibility:
    """For one page; the shapes under the text are looked up only where white text needs a ground."""

    def __init__(self, page: Any, calls: PageCalls) -> None:
        self._page, self._calls = page, calls
        self._shapes: list[tuple[Bounds, int]] | None = None

    def hidden(self, index: int, size: float, mode: int) -> str:
        """Why character ``index`` and its object are not seen; ``size`` in points as displayed."""
        if mode in _INVISIBLE_MODES:
            return "invisible (render mode 3)"
        if size < TINY:
            return "smaller than one point"
        *colour, alpha = self._calls.colour(index, stroke=mode in _STROKE_ONLY)
        if alpha < _MIN_ALPHA:
            return "transparent"
        if min(colour) >= _WHITE and self._ground(index) >= _WHITE:
            return "white on white"
        return ""

    def _ground(self, index: int) -> int:
        """The darkest channel of what lies under a character: 255 is white paper. An image counts as
        dark: what it shows is not known, and white print on a picture is usual."""
        if self._shapes is None:
            self._shapes = _shapes(self._page)
        left, low, right, high = self._calls.box(index)
        x, y = (left + right) / 2, (low + high) / 2
        ground = 255
        for (x0, y0, x1, y1), darkest in self._shapes:
            if x0 <= x <= x1 and y0 <= y <= y1:
                ground = darkest
        return ground


def _shapes(page: Any) -> list[tuple[Bounds, int]]:
    """Bounds and darkest channel of filled paths and images, in painting order, page coordinates."""
    import pypdfium2.raw as raw

    found: list[tuple[Bounds, int]] = []
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    for item in page.get_objects(max_depth=4):
        if item.type == PATH:
            raw.FPDFPath_GetDrawMode(item.raw, fill, stroke)
            painted = raw.FPDFPageObj_GetFillColor(item.raw, red, green, blue, alpha)
            if fill.value and painted and alpha.value >= 128:
                found.append((item.get_bounds(), min(red.value, green.value, blue.value)))
        elif item.type in (IMAGE, SHADING):
            found.append((item.get_bounds(), 0))
        if len(found) >= _MAX_SHAPES:
            break
    return found

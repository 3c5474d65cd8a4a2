"""What the renderer draws of a page's text: the count that the reader's own is checked against.

In: an open page, with its text page already loaded. Out: :class:`Ink`: the pixels that change when the page
is drawn without its text, and what is left of them once every word that was read is struck off. Drawing knows
covers, clips, layers and colours; it knows nothing of words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.documents.pdf.pdfium import Bounds, PageCalls

if TYPE_CHECKING:
    import pypdfium2

_MAX_PIXELS = 2_000_000
_MAX_IMAGE = 40_000_000
"""Pixels: a larger image is not drawn, so that a page costs no more memory than it may."""
_FAINT = 8
"""Grey levels of 255: no reader tells less from its ground."""


class Ink:
    """Rectangles are in the page as displayed, points, origin at the bottom left."""

    def __init__(self, page: pypdfium2.PdfPage, calls: PageCalls) -> None:
        width, height = page.get_size()
        self._scale = min(1.0, (_MAX_PIXELS / max(1.0, width * height)) ** 0.5)
        self._height = height * self._scale
        calls.switch_off_images(_MAX_IMAGE)
        whole = self._drawn(page)
        calls.switch_off_text()
        self._ground = self._drawn(page)
        # Bytes wrap around: far from 0 on either side is a change that shows.
        self._text = (whole - self._ground + np.uint8(_FAINT)) > 2 * _FAINT
        self._left = self._text.copy()

    def _drawn(self, page: pypdfium2.PdfPage) -> Any:
        bitmap = page.render(scale=self._scale, grayscale=True, may_draw_forms=False)
        pixels = np.array(bitmap.to_numpy(), dtype=np.uint8)
        bitmap.close()
        return pixels.reshape(pixels.shape[:2])

    def _pixels(self, box: Bounds, margin: float) -> tuple[slice, slice]:
        scale, top = self._scale, self._height
        return (
            slice(
                max(0, int(top - (box[3] + margin) * scale)), max(0, int(top - (box[1] - margin) * scale) + 1)
            ),
            slice(max(0, int((box[0] - margin) * scale)), max(0, int((box[2] + margin) * scale) + 1)),
        )

    def shows(self, box: Bounds) -> bool:
        """Whether any text is drawn inside ``box`` or within a point of it: fonts misstate thin letters."""
        return bool(self._text[self._pixels(box, 1.0)].any())

    def ground(self, box: Bounds) -> int:
        """How light the page is under ``box`` without its text, 0 to 255; white where nothing is drawn."""
        under = self._ground[self._pixels(box, 0.0)]
        return int(under.mean()) if under.size else 255

    def strike(self, box: Bounds, size: float) -> None:
        """Takes ``box`` off what is left: it was read. Letters of ``size`` points reach out of it a bit."""
        self._left[self._pixels(box, 2.0 + 0.15 * size)] = False

    def unread(self, characters: int) -> int:
        """About how many characters are drawn where nothing was read, by the ink of the ``characters`` that
        were; on a page with none of them, by that of ten-point type."""
        left = int(np.count_nonzero(self._left))
        if not left:
            return 0
        struck = int(np.count_nonzero(self._text)) - left
        each = struck / characters if characters and struck > 0 else 25 * self._scale**2
        return round(left / max(each, 1.0))

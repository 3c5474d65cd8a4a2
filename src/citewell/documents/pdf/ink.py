"""What the renderer draws of a page's text, against which the reader's count is checked.

In: an open page, with its text page already loaded. Out: :class:`Ink`: the pixels that change when the page
is drawn without its text, and those that remain after every word that was read is struck off. The renderer
knows about covers, clips, layers and colours; it knows nothing about words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.documents.pdf.pdfium import Bounds, PageCalls

if TYPE_CHECKING:
    import pypdfium2

_SCALE = 0.5
"""Pixels per point: enough to show a full stop, and few enough to stay in the processor's cache."""
_MAX_PIXELS = 1_000_000
_MAX_IMAGE = 40_000_000
"""Pixels: a larger image is not drawn, so that a page stays within its memory limit."""
_NARROW = 10.0
"""Points: the width of a letter or two."""
_FAINT = 8
"""Grey levels of 255: no reader can see a smaller difference from the background."""


class Ink:
    """Rectangles are in the coordinates of the page as displayed: points, origin at the bottom left."""

    def __init__(self, page: pypdfium2.PdfPage, calls: PageCalls) -> None:
        width, height = page.get_size()
        self._scale = min(_SCALE, (_MAX_PIXELS / max(1.0, width * height)) ** 0.5)
        self._height = height * self._scale
        calls.switch_off_images(_MAX_IMAGE)
        whole = self._drawn(page)
        calls.switch_off_text()
        self._ground = self._drawn(page)
        # Bytes wrap around: a value far from 0 on either side is a visible change.
        self._text = (whole - self._ground + np.uint8(_FAINT)) > 2 * _FAINT
        self._left = self._text.copy()

    def _drawn(self, page: pypdfium2.PdfPage) -> Any:
        bitmap = page.render(scale=self._scale, grayscale=True, may_draw_forms=False)
        pixels = np.array(bitmap.to_numpy(), dtype=np.uint8)
        bitmap.close()
        return pixels.reshape(pixels.shape[:2])

    def _rows(self, low: float, high: float) -> slice:
        top, scale = self._height, self._scale
        return slice(max(0, int(top - high * scale)), max(0, int(top - low * scale) + 1))

    def _columns(self, left: float, right: float) -> slice:
        scale = self._scale
        return slice(max(0, int(left * scale)), max(0, int(right * scale) + 1))

    def shows(self, box: Bounds) -> bool:
        """Whether any text is drawn inside ``box``. A wide box is inset, as neighbours' ink reaches into it;
        a narrow one is enlarged, as fonts misstate where thin letters are, and a mark may be high."""
        left, low, right, high = box
        inset = 2.0 if right - left > _NARROW else -2.0
        rows = self._rows(low + min(inset, 0.0), high - min(inset, 0.0))
        return bool(self._text[rows, self._columns(left + inset, right - inset)].any())

    def ground(self, box: Bounds) -> int:
        """The brightness of the page under ``box`` without its text, 0 to 255; white if nothing is drawn."""
        under = self._ground[self._rows(box[1], box[3]), self._columns(box[0], box[2])]
        return int(under.mean()) if under.size else 255

    def strike(self, box: Bounds, size: float) -> None:
        """Strikes off ``box``, which was read. Letters of ``size`` points extend slightly beyond it."""
        left, low, right, high = box
        margin = 2.0 + 0.45 * size
        rows, columns = self._rows(low - margin, high + margin), self._columns(left - margin, right + margin)
        self._left[rows, columns] = False

    def unread(self, characters: int) -> int:
        """About how many characters are drawn where nothing was read, estimated from the ink per character of
        the ``characters`` that were; if there are none, from that of ten-point type."""
        left = int(np.count_nonzero(self._left))
        if not left:
            return 0
        struck = int(np.count_nonzero(self._text)) - left
        each = struck / characters if characters and struck > 0 else 25 * self._scale**2
        return round(left / max(each, 1.0))

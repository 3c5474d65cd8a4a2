"""The visible words of one page with their position, size and weight.

In: an open pypdfium2 page. Out: a :class:`PageWords`: words in content-stream order, in the coordinates of
the page as displayed (crop box at the origin, rotation applied), points, origin at the bottom left; how many
characters were set aside because no reader of the page would see them, and how many are drawn that were not
read. Hidden text must not become evidence: a reader who checks a citation would not find it. What the
renderer draws (:class:`Ink`: the pixels that change when the page is drawn without its text, and those that
remain after every word that was read is struck off) checks that count: it knows about covers, clips, layers
and colours. Knows nothing about lines, tables or documents.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

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


MAX_CHARACTERS = 400_000
"""A page with more is truncated, which is reported; a newspaper page has about 30,000."""

TINY = 1.0
"""Points: smaller type cannot be read on paper."""
_STROKED_MODES, _STROKE_ONLY, _INVISIBLE_MODES = {1, 2, 5, 6}, {1, 5}, {3, 7}
_WHITE, _MIN_ALPHA = 240, 16
_SPACE = 0.22
"""Ems of white inside a word that count as a space: some files move the position instead of setting one."""
_RULE_HEIGHT, _RULE_WIDTH = 2.5, 8.0
_WORD = re.compile("[^\\s\\x00-\\x01\\x03-\\x20\\xa0\\u2007\\u202f\\u3000]+")
# Line-end hyphens arrive as U+0002 or U+FFFE; soft hyphens, zero-width and direction marks carry no text.
_TRANSLATED = {2: "-", 0xFFFE: "-", 0xFFFF: None, 0xAD: None, 0xFEFF: None} | dict.fromkeys(
    [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xE0000, 0xE0080)]
)
_BOLD = ("bold", "black", "heavy", "-bd", "demi")
_ITALIC = ("italic", "oblique")


class PdfWord(NamedTuple):
    """``x0 x1``: ink; ``base``: the baseline; ``size``: type size in points as displayed; ``spaced``: a
    space precedes it; ``turned``: quarter turns of the text, counter-clockwise; ``confidence``: of the OCR
    engine, None for text of the file."""

    text: str
    x0: float
    x1: float
    base: float
    size: float
    bold: bool
    italic: bool
    spaced: bool
    turned: int
    confidence: float | None = None


class RuledLine(NamedTuple):
    """A drawn horizontal line: tables have them under heads that span several columns."""

    x0: float
    x1: float
    y: float


class PageWords(NamedTuple):
    """``hidden`` counts characters by the reason they were set aside, ``unmapped`` those whose font does not
    map them to Unicode; ``unread`` estimates those that are drawn where nothing was read."""

    width: float
    height: float
    words: list[PdfWord]
    hidden: Counter[str]
    rules: list[RuledLine]
    unmapped: int = 0
    unread: int = 0
    images: int = 0


class _Style(NamedTuple):
    """The style of one text object. ``base``: its baseline, unless it is ``aslant``, turned by any angle;
    ``axis``: 0 if x is constant along a line, 1 if y is."""

    size: float
    bold: bool
    italic: bool
    hidden: str
    white: bool
    turned: int
    aslant: bool
    axis: int
    base: float
    mapped: bool


def read_words(page: pypdfium2.PdfPage) -> PageWords:
    """Every visible word of ``page``; nothing of the page is kept afterwards."""
    textpage = page.get_textpage()
    try:
        return _Walk(page, PageCalls(page, textpage)).run()
    finally:
        textpage.close()


class _Frame:
    """The page's own coordinates -> those of the page as displayed."""

    def __init__(self, page: pypdfium2.PdfPage) -> None:
        self.left, self.bottom, right, top = _crop(page)
        self.rotation = int(page.get_rotation()) % 360
        self._matrix = {
            0: (1, 0, 0, 1, -self.left, -self.bottom),
            90: (0, -1, 1, 0, -self.bottom, right),
            180: (-1, 0, 0, -1, right, top),
            270: (0, 1, -1, 0, top, -self.left),
        }[self.rotation]
        _, _, self.width, self.height = self.bounds((self.left, self.bottom, right, top))

    def point(self, x: float, y: float) -> tuple[float, float]:
        a, b, c, d, e, f = self._matrix
        return a * x + c * y + e, b * x + d * y + f

    def bounds(self, *boxes: Bounds) -> Bounds:
        corners = [self.point(*corner) for box in boxes for corner in (box[:2], box[2:])]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        return min(xs), min(ys), max(xs), max(ys)


def _crop(page: pypdfium2.PdfPage) -> Bounds:
    """The visible part of the page. pdfium's other boxes ignore values inherited from parent nodes."""
    box: Bounds = page.get_bbox()
    return box if box[2] > box[0] and box[3] > box[1] else page.get_mediabox()


class _Walk:
    """One pass over the characters. Styles are queried once per text object, and an unbroken word in one
    object costs four calls, which keeps a page at a few milliseconds."""

    def __init__(self, page: pypdfium2.PdfPage, calls: PageCalls) -> None:
        self._calls = calls
        self._frame = _Frame(page)
        self._ink = Ink(page, calls)
        self._images, self._unmapped, self._read = calls.images, 0, 0
        self._hidden: Counter[str] = Counter()
        self._count = min(calls.count, MAX_CHARACTERS)
        if calls.count > MAX_CHARACTERS:
            self._hidden[f"over {MAX_CHARACTERS} on the page"] = calls.count - MAX_CHARACTERS
        self._words: list[PdfWord] = []
        self._styles: dict[int, _Style] = {}
        self._fonts: dict[int, tuple[bool, bool]] = {}

    def run(self) -> PageWords:
        text, after = self._calls.text(self._count), -1
        for match in _WORD.finditer(text):
            start, end = match.span()
            handle, last = self._calls.object(start), self._calls.object(end - 1)
            # Most words lie in one text object; only those that straddle two are examined by character.
            stops = self._stops(text, start, end) if handle != last else ()
            spaced, after = start != after, end
            for stop, following in (*stops, (end, 0)):
                self._piece(text, start, stop, handle, spaced)
                start, handle, spaced = stop, following, False
        return PageWords(
            self._frame.width,
            self._frame.height,
            self._words,
            self._hidden,
            self._rules(),
            self._unmapped,
            self._ink.unread(self._read),
            self._images,
        )

    def _stops(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Where the mode, colour or baseline of a word changes or there is white inside it, each with the
        object that follows. Many files set every letter as a separate object."""
        calls = self._calls
        handles = [calls.object(index) for index in range(start, end)]
        style = self._style(start, handles[0])
        # Mode and colour distinguish hidden letters from their neighbours.
        prints = [(calls.mode(handle), calls.colour(at)) for at, handle in enumerate(handles, start)]
        lines = [calls.origin(index)[style.axis] for index in range(start, end)]
        boxes = [calls.box(index) for index in range(start, end)]
        whites = [
            max(b[0] - a[2], b[1] - a[3], a[0] - b[2], a[1] - b[3]) for a, b in itertools.pairwise(boxes)
        ]
        least = max(_SPACE * style.size, 2 * median(whites))  # not the white that is between all letters
        for at, white in enumerate(whites, 1):
            changed = prints[at] != prints[at - 1] or abs(lines[at] - lines[at - 1]) > 0.1 * style.size
            # White next to a narrow figure is usual.
            lettered = text[start + at - 1].isalpha() or text[start + at].isalpha()
            if changed or (white > least and lettered):
                yield start + at, handles[at]

    def _piece(self, text: str, start: int, end: int, handle: int, spaced: bool) -> None:
        """Adds a word."""
        shown = text[start:end].translate(_TRANSLATED)
        if not shown:
            return
        style, frame = self._style(start, handle), self._frame
        a, b = self._calls.box(start), self._calls.box(end - 1)  # the ink of its first and last characters
        if style.aslant or frame.rotation:
            ink = frame.bounds(a, b)
            x0, x1 = ink[0], ink[2]
            base = ink[1] if style.turned else frame.point(*self._calls.origin(start))[1]
        else:
            x0, base = a[0] - frame.left, style.base
            x1 = max(x0, b[2] - frame.left)
            low = 0.3 if shown[0] == "_" else 0.12
            ink = (x0, base - low * style.size, x1, base + 0.5 * style.size)
        reason = style.hidden or self._reason(x0, x1, base, ink, style)
        self._ink.strike(ink, style.size)
        if reason:
            self._hidden[reason] += end - start
            return
        self._read += len(shown)
        self._unmapped += 0 if style.mapped else len(shown)
        self._words.append(
            PdfWord(shown, x0, x1, base, style.size, style.bold, style.italic, spaced, style.turned)
        )

    def _reason(self, x0: float, x1: float, base: float, ink: Bounds, style: _Style) -> str:
        """Why a word is not visible on the drawn page, or ""."""
        frame = self._frame
        if x1 <= 0 or x0 >= frame.width or not -style.size < base < frame.height:
            return "outside the page"
        if style.white and self._ink.ground(ink) >= _WHITE:
            return "white on white"
        return "" if self._ink.shows(ink) else "covered, clipped or in the colour of their background"

    def _style(self, index: int, handle: int) -> _Style:
        if handle not in self._styles:
            self._styles[handle] = self._style_at(index, handle)
        return self._styles[handle]

    def _style_at(self, index: int, handle: int) -> _Style:
        if not handle:
            return _Style(10.0, False, False, "", False, 0, True, 1, 0.0, True)
        a, b, c, d = self._calls.matrix(index)
        size = self._calls.font_size(index) * (c * c + d * d) ** 0.5
        if size < 2 * TINY:
            # Type 3 fonts have their size in a matrix of their own: check the ink before calling it tiny.
            boxes = [self._calls.box(at) for at in range(index, min(index + 6, self._count))]
            size = max(size, *(min(box[3] - box[1], 1000.0) for box in boxes))
        mode = self._calls.mode(handle)
        bold, italic = self._font(handle)
        *colour, alpha = self._calls.colour(index, stroke=mode in _STROKE_ONLY)
        reasons = {
            "invisible (render mode 3)": mode in _INVISIBLE_MODES,
            "smaller than one point": size < TINY,
            "transparent": alpha < _MIN_ALPHA,
        }
        hidden = next((reason for reason, holds in reasons.items() if holds), "")
        quarter = (1 if b > 0 else 3) if abs(b) > abs(a) else (2 if a < 0 else 0)
        turned = (quarter - self._frame.rotation // 90) % 4
        return _Style(
            size,
            bold or mode in _STROKED_MODES,
            italic,
            hidden,
            min(colour) >= _WHITE,
            turned,
            b != 0 or a < 0,
            0 if abs(b) > abs(a) else 1,
            self._calls.origin(index)[1] - self._frame.bottom,
            self._calls.mapped(index),
        )

    def _font(self, handle: int) -> tuple[bool, bool]:
        address = self._calls.font_address(handle)
        if address not in self._fonts:
            name, weight = self._calls.font(handle)
            bold = weight >= 600 or any(mark in name for mark in _BOLD)
            self._fonts[address] = bold, any(mark in name for mark in _ITALIC)
        return self._fonts[address]

    def _rules(self) -> list[RuledLine]:
        found = []
        for path in self._calls.paths():
            x0, low, x1, high = self._frame.bounds(path)
            if high - low <= _RULE_HEIGHT and x1 - x0 >= _RULE_WIDTH:
                found.append(RuledLine(x0, x1, low))
        return found

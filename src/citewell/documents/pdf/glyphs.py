"""The visible words of one page with their place, size and weight.

In: an open pypdfium2 page. Out: a :class:`PageWords`: words in the order of the content stream, in the
page as it is displayed (crop box at the origin, rotation applied), points, origin at the bottom left;
and how many characters were set aside because no reader of the page would see them (white on white,
transparent, render mode 3 or 7, smaller than a point, outside the page).
Knows nothing about lines, tables or documents.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pypdfium2

MAX_CHARACTERS = 400_000
"""A page with more is cut there and the cut is reported: a newspaper page has about 30,000."""

_TINY = 1.0
_INVISIBLE_MODES = {3, 7}
_STROKED_MODES = {1, 2, 5, 6}
_WHITE = 240
_RULE_HEIGHT, _RULE_WIDTH = 2.5, 8.0
_MAX_OBJECTS = 20_000
_WORD = re.compile("[^\\s\\x00-\\x01\\x03-\\x20\\xa0\\u2007\\u202f\\u3000]+")
# Line-end hyphens come as U+0002 or U+FFFE; soft hyphens, zero-width and direction marks carry no text.
_TRANSLATED = {2: "-", 0xFFFE: "-", 0xFFFF: None, 0xAD: None, 0xFEFF: None, 0x2060: None} | dict.fromkeys(
    [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)


class Word(NamedTuple):
    """``x0 x1``: ink; ``base``: the baseline; ``size``: type size in points as displayed."""

    text: str
    x0: float
    x1: float
    base: float
    size: float
    bold: bool
    italic: bool
    spaced: bool
    turned: int


class Rule(NamedTuple):
    """A drawn horizontal line: tables print them under the heads that span several columns."""

    x0: float
    x1: float
    y: float


class PageWords(NamedTuple):
    """``hidden`` counts characters by the reason they were set aside; ``rules`` are thin horizontal lines."""

    width: float
    height: float
    words: list[Word]
    hidden: Counter[str]
    rules: list[Rule]


class _Style(NamedTuple):
    size: float
    bold: bool
    italic: bool
    hidden: str
    turned: int


class _Frame:
    """The page's own coordinates -> the page as displayed."""

    def __init__(self, page: pypdfium2.PdfPage) -> None:
        left, bottom, right, top = _crop(page)
        self.rotation = int(page.get_rotation()) % 360
        self._left, self._bottom = left, bottom
        self._across, self._up = right - left, top - bottom
        upright = self.rotation in (0, 180)
        self.width, self.height = (self._across, self._up) if upright else (self._up, self._across)

    def point(self, x: float, y: float) -> tuple[float, float]:
        x, y = x - self._left, y - self._bottom
        if self.rotation == 0:
            return x, y
        if self.rotation == 90:
            return y, self._across - x
        if self.rotation == 180:
            return self._across - x, self._up - y
        return self._up - y, x


def read_words(page: pypdfium2.PdfPage) -> PageWords:
    """Every visible word of ``page``; nothing of the page is kept afterwards."""
    textpage = page.get_textpage()
    try:
        return _Walk(page, textpage.raw, int(textpage.count_chars())).run()
    finally:
        textpage.close()


def _crop(page: pypdfium2.PdfPage) -> tuple[float, float, float, float]:
    media = page.get_mediabox() or (0.0, 0.0, 612.0, 792.0)
    crop = page.get_cropbox() or media
    left, bottom = max(media[0], crop[0]), max(media[1], crop[1])
    right, top = min(media[2], crop[2]), min(media[3], crop[3])
    return (left, bottom, right, top) if right > left and top > bottom else media


class _Walk:
    """One pass over the characters. A word ends at white space, at a gap, and where the style changes
    with a gap; styles are asked once for each text object, which is what keeps this fast."""

    def __init__(self, page: Any, textpage: Any, count: int) -> None:
        import pypdfium2.raw as raw

        self._raw, self._page, self._textpage = raw, page, textpage
        self._frame = _Frame(page)
        self._count = min(count, MAX_CHARACTERS)
        self._hidden: Counter[str] = Counter()
        if count > MAX_CHARACTERS:
            self._hidden[f"over {MAX_CHARACTERS} on the page"] = count - MAX_CHARACTERS
        self._words: list[Word] = []
        self._left, self._right, self._low, self._high = (ctypes.c_double() for _ in range(4))
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._styles: dict[int, _Style] = {}
        self._fonts: dict[int, tuple[bool, bool]] = {}
        self._shapes: list[tuple[float, float, float, float, tuple[int, int, int]]] | None = None

    def run(self) -> PageWords:
        text = self._text()
        spaced_to = -1
        for match in _WORD.finditer(text):
            start, end = match.span()
            spaced = start != spaced_to
            spaced_to = end
            # Most words lie in one text object; only those that straddle two are walked by character.
            if self._object(start) == self._object(end - 1):
                self._piece(text, start, end, spaced)
                continue
            while start < end:
                stop, where = start + 1, self._object(start)
                while stop < end and self._object(stop) == where:
                    stop += 1
                self._piece(text, start, stop, spaced)
                start, spaced = stop, False
        return PageWords(self._frame.width, self._frame.height, self._words, self._hidden, self._rules())

    def _rules(self) -> list[Rule]:
        raw = self._raw
        found: list[Rule] = []
        count = min(raw.FPDFPage_CountObjects(self._page.raw), _MAX_OBJECTS)
        x0, y0, x1, y1 = (ctypes.c_float() for _ in range(4))
        for index in range(count):
            item = raw.FPDFPage_GetObject(self._page.raw, index)
            if raw.FPDFPageObj_GetType(item) != raw.FPDF_PAGEOBJ_PATH:
                continue
            raw.FPDFPageObj_GetBounds(item, x0, y0, x1, y1)
            a, b = self._frame.point(x0.value, y0.value), self._frame.point(x1.value, y1.value)
            low, high = min(a[1], b[1]), max(a[1], b[1])
            if high - low <= _RULE_HEIGHT and abs(b[0] - a[0]) >= _RULE_WIDTH:
                found.append(Rule(min(a[0], b[0]), max(a[0], b[0]), low))
        return found

    def _text(self) -> str:
        """One code point for each character index, so that offsets into it ask for boxes."""
        buffer = ctypes.create_string_buffer(2 * (self._count + 1))
        pointer = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
        written = self._raw.FPDFText_GetText(self._textpage, 0, self._count, pointer)
        text = buffer.raw[: 2 * max(written - 1, 0)].decode("utf-16-le", "replace")
        if len(text) == self._count and written - 1 == self._count:
            return text
        codes = (self._raw.FPDFText_GetUnicode(self._textpage, index) for index in range(self._count))
        return "".join(chr(code) if code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else "\ufffd" for code in codes)

    def _object(self, index: int) -> int:
        handle = self._raw.FPDFText_GetTextObject(self._textpage, index)
        return ctypes.cast(handle, ctypes.c_void_p).value or 0 if handle else 0

    def _piece(self, text: str, start: int, end: int, spaced: bool) -> None:
        where = self._object(start)
        style = self._styles.get(where)
        if style is None:
            style = self._styles[where] = self._style(start)
        if style.hidden:
            self._hidden[style.hidden] += end - start
            return
        shown = text[start:end].translate(_TRANSLATED)
        if shown:
            self._word(shown, start, end - 1, style, spaced)

    def _box(self, index: int) -> tuple[float, float, float, float]:
        self._raw.FPDFText_GetCharBox(
            self._textpage, index, self._left, self._right, self._low, self._high
        )
        return self._left.value, self._low.value, self._right.value, self._high.value

    def _word(self, text: str, first: int, end: int, style: _Style, spaced: bool) -> None:
        self._raw.FPDFText_GetCharOrigin(self._textpage, first, self._x, self._y)
        origin = (self._x.value, self._y.value)
        a, b = self._box(first), self._box(end)
        frame = self._frame
        if not frame.rotation and style.turned == 0:
            x0, x1 = a[0] - frame._left, b[2] - frame._left
            base = origin[1] - frame._bottom
            inside = x1 > 0 and x0 < frame.width and -style.size < base < frame.height
        else:
            corners = [frame.point(*p) for p in (a[:2], a[2:], b[:2], b[2:])]
            x0, x1 = min(p[0] for p in corners), max(p[0] for p in corners)
            base = frame.point(*origin)[1]
            inside = x1 > 0 and x0 < frame.width and -style.size < base < frame.height
            if style.turned:
                base = min(p[1] for p in corners)
        if not inside:
            self._hidden["outside the page"] += len(text)
            return
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        self._words.append(
            Word(text, x0, max(x1, x0), base, style.size, style.bold, style.italic, spaced, style.turned)
        )

    def _style(self, index: int) -> _Style:
        raw, textpage = self._raw, self._textpage
        handle = raw.FPDFText_GetTextObject(textpage, index)
        if not handle:
            return _Style(10.0, False, False, "", 0)
        matrix = raw.FS_MATRIX()
        raw.FPDFText_GetMatrix(textpage, index, matrix)
        scale = (matrix.c * matrix.c + matrix.d * matrix.d) ** 0.5
        size = raw.FPDFText_GetFontSize(textpage, index) * scale
        if size < 2 * _TINY:
            # Type 3 fonts carry their size in a matrix of their own: trust the ink before calling it tiny.
            size = max([size, *(self._height(i) for i in range(index, min(index + 40, self._count)))])
        mode = raw.FPDFTextObj_GetTextRenderMode(handle)
        bold, italic = self._font(handle)
        return _Style(
            size,
            bold or mode in _STROKED_MODES,
            italic,
            self._hiding(index, size, mode),
            self._turn(matrix),
        )

    def _height(self, index: int) -> float:
        box = self._box(index)
        return min(box[3] - box[1], 1000.0)

    def _turn(self, matrix: Any) -> int:
        """Quarter turns, counter-clockwise, of the writing on the page as displayed."""
        quarter = 0
        if abs(matrix.b) > abs(matrix.a):
            quarter = 1 if matrix.b > 0 else 3
        elif matrix.a < 0:
            quarter = 2
        return (quarter - self._frame.rotation // 90) % 4

    def _font(self, handle: Any) -> tuple[bool, bool]:
        raw = self._raw
        font = raw.FPDFTextObj_GetFont(handle)
        key = ctypes.cast(font, ctypes.c_void_p).value or 0
        known = self._fonts.get(key)
        if known is None:
            name = ctypes.create_string_buffer(200)
            raw.FPDFFont_GetBaseFontName(font, name, 200)
            lower = name.value.decode("latin-1").lower()
            bold = any(mark in lower for mark in ("bold", "black", "heavy", "-bd", "demi"))
            bold = bold or raw.FPDFFont_GetWeight(font) >= 600
            known = bold, any(mark in lower for mark in ("italic", "oblique"))
            self._fonts[key] = known
        return known

    def _hiding(self, index: int, size: float, mode: int) -> str:
        """Why nobody sees this text object, "" when it is seen."""
        if mode in _INVISIBLE_MODES:
            return "invisible (render mode 3)"
        if size < _TINY:
            return "smaller than a point"
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        raw = self._raw
        if mode in (1, 5):
            raw.FPDFText_GetStrokeColor(self._textpage, index, red, green, blue, alpha)
        else:
            raw.FPDFText_GetFillColor(self._textpage, index, red, green, blue, alpha)
        if alpha.value < 16:
            return "transparent"
        colour = red.value, green.value, blue.value
        if min(colour) >= _WHITE and self._ground(index) >= _WHITE:
            return "white on white"
        return ""

    def _ground(self, index: int) -> int:
        """The darkest channel of what lies under a character: 255 is white paper. An image counts as
        dark: what it shows is not known, and white print on a picture is usual."""
        if self._shapes is None:
            self._shapes = _shapes(self._raw, self._page)
        left, low, right, high = self._box(index)
        x, y = (left + right) / 2, (low + high) / 2
        ground = 255
        for x0, y0, x1, y1, colour in self._shapes:
            if x0 <= x <= x1 and y0 <= y <= y1:
                ground = min(colour)
        return ground


def _shapes(raw: Any, page: Any) -> list[tuple[float, float, float, float, tuple[int, int, int]]]:
    """Bounds and colour of filled paths and images, in painting order, the page's own coordinates."""
    found = []
    for item in page.get_objects(max_depth=4):
        if item.type == raw.FPDF_PAGEOBJ_PATH:
            fill, stroke = ctypes.c_int(), ctypes.c_int()
            raw.FPDFPath_GetDrawMode(item.raw, fill, stroke)
            red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
            painted = raw.FPDFPageObj_GetFillColor(item.raw, red, green, blue, alpha)
            if not fill.value or not painted or alpha.value < 128:
                continue
            colour = red.value, green.value, blue.value
        elif item.type in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING):
            colour = 0, 0, 0
        else:
            continue
        found.append((*item.get_bounds(), colour))
    return found

"""pdfium's character functions as plain Python calls for one open page.

In: a pypdfium2 page and its text page. Out: numbers. Numbers are written into the same few values again and
again, as a page takes a few thousand calls. Knows nothing about words.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
from collections.abc import Iterator
from typing import Any

import pypdfium2
import pypdfium2.raw as raw

Bounds = tuple[float, float, float, float]
"""Left, bottom, right, top."""

_TEXT, _PATH, _IMAGE = raw.FPDF_PAGEOBJ_TEXT, raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE
MAX_OBJECTS = 200_000
_MAX_FORMS = 8


class PageCalls:
    """Characters are identified by their index on the page, objects by their address (0: none)."""

    def __init__(self, page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage) -> None:
        self._textpage, self.count = textpage.raw, int(textpage.count_chars())
        self._handles: dict[int, Any] = {}
        self._doubles = [ctypes.c_double() for _ in range(4)]
        self._floats = [ctypes.c_float() for _ in range(4)]
        self._whole = [ctypes.c_uint() for _ in range(4)]
        self._objects: dict[int, list[Any]] = {_TEXT: [], _PATH: [], _IMAGE: []}
        found = page.get_objects(filter=[*self._objects], max_depth=_MAX_FORMS + 1)
        with contextlib.suppress(pypdfium2.PdfiumError):  # an object is missing
            for item in itertools.islice(found, MAX_OBJECTS):
                # Paths only of the page itself: those of a form are in its own coordinates.
                if item.type != _PATH or not item.level:
                    self._objects[item.type].append(item)

    def text(self, count: int) -> str:
        """One code point for each of the first ``count`` characters, so that offsets are their indexes."""
        buffer = ctypes.create_string_buffer(2 * (count + 1))
        pointer = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
        written = raw.FPDFText_GetText(self._textpage, 0, count, pointer)
        text = buffer.raw[: 2 * max(written - 1, 0)].decode("utf-16-le", "replace")
        if len(text) == count and written - 1 == count:
            return text
        codes = (raw.FPDFText_GetUnicode(self._textpage, index) for index in range(count))
        return "".join(chr(c) if c <= 0x10FFFF and not 0xD800 <= c < 0xE000 else "\ufffd" for c in codes)

    def mapped(self, index: int) -> bool:
        """Whether the font maps this character to Unicode; otherwise its code is used."""
        return bool(raw.FPDFText_HasUnicodeMapError(self._textpage, index) != 1)

    def object(self, index: int) -> int:
        handle = raw.FPDFText_GetTextObject(self._textpage, index)
        address = ctypes.addressof(handle.contents) if handle else 0
        self._handles[address] = handle
        return address

    def mode(self, handle: int) -> int:
        """Text render mode, PDF 32000-1 table 106."""
        return int(raw.FPDFTextObj_GetTextRenderMode(self._handles[handle])) if handle else 0

    def colour(self, index: int, stroke: bool = False) -> list[int]:
        """Red, green, blue, alpha, each 0 to 255."""
        get = raw.FPDFText_GetStrokeColor if stroke else raw.FPDFText_GetFillColor
        get(self._textpage, index, *self._whole)
        return [channel.value for channel in self._whole]

    def origin(self, index: int) -> tuple[float, float]:
        """The origin of a character on its baseline."""
        x, y, *_ = self._doubles
        raw.FPDFText_GetCharOrigin(self._textpage, index, x, y)
        return x.value, y.value

    def matrix(self, index: int) -> tuple[float, float, float, float]:
        """The a, b, c, d of the text matrix."""
        found = raw.FS_MATRIX()
        raw.FPDFText_GetMatrix(self._textpage, index, found)
        return found.a, found.b, found.c, found.d

    def font_size(self, index: int) -> float:
        """The font size before the matrix is applied."""
        return float(raw.FPDFText_GetFontSize(self._textpage, index))

    def box(self, index: int) -> Bounds:
        left, right, low, high = self._doubles
        raw.FPDFText_GetCharBox(self._textpage, index, left, right, low, high)
        return left.value, low.value, right.value, high.value

    def font(self, handle: int) -> tuple[str, int]:
        """Lower-case name and weight (0 if the font does not state it)."""
        font = raw.FPDFTextObj_GetFont(self._handles[handle])
        name = ctypes.create_string_buffer(200)
        raw.FPDFFont_GetBaseFontName(font, name, 200)
        return name.value.decode("latin-1").lower(), int(raw.FPDFFont_GetWeight(font))

    def font_address(self, handle: int) -> int:
        font = raw.FPDFTextObj_GetFont(self._handles[handle])
        return ctypes.addressof(font.contents) if font else 0

    @property
    def images(self) -> int:
        return len(self._objects[_IMAGE])

    def switch_off_text(self) -> None:
        """From now on the page is drawn without its text; what was read from it remains."""
        for item in self._objects[_TEXT]:
            raw.FPDFPageObj_SetIsActive(item, False)

    def switch_off_images(self, pixels: int) -> None:
        """From now on the page is drawn without its images of more than ``pixels``."""
        width, height, *_ = self._whole
        for item in self._objects[_IMAGE]:
            known = raw.FPDFImageObj_GetImagePixelSize(item, width, height)
            if known and width.value * height.value > pixels:
                raw.FPDFPageObj_SetIsActive(item, False)

    def paths(self) -> Iterator[Bounds]:
        """The bounds of the paths drawn on the page."""
        left, low, right, high = self._floats
        for item in self._objects[_PATH]:
            raw.FPDFPageObj_GetBounds(item, left, low, right, high)
            yield left.value, low.value, right.value, high.value

"""pdfium's character functions as plain Python calls for one open page.

In: a pypdfium2 page and its text page. Out: numbers. The functions are bound again with plain prototypes
because they are called a few thousand times per page, and building pointers costs more than the call itself.
Knows nothing about words.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

Bounds = tuple[float, float, float, float]
"""Left, bottom, right, top."""

TEXT, PATH, IMAGE, FORM = 1, 2, 3, 5
MAX_OBJECTS = 200_000
_MAX_FORMS = 8
_POINTER, _INT = ctypes.c_void_p, ctypes.c_int
_PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "FPDFText_GetTextObject": (_POINTER, _POINTER, _INT),
    "FPDFText_GetFillColor": (_INT, _POINTER, _INT, _POINTER, _POINTER, _POINTER, _POINTER),
    "FPDFText_GetStrokeColor": (_INT, _POINTER, _INT, _POINTER, _POINTER, _POINTER, _POINTER),
    "FPDFText_GetCharOrigin": (_INT, _POINTER, _INT, _POINTER, _POINTER),
    "FPDFText_GetMatrix": (_INT, _POINTER, _INT, _POINTER),
    "FPDFText_GetFontSize": (ctypes.c_double, _POINTER, _INT),
    "FPDFText_GetCharBox": (_INT, _POINTER, _INT, _POINTER, _POINTER, _POINTER, _POINTER),
    "FPDFText_HasUnicodeMapError": (_INT, _POINTER, _INT),
    "FPDFText_GetUnicode": (ctypes.c_uint, _POINTER, _INT),
    "FPDFTextObj_GetTextRenderMode": (_INT, _POINTER),
    "FPDFTextObj_GetFont": (_POINTER, _POINTER),
    "FPDFPage_GetObject": (_POINTER, _POINTER, _INT),
    "FPDFPage_CountObjects": (_INT, _POINTER),
    "FPDFFormObj_GetObject": (_POINTER, _POINTER, ctypes.c_ulong),
    "FPDFFormObj_CountObjects": (_INT, _POINTER),
    "FPDFPageObj_GetType": (_INT, _POINTER),
    "FPDFPageObj_SetIsActive": (_INT, _POINTER, _INT),
    "FPDFImageObj_GetImagePixelSize": (_INT, _POINTER, _POINTER, _POINTER),
    "FPDFPageObj_GetBounds": (_INT, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
}


@lru_cache(maxsize=1)
def _functions() -> dict[str, Callable[..., Any]]:
    import pypdfium2.raw as raw

    bound: dict[str, Callable[..., Any]] = {}
    for name, prototype in _PROTOTYPES.items():
        address = ctypes.cast(getattr(raw, name), ctypes.c_void_p).value
        bound[name] = ctypes.CFUNCTYPE(*prototype)(address)  # type: ignore[arg-type]
    return bound


class PageCalls:
    """Characters are identified by their index on the page, objects by their address (0: none)."""

    def __init__(self, page: Any, textpage: Any) -> None:
        self._call = _functions()
        self._page = ctypes.cast(page.raw, ctypes.c_void_p).value
        self._textpage = ctypes.cast(textpage.raw, ctypes.c_void_p).value
        self._raw_textpage = textpage.raw
        self._objects: dict[int, list[int]] = {TEXT: [], PATH: [], IMAGE: []}
        self._walk(self._page, "FPDFPage", MAX_OBJECTS, 0)
        self._point, self._floats, self._channels = (
            (ctypes.c_double * 2)(),
            (ctypes.c_float * 6)(),
            (ctypes.c_uint * 4)(),
        )
        self._point_at = ctypes.addressof(self._point)
        single, whole = ctypes.addressof(self._floats), ctypes.addressof(self._channels)
        self._float_at = tuple(single + 4 * at for at in range(4))
        self._channel_at = tuple(whole + 4 * at for at in range(4))
        self._object = self._call["FPDFText_GetTextObject"]

    def count(self) -> int:
        import pypdfium2.raw as raw

        return int(raw.FPDFText_CountChars(self._raw_textpage))

    def text(self, count: int) -> str:
        """One code point for each of the first ``count`` characters, so that offsets are their indexes."""
        import pypdfium2.raw as raw

        buffer = ctypes.create_string_buffer(2 * (count + 1))
        pointer = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
        written = raw.FPDFText_GetText(self._raw_textpage, 0, count, pointer)
        text = buffer.raw[: 2 * max(written - 1, 0)].decode("utf-16-le", "replace")
        if len(text) == count and written - 1 == count:
            return text
        get = self._call["FPDFText_GetUnicode"]
        codes = (get(self._textpage, index) for index in range(count))
        return "".join(chr(c) if c <= 0x10FFFF and not 0xD800 <= c < 0xE000 else "\ufffd" for c in codes)

    def mapped(self, index: int) -> bool:
        """Whether the font maps this character to Unicode; otherwise its code is used."""
        return bool(self._call["FPDFText_HasUnicodeMapError"](self._textpage, index) != 1)

    def objects(self, indexes: Iterable[int]) -> list[int]:
        get, page = self._object, self._textpage
        return [get(page, index) or 0 for index in indexes]

    def mode(self, handle: int) -> int:
        """Text render mode, PDF 32000-1 table 106."""
        return int(self._call["FPDFTextObj_GetTextRenderMode"](handle)) if handle else 0

    def colour(self, index: int, stroke: bool = False) -> list[int]:
        """Red, green, blue, alpha, each 0 to 255."""
        name = "FPDFText_GetStrokeColor" if stroke else "FPDFText_GetFillColor"
        self._call[name](self._textpage, index, *self._channel_at)
        return self._channels[:]

    def origin(self, index: int) -> tuple[float, float]:
        self._call["FPDFText_GetCharOrigin"](self._textpage, index, self._point_at, self._point_at + 8)
        return self._point[0], self._point[1]

    def matrix(self, index: int) -> tuple[float, float, float, float]:
        """The a, b, c, d of the text matrix."""
        self._call["FPDFText_GetMatrix"](self._textpage, index, self._float_at[0])
        a, b, c, d = self._floats[:4]
        return a, b, c, d

    def font_size(self, index: int) -> float:
        """The font size before the matrix is applied."""
        return float(self._call["FPDFText_GetFontSize"](self._textpage, index))

    def prints(self, indexes: Sequence[int], handles: Sequence[int]) -> list[tuple[int, bytes]]:
        """Mode and colour of characters, which distinguish hidden letters from their neighbours."""
        block = (ctypes.c_uint * (4 * len(indexes)))()
        at, get, page = ctypes.addressof(block), self._call["FPDFText_GetFillColor"], self._textpage
        for index in indexes:
            get(page, index, at, at + 4, at + 8, at + 12)
            at += 16
        mode, colours = self._call["FPDFTextObj_GetTextRenderMode"], bytes(block)
        return [
            (mode(handle) if handle else 0, colours[16 * at : 16 * at + 16])
            for at, handle in enumerate(handles)
        ]

    def origins(self, indexes: Sequence[int]) -> list[tuple[float, float]]:
        """The origins of characters on their baseline."""
        block = (ctypes.c_double * (2 * len(indexes)))()
        at, get, page = ctypes.addressof(block), self._call["FPDFText_GetCharOrigin"], self._textpage
        for index in indexes:
            get(page, index, at, at + 8)
            at += 16
        numbers = iter(block[:])
        return list(zip(numbers, numbers, strict=True))

    def boxes(self, indexes: Sequence[int]) -> list[Bounds]:
        """The boxes of characters; written into one block, because each call costs more than its result."""
        block = (ctypes.c_double * (4 * len(indexes)))()
        at, get, page = ctypes.addressof(block), self._call["FPDFText_GetCharBox"], self._textpage
        for index in indexes:
            get(page, index, at, at + 16, at + 8, at + 24)
            at += 32
        numbers = iter(block[:])
        return list(zip(numbers, numbers, numbers, numbers, strict=True))

    def font(self, handle: int) -> tuple[str, int]:
        """Lower-case name and weight (0 if the font does not state it)."""
        import pypdfium2.raw as raw

        font = raw.FPDFTextObj_GetFont(ctypes.cast(handle, raw.FPDF_PAGEOBJECT))
        name = ctypes.create_string_buffer(200)
        raw.FPDFFont_GetBaseFontName(font, name, 200)
        return name.value.decode("latin-1").lower(), int(raw.FPDFFont_GetWeight(font))

    def font_address(self, handle: int) -> int:
        return self._call["FPDFTextObj_GetFont"](handle) or 0

    def _walk(self, holder: Any, kind: str, limit: int, depth: int) -> None:
        """Sorts what ``holder`` draws, forms inside it included; paths only of the page itself, as those of a
        form are in its own coordinates."""
        get, type_of = self._call[f"{kind}_GetObject"], self._call["FPDFPageObj_GetType"]
        texts = self._objects[TEXT]
        for index in range(min(self._call[f"{kind}_CountObjects"](holder), limit)):
            item = get(holder, index)
            found = type_of(item) if item else 0
            if found == TEXT:
                texts.append(item)
            elif found == FORM and depth < _MAX_FORMS:
                self._walk(item, "FPDFFormObj", limit, depth + 1)
            elif found == IMAGE or (found == PATH and not depth):
                self._objects[found].append(item)

    @property
    def images(self) -> int:
        return len(self._objects[IMAGE])

    def switch_off_text(self) -> None:
        """From now on the page is drawn without its text; what was read from it remains."""
        switch = self._call["FPDFPageObj_SetIsActive"]
        for item in self._objects[TEXT]:
            switch(item, 0)

    def switch_off_images(self, pixels: int) -> None:
        """From now on the page is drawn without its images of more than ``pixels``."""
        size = self._call["FPDFImageObj_GetImagePixelSize"]
        for item in self._objects[IMAGE]:
            if size(item, *self._channel_at[:2]) and self._channels[0] * self._channels[1] > pixels:
                self._call["FPDFPageObj_SetIsActive"](item, 0)

    def paths(self) -> Iterator[Bounds]:
        """The bounds of the paths drawn on the page."""
        bounds = self._call["FPDFPageObj_GetBounds"]
        for item in self._objects[PATH]:
            bounds(item, *self._float_at)
            a, b, c, d = self._floats[:4]
            yield a, b, c, d

"""Reads a scanned page with OCR: its words and their positions; and makes a picture file such a page.

In: an open page. Out: a :class:`Scan`, whose words have the form that :mod:`.glyphs` gives. A tilted page is
rotated upright first, so that its lines can be separated; the rectangles are rotated back. A PNG, JPEG, TIFF,
GIF or WebP becomes an open pypdfium2 document: one page, or one for each picture in a TIFF; of an animation,
the first frame. Knows nothing about documents.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from citewell.core.errors import LimitError, OtherKindError
from citewell.core.records import Box
from citewell.documents.detect import other_kind
from citewell.documents.ocr import DETECTED_SIDE, LEAST_CONFIDENCE, OcrLine, read_picture
from citewell.documents.pdf.glyphs import PageWords, PdfWord
from citewell.documents.pdf.pdfium import PageCalls

if TYPE_CHECKING:
    import pypdfium2
    from PIL import Image


SIDE = 2000
"""Pixels of the longer side of a page rendered for OCR: 170 dots per inch for A4."""
_MOST_SCALE = 3.0
MOST_PIXELS = 64_000_000
"""Larger images on a page are not rendered, which bounds the memory that a page takes."""
_MARGIN = 3.0
"""How far the rectangle of a detected line extends beyond its type, in pixels of the picture in which lines
are detected; below the type, a third less."""
_ALIKE = 0.25
"""Type sizes that differ from the page's median by less than this share are treated as equal to it."""
_LEVEL = math.radians(0.25)
"""Smaller tilts are ignored: a line across the page rises by at most two points."""
_LONG = 5.0
"""Only lines at least this many times as wide as high count towards the tilt."""


class Scan(NamedTuple):
    """The text of a scanned page. ``tilt`` is in radians, counter-clockwise; ``faint`` is the number of lines
    left out because the engine was too unsure of them."""

    words: PageWords
    tilt: float
    faint: int

    @property
    def letters(self) -> int:
        return sum(len(word.text) for word in self.words.words)

    def placed(self, box: Box, text: str) -> Iterator[Box]:
        """The position of ``box``, which holds ``text``, on the printed page. On a tilted page, each word has
        a box of its own, which fits more closely than one for the line. Text with a tab stays in one box: its
        words are in columns."""
        if not self.tilt:
            yield box
            return
        spans = [match.span() for match in re.finditer(r"\S+", text)]
        step = (box.x1 - box.x0) / len(text)
        for start, end in [(0, len(text))] if "\t" in text else spans:
            half = (end - start) * step / 2
            rise = (box.y1 - box.y0) / 2 + half * abs(math.sin(self.tilt))
            middle = self.words.width / 2, self.words.height / 2
            x, y = turned(box.x0 + start * step + half, (box.y0 + box.y1) / 2, self.tilt, *middle)
            edges = {"x0": x - half, "y0": y - rise, "x1": x + half, "y1": y + rise}
            yield msgspec.structs.replace(
                box,
                start=box.start + start,
                end=box.start + end,
                **{name: round(value, 1) for name, value in edges.items()},
            )


def placed(boxes: Iterable[Box], text: str, scans: Mapping[int, Scan]) -> tuple[Box, ...]:
    """``boxes`` of ``text``; those on scanned pages in their position on the printed page."""
    return tuple(
        each
        for box in boxes
        for each in (scans[box.page].placed(box, text[box.start : box.end]) if box.page in scans else (box,))
    )


def turned(x: float, y: float, angle: float, about_x: float, about_y: float) -> tuple[float, float]:
    """The point (x, y), rotated counter-clockwise by ``angle`` radians about another point."""
    x, y = x - about_x, y - about_y
    sin, cos = math.sin(angle), math.cos(angle)
    return about_x + x * cos - y * sin, about_y + x * sin + y * cos


def read_scan(page: pypdfium2.PdfPage) -> Scan:
    """Renders the page and reads it with OCR. Raises ImportError if the engine is not installed."""
    width, height = page.get_size()
    scale = min(_MOST_SCALE, SIDE / max(width, height, 1.0))
    lines = read_picture(_drawn(page, scale), SIDE)
    sure = [line for line in lines if line.confidence >= LEAST_CONFIDENCE]
    # From pixels, counted down from the top, to points, counted up from the bottom.
    sure = [
        line._replace(corners=[(x / scale, height - y / scale) for x, y in line.corners]) for line in sure
    ]
    tilt = _tilt(sure)
    margin = _MARGIN / min(scale, DETECTED_SIDE / max(width, height, 1.0))
    sizes = [max(_height(line) - 2 * margin, _height(line) / 2) for line in sure]
    usual = median(sizes) if sizes else 0.0
    alike = [usual if abs(size - usual) < _ALIKE * usual else size for size in sizes]
    words = [
        word
        for line, size in zip(sure, alike, strict=True)
        for word in _words(line, turned(*_middle(line), -tilt, width / 2, height / 2), round(size, 1), margin)
    ]
    return Scan(PageWords(width, height, words, Counter(), []), tilt, len(lines) - len(sure))


def _drawn(page: pypdfium2.PdfPage, scale: float) -> np.ndarray:
    textpage = page.get_textpage()
    PageCalls(page, textpage).switch_off_images(MOST_PIXELS)
    textpage.close()
    bitmap = page.render(scale=scale, may_draw_forms=False, force_bitmap_format=2)
    pixels = np.array(bitmap.to_numpy(), dtype=np.uint8)
    bitmap.close()
    return pixels


def _words(line: OcrLine, middle: tuple[float, float], size: float, margin: float) -> Iterator[PdfWord]:
    """The words of an upright line, whose characters are assumed to be equally wide."""
    x, y = middle
    width = max(_width(line) - 2 * margin, 1.0)
    left, step = x - width / 2, width / max(1, len(line.text))
    for match in re.finditer(r"\S+", line.text):
        start, end = match.span()
        yield PdfWord(
            match.group(),
            left + start * step,
            left + end * step,
            y - margin / 3 - 0.28 * size,  # a line's box is its size high, .22 of it below the baseline
            size,
            False,
            False,
            start > 0,
            0,
            line.confidence,
        )


def _tilt(lines: list[OcrLine]) -> float:
    slopes = [
        math.atan2(b[1] - a[1], b[0] - a[0])
        for line in lines
        if _width(line) > _LONG * _height(line)
        for a, b in (line.corners[:2], line.corners[:1:-1])
    ]
    found = median(slopes) if slopes else 0.0
    return found if abs(found) > _LEVEL else 0.0


def _middle(line: OcrLine) -> tuple[float, float]:
    return sum(x for x, _ in line.corners) / 4, sum(y for _, y in line.corners) / 4


def _width(line: OcrLine) -> float:
    a, b, c, d = line.corners
    return (math.dist(a, b) + math.dist(d, c)) / 2


def _height(line: OcrLine) -> float:
    a, b, c, d = line.corners
    return (math.dist(a, d) + math.dist(b, c)) / 2


MOST_PAGES = 200
_SCANNED_DPI, _MOST_DPI = 150.0, 2400.0
"""Resolutions that scanners record. Cameras and screenshots record 72 or 96, which says nothing."""
_SCREEN_DPI = 96.0
_LONG_SIDE = 842.0
"""Height of an A4 page, in points."""


def open_picture(data: bytes) -> pypdfium2.PdfDocument:
    """The picture file as a PDF. Raises OtherKindError if it cannot be opened, and LimitError if it has too
    many pixels or pages."""
    import pypdfium2
    from PIL import Image, ImageOps

    pdf = pypdfium2.PdfDocument.new()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "TIFF", "GIF", "WEBP"))
        count = getattr(picture, "n_frames", 1) if picture.format == "TIFF" else 1
        if count > MOST_PAGES:
            raise LimitError(f"it has {count} pages; the limit is {MOST_PAGES}", hint="split the file")
        for number in range(count):
            picture.seek(number)
            if math.prod(picture.size) > MOST_PIXELS:
                raise _too_large("{} x {} pixels".format(*picture.size))
            _add_page(pdf, ImageOps.exif_transpose(picture), _dpi(picture))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large(str(error)) from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        told = f"it is {other_kind(data) or 'a picture'} that cannot be opened"
        raise OtherKindError(told, hint="open it in a viewer and save it again") from error
    return pdf


def _add_page(pdf: pypdfium2.PdfDocument, picture: Image.Image, dpi: tuple[float, float]) -> None:
    import pypdfium2
    from PIL import Image

    width, height = (72.0 * side / each for side, each in zip(picture.size, dpi, strict=True))
    if min(dpi) < _SCANNED_DPI and max(width, height) > _LONG_SIDE:
        share = _LONG_SIDE / max(width, height)
        width, height = width * share, height * share
    if "A" in picture.getbands() or "transparency" in picture.info:
        clear = picture.convert("RGBA")
        picture = Image.new("RGB", clear.size, "white")
        picture.paste(clear, mask=clear.getchannel("A"))
    picture = picture.convert("L" if picture.mode in ("1", "L", "I;16") else "RGB")
    picture.thumbnail((SIDE, SIDE))
    page = pdf.new_page(width, height)
    image = pypdfium2.PdfImage.new(pdf)
    image.set_bitmap(pypdfium2.PdfBitmap.from_pil(picture))
    image.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
    page.insert_obj(image)
    page.gen_content()
    page.close()


def _dpi(picture: Image.Image) -> tuple[float, float]:
    x, y = picture.info.get("dpi", (0.0, 0.0))
    known = all(_SCANNED_DPI / 2 <= float(each) <= _MOST_DPI for each in (x, y))
    return (float(x), float(y)) if known else (_SCREEN_DPI, _SCREEN_DPI)


def _too_large(told: str) -> LimitError:
    told = f"the picture is too large ({told}); the limit is {MOST_PIXELS // 1_000_000} million pixels"
    return LimitError(told, hint="save it smaller")

"""Converts a picture file to a PDF, which is then read, shown and cited like a scan.

In: the bytes of a PNG, JPEG, TIFF, GIF or WebP. Out: an open pypdfium2 document: one page, or one for each
picture in a TIFF. Of an animation, the first frame is read. Knows nothing about text.
"""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from citewell.core.errors import LimitError, OtherKindError
from citewell.documents.detect import other_kind
from citewell.documents.pdf.scans import MOST_PIXELS, SIDE

if TYPE_CHECKING:
    import pypdfium2
    from PIL import Image

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
            _check_size(*picture.size)
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


def _check_size(width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise _too_large(f"{width} x {height} pixels")


def _too_large(told: str) -> LimitError:
    return LimitError(
        f"the picture is too large ({told}); the limit is {MOST_PIXELS // 1_000_000} million pixels",
        hint="save it smaller",
    )

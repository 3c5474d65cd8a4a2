"""A page of a PDF as an image, drawn under the same protection as parsing: in a separate, limited process.

In: a PDF or picture file, a page number, a scale. Out: the bytes of a PNG, or a DocumentError with a hint.
Knows nothing about documents, versions or rectangles.
"""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from citewell.core.config import Documents
from citewell.core.environment import bare
from citewell.core.errors import AbandonedError, DamagedError, LimitError, UsageError
from citewell.documents.process import command, leave_network, limit_memory

MAX_SCALE = 4.0
MAX_SIDE = 4000
"""In pixels: a page may claim any size."""
_COLOURS = 48
_LOOKED_S = 0.5
_NO_SUCH_PAGE = 3


def draw_page(
    path: Path, number: int, *, scale: float, limits: Documents, gone: Callable[[], str] = lambda: ""
) -> bytes:
    """Page ``number`` (from 1) at ``scale`` pixels per point. Raises DocumentError, UsageError if there is no
    such page, AbandonedError once ``gone`` returns why nobody waits for it any more."""
    asked = [str(path), str(number), str(scale), str(limits.memory_mb)]
    ends = time.monotonic() + limits.timeout_s
    with subprocess.Popen(
        [*command("citewell.documents.drawing"), *asked],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=bare(),
    ) as process:
        try:
            drawn = _waited(process, number, ends, limits, gone)
        finally:
            process.kill()
    if process.returncode == _NO_SUCH_PAGE:
        raise UsageError(f"the document has no page {number}", hint="page numbers start at 1")
    if process.returncode or not drawn:
        raise DamagedError(f"page {number} cannot be drawn", hint="open the file in a PDF viewer")
    return drawn


def _waited(
    process: subprocess.Popen[bytes], number: int, ends: float, limits: Documents, gone: Callable[[], str]
) -> bytes:
    while True:
        try:
            return process.communicate(timeout=_LOOKED_S)[0]
        except subprocess.TimeoutExpired as error:
            if reason := gone():
                raise AbandonedError(f"the drawing of page {number} was ended: {reason}") from error
            if time.monotonic() > ends:
                told = f"drawing page {number} took longer than {limits.timeout_s:g} s"
                raise LimitError(told, hint="raise documents.timeout_s") from error


def main() -> None:
    """Runs in the child process: writes the image to standard output."""
    import pypdfium2

    from citewell.documents.detect import PICTURES, other_kind
    from citewell.documents.pdf.scans import open_picture

    leave_network()
    path, number, scale = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    limit_memory(int(sys.argv[4]))
    data = Path(path).read_bytes()
    pdf = open_picture(data) if other_kind(data) in PICTURES else pypdfium2.PdfDocument(data)
    if not 1 <= number <= len(pdf):
        sys.exit(_NO_SUCH_PAGE)
    page = pdf[number - 1]
    side = max(page.get_width(), page.get_height(), 1.0)
    picture = page.render(scale=min(scale, MAX_SCALE, MAX_SIDE / side)).to_pil().convert("RGB")
    held = io.BytesIO()
    # Printed pages have few colours: a palette image is a third of the size.
    picture.quantize(_COLOURS, dither=0).save(held, "PNG", optimize=True)
    sys.stdout.buffer.write(held.getvalue())

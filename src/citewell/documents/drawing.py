"""A page of a PDF as a picture, drawn under the same protection as parsing: in a bounded process of its own.

In: a file, a page number, a scale. Out: the bytes of a PNG, or a DocumentError with a hint. Knows nothing
about documents, versions or rectangles.
"""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

from citewell.core.config import Documents
from citewell.core.environment import bare
from citewell.core.errors import DamagedError, LimitError, UsageError
from citewell.documents.process import command, leave_network, limit_memory

MAX_SCALE = 4.0
MAX_SIDE = 4000
"""In pixels: a page may claim to be a mile long."""
_COLOURS = 48
_NO_SUCH_PAGE = 3


def draw_page(path: Path, number: int, *, scale: float, limits: Documents) -> bytes:
    """Page ``number`` (from 1) at ``scale`` pixels a point. Raises DocumentError."""
    asked = [str(path), str(number), str(scale), str(limits.memory_mb)]
    try:
        done = subprocess.run(
            [*command("citewell.documents.drawing"), *asked],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=bare(),
            timeout=limits.timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LimitError(
            f"drawing page {number} took longer than {limits.timeout_s:g} s", hint="raise documents.timeout_s"
        ) from error
    if done.returncode == _NO_SUCH_PAGE:
        raise UsageError(f"the document has no page {number}", hint="page numbers start at 1")
    if done.returncode or not done.stdout:
        raise DamagedError(f"page {number} cannot be drawn", hint="open the file in a PDF viewer")
    return done.stdout


def main() -> None:
    """Runs in the child process: writes the picture to standard output."""
    import pypdfium2

    leave_network()
    path, number, scale = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    limit_memory(int(sys.argv[4]))
    pdf = pypdfium2.PdfDocument(path)
    if not 1 <= number <= len(pdf):
        sys.exit(_NO_SUCH_PAGE)
    page = pdf[number - 1]
    side = max(page.get_width(), page.get_height(), 1.0)
    picture = page.render(scale=min(scale, MAX_SCALE, MAX_SIDE / side)).to_pil().convert("RGB")
    held = io.BytesIO()
    # Print has few colours: a palette is a third of the size.
    picture.quantize(_COLOURS, dither=0).save(held, "PNG", optimize=True)
    sys.stdout.buffer.write(held.getvalue())

"""Text read off a picture by RapidOCR, where the extra ``ocr`` is installed.

In: pixels. Out: the lines on them with their corners and the engine's confidence; the same pixels give the
same lines on the same kind of processor. The models are those of RapidOCR's wheel: nothing is downloaded.
Knows nothing about files or pages.
"""

from __future__ import annotations

import math
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

INSTALL = "pip install 'citewell[ocr]'"
LEAST_CONFIDENCE = 0.5
"""A line that the engine is less sure of is no text: it is counted and left out."""
DETECTED_SIDE = 1280
"""Pixels of the longer side on which lines are looked for; they are read off the whole picture."""
_MODELS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
}


class OcrLine(NamedTuple):
    """``corners``: of the line, as (x, y) in pixels from the top left: top left, top right, bottom right,
    bottom left. ``confidence`` is rounded down to hundredths."""

    text: str
    corners: list[tuple[float, float]]
    confidence: float


def installed() -> bool:
    """Whether pictures can be read. Imports nothing."""
    return find_spec("rapidocr") is not None


def engine_name() -> str:
    """As a document names what read it."""
    return f"rapidocr/{version('rapidocr')}"


def read_picture(pixels: Any, longest_side: int) -> list[OcrLine]:
    """The lines on ``pixels`` (rows, columns, and blue, green, red as bytes), as the engine orders them.
    Raises MemoryError where the process may not have as much as that takes."""
    try:
        found = _engine(longest_side)(pixels)
    except Exception as error:
        if "bad_alloc" in str(error):
            raise MemoryError from error
        raise
    if not found.txts:
        return []
    lines = zip(found.txts, found.boxes.tolist(), found.scores, strict=True)
    return [
        OcrLine(text, [(x, y) for x, y in corners], math.floor(100 * score) / 100)
        for text, corners, score in lines
    ]


@lru_cache(maxsize=1)
def _engine(longest_side: int) -> Any:
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    return rapidocr.RapidOCR(
        params={
            **{f"{task}.model_path": str(models / name) for task, name in _MODELS.items()},
            "Global.log_level": "critical",
            "Global.max_side_len": longest_side,
            "Global.text_score": 0.0,  # what is left out is counted here
            "Global.use_cls": False,
            # One line at a time: no line depends on its neighbours, and a long one costs no more memory.
            "Rec.rec_batch_num": 1,
            "Det.limit_type": "max",
            "Det.limit_side_len": DETECTED_SIDE,
            # One thread: sums in another order give other bits.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )

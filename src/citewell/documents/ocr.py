"""Optical character recognition with RapidOCR, if the extra ``ocr`` is installed.

In: pixels. Out: the lines of text in them, each with its corners and the engine's confidence. On the same
kind of processor, the same pixels always give the same lines. The models come with RapidOCR's wheel, so
nothing is downloaded. Knows nothing about files or pages.
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
"""Lines with a lower confidence are left out and counted."""
DETECTED_SIDE = 1280
"""Lines are detected in a copy whose longer side has this many pixels, and read at full resolution."""
_MODELS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
}


class OcrLine(NamedTuple):
    """One line of text. ``corners`` are (x, y) in pixels from the picture's top left corner, in the order top
    left, top right, bottom right, bottom left. ``confidence`` is rounded down to hundredths."""

    text: str
    corners: list[tuple[float, float]]
    confidence: float


def installed() -> bool:
    """Whether OCR is available. Does not import the engine."""
    return find_spec("rapidocr") is not None


def engine_name() -> str:
    """The engine's name and version, as recorded in a document's ``reader``."""
    return f"rapidocr/{version('rapidocr')}"


def read_picture(pixels: Any, longest_side: int) -> list[OcrLine]:
    """The lines of text in ``pixels``, in the engine's order. ``pixels`` has the shape (rows, columns, 3) and
    holds blue, green and red as bytes. Raises MemoryError if the process's memory limit is too low."""
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
            "Global.text_score": 0.0,  # keep all lines: the caller counts those that it leaves out
            "Global.use_cls": False,
            # One line at a time: lines do not depend on their neighbours, and long ones take no more memory.
            "Rec.rec_batch_num": 1,
            "Det.limit_type": "max",
            "Det.limit_side_len": DETECTED_SIDE,
            # One thread, because adding numbers in another order changes the result.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )

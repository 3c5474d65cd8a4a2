"""The same bits every time: what the models return here, another process returns, too."""

from __future__ import annotations

import os
import subprocess
import sys

from citewell.models.onnx.embedder import OnnxEmbedder
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.models.onnx.reading import OnnxRanker, OnnxReader

FILLER = "The harbour was calm that week, and the ships of the line lay at the quay of the old town. "
TABLE = "Fleet\nShip\tCrew\tGuns\n" + "\n".join(f"Ship {n}\t{n * 7}\t{n * 3}" for n in range(40))
LONG = FILLER * 40 + "The bridge of the harbour was opened on 4 May 1932. " + FILLER * 20
TEXTS = [LONG, TABLE, "The mayor opened the bridge.", "Net sales were 51,217 million."]
CLAIM = "The bridge of the old harbour was opened by the mayor in May 1932. Ship 30 has 210 men."
QUESTION = "When was the bridge of the harbour opened?"


def said() -> str:
    """What each model returns, every bit of every number."""
    return "\n".join(
        [
            OnnxEmbedder().embed(TEXTS).tobytes().hex(),
            repr(OnnxEntailer().entail([(text, CLAIM) for text in TEXTS])),
            repr(OnnxRanker().rank(QUESTION, TEXTS)),
            repr(OnnxReader().extract(QUESTION, TEXTS)),
        ]
    )


def test_a_second_process_says_the_same_bits() -> None:
    second = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import said; print(said())"],
        env=os.environ | {"PYTHONHASHSEED": "1932", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert second.stdout.splitlines() == said().splitlines()

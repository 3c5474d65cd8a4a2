"""What is packaged of a model: the card that says what it was made from, and the hashes of its files.

In: a maker. Out: its card and its files, or nothing for a model that is not packaged. Opens no weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from citewell.core.records import Maker
from citewell.core.weights import WEIGHTS, read_card


class Packaged(NamedTuple):
    """``card``: in plain words (Mitchell et al. 2019); ``files``: name to hash, as checked when loaded."""

    card: Path
    files: dict[str, str]


def packaged(maker: Maker) -> Packaged | None:
    """The weights with this maker's hash."""
    for folder in sorted(path.parent for path in WEIGHTS.glob("*/card.json")):
        files: dict[str, str] = read_card(folder)["files"]
        if files["model.onnx"] == maker.hash:
            return Packaged(folder / "CARD.md", files)
    return None

"""What is packaged of a model: the card that says what it was made from, and the hashes of its files.

In: a maker. Out: its card and its files, or nothing for a model that is not packaged. Opens no weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from citewell.core.records import Maker
from citewell.core.weights import WEIGHTS, judge_folder, model_hash, read_card


class Packaged(NamedTuple):
    """``card``: in plain words (Mitchell et al. 2019); ``files``: name to hash, as checked when loaded."""

    card: Path
    files: dict[str, str]


def packaged(maker: Maker) -> Packaged | None:
    """The weights with this maker's hash."""
    judge = judge_folder()
    for folder in (*sorted(path.parent for path in WEIGHTS.glob("*/card.json")), *([judge] if judge else [])):
        card = read_card(folder)
        if model_hash(card) == maker.hash:
            return Packaged(folder / "CARD.md", card["files"])
    return None

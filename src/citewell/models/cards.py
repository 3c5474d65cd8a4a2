"""Where the card of a packaged model lies: what it was made from and how well it does.

In: a maker. Out: the path of its card, or None for a model that is not packaged. Opens no weights.
"""

from __future__ import annotations

import json
from pathlib import Path

from citewell.records import Maker
from citewell.weights import WEIGHTS


def card_path(maker: Maker) -> Path | None:
    """The card in plain words (Mitchell et al. 2019) of the weights with this maker's hash."""
    for card in sorted(WEIGHTS.glob("*/card.json")):
        if json.loads(card.read_text(encoding="utf-8"))["files"]["model.onnx"] == maker.hash:
            return card.with_name("CARD.md")
    return None

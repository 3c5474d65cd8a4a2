"""Figures of docs/measurements, for the exact weights they were measured with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from citewell.core.weights import model_hash

MEASURED = Path(__file__).parents[1] / "docs/measurements"


def measured(name: str, card: dict[str, Any], key: str = "model") -> dict[str, Any]:
    """Raises SystemExit, naming what to run, if the figures are of other weights than the card's."""
    found: dict[str, Any] = json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))
    weights = model_hash(card)
    if found[key] != weights:
        raise SystemExit(
            f"{name}.json was measured with {found[key]}, {card['id']} is {weights}: "
            f"run `python -m benchmarks.{name}`, then `python -m training.card`"
        )
    return found

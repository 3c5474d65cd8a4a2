"""The packaged models' files, each checked against its card before it is used.

In: a folder of weights. Out: its card, and the bytes of a file whose hash the card states. Knows nothing
about what the files hold.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from citewell.core.errors import ModelChangedError, ModelError
from citewell.core.identity import hash_bytes

WEIGHTS = Path(__file__).parents[1] / "models" / "weights"


def read_card(folder: Path) -> dict[str, Any]:
    """``card.json``; its ``files`` states a hash for each file of the model. Raises ModelError when it is
    missing."""
    card: dict[str, Any] = json.loads(_bytes(folder / "card.json"))
    return card


def checked_bytes(path: Path, card: dict[str, Any]) -> bytes:
    """What ``path`` holds. Raises ModelError when it is missing, ModelChangedError when its hash is not the
    one that ``card`` states."""
    data = _bytes(path)
    expected, found = card["files"].get(path.name, "no hash"), hash_bytes(data)
    if found != expected:
        raise ModelChangedError(
            f"{path} has the hash {found}, but its card says {expected}",
            hint="reinstall citewell, or restore the file that the card describes",
        )
    return data


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"model file {path} cannot be read ({error.strerror})", hint="reinstall citewell"
        ) from error

"""The packaged models' files, each checked against its card before it is used.

In: a folder of weights. Out: its card, and the bytes of a file whose hash the card states; a large model is
in pieces, `model.onnx.1`, `model.onnx.2` and so on. The judge's folder is that of the distribution
`citewell-judge`, if it is installed. Knows nothing about what the files contain.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from citewell.core.errors import ModelChangedError, ModelError
from citewell.core.identity import hash_bytes, hash_value

WEIGHTS = Path(__file__).parents[1] / "models" / "weights"


@cache
def judge_folder() -> Path | None:
    """The judge's folder; None if `citewell-judge` is not installed."""
    found = find_spec("citewell_judge")
    return Path(found.origin).parent if found and found.origin else None


def entailer_folders() -> tuple[Path, ...]:
    """The folders of the entailers that have their own calibration."""
    judge = judge_folder()
    return (WEIGHTS / "entailer", *([judge] if judge else []))


def read_card(folder: Path) -> dict[str, Any]:
    """``card.json``; its ``files`` states a hash for each file of the model. Raises ModelError when it is
    missing."""
    card: dict[str, Any] = json.loads(_bytes(folder / "card.json"))
    return card


def checked_bytes(path: Path, card: dict[str, Any]) -> bytes:
    """The contents of ``path``. Raises ModelError if it is missing, ModelChangedError if its hash is not the
    one that ``card`` states."""
    data = _bytes(path)
    expected, found = card["files"].get(path.name, "no hash"), hash_bytes(data)
    if found != expected:
        raise ModelChangedError(
            f"{path} has the hash {found}, but its card says {expected}",
            hint="reinstall citewell, or restore the file that the card describes",
        )
    return data


def model_bytes(folder: Path, card: dict[str, Any]) -> bytes:
    """The model's graph with its weights, its pieces joined; raises as :func:`checked_bytes`."""
    return b"".join(checked_bytes(folder / name, card) for name in _model_files(card))


def model_hash(card: dict[str, Any]) -> str:
    """The hash of model.onnx, or of its pieces' hashes in order."""
    hashes = [card["files"][name] for name in _model_files(card)]
    return str(hashes[0]) if len(hashes) == 1 else hash_value(hashes)


def packaged_model(weights_hash: str) -> tuple[Path, dict[str, str]] | None:
    """The model card (Mitchell et al. 2019) of the packaged model with this hash, and the hashes of its files
    by name; None for a model that is not packaged."""
    judge = judge_folder()
    for folder in (*sorted(path.parent for path in WEIGHTS.glob("*/card.json")), *([judge] if judge else [])):
        card = read_card(folder)
        if model_hash(card) == weights_hash:
            return folder / "CARD.md", card["files"]
    return None


def _model_files(card: dict[str, Any]) -> list[str]:
    return sorted(name for name in card["files"] if name.startswith("model.onnx"))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"model file {path} cannot be read ({error.strerror})", hint="reinstall citewell"
        ) from error

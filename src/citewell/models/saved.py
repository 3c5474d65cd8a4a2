"""The folder of a saved transformers model: found, complete, and the hash of what is in it.

In: a folder or a hub id, and a pinned hash. Out: the folder and its digest. safetensors only: a pickle runs
code when it is loaded. Knows nothing about what the model is for.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
from pathlib import Path
from typing import Any

from citewell.errors import MissingExtraError, ModelChangedError, ModelError


def libraries() -> tuple[Any, Any]:
    """transformers and torch. Raises MissingExtraError."""
    try:
        return importlib.import_module("transformers"), importlib.import_module("torch")
    except ImportError as error:
        raise MissingExtraError(
            "Hugging Face models need torch and transformers",
            hint="pip install torch==2.13.0 'citewell[huggingface]' (torch first: that is the CPU build)",
        ) from error


def folder_of(name: str) -> Path:
    """``name`` itself, or what the hub gives for it. Raises ModelError."""
    if Path(name).is_dir():
        folder = Path(name)
    else:
        hub = importlib.import_module("huggingface_hub")
        try:
            folder = Path(hub.snapshot_download(name))
        except Exception as error:
            raise ModelError(
                f"no model at {name}: {type(error).__name__}",
                hint="give a folder, or a hub id that can be reached",
            ) from error
    if not (folder / "config.json").is_file() or not weights(folder):
        raise ModelError(
            f"{folder} holds no config.json and weights", hint="give the folder of a saved model"
        )
    return folder


def weights(folder: Path) -> list[Path]:
    """Its weight files, in order."""
    return sorted(folder.glob("*.safetensors"))


def digest(folder: Path, expected: str = "") -> str:
    """Tagged hash over the configuration and the weights. Raises ModelChangedError for another than
    ``expected``."""
    state = hashlib.sha256()
    for path in itertools.chain([folder / "config.json"], weights(folder)):
        state.update(hashlib.sha256(path.read_bytes()).digest())
    if expected and state.hexdigest() != expected.removeprefix("sha256:"):
        raise ModelChangedError(
            f"{folder} has hash {state.hexdigest()}, pinned is {expected}",
            hint="restore it, or pin the new hash",
        )
    return "sha256:" + state.hexdigest()

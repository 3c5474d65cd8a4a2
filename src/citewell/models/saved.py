"""Finds, checks, hashes and loads the folder of a saved transformers model.

In: a folder or a hub id, and a pinned hash. Out: the folder, its digest, and the loaded transformers objects.
safetensors only: loading a pickle runs code. Independent of what the model is for.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from citewell.core.errors import MissingExtraError, ModelChangedError, ModelError
from citewell.core.identity import hash_file, hash_value

UNREAD = (".md", ".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".ot", ".onnx", ".gguf")
"""Files that are never loaded, so neither fetched nor hashed: prose, and weights other than safetensors."""


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
    """``name`` itself, or its download from the hub. Raises ModelError."""
    folder = _found(name)
    if not (folder / "config.json").is_file() or not weights(folder):
        raise ModelError(
            f"{folder} contains no config.json and weights", hint="give the folder of a saved model"
        )
    if (folder / "adapter_config.json").exists():
        raise ModelError(
            f"{folder} contains an adapter", hint="merge the adapter into its model and save the result"
        )
    return folder


def base_of(folder: Path, name: str) -> Path:
    """The source of the tokenizer for the model in ``folder``: its subfolder ``name``, else a folder or hub
    id as for :func:`folder_of`. Raises ModelError."""
    return folder / name if (folder / name).is_dir() else _found(name, "*.safetensors")


def weights(folder: Path) -> list[Path]:
    """The weight files, sorted."""
    return sorted(folder.glob("*.safetensors"))


def digest(expected: str, *folders: Path) -> str:
    """Tagged hash over the names and contents of all loadable files in ``folders``; weights are loaded from
    the first only. Raises ModelChangedError unless it equals ``expected`` ("" for any; the tag is
    optional)."""
    found = hash_value([_hashes(folder, weightless=place > 0) for place, folder in enumerate(folders)])
    if expected and found.removeprefix("sha256:") != expected.removeprefix("sha256:"):
        raise ModelChangedError(
            f"{folders[0]} has hash {found}, pinned is {expected}",
            hint="restore it, or pin the new hash",
        )
    return found


def tokenizer_of(folder: Path) -> Any:
    """The tokenizer saved in ``folder``. Raises ModelError."""
    return _loaded("AutoTokenizer", folder)


def model_of(kind: str, folder: Path) -> Any:
    """The weights in ``folder`` as transformers' class ``kind``, in evaluation mode. Raises ModelError, also
    if weights are missing: transformers would initialize those at random."""
    model, told = _loaded(kind, folder, use_safetensors=True, output_loading_info=True)
    if missing := sorted(told["missing_keys"]):
        raise ModelError(
            f"{folder} lacks {', '.join(missing[:3])}{' ...' if len(missing) > 3 else ''}",
            hint="name the folder of a model trained for this task, including its classification head",
        )
    return model.eval()


def settings_of(folder: Path) -> dict[str, Any]:
    """The contents of config.json. Raises ModelError."""
    with loading(folder):
        return dict(json.loads((folder / "config.json").read_text(encoding="utf-8")))


@contextmanager
def loading(folder: Path) -> Iterator[None]:
    """Turns whatever the libraries raise on a damaged or foreign file into a ModelError."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"{folder} cannot be loaded: {type(error).__name__}: {error}",
            hint="save it as safetensors with transformers, as an architecture that needs no custom code",
        ) from error


def break_special_tokens(tokenizer: Any, text: str) -> str:
    """``text`` with the tokenizer's special tokens broken up: in foreign text they could end a turn, or end
    the text and begin a claim."""
    for token in tokenizer.all_special_tokens:
        if len(token) > 1:
            text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


def _loaded(kind: str, folder: Path, **options: Any) -> Any:
    transformers, _ = libraries()
    with loading(folder):
        # Explicit: otherwise transformers asks the user whether to run the folder's code.
        return getattr(transformers, kind).from_pretrained(
            folder, trust_remote_code=False, local_files_only=True, **options
        )


def _found(name: str, *unread: str) -> Path:
    if Path(name).is_dir():
        return Path(name)
    hub = importlib.import_module("huggingface_hub")
    try:
        return Path(hub.snapshot_download(name, ignore_patterns=[*(f"*{end}" for end in UNREAD), *unread]))
    except Exception as error:
        raise ModelError(
            f"no model at {name}: {type(error).__name__}",
            hint="give a folder, or a hub id that can be reached",
        ) from error


def _hashes(folder: Path, *, weightless: bool) -> list[tuple[str, str]]:
    """Name and hash of each file, sorted."""
    unread = (*UNREAD, ".safetensors") if weightless else UNREAD
    within = ((path.relative_to(folder), path) for path in folder.rglob("*") if path.is_file())
    return sorted(
        (name.as_posix(), hash_file(path))
        for name, path in within
        if path.suffix not in unread and not any(part.startswith(".") for part in name.parts)
    )

"""The judge's shipped weights as torch weights, from which another round of training starts.

In: the installed `citewell-judge`. Out: values by the names of `training.judge.Judge`, rounded as shipped.
Raises SystemExit if the judge is not installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from citewell.core.weights import judge_folder, model_bytes, read_card

if TYPE_CHECKING:
    from torch import Tensor

HEADS = ("head", "answered")


def graph_name(name: str) -> str:
    """The graph's name for the weights of the layer that torch names ``name``."""
    return name.replace(".", "__")


def shipped() -> dict[str, Tensor]:
    import torch

    return {name: torch.from_numpy(value) for name, value in values().items()}


def values() -> dict[str, NDArray[np.float32]]:
    """The same as arrays, without torch."""
    folder = judge_folder()
    if folder is None:
        raise SystemExit("citewell-judge is not installed: pip install -e ./judge")
    graph = onnx.load_from_string(model_bytes(folder, read_card(folder))).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    found = {}
    for name in {key.split(".int8")[0].removesuffix("_quantized") for key in stored}:
        if name.endswith(("_scale", "_zero_point")):
            continue
        value = _value(name, stored)
        if value is None:
            continue
        layer = name.removesuffix("_bias").removesuffix(".1").replace("__", ".")
        if "__" in name or layer in HEADS:
            found[f"{layer}.{'bias' if name.endswith('_bias') else 'weight'}"] = value.T
        elif name.startswith("mpnet."):
            found[name] = value
    return {name: np.ascontiguousarray(value) for name, value in found.items()}


def _value(name: str, stored: dict[str, NDArray[np.generic]]) -> NDArray[np.float32] | None:
    """``name`` before it was rounded, as closely as it can be restored; None if it is not a weight."""
    if f"{name}.int8" in stored:
        codes, scale = (stored[f"{name}.{part}"].astype(np.float32) for part in ("int8", "scale"))
        return (codes * scale).reshape(stored[f"{name}.shape"])
    if f"{name}_quantized" in stored:
        codes, zero, scale = (
            stored[f"{name}_{part}"].astype(np.float32) for part in ("quantized", "zero_point", "scale")
        )
        return (codes - zero) * scale
    plain = stored.get(name)
    return plain.astype(np.float32) if plain is not None and plain.dtype == np.float32 else None

"""The judge's shipped weights as torch weights: what another round of training begins with.

In: the installed `citewell-judge`. Out: values by the names of `training.judge.Judge`, rounded as they were
shipped. Raises SystemExit where the judge is not installed.
"""

from __future__ import annotations

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor

from citewell.core.weights import judge_folder, model_bytes, read_card

PREFIX = "judge."
HEADS = ("head", "answered")


def shipped() -> dict[str, Tensor]:
    folder = judge_folder()
    if folder is None:
        raise SystemExit("citewell-judge is not installed: pip install -e ./judge")
    graph = onnx.load_from_string(model_bytes(folder, read_card(folder))).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    found = {
        name.removeprefix(PREFIX): value
        for name in {key.removesuffix(".int8") for key in stored}
        if name.startswith(PREFIX)
        and "_Transposed" not in name
        and (value := _value(name, stored)) is not None
    }
    for node in graph.node:
        if node.name.startswith("/layer.") and node.op_type in ("MatMul", "MatMulInteger"):
            value = _value(node.input[1].removesuffix("_quantized"), stored)
            if value is not None:
                layer = node.name.removesuffix("_quant").removesuffix("/MatMul").strip("/").replace("/", ".")
                found[f"mpnet.encoder.{layer}.weight"] = value.T
    for head in HEADS:
        value = _value(f"{PREFIX}{head}.weight_Transposed", stored)
        if value is not None:
            found[f"{head}.weight"] = value.T
    return {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in found.items()}


def _value(name: str, stored: dict[str, NDArray[np.generic]]) -> NDArray[np.float32] | None:
    """What ``name`` was before it was rounded, as far as that can be said; None for what is no weight."""
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

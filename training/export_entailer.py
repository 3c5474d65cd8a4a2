"""The entailer's checkpoints -> weights/entailer: graph, tokenizer and card.

In: CITEWELL_CHECKPOINTS/entailer (the end of every stage). Out: model.onnx (int8 weights, float32
computation), tokenizer.json and card.json with the licence of every set that shaped the weights. Exporting
stops if the graph and torch disagree.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from citewell.models.onnx.windows import WindowRule
from training.border import OPTIONS, QUESTIONS
from training.compact import compact
from training.encoder import Encoder
from training.entailer import SEED, before_again, end_of, mean_of_last
from training.export_embedder import CARD as EMBEDDER_CARD
from training.export_embedder import WEIGHTS, Core, check_parity, trace, write
from training.general import SETS
from training.grounding import DOCUMENTS
from training.items import LABELS
from training.passages import NEWS
from training.passages import SETS as PASSAGE_SETS
from training.sources import sources
from training.written import written_sets

FOLDER = WEIGHTS / "entailer"
# Of the first release, the stage "again" and the stage "meaning". Chosen on held-out claims, from the
# mixtures that still pass the tests' plain cases.
SHARES = (0.35, 0.4, 0.25)
BAD_AT = [
    "languages other than English",
    "arithmetic and comparison over tables; claims about a whole table (counts, totals, superlatives)",
    "evidence more than four sentences apart, and chains of inference",
    "claims that hinge on world knowledge, dates to be computed, or who a pronoun is",
    "numbers, dates and names changed inside long claims, when used without the exact checks beside it",
]
CARD: dict[str, Any] = {
    "id": "citewell-entailer-2",
    "kind": "entailer",
    "labels": list(LABELS),
    "windows": asdict(WindowRule()),
    "max_tokens": 512,
    "combination": "a sentence of the claim is entailed as much as by its best window; of the rest, "
    "contradiction gets the share it has in the window that contradicts most; a claim of several "
    "sentences takes its weakest one",
    "base": EMBEDDER_CARD["base"],
    "recipe": "one pass over general pairs, then one over documents in windows, tables, made pairs "
    "and a share of the general pairs; the last checkpoints averaged and mixed 6:4 with the end of the first "
    "pass; then one over human-labelled documents with claims as bags of sentences, questions and options "
    "as statements, claims that copy, near-miss passages and a share of what was seen; its last "
    "checkpoints averaged and mixed 4:6 with what it began with (the first release); the general pairs once "
    "more, a fifth of the stage before once more, and statements written for this with their contraries "
    "(training/written.jsonl, by a large language model, reviewed by nobody); first release, general pairs "
    "and written statements mixed 7:8:5; int8 weights with one float16 scale for 64 inputs of each output, "
    "restored to float32 at load",
    "seed": SEED,
    "command": "python -m training.entailer && python -m training.export entailer",
}


class Classifier(nn.Module):
    """The exported graph: three logits in the order of LABELS."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.core = Core(encoder.bert)
        self.head = encoder.head

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        return self.head(self.core(input_ids, attention_mask, token_type_ids)[:, 0])


def weights() -> dict[str, Tensor]:
    """The final weights of each round of stages, mixed: the last alone is best at what was written for it but
    forgets the rest."""
    states = (before_again(), end_of("again"), mean_of_last("meaning"))
    return {
        name: sum(share * state[name].float() for share, state in zip(SHARES, states, strict=True))
        for name in states[0]
    }


def training_sets() -> list[dict[str, str]]:
    """Every set that shaped the weights, with its hash and the licence its origin states."""
    names = sorted({*SETS, *DOCUMENTS, *PASSAGE_SETS, *NEWS, *QUESTIONS, *OPTIONS, *written_sets()})
    return [
        {"name": s.name, "sha256": s.sha256, "licence": s.licence, "ship": s.ship}
        for s in map(sources().get, names)
        if s
    ]


def export(folder: Path, state: dict[str, Tensor], how: str = "int8") -> None:
    encoder = Encoder(len(LABELS))
    encoder.load_state_dict(state)
    model = Classifier(encoder.eval()).eval()
    graph = trace(model, {"logits": {0: "batch"}})
    parity = check_parity(model, graph)
    write(folder, compact(graph, how), {**CARD, "trained_on": training_sets(), "bad_at": BAD_AT})
    print(f"entailer exported to {folder}; float32 graph within {parity:.1e} of torch")


def main() -> None:
    export(FOLDER, weights())


if __name__ == "__main__":
    main()

"""The judge's shipped weights load completely: any missing one would start a further round at random."""

from __future__ import annotations

from training.judge_weights import values

LAYER = ("attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o")
LAYER += ("attention.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm")


def test_every_weight_of_the_judge_is_found_under_the_name_that_torch_gives_it() -> None:
    found = values()
    names = ["head", "answered", "mpnet.embeddings.LayerNorm"]
    names += [f"mpnet.encoder.layer.{n}.{part}" for n in range(12) for part in LAYER]
    assert {f"{name}.{kind}" for name in names for kind in ("weight", "bias")} <= found.keys()
    assert found["head.weight"].shape == (3, 768)
    assert found["answered.weight"].shape == (1, 768)
    assert {"mpnet.embeddings.word_embeddings.weight", "mpnet.embeddings.position_embeddings.weight"} <= (
        found.keys()
    )

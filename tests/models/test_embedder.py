"""The embedded sentence encoder: unit vectors, the same bits in any batch, nothing cut, changed files
refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from citewell.core.errors import ModelChangedError, ModelError, UsageError
from citewell.core.weights import WEIGHTS
from citewell.models.onnx.embedder import OnnxEmbedder


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder()


def test_vectors_are_unit_length_float32_in_order(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed(
        ["Capital expenditure rose.", "The cat sleeps.", "Spending on plants increased."]
    )
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[1]


def test_alone_and_among_others_give_the_same_bits(embedder: OnnxEmbedder) -> None:
    texts = ["short", "a much longer text about depreciation " * 20, "Net sales were 51,217 million."]
    together = embedder.embed(texts)
    for row, text in enumerate(texts):
        assert np.array_equal(embedder.embed([text])[0], together[row])


def test_the_end_of_a_long_text_counts(embedder: OnnxEmbedder) -> None:
    opening = "The company leases offices in many cities. " * 100
    plain, other = embedder.embed([opening, opening + "Whales sing in the deep ocean. " * 20])
    assert not np.array_equal(plain, other)
    assert np.isclose(np.linalg.norm(other), 1.0, atol=1e-6)


def test_no_texts_give_no_rows(embedder: OnnxEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 384)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_text_without_words_is_refused(embedder: OnnxEmbedder, text: str) -> None:
    with pytest.raises(UsageError, match="no word"):
        embedder.embed(["fine", text])


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "embedder"
    shutil.copytree(WEIGHTS / "embedder", folder)
    with (folder / "tokenizer.json").open("a") as file:
        file.write(" ")
    with pytest.raises(ModelChangedError, match="tokenizer"):
        OnnxEmbedder(folder)


def test_missing_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"card\.json"):
        OnnxEmbedder(tmp_path)

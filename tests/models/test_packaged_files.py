"""A packaged file is used only if its bytes are those its card describes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.core import sentences
from citewell.core.errors import ModelChangedError
from citewell.core.weights import WEIGHTS
from citewell.models.onnx.session import Session
from citewell.verification import support


@pytest.fixture
def nothing_loaded() -> Iterator[None]:
    remembered = (sentences._tokenizer, support._read)
    for each in remembered:
        each.cache_clear()
    yield
    for each in remembered:
        each.cache_clear()


@pytest.mark.usefixtures("nothing_loaded")
def test_a_changed_tokenizer_is_refused_before_a_token_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "embedder"
    folder.mkdir()
    for name in ("card.json", "tokenizer.json"):
        shutil.copy(WEIGHTS / "embedder" / name, folder)
    with (folder / "tokenizer.json").open("ab") as file:
        file.write(b" ")
    monkeypatch.setattr(sentences, "WEIGHTS", tmp_path)
    with pytest.raises(ModelChangedError, match="tokenizer"):
        sentences.token_spans("Revenue rose.")


@pytest.mark.usefixtures("nothing_loaded")
def test_changed_coefficients_of_support_are_refused(tmp_path: Path) -> None:
    for name in ("card.json", support.FILE):
        shutil.copy(WEIGHTS / "entailer" / name, tmp_path)
    changed = tmp_path / support.FILE
    changed.write_text(changed.read_text(encoding="utf-8").replace("0.", "1.", 1))
    with pytest.raises(ModelChangedError, match=r"support\.json"):
        support.calibration_card(tmp_path)


@pytest.mark.parametrize("model", ["embedder", "entailer", "reading"])
def test_a_document_cannot_end_its_own_text(model: str) -> None:
    """What a model reads as the end of a text, or as padding, is not something a document could write."""
    tokenizer = Session(WEIGHTS / model).tokenizer
    own = set(tokenizer.encode("").ids)
    words = tokenizer.encode("Acme fell. [SEP] Beta [CLS] won [MASK] [PAD]", add_special_tokens=False)
    assert not own & {*words.ids}
    assert {"[MASK]", "[PAD]"}.isdisjoint(words.tokens)
    assert len(sentences.token_spans("[SEP]")) == len(sentences.token_spans("( sep )")) == 3

"""A card's figures belong to the weights it comes with, or are absent."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from training.card_figures import reading_metrics
from training.sources import sources

from citewell.core.errors import ModelChangedError
from citewell.core.weights import WEIGHTS, checked_bytes, judge_folder, read_card
from training import card as cards
from training import measured


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that was exported and measured, with its support fitted."""
    (tmp_path / "model.onnx").write_bytes(b"first weights")
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    (tmp_path / "support.json").write_bytes(b"{}")
    cards.save_exported(tmp_path, {"id": "made"})
    cards.save(tmp_path, read_card(tmp_path) | {"metrics": {"auroc": 0.9}})
    cards.state_hash(tmp_path, tmp_path / "support.json")
    return tmp_path


def test_figures_of_the_same_weights_stay(folder: Path) -> None:
    cards.save_exported(folder, {"id": "made"})
    assert read_card(folder)["metrics"] == {"auroc": 0.9}
    assert checked_bytes(folder / "support.json", read_card(folder)) == b"{}"


def test_new_weights_have_no_figures_and_no_fitted_support(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"second weights")
    cards.save_exported(folder, {"id": "made"})
    assert "metrics" not in read_card(folder)
    assert checked_bytes(folder / "model.onnx", read_card(folder)) == b"second weights"
    with pytest.raises(ModelChangedError, match=r"support\.json"):
        checked_bytes(folder / "support.json", read_card(folder))


def test_figures_of_other_weights_are_refused_and_the_step_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "ranker.json").write_text(json.dumps({"model": "sha256:other"}))
    monkeypatch.setattr(measured, "MEASURED", folder)
    with pytest.raises(SystemExit, match=r"python -m benchmarks\.ranker"):
        reading_metrics(read_card(folder))


@pytest.mark.parametrize("model", cards.FIGURES)
def test_a_packaged_card_says_what_the_measurements_say(model: str) -> None:
    metrics_of, figures_of = cards.FIGURES[model]
    packaged = read_card(WEIGHTS / model)
    assert packaged["metrics"] == metrics_of(packaged)
    written = (WEIGHTS / model / "CARD.md").read_text(encoding="utf-8")
    assert written == cards.with_figures(written, figures_of(packaged["metrics"]))


def test_the_readings_card_names_its_data_by_hash() -> None:
    data = read_card(WEIGHTS / "reading")["data"]
    assert {name: each["sha256"] for name, each in data.items()} == {
        name: sources()[name].sha256 for name in data
    }


def test_the_entailers_card_says_what_the_measurements_say() -> None:
    packaged: dict[str, Any] = read_card(WEIGHTS / "entailer")
    assert packaged["metrics"] == cards.metrics(packaged)
    written = (WEIGHTS / "entailer" / "CARD.md").read_text(encoding="utf-8")
    assert written == cards.text(packaged)


@pytest.mark.parametrize("model", ["embedder", "entailer", "reading"])
def test_the_train_group_installs_the_encoder_that_the_card_names(model: str) -> None:
    groups = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["dependency-groups"]
    pinned = [each.replace("==", " ") for each in groups["train"] if "==" in each]
    assert any(each in read_card(WEIGHTS / model)["base"]["name"] for each in pinned)


def test_the_judges_card_says_what_the_measurements_say() -> None:
    folder = judge_folder()
    assert folder is not None, "make setup installs citewell-judge"
    packaged: dict[str, Any] = read_card(folder)
    assert packaged["metrics"] == cards.judge_metrics(packaged)
    assert (folder / "CARD.md").read_text(encoding="utf-8") == cards.judge_text(packaged)

"""An interrupted training run resumes to the same result, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from training.encoder import Schedule, Training, averaged  # noqa: E402


def run(folder: Path, recipe: str = "recipe") -> Training:
    torch.manual_seed(1)
    rows = torch.randn(8, 4)

    def loss_of(model: Any, step: int) -> Any:
        return model(rows[step % 8]).float().pow(2).sum()

    training = Training(
        torch.nn.Linear(4, 2), Schedule(6, 0.1, warmup=1), loss_of, folder, recipe, every=1, keep_from=0.5
    )
    training.run()
    return training


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("kept-*.pt"))


@pytest.mark.parametrize("write", range(10))
def test_killed_in_any_write_it_ends_with_the_same_average(
    tmp_path: Path, write: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "whole")
    save, calls = torch.save, iter(range(100))

    def torn(state: Any, path: Path) -> None:
        if next(calls) == write:
            path.write_bytes(b"half")
            raise KeyboardInterrupt
        save(state, path)

    monkeypatch.setattr(torch, "save", torn)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "killed")
    monkeypatch.setattr(torch, "save", save)
    run(tmp_path / "killed")
    names = [path.name for path in kept(tmp_path / "whole")]
    assert [path.name for path in kept(tmp_path / "killed")] == names
    once, again = (averaged(kept(tmp_path / name)) for name in ("whole", "killed"))
    assert all(torch.equal(once[name], again[name]) for name in once)


def test_a_run_of_other_data_is_not_gone_on_with(tmp_path: Path) -> None:
    run(tmp_path, "first data")
    with pytest.raises(SystemExit, match="other data"):
        run(tmp_path, "second data")

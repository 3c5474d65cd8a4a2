"""The packaged calibration belongs to the packaged entailer; otherwise its probabilities are uncalibrated."""

from __future__ import annotations

import pytest

from citewell.core.weights import WEIGHTS, judge_folder, model_hash, read_card
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.verification.support import calibration_card, card_of


@pytest.mark.parametrize("which", ["entailer", "judge"])
def test_the_coefficients_were_fitted_to_the_weights_beside_them(which: str) -> None:
    folder = judge_folder() if which == "judge" else WEIGHTS / "entailer"
    assert folder is not None, "make setup installs citewell-judge"
    assert card_of(OnnxEntailer(folder, threads=1).maker) == calibration_card(folder)["hash"], (
        "fit again after an export: python -m training.support"
    )


def test_the_line_over_both_was_fitted_to_the_weights_of_both() -> None:
    folder = judge_folder()
    assert folder is not None, "make setup installs citewell-judge"
    joint = calibration_card(folder)["joint"]
    assert joint["with"]["hash"] == model_hash(read_card(WEIGHTS / "entailer"))

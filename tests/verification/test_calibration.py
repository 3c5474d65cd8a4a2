"""The packaged calibration belongs to the packaged entailer, or the probabilities it ships are not
calibrated."""

from __future__ import annotations

import pytest

from citewell.core.weights import WEIGHTS, judge_folder
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.verification.support import calibration_card, card_of


@pytest.mark.parametrize("which", ["entailer", "judge"])
def test_the_coefficients_were_fitted_to_the_weights_beside_them(which: str) -> None:
    folder = judge_folder() if which == "judge" else WEIGHTS / "entailer"
    assert folder is not None, "make setup installs citewell-judge"
    assert card_of(OnnxEntailer(folder, threads=1).maker) == calibration_card(folder)["hash"], (
        "fit again after an export: python -m training.support"
    )

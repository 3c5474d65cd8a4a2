"""The packaged calibration belongs to the packaged entailer, or the probabilities it ships are not
calibrated."""

from __future__ import annotations

import pytest

from citewell.core.weights import WEIGHTS
from citewell.verification.support import COEFFICIENTS, calibrated, card_of


def test_the_coefficients_were_fitted_to_the_packaged_weights() -> None:
    if not (WEIGHTS / "entailer" / "model.onnx").is_file() or not COEFFICIENTS.is_file():
        pytest.skip("the entailer or its calibration is not packaged here")
    from citewell.models.onnx.entailer import OnnxEntailer

    maker = OnnxEntailer(threads=1).maker
    assert calibrated(maker), "fit again after an export: python -m training.support"
    assert card_of(maker).startswith("sha256:")

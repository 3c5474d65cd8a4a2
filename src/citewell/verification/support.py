"""An entailer's word as a calibrated probability of support.

In: a premise, the entailer's three probabilities and its maker. Out: the probability of support at equal
priors,
so that 0.5 is its border. The packaged entailer's log odds go through one line a kind of source (sentence,
text, table), whose coefficients stand in support.json with what they were fitted on, checked against the
entailer's card when they are read. Any other entailer's own probability is taken as it is; a panel is as sure
as the least sure of those whose word it gives. Nothing of the claim's words is looked at here: features of
them were measured and bought nothing (docs/measurements/rules.md).
"""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

from citewell.core.identity import hash_bytes
from citewell.core.records import Entailment, Maker
from citewell.core.weights import WEIGHTS, checked_bytes, read_card
from citewell.verification.kinds import source_kind

COEFFICIENTS = Path(__file__).with_name("support.json")
UNCALIBRATED = "not calibrated for this verification model"
_EDGE = 1e-4  # log odds are cut here: what lies beyond is the model's confidence in itself


def support(premise: str, entailment: Entailment, *, maker: Maker) -> float:
    """In [0, 1], before exact code objects. Raises ValueError for an unchecked entailment."""
    if entailment.entailment is None:
        raise ValueError(f"nothing to calibrate: {entailment.unchecked}")
    if entailment.voices:
        return min(support(premise, voice.said, maker=voice.maker) for voice in entailment.voices)
    if not calibrated(maker):
        return entailment.entailment
    line = _coefficients()["coefficients"][source_kind(premise)]
    return 1.0 / (1.0 + math.exp(-(line["intercept"] + line["slope"] * log_odds(entailment.entailment))))


def calibrated(maker: Maker) -> bool:
    """The packaged coefficients were fitted to this entailer's outputs."""
    return COEFFICIENTS.is_file() and calibration_card().get("entailer", {}).get("hash") == maker.hash


def card_of(maker: Maker) -> str:
    """The hash of the calibration of this entailer's word, or of a member's of a panel whose maker bears
    it as
    its card; else that there is none."""
    if COEFFICIENTS.is_file() and (calibrated(maker) or maker.card == calibration_card()["hash"]):
        return str(calibration_card()["hash"])
    return UNCALIBRATED


def calibration_card() -> dict[str, Any]:
    """What the coefficients were fitted on, with which entailer, and how well they are calibrated."""
    return {name: value for name, value in _coefficients().items() if name != "coefficients"}


def log_odds(probability: float) -> float:
    """Cut where the model's confidence is only in itself."""
    cut = min(1.0 - _EDGE, max(_EDGE, probability))
    return math.log(cut / (1.0 - cut))


@lru_cache(maxsize=1)
def _coefficients() -> dict[str, Any]:
    data = checked_bytes(COEFFICIENTS, read_card(WEIGHTS / "entailer"))
    loaded: dict[str, Any] = json.loads(data)
    return {**loaded, "hash": hash_bytes(data)}

"""An entailer's output as a calibrated probability of support.

In: a premise, the entailer's three probabilities and its maker. Out: the probability of support at equal
priors, so that 0.5 is the threshold. An embedded entailer's log odds are mapped by one line per kind of pair
(a source that is a sentence, text or table; a claim that answers yes or no), with coefficients stored next to
its weights in support.json with what they were fitted on, checked against its card when read; the judge and
the small entailer are combined by one joint line. Any other entailer's probability is used as is; any other
panel has the lowest probability among the voices it reports. The claim's other words are not used: features
of them were measured and brought no gain (docs/measurements/rules.md).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from citewell.core.identity import hash_bytes
from citewell.core.records import Entailment, Maker, Voice
from citewell.core.weights import checked_bytes, entailer_folders, read_card
from citewell.verification.evidence import pair_kind, source_kind

FILE = "support.json"
UNCALIBRATED = "not calibrated for this verification model"
_EDGE = 1e-4  # log odds are clipped here: beyond it is only the model's overconfidence


def support(premise: str, entailment: Entailment, claim: str = "", *, maker: Maker) -> float:
    """In [0, 1], before objections by exact code. Raises ValueError for an unchecked entailment."""
    if entailment.entailment is None:
        raise ValueError(f"nothing to calibrate: {entailment.unchecked}")
    if entailment.voices:
        together = _together(premise, claim, entailment.voices) if entailment.weighed else None
        if together is not None:
            return together
        return min(support(premise, voice.said, claim, maker=voice.maker) for voice in entailment.voices)
    fitted = _fitted(maker)
    if fitted is None:
        return entailment.entailment
    line = _line(fitted["coefficients"], premise, claim)
    return logistic(line["intercept"] + line["slope"] * log_odds(entailment.entailment))


def _line(fitted: dict[str, dict[str, float]], premise: str, claim: str) -> dict[str, float]:
    """The coefficients for this kind of pair; of its source alone where none were fitted to the kind."""
    return fitted.get(pair_kind(premise, claim)) or fitted[source_kind(premise)]


def _together(premise: str, claim: str, voices: Sequence[Voice]) -> float | None:
    """By the line fitted jointly to two voices; None if there is none."""
    said = {voice.maker.hash: voice.said.entailment for voice in voices}
    for fitted in _calibrations():
        if "joint" not in fitted:
            continue
        own, other = fitted["entailer"]["hash"], fitted["joint"]["with"]["hash"]
        if said.keys() == {own, other}:
            line = _line(fitted["joint"]["coefficients"], premise, claim)
            return logistic(
                line["intercept"]
                + line["slope"] * log_odds(said[own] or 0.0)
                + line["slope of the other"] * log_odds(said[other] or 0.0)
            )
    return None


def card_of(maker: Maker) -> str:
    """The hash of this entailer's calibration, or of the calibration that a panel's maker carries as its
    card; else UNCALIBRATED."""
    if fitted := _fitted(maker):
        return str(fitted["hash"])
    known = {fitted["hash"] for fitted in _calibrations()} if maker.card else set()
    return maker.card if maker.card in known else UNCALIBRATED


def calibration_card(folder: Path) -> dict[str, Any]:
    """What the coefficients of the entailer in ``folder`` were fitted on, and their calibration quality."""
    return {name: value for name, value in _read(folder).items() if name != "coefficients"}


def logistic(value: float) -> float:
    """The probability with these log odds."""
    return 1.0 / (1.0 + math.exp(-value))


def log_odds(probability: float) -> float:
    """Log odds, clipped at _EDGE against overconfidence."""
    cut = min(1.0 - _EDGE, max(_EDGE, probability))
    return math.log(cut / (1.0 - cut))


def _fitted(maker: Maker) -> dict[str, Any] | None:
    """The calibration fitted to this entailer's outputs, or None."""
    return next((each for each in _calibrations() if each["entailer"]["hash"] == maker.hash), None)


@lru_cache(maxsize=1)
def _calibrations() -> tuple[dict[str, Any], ...]:
    """Those of the installed entailers."""
    return tuple(_read(folder) for folder in entailer_folders() if (folder / FILE).is_file())


@lru_cache(maxsize=4)
def _read(folder: Path) -> dict[str, Any]:
    data = checked_bytes(folder / FILE, read_card(folder))
    loaded: dict[str, Any] = json.loads(data)
    return {**loaded, "hash": hash_bytes(data)}

"""An entailer's word as a probability of support: by its calibration, or each member's by its own; under what
exact code holds down.

In: premise, claim, the entailer's probabilities and its maker. Out: the probability of support. The
coefficients of :mod:`citewell.verification.support` were fitted to one entailer's outputs; for any other
its own probability of entailment is taken as it is. A panel is as sure as the least sure of those whose word
it gives. Fits nothing.
"""

from __future__ import annotations

from citewell.core.records import Entailment, Maker
from citewell.verification.support import (
    COEFFICIENTS,
    DENIED_CEILING,
    calibration_card,
    held_down,
    weigh,
)

UNCALIBRATED = "not calibrated for this entailer"


def calibrated(maker: Maker) -> bool:
    """The packaged coefficients were fitted to this entailer's outputs."""
    return COEFFICIENTS.is_file() and calibration_card().get("entailer", {}).get("hash") == maker.hash


def card_of(maker: Maker) -> str:
    """The hash of the calibration that joins this entailer's word, or a member's of a panel whose maker bears
    it as its card; else that there is none."""
    if COEFFICIENTS.is_file() and (calibrated(maker) or maker.card == calibration_card()["hash"]):
        return str(calibration_card()["hash"])
    return UNCALIBRATED


def join_support(
    premise: str, claim: str, entailment: Entailment, *, maker: Maker, context: str = "", title: str = ""
) -> float:
    """In [0, 1]. ``title`` is what of the ``context`` is a source: not the question. Raises ValueError for an
    unchecked entailment."""
    probability = spoken_support(premise, claim, entailment, maker=maker, context=context)
    if probability > DENIED_CEILING and held_down(premise, claim, context=context, title=title):
        return DENIED_CEILING
    return probability


def spoken_support(
    premise: str, claim: str, entailment: Entailment, *, maker: Maker, context: str = ""
) -> float:
    """As :func:`join_support`, before exact code holds anything down."""
    if entailment.entailment is None:
        raise ValueError(f"nothing to join: {entailment.unchecked}")
    if entailment.voices:
        return min(
            spoken_support(premise, claim, voice.said, maker=voice.maker, context=context)
            for voice in entailment.voices
        )
    if calibrated(maker):
        return weigh(premise, claim, entailment, context=context).probability
    return entailment.entailment

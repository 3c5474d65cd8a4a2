"""Which calibration joins an entailer's word with the exact checks: the packaged one, or none.

In: premise, claim, the entailer's probabilities and its maker. Out: the probability of support. The
coefficients of :mod:`citewell.verification.support` were fitted to one entailer's outputs; for any other
its own probability of entailment is taken as it is, under the same ceiling where the premise denies a
number. Fits nothing.
"""

from __future__ import annotations

from citewell.records import Entailment, Maker
from citewell.verification.support import (
    COEFFICIENTS,
    DENIED_CEILING,
    calibration_card,
    denied_numbers,
    support,
)


def calibrated(maker: Maker) -> bool:
    """The packaged coefficients were fitted to this entailer's outputs."""
    return COEFFICIENTS.is_file() and calibration_card().get("entailer", {}).get("hash") == maker.hash


def card_of(maker: Maker) -> str:
    """The hash of the calibration that joins this entailer's word, or that there is none."""
    return str(calibration_card()["hash"]) if calibrated(maker) else "not calibrated for this entailer"


def join_support(
    premise: str, claim: str, entailment: Entailment, *, maker: Maker, context: str = ""
) -> float:
    """In [0, 1]. Raises ValueError for an unchecked entailment."""
    if calibrated(maker):
        return support(premise, claim, entailment, context=context).probability
    if entailment.entailment is None:
        raise ValueError(f"nothing to join: {entailment.unchecked}")
    denied = denied_numbers(premise, claim, context)
    return min(entailment.entailment, DENIED_CEILING) if denied else entailment.entailment

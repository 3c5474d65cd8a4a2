"""A conclusion by arithmetic, checked by doing it again from the cited cells.

In: a claim "what: 6,098 ÷ 17,606 = 34.6%" whose reasoning says the same in line items and periods, with
its located quotes. Out: a verdict with the proof ``computed``, by what the calculator of
:mod:`citewell.questions.calculator` finds in question, claim and quotes alone. None where the claim is not of
this form. Knows nothing about who wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.records import DraftClaim, Kind, Label, Passage, Proof, Status, Verdict
from citewell.questions.calculator import calculator
from citewell.verification.checking.citations import MAKER, Cited


def computed(claim: DraftClaim, cited: Sequence[Cited], question: str) -> Verdict | None:
    """VERIFIED, or UNSUPPORTED with what does not fit; None where it is no calculation over named items."""
    if claim.kind is not Kind.INFERENCE or not claim.reasoning:
        return None
    places: dict[str, tuple[Passage, list[tuple[int, int]]]] = {}
    for one in cited:
        if one.passage is not None and not one.broken:
            places.setdefault(one.passage.chunk.chunk_id, (one.passage, []))[1].extend(one.spans)
    wrong = calculator().recalculated(claim, question, list(places.values()))
    if wrong is None:
        return None
    if wrong:
        return Verdict(status=Status.UNSUPPORTED, reason=wrong, maker=MAKER, label=Label.NEUTRAL, support=0.0)
    return Verdict(
        status=Status.VERIFIED,
        reason=f"recalculated from the cited cells: {claim.reasoning}",
        maker=MAKER,
        label=Label.ENTAILMENT,
        proof=Proof.COMPUTED,
        support=1.0,
    )

"""Do several drafts of one answer say the same? Claim by claim, by mutual entailment, never by string.

In: drafts of the same question and an entailer. Out: a Measure in [0, 1] with n = the number of drafts.
Not measured, and never 1.0, for a single draft, for a writer that would write the same again, and when the
entailer could not judge a pair. After SelfCheckGPT (Manakul et al. 2023), with both directions required.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from citewell.ports import Entailer
from citewell.records import Draft, Measure

DETERMINISTIC = "a deterministic writer says the same again"


def measure_consistency(drafts: Sequence[Draft], entailer: Entailer) -> Measure:
    """Mean, over ordered pairs of drafts and claims of the first, of how far the second entails them."""
    if any(draft.deterministic for draft in drafts):
        return Measure(value=None, n=0, maker=entailer.maker.name, note=DETERMINISTIC)
    if len(drafts) < 2:
        return Measure(value=None, n=0, maker=entailer.maker.name, note="one run")
    pairs = [(other.text, claim.text) for one, other in permutations(drafts, 2) for claim in one.claims]
    if not pairs:
        return Measure(value=None, n=0, maker=entailer.maker.name, note="no draft made a claim")
    # A draft without text entails nothing; a model is not asked about an empty premise.
    judged = iter(entailer.entail([pair for pair in pairs if pair[0].strip()]))
    total = 0.0
    for premise, _ in pairs:
        if premise.strip():
            result = next(judged)
            if result.entailment is None:
                return Measure(value=None, n=0, maker=entailer.maker.name, note=result.unchecked)
            total += result.entailment
    return Measure(value=total / len(pairs), n=len(drafts), maker=entailer.maker.name)

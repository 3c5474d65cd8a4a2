"""Does the source say, of the very thing the claim speaks of, something else?

In: claim and premise, prose. Out: what it says instead, in words, or "". What is found holds the claim's
support under its border, whatever another part of the text makes a model believe: an entailer takes the
best window of a text, and the best window may speak of another thing. Kept are checks that fire on hardly
any supported claim of the training sets (`python -m training.firing`). Knows no probabilities.
"""

from __future__ import annotations

from citewell.verification.directions import turned
from citewell.verification.exceptions import excepted
from citewell.verification.places import misplaced_number
from citewell.verification.turning import other_party, turned_round


def told_otherwise(claim: str, premise: str, context: str = "") -> str:
    """``context`` is text around the premise that is no evidence itself."""
    if found := turned(claim, premise):
        return f"the claim says “{found[0]}”, the source of the same thing “{found[1]}”"
    if pair := turned_round(claim, premise):
        return f"the source has “{pair[0]}” and “{pair[1]}” the other way round"
    if pair := other_party(claim, premise):
        return f"the source says it of “{pair[1]}”, not of “{pair[0]}”"
    if words := excepted(claim, premise):
        return f"the source excepts this (“{words}”)"
    return misplaced_number(claim, premise, context)

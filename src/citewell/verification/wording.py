"""A claim as its source would write it: "30 days" where the source writes "thirty days".

In: claim and premise. Out: the claim, with each quantity and each office or country that the premise holds
in another spelling put into the premise's. What exact code knows to be equal need not be guessed by a
small entailer, which takes "30 days" to contradict "thirty days". Only the model reads this text; verdicts,
reasons and spans are about the claim as it was written. Knows no verdicts.
"""

from __future__ import annotations

import re

from citewell.verification.kinds import source_kind
from citewell.verification.numbers import Match, check_numbers
from citewell.verification.quantities import Form, Quantity

# Spellings of one thing; the first that the premise holds is taken.
_SPELLINGS = (
    ("chief executive officer", "CEO", "chief executive"),
    ("chief financial officer", "CFO", "finance chief"),
    ("chief operating officer", "COO"),
    ("United States", "U.S.", "USA", "US"),
    ("United Kingdom", "U.K.", "UK"),
    ("European Union", "EU"),
    ("first quarter", "Q1"),
    ("second quarter", "Q2"),
    ("third quarter", "Q3"),
    ("fourth quarter", "Q4"),
)
_KEPT = frozenset({Form.ORDINAL, Form.FRACTION})  # "second" and "half" are seldom interchangeable in place
_WHOLE = re.compile(r"[^()\[\]\n\t]+")


def as_written(claim: str, premise: str, context: str = "") -> str:
    """``claim`` unchanged where the premise spells nothing of it differently, or is a table: a cell in the
    claim's place would look like a quote of the row."""
    if source_kind(premise) == "table":
        return claim
    for ours, theirs in reversed(_equal_quantities(claim, premise, context)):
        claim = claim[: ours.start] + theirs.text + claim[ours.end :]
    for spellings in _SPELLINGS:
        theirs_spelled = next((s for s in spellings if _stands(s, premise)), None)
        ours_spelled = next((s for s in spellings if _stands(s, claim)), None)
        if theirs_spelled and ours_spelled and not _stands(ours_spelled, premise):
            claim = _pattern(ours_spelled).sub(theirs_spelled, claim)
    return claim


def _equal_quantities(claim: str, premise: str, context: str) -> list[tuple[Quantity, Quantity]]:
    """Equal in value and unit, written differently, and the premise's spelling is one clean stretch."""
    return [
        (check.quantity, check.nearest)
        for check in check_numbers(claim, premise, context)
        if check.match is Match.EQUAL
        and check.nearest is not None
        and check.quantity.form is check.nearest.form
        and check.quantity.form not in _KEPT
        and check.quantity.unit == check.nearest.unit
        and _same_day(check.quantity, check.nearest)
        and check.quantity.text.lower() not in premise.lower()
        and _WHOLE.fullmatch(check.nearest.text)
    ]


def _same_day(ours: Quantity, theirs: Quantity) -> bool:
    """No dates, or the same one to the day: "the 1950s" agrees with 1959 and is not its spelling."""
    if ours.moment is None or theirs.moment is None:
        return ours.moment is theirs.moment
    return ours.moment.readings == theirs.moment.readings and ours.moment.decade == theirs.moment.decade


def _stands(words: str, text: str) -> bool:
    return bool(_pattern(words).search(text))


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(words)}(?!\w)")

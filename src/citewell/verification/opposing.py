"""Can a premise contradict a claim at all: does it speak of what the claim states?

In: claim, premise and the text around it. Out: yes or no. A small entailer calls a claim contradicted when
one of its numbers or names is merely absent; but what a text does not speak of it cannot deny, and a
contradiction withholds a whole answer. So a claim with a number that the premise has nothing to set
against, or with a name that the premise neither holds nor has another in the place of, is unsupported. Exact
code; knows no model and no threshold.
"""

from __future__ import annotations

import itertools

from citewell.sentences import sentence_spans
from citewell.verification.entities import missing_names
from citewell.verification.exchange import substituted_name
from citewell.verification.numbers import Match, NumberCheck, check_numbers
from citewell.verification.quantities import Quantity, extract_quantities
from citewell.verification.signals import content_words

SAME = 0.5  # share of the claim's other content words that the line of the denying number must hold
_MOST = 40  # values of a premise that are tried against each other


def speaks_of(claim: str, premise: str, context: str = "") -> bool:
    """``context`` is text around the premise that is no evidence itself: a title, units, column heads."""
    open_numbers = [check for check in check_numbers(claim, premise, context) if not check.holds]
    if any(not _set_against(check, claim, premise, context) for check in open_numbers):
        return False
    missing = missing_names(claim, f"{context}\n{premise}")
    return not missing or substituted_name(claim, premise, context) is not None


def worked_out(claimed: Quantity, premise: str) -> bool:
    """The sum or difference of two of the premise's values: nothing there denies it."""
    values = [q.value for q in extract_quantities(premise) if q.form is claimed.form][:_MOST]
    size = abs(claimed.value)
    return any(abs(a - b) == size or a + b == size for a, b in itertools.combinations(values, 2))


def _set_against(check: NumberCheck, claim: str, premise: str, context: str) -> bool:
    """Another number stands where the claim's should: in a line that says much of what the claim says."""
    if (
        check.match in {Match.OPEN, Match.ABSENT}
        or check.nearest is None
        or worked_out(check.quantity, premise)
    ):
        return False
    around = set(content_words(context))
    wanted = set(content_words(claim)) - set(content_words(check.quantity.text)) - around
    if not wanted:
        return True
    like = check.nearest.form
    lines = [premise[a:b] for a, b in sentence_spans(premise)] or [premise]
    share = max(
        (
            len(wanted & set(content_words(line))) / len(wanted)
            for line in lines
            if any(quantity.form is like for quantity in extract_quantities(line))
        ),
        default=0.0,
    )
    return share >= SAME

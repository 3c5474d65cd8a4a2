"""Can a premise contradict a claim at all: does it speak of what the claim states?

In: claim, premise and the text around it. Out: yes or no. A small entailer calls a claim contradicted when
one of its numbers or names is merely absent; but what a text does not speak of it cannot deny, and a
contradiction withholds a whole answer. So a claim with a number that the premise has nothing to set
against, or with a name that the premise neither holds nor has another in the place of, is unsupported. Exact
code; knows no model and no threshold.
"""

from __future__ import annotations

import itertools
import re
from decimal import Decimal

from citewell.core.sentences import sentence_spans
from citewell.questions.scales import context_scales
from citewell.verification.entities import missing_names
from citewell.verification.exchange import substituted_name
from citewell.verification.notations import in_digits
from citewell.verification.numbers import Match, NumberCheck, check_numbers
from citewell.verification.quantities import Form, Quantity, extract_quantities
from citewell.verification.words import content_words

_AMOUNTS = frozenset({Form.NUMBER, Form.MONEY})
_OF: dict[Form, frozenset[Form]] = {
    Form.NUMBER: _AMOUNTS,
    Form.MONEY: _AMOUNTS,
    Form.POINTS: frozenset({Form.POINTS, Form.PERCENT}),
}
"""Of values of which forms a sum or difference is worked out; of its own where none are named."""
_FEW = 4  # values of one line of which a share is worked out: of more, some share always fits
_PERIODS = (2, 4, 7, 12, 24, 52, 60, 365)
_COUNTED = 100  # a text counts instalments and months by no more
_PARTED = re.compile(
    r"\b(?:per|each|every|year(?:ly|s)?|annual(?:ly)?|month(?:ly|s)?|week(?:ly|s)?|dai?ly|days?|quarter(?:ly|s)?|"
    r"instal\w+|equal|parts?|times)\b",
    re.IGNORECASE,
)
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
    """The sum or difference of two of the premise's values, in a scale that it declares, or the share or
    change of two that stand in a line with few others: nothing there denies it."""
    forms = _OF.get(claimed.form, frozenset({claimed.form}))
    values = [q.value for q in extract_quantities(premise) if q.form in forms][:_MOST]
    scales = context_scales(premise) if claimed.form in _AMOUNTS else (Decimal(1),)
    sizes = {abs(claimed.value) / scale for scale in scales}
    if any(abs(a - b) in sizes or a + b in sizes for a, b in itertools.combinations(values, 2)):
        return True
    return claimed.form is Form.PERCENT and any(_share_in(claimed, line) for line in _lines(premise))


def _share_in(claimed: Quantity, line: str) -> bool:
    values = [q.value for q in extract_quantities(line) if q.form in _AMOUNTS and q.value > 0]
    return len(values) <= _FEW and any(
        abs(share - abs(claimed.value)) <= claimed.step / 2
        for a, b in itertools.permutations(values, 2)
        for share in (100 * a / b, 100 * abs(a - b) / b)
    )


def _multiplied(claimed: Quantity, claim: str, premise: str) -> bool:
    """A value of the premise, so many times or in so many whole parts as it counts or as there are in a
    period, where one of the two speaks of parts or periods."""
    if not _PARTED.search(claim) and not _PARTED.search(premise):
        return False
    found = [q for q in extract_quantities(in_digits(premise)) if q.form in _AMOUNTS and q.value > 0][:_MOST]
    counts = {q.value for q in found if q.form is Form.NUMBER and 1 < q.value <= _COUNTED}
    return claimed.form in _AMOUNTS and any(
        q.value * count == claimed.value or q.value == claimed.value * count
        for q in found
        for count in counts | set(map(Decimal, _PERIODS))
    )


def _lines(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)] or [text]


def _set_against(check: NumberCheck, claim: str, premise: str, context: str) -> bool:
    """Another number stands where the claim's should: in a line that says much of what the claim says."""
    if (
        check.match in {Match.OPEN, Match.ABSENT}
        or check.nearest is None
        or worked_out(check.quantity, premise)
        or _multiplied(check.quantity, claim, premise)
    ):
        return False
    around = set(content_words(context))
    wanted = set(content_words(claim)) - set(content_words(check.quantity.text)) - around
    if not wanted:
        return True
    like = check.nearest.form
    lines = _lines(premise)
    share = max(
        (
            len(wanted & set(content_words(line))) / len(wanted)
            for line in lines
            if any(quantity.form is like for quantity in extract_quantities(line))
        ),
        default=0.0,
    )
    return share >= SAME

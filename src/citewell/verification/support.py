"""The probability that a text supports a claim: the packaged entailer's word weighed with exact signals; and
what exact code holds down, whoever reads.

In: premise, claim and the entailer's three probabilities. Out: Weighed, a probability calibrated at
equal priors, so that 0.5 is its border, and what each feature added to it. A small logistic model, one
intercept and one slope a kind of source (sentence, text, table), whose coefficients stand in
support.json with where they come from, checked against the packaged entailer's card when they are read. A
number of the claim that the premise denies, two names in each other's place, a "some" that became "all", or
another thing said in the claim's place (:func:`held_down`) keep the probability under 0.5 whatever the model
says. Knows no entailer by name.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from citewell.core.identity import hash_bytes
from citewell.core.records import Entailment, Record
from citewell.core.sentences import sentence_spans
from citewell.core.weights import WEIGHTS, checked_bytes, read_card
from citewell.verification.entities import missing_names
from citewell.verification.exchange import exchanged_names, substituted_name
from citewell.verification.kinds import parted, source_kind
from citewell.verification.numbers import Match, NumberCheck, check_numbers
from citewell.verification.opposing import worked_out
from citewell.verification.otherwise import told_otherwise
from citewell.verification.overstating import overstated
from citewell.verification.quantities import Form, Quantity, extract_quantities
from citewell.verification.signals import nearest_sentence, overlap, signals

COEFFICIENTS = Path(__file__).with_name("support.json")
DENIED_CEILING = 0.45
_DENIES = frozenset({Match.OTHER, Match.SIGN, Match.FORM})
_BY = re.compile(
    r"\b(?:by|(?:differ\w+|gap|rise|fall|(?:in|de)crease|change|sum|total) of)\s+(?:\w+\s+)?$", re.IGNORECASE
)
_TOTAL = re.compile(
    r"\b(?:totals?|sum|altogether|in all|combined|together|overall|difference|differs?|gap)\b", re.IGNORECASE
)
_THAN = re.compile(r"\s*(?:\w+\s+)?(?:more|less|fewer|higher|lower|greater|smaller)\b", re.IGNORECASE)
_LARGE = 1000
_DATES = frozenset({Form.DATE, Form.YEAR})
CLOSE = 0.8  # share of the claim's words in one sentence from which on a small difference is the difference
SIGNS = ("negation", "hedge", "quantifier", "opposite", "order", "attribution", "condition")
_EDGE = 1e-4  # log odds are cut here: what lies beyond is the model's confidence in itself


class Weighed(Record, frozen=True, kw_only=True):
    """``added`` is each feature's part of the log odds."""

    probability: float
    kind: str
    added: dict[str, float]


def weigh(premise: str, claim: str, entailment: Entailment, *, context: str = "") -> Weighed:
    """Raises ValueError for an unchecked entailment: it has no probability to weigh.

    ``context`` is text around the premise that is no evidence itself: a table's units, column heads.
    """
    coefficients = _coefficients()["coefficients"]
    kind = source_kind(premise)
    values = features(premise, claim, entailment, context=context)
    added = {name: coefficients[name] * value for name, value in values.items() if value}
    added["intercept"] = coefficients[f"intercept {kind}"]
    added["slope"] = coefficients[f"slope {kind}"] * values["entailment"]
    return Weighed(probability=1.0 / (1.0 + math.exp(-sum(added.values()))), kind=kind, added=added)


def held_down(premise: str, claim: str, *, context: str = "", title: str = "") -> bool:
    """Exact code knows the claim for another than the premise's; rows of a table stand in no sentence, and
    only their numbers are looked at. ``title``: see :func:`denied_numbers`."""
    if denied_numbers(premise, claim, context, title):
        return True
    prose = _prose_meant(premise, claim)
    return bool(prose) and bool(
        _misplaced_names(prose, claim, context)
        or overstated(claim, prose)
        or told_otherwise(claim, prose, context)
    )


def _prose_meant(premise: str, claim: str) -> str:
    """The premise, or the prose beside its table where a sentence of that is nearer to the claim than any
    row; else nothing."""
    if source_kind(premise) != "table":
        return premise
    rows, lines = parted(premise)
    prose = "\n".join(lines)
    nearest = overlap(claim, nearest_sentence(claim, prose)) if prose else 0.0
    return prose if nearest > max(overlap(claim, row) for row in rows) else ""


def features(premise: str, claim: str, entailment: Entailment, *, context: str = "") -> dict[str, float]:
    """Feature values by name. Counts stop at 2; shares and probabilities lie in [0, 1]."""
    if entailment.entailment is None:
        raise ValueError(f"nothing to join: {entailment.unchecked}")
    checks = check_numbers(claim, premise, context)
    found = {signal.kind for signal in signals(claim, premise)}
    close = overlap(claim, nearest_sentence(claim, premise)) >= CLOSE
    values = {
        "entailment": _log_odds(entailment.entailment),
        "names missing": float(min(2, len(missing_names(claim, f"{context}\n{premise}")))),
        "numbers absent": float(min(2, sum(check.match is Match.ABSENT for check in checks))),
        "numbers denied": float(min(2, sum(check.match in _DENIES for check in checks))),
    }
    return (
        values
        | {name: float(name in found) for name in SIGNS}
        | {f"{name}, close": float(close and name in found) for name in SIGNS}
    )


def _misplaced_names(premise: str, claim: str, context: str) -> tuple[str, ...]:
    """Two names in each other's place, or one in the place of another; rows of a table have no places."""
    if pair := exchanged_names(claim, premise):
        return pair
    other = substituted_name(claim, premise, context)
    return (other,) if other else ()


def denied_numbers(premise: str, claim: str, context: str = "", title: str = "") -> tuple[str, ...]:
    """Numbers of the claim in whose place the premise has other ones, as written in the claim.

    ``title`` is what of the ``context`` is a source, unlike the question: a year that it names is that of a
    value which stands beside no other date. A difference or a sum that the claim speaks of is not denied by
    the numbers that it is worked out of."""
    checks = check_numbers(claim, premise, context)
    dated = bool(title) and _undated(checks, premise)
    titled = check_numbers(claim, title) if dated else checks
    return tuple(
        check.quantity.text
        for check, told in zip(checks, titled, strict=True)
        if check.match in _DENIES
        and not (told.holds and check.quantity.form in _DATES)
        and not (check.match is Match.OTHER and _worked_out(check.quantity, claim, premise))
    )


def _worked_out(quantity: Quantity, claim: str, premise: str) -> bool:
    """Said to be a difference or a sum ("by 320"), and one of two numbers of one row or paragraph."""
    said = (
        quantity.direction  # of a rise or a fall
        or _BY.search(claim[: quantity.start])
        or _THAN.match(claim, quantity.end)
        or _TOTAL.search(claim)
    )
    return bool(said) and any(worked_out(quantity, line) for line in premise.splitlines())


def _undated(checks: Sequence[NumberCheck], premise: str) -> bool:
    """The claim's values that the premise holds, one at least, are each told without a date: the number
    before and the one behind in the sentence, small counts aside, are none."""
    values = [check.nearest for check in checks if check.holds and check.quantity.form not in _DATES]
    numbers = extract_quantities(premise)
    for value in values:
        if value not in numbers:
            return False
        start, end = next(
            ((a, b) for a, b in sentence_spans(premise) if a <= value.start < b), (0, len(premise))
        )
        told = [
            number
            for number in numbers
            if start <= number.start < end
            and (number == value or number.form is not Form.NUMBER or abs(number.value) >= _LARGE)
        ]
        at = told.index(value)
        if any(number.form in _DATES for number in told[max(0, at - 1) : at + 2]):
            return False
    return bool(values)


def calibration_card() -> dict[str, Any]:
    """What the coefficients were fitted on, with which entailer, and how well they are calibrated."""
    return {name: value for name, value in _coefficients().items() if name != "coefficients"}


@lru_cache(maxsize=1)
def _coefficients() -> dict[str, Any]:
    data = checked_bytes(COEFFICIENTS, read_card(WEIGHTS / "entailer"))
    loaded: dict[str, Any] = json.loads(data)
    return {**loaded, "hash": hash_bytes(data)}


def _log_odds(probability: float) -> float:
    cut = min(1.0 - _EDGE, max(_EDGE, probability))
    return math.log(cut / (1.0 - cut))

"""Does the evidence contain each number of the claim? Exact code, no model.

In: claim, evidence and its context (table title, units, column heads). Out: one
:class:`NumberCheck` for each number of the claim, and :func:`missing_numbers` for the reason's text.

Two numbers agree if their forms are compatible (percentages are not percentage points, masses are not
lengths, dollars are not euros) and their values at full scale agree. Rounding rule: the claim's value must
be the source's value rounded at the claim's last digit, with at least two significant digits (trailing zeros
of a whole number count as written; a bare whole number is a count and is never a rounding). A hedged number
("about", "at most") that does not match is left to the entailer, as is a measurement in another unit of its
kind (8 km, 5 miles). Numbers without a scale word take the scale stated by the context ("in millions").
Independent of rows and columns: see :mod:`citewell.verification.cells`.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from enum import StrEnum
from functools import lru_cache

from citewell.core.metering import must_go_on
from citewell.core.records import Record
from citewell.questions.quantity import Quantity, QuantityForm, agree
from citewell.questions.scales import context_scales
from citewell.verification.quantities import extract_quantities
from citewell.verification.words import content_words


class Match(StrEnum):
    """EQUAL and ROUNDED hold; the others do not. ``OTHER`` denies the number: the evidence has other values
    in its place. ``OPEN`` neither holds nor denies: exact code cannot decide. ``ABSENT`` does not deny: the
    evidence has no comparable value. Small counts and ordinals may come from counting; only another
    number of the same thing denies them ("five stores", "six stores")."""

    EQUAL = "equal"
    ROUNDED = "rounded"
    OPEN = "left to the entailer"
    FORM = "same digits, another unit"
    OTHER = "other values"
    ABSENT = "absent"


HOLDS = frozenset({Match.EQUAL, Match.ROUNDED})


class NumberCheck(Record, frozen=True, kw_only=True):
    """``nearest`` is the decisive quantity of the evidence, None if nothing is comparable."""

    quantity: Quantity
    match: Match
    nearest: Quantity | None = None

    @property
    def holds(self) -> bool:
        return self.match in HOLDS


_COMPATIBLE: dict[QuantityForm, frozenset[QuantityForm]] = {
    QuantityForm.NUMBER: frozenset({QuantityForm.NUMBER, QuantityForm.MONEY, QuantityForm.YEAR}),
    QuantityForm.MONEY: frozenset({QuantityForm.MONEY, QuantityForm.NUMBER, QuantityForm.YEAR}),
    QuantityForm.PERCENT: frozenset({QuantityForm.PERCENT}),
    QuantityForm.POINTS: frozenset({QuantityForm.POINTS}),
    QuantityForm.ORDINAL: frozenset({QuantityForm.ORDINAL, QuantityForm.NUMBER}),
    QuantityForm.DATE: frozenset({QuantityForm.DATE, QuantityForm.YEAR}),
    QuantityForm.YEAR: frozenset(
        {QuantityForm.DATE, QuantityForm.YEAR, QuantityForm.NUMBER, QuantityForm.MONEY}
    ),
    QuantityForm.TIME: frozenset({QuantityForm.TIME}),
}

_SMALL = 20
_WORD = re.compile(r"[^\W\d_]+")
_PERCENT_CONTEXT = re.compile(r"%|\bper ?cent(?:age)?\b", re.IGNORECASE)


def missing_numbers(claim: str, evidence: str, context: str = "") -> tuple[str, ...]:
    """The numbers of ``claim``, as written there, that ``evidence`` (with ``context``) does not contain.

    ``context`` is text around the evidence that is not evidence itself: units such as "(in millions)".
    """
    return tuple(check.quantity.text for check in check_numbers(claim, evidence, context) if not check.holds)


@lru_cache(maxsize=4096)
def check_numbers(claim: str, evidence: str, context: str = "") -> tuple[NumberCheck, ...]:
    """One check for each quantity of ``claim``, in order."""
    found = extract_quantities(evidence)
    scales = context_scales(f"{context}\n{evidence}")
    own = context_scales(claim) | ({Decimal(1)} if not context else context_scales(context))
    percents = bool(_PERCENT_CONTEXT.search(context) or re.search(r"\(%\)|\bin percent", evidence))

    def check(claimed: Quantity) -> NumberCheck:
        best = NumberCheck(quantity=claimed, match=Match.ABSENT)
        for candidate in found:
            must_go_on()
            match = _compare(claimed, candidate, scales, own, percents)
            if match is Match.OTHER and not _comparable(claimed, candidate, claim, evidence):
                match = Match.ABSENT
            if _ORDER.index(match) < _ORDER.index(best.match):
                best = NumberCheck(quantity=claimed, match=match, nearest=candidate)
        return best

    return tuple(check(quantity) for quantity in extract_quantities(claim))


_ORDER = tuple(Match)


def _comparable(claimed: Quantity, found: Quantity, claim: str, evidence: str) -> bool:
    """Whether ``found`` may be another value of the same thing, and so deny the claim's."""
    if claimed.unit in _PHYSICAL and found.unit != claimed.unit:
        return False
    small = (
        claimed.form is QuantityForm.NUMBER
        and not claimed.scaled
        and not claimed.unit
        and claimed.value <= _SMALL
    )
    if small or claimed.form is QuantityForm.ORDINAL:
        return bool(_thing(claim, claimed) & _thing(evidence, found))
    return True


def _thing(text: str, quantity: Quantity) -> frozenset[str]:
    """The content words among the two words after a number, as stems: what it counts."""
    return frozenset(content_words(" ".join(_WORD.findall(text[quantity.end : quantity.end + 40])[:2])))


def _compare(
    claimed: Quantity, found: Quantity, scales: frozenset[Decimal], own: frozenset[Decimal], percents: bool
) -> Match:
    if claimed.form is QuantityForm.DATE and claimed.moment:
        return _compare_date(claimed, found)
    if claimed.form is QuantityForm.YEAR and found.form is QuantityForm.DATE and found.moment:
        held = any(reading[0] == int(claimed.value) for reading in found.moment.readings)
        return Match.EQUAL if held else Match.OTHER
    compatible = found.form in _COMPATIBLE[claimed.form] or (
        percents
        and claimed.form is QuantityForm.PERCENT
        and found.form is QuantityForm.NUMBER
        and not found.unit
    )
    if not compatible or not _same_unit(claimed, found):
        # Same digits in another form, such as 15 % and 15 points: worth naming in the reason.
        same = (
            QuantityForm.ORDINAL not in {claimed.form, found.form}
            and abs(claimed.value) == abs(found.value)
            and found.form is not QuantityForm.DATE
        )
        return Match.FORM if same else Match.ABSENT
    best = Match.OTHER
    # If one side omits the unit, compare the numbers as written: "27-year-old" with "aged 27".
    ours, theirs = (Decimal(1), Decimal(1)) if claimed.unit == found.unit else (claimed.factor, found.factor)
    for source, _ in _readings(found, scales):
        for value, step in _readings(claimed, own):
            match = _agree(claimed, abs(value / ours), step / ours, abs(source / theirs))
            if _ORDER.index(match) < _ORDER.index(best):
                best = match
    converted = claimed.unit in _PHYSICAL and claimed.factor != found.factor
    return Match.OPEN if best is Match.OTHER and (claimed.hedged or converted) else best


def _compare_date(claimed: Quantity, found: Quantity) -> Match:
    assert claimed.moment is not None  # noqa: S101 - by construction of dates
    if found.moment:
        if agree(claimed.moment, found.moment):
            return Match.EQUAL
        shared = any(
            x is not None and y is not None
            for a in claimed.moment.readings
            for b in found.moment.readings
            for x, y in zip(a, b, strict=True)
        )
        return Match.OTHER if shared else Match.ABSENT
    if found.form is QuantityForm.YEAR:
        for year, month, day in claimed.moment.readings:
            if month is None and day is None and year is not None:
                return Match.EQUAL if year == int(found.value) else Match.OTHER
    return Match.ABSENT


def _same_unit(claimed: Quantity, found: Quantity) -> bool:
    open_ = not claimed.unit or (not found.unit and claimed.form is not QuantityForm.ORDINAL)
    return open_ or claimed.unit == found.unit


def _readings(quantity: Quantity, scales: frozenset[Decimal]) -> list[tuple[Decimal, Decimal]]:
    """(value, step) pairs the digits may stand for: as written, or under each declared scale."""
    bare = (
        quantity.form in {QuantityForm.NUMBER, QuantityForm.MONEY, QuantityForm.YEAR}
        and quantity.unit not in _PHYSICAL
    )
    if quantity.scaled or not bare:
        return [(quantity.value, quantity.step)]
    return [(quantity.value * scale, quantity.step * scale) for scale in scales]


_PHYSICAL = frozenset(
    {"mass", "length", "seconds", "months", "volume", "area", "power", "energy", "frequency", "data", "speed"}
)


def _agree(claimed: Quantity, value: Decimal, step: Decimal, source: Decimal) -> Match:
    if value == source:
        return Match.EQUAL
    if claimed.form in {QuantityForm.ORDINAL, QuantityForm.TIME, QuantityForm.YEAR}:
        return Match.OTHER
    if claimed.form is QuantityForm.NUMBER and claimed.step == 1 and not claimed.unit and not claimed.scaled:
        return Match.OTHER  # a whole number of things ("12 stores") is a count, not a rounding of 11.6
    significant = len((value / step).to_integral_value().as_tuple().digits) if step else 1
    rounded = any(_round(source, step, how) == value for how in (ROUND_HALF_UP, ROUND_HALF_EVEN))
    return Match.ROUNDED if rounded and significant >= 2 and source > step else Match.OTHER


def _round(source: Decimal, step: Decimal, how: str) -> Decimal:
    return (source / step).to_integral_value(rounding=how) * step

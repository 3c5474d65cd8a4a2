"""Does the evidence hold each number of the claim? Exact code, no model.

In: claim, evidence and what stands around the evidence (table title, units, column heads). Out: one
:class:`NumberCheck` for each number of the claim, and :func:`missing_numbers` for the reason's words.

Two numbers agree when their forms are compatible (a percentage is no percentage point, a year no
count, kilograms no milligrams, dollars no euros) and their values at full scale do. Rounding rule:
the claim's digits must be the source's value rounded at the claim's own last place, with at least
two significant digits (zeros at the end of a whole number count as written; a bare whole number is a
count and is never a rounding); with a hedge word
("about") one significant digit or a difference of five percent will do; "nearly" accepts a source up to a
tenth below; "over" and "under" accept one on that side within a factor of two, and leave one beyond it open,
as a measure in another unit that agrees but for what people round (8 km, 5 miles). Numbers without a scale
word take the scale that the context states ("in millions"). Brackets in tables are a minus only against a
claim that says which direction it went. Knows nothing about rows and columns: see
:mod:`citewell.verification.cells`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from enum import StrEnum
from functools import lru_cache

from citewell.core.records import Record
from citewell.questions.scales import context_scales
from citewell.verification.lexicon import STOP
from citewell.verification.quantities import NUMBERED, extract_quantities, in_digits
from citewell.verification.quantity import Form, Quantity, agree
from citewell.verification.words import content_words, negations, stem

__all__ = ["Match", "NumberCheck", "Quantity", "check_numbers", "extract_quantities", "missing_numbers"]


class Match(StrEnum):
    """EQUAL and ROUNDED hold; BOUNDED holds a hedged claim; the others do not hold. ``OTHER`` denies: the
    evidence has other values where this one should stand. ``OPEN`` does not, nor does it hold: exact code
    cannot tell. ``ABSENT`` does not either: the evidence has nothing to set against it.
    Small counts, ordinals and fractions may be counted or worked out; they are denied only by another
    number of the same thing ("five stores", "six stores")."""

    EQUAL = "equal"
    ROUNDED = "rounded"
    BOUNDED = "bounded"
    OPEN = "left to the entailer"
    SIGN = "sign or direction differs"
    FORM = "same digits, another unit"
    OTHER = "other values"
    ABSENT = "absent"


HOLDS = frozenset({Match.EQUAL, Match.ROUNDED, Match.BOUNDED})


class NumberCheck(Record, frozen=True, kw_only=True):
    """``nearest`` is the evidence's quantity that decided, None when there is nothing near."""

    quantity: Quantity
    match: Match
    nearest: Quantity | None = None

    @property
    def holds(self) -> bool:
        return self.match in HOLDS


_COMPATIBLE: dict[Form, frozenset[Form]] = {
    Form.NUMBER: frozenset({Form.NUMBER, Form.MONEY, Form.YEAR, Form.FRACTION}),
    Form.MONEY: frozenset({Form.MONEY, Form.NUMBER, Form.YEAR}),
    Form.PERCENT: frozenset({Form.PERCENT}),
    Form.POINTS: frozenset({Form.POINTS}),
    Form.FRACTION: frozenset({Form.FRACTION, Form.NUMBER, Form.PERCENT}),
    Form.ORDINAL: frozenset({Form.ORDINAL, Form.NUMBER}),
    Form.DATE: frozenset({Form.DATE, Form.YEAR}),
    Form.YEAR: frozenset({Form.DATE, Form.YEAR, Form.NUMBER, Form.MONEY}),
    Form.TIME: frozenset({Form.TIME}),
}

_SMALL = 20
_WORD = re.compile(r"[^\W\d_]+")
_BEARERS = frozenset(stem(word) for word in NUMBERED)
_ONE_OF = re.compile(r"\b1[ -]([a-z]+)")
_TORN = re.compile(r"(?<=\d)()(,|\.) (\d{3}(?!\d)|(?<=\. )\d{1,2}(?!\d))")
_PERCENT_CONTEXT = re.compile(r"%|\bper ?cent(?:age)?\b", re.IGNORECASE)


def missing_numbers(claim: str, evidence: str, context: str = "") -> tuple[str, ...]:
    """The numbers of ``claim``, as written there, that ``evidence`` (under ``context``) does not hold.

    ``context`` is text around the evidence that is no evidence itself: units such as "(in millions)".
    """
    return tuple(check.quantity.text for check in check_numbers(claim, evidence, context) if not check.holds)


@lru_cache(maxsize=4096)
def check_numbers(claim: str, evidence: str, context: str = "") -> tuple[NumberCheck, ...]:
    """One check for each quantity of ``claim``, in order."""
    found = [(quantity, evidence) for quantity in extract_quantities(evidence)]
    joined = _TORN.sub(r"\1\2\3", evidence)
    if joined != evidence:  # tokenised text tears "235,000" into "235, 000"
        found += [(quantity, joined) for quantity in extract_quantities(joined)]
    scales = context_scales(f"{context}\n{evidence}")
    own = context_scales(claim) | ({Decimal(1)} if not context else context_scales(context))
    percents = bool(_PERCENT_CONTEXT.search(context) or re.search(r"\(%\)|\bin percent", evidence))

    told = frozenset(content_words(claim))
    things = frozenset(_ONE_OF.findall(claim)) - STOP

    def compared(claimed: Quantity, candidate: Quantity, text: str) -> Match:
        match = _compare(claimed, candidate, scales, own, percents)
        if (
            match in HOLDS
            and _bounds_apart(claim, claimed, text, candidate)
            and _beside(text, candidate) & told
        ):
            match = Match.OTHER
        far = match is Match.OPEN and not _converted(claimed, candidate)
        if far and not _beside(text, candidate) & told:
            match = Match.OTHER
        if match is Match.OTHER and not _comparable(claimed, candidate, claim, text):
            match = Match.ABSENT
        return match

    def check(claimed: Quantity) -> NumberCheck:
        best = NumberCheck(quantity=claimed, match=Match.ABSENT)
        for candidate, text in found:
            match = compared(claimed, candidate, text)
            if _ORDER.index(match) < _ORDER.index(best.match):
                best = NumberCheck(quantity=claimed, match=match, nearest=candidate)
        if best.holds or (digits := in_digits(evidence, things)) == evidence:
            return best
        matches = [
            compared(claimed, candidate, digits)
            for candidate in extract_quantities(digits)
            if _alike(claim, claimed, digits, candidate)
            or (candidate.form is not Form.PERCENT and (candidate.unit or candidate.form is not Form.NUMBER))
            or (candidate.form is Form.PERCENT and _beside(digits, candidate) & told)
        ]
        match = min((best.match, *matches), key=_ORDER.index)
        return best if match not in _NOT_AGAINST else NumberCheck(quantity=claimed, match=match)

    return tuple(check(quantity) for quantity in extract_quantities(claim))


_ORDER = tuple(Match)
_NOT_AGAINST = HOLDS | {Match.OPEN}


def _comparable(claimed: Quantity, found: Quantity, claim: str, evidence: str) -> bool:
    """Another value of the same thing, so that it speaks against the claim's."""
    if claimed.form is Form.FRACTION or (claimed.unit in _PHYSICAL and found.unit != claimed.unit):
        return False
    small = (
        claimed.form is Form.NUMBER and not claimed.scaled and not claimed.unit and claimed.value <= _SMALL
    )
    if small or claimed.form is Form.ORDINAL:
        return bool(_thing(claim, claimed) & _thing(evidence, found))
    return True


def _bounds_apart(claim: str, claimed: Quantity, text: str, found: Quantity) -> bool:
    """One says at most so many, the other at least, and neither denies anything: "loads over 500 kg are
    forbidden" says the same as "up to 500 kg are allowed"."""
    if {_bound(claim, claimed), _bound(text, found)} != {"over", "under"}:
        return False
    start = max(text.rfind(mark, 0, found.start) for mark in ".;\n")
    end = min((at for mark in ".;\n" if (at := text.find(mark, found.end)) >= 0), default=len(text))
    sentence = text[start + 1 : end]
    rest = set(content_words(claim)) - _BOUNDS.keys() - set(content_words(sentence))
    if rest and not (claimed.hedge and found.hedge):
        return False  # what is due within 30 days may be late after them
    return not any(negations(said) or _FORBIDS.search(said) for said in (claim, sentence))


def _bound(text: str, quantity: Quantity) -> str:
    """over, under, or another hedge; of times also by their preposition: within a week, after 30 days."""
    before = _UNTIL.search(text, 0, quantity.start) if quantity.unit in {"seconds", "months"} else None
    return quantity.hedge or (_BOUNDS.get(before[1].lower(), "") if before else "")


_BOUNDS = {"within": "under", "after": "over", "beyond": "over"}
_UNTIL = re.compile(rf"\b({'|'.join(_BOUNDS)})\s+(?:the )?(?:first )?$", re.IGNORECASE)
_FORBIDS = re.compile(
    r"\b(?:forb\w+|prohib\w+|bann?\w*|refus\w+|reject\w+|except\w*|unless|only|exempt\w*|exclu\w+|free|lapses?|"
    r"expire\w*|lost|void|too|thereafter|which)\b",
    re.IGNORECASE,
)


def _thing(text: str, quantity: Quantity) -> frozenset[str]:
    """The two words behind a number, as stems: what it counts."""
    return frozenset(content_words(" ".join(_WORD.findall(text[quantity.end : quantity.end + 40])[:2])))


def _alike(claim: str, claimed: Quantity, text: str, found: Quantity) -> bool:
    """The word behind is the same, or what bears the number in front: "2 times" is not two tablets."""
    behind = [_WORD.match(said, q.end + 1) for said, q in ((claim, claimed), (text, found))]
    if all(behind) and len({stem(word.group().lower()) for word in behind if word}) == 1:
        return True
    before = [
        frozenset(stem(word.lower()) for word in _WORD.findall(said[max(0, q.start - 30) : q.start])[-2:])
        for said, q in ((claim, claimed), (text, found))
    ]
    return bool(before[0] & before[1] & _BEARERS)


def _beside(text: str, quantity: Quantity) -> frozenset[str]:
    """Stems of the words between the number before and this one, and of the two behind it."""
    before = re.split(r"\d|[.;:!?\n\t]\s", text[max(0, quantity.start - 80) : quantity.start])[-1]
    return frozenset(content_words(before)) | _thing(text, quantity)


def _compare(
    claimed: Quantity, found: Quantity, scales: frozenset[Decimal], own: frozenset[Decimal], percents: bool
) -> Match:
    if claimed.form is Form.DATE and claimed.moment:
        return _compare_date(claimed, found)
    if claimed.form is Form.YEAR and found.form is Form.DATE and found.moment:
        held = (
            any(reading[0] == int(claimed.value) for reading in found.moment.readings)
            and not found.moment.decade
        )
        return Match.EQUAL if held else Match.OTHER
    compatible = found.form in _COMPATIBLE[claimed.form] or (
        percents and claimed.form is Form.PERCENT and found.form is Form.NUMBER and not found.unit
    )
    if not compatible or not _same_unit(claimed, found):
        # A bare year against a count, or 15 % against 15 points: worth naming in the reason.
        same = (
            Form.ORDINAL not in {claimed.form, found.form}
            and abs(claimed.value) == abs(found.value)
            and found.form is not Form.DATE
        )
        return Match.OPEN if _converted(claimed, found) else Match.FORM if same else Match.ABSENT
    if claimed.form is Form.FRACTION or found.form is Form.FRACTION:
        return _compare_fraction(claimed, found)
    best = Match.OTHER
    # Where one side leaves the unit out, what is written is compared: "27-year-old" with "aged 27".
    ours, theirs = (Decimal(1), Decimal(1)) if claimed.unit == found.unit else (claimed.factor, found.factor)
    for source in (reading / theirs for reading in _readings(found, scales)):
        for value, step in ((reading / ours, step / ours) for reading, step in _claim_readings(claimed, own)):
            match = _agree(claimed, abs(value), step, abs(source))
            if match in _NOT_AGAINST and not _direction_holds(claimed, found):
                match = Match.SIGN
            if _ORDER.index(match) < _ORDER.index(best):
                best = match
    return Match.OPEN if best is Match.OTHER and _converted(claimed, found) else best


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
    if found.form is Form.YEAR:
        decade = claimed.moment.decade
        for year, month, day in claimed.moment.readings:
            if month is None and day is None and year is not None:
                same = year // 10 == int(found.value) // 10 if decade else year == int(found.value)
                return Match.EQUAL if same else Match.OTHER
    return Match.ABSENT


def _compare_fraction(claimed: Quantity, found: Quantity) -> Match:
    a = claimed.value / 100 if claimed.form is Form.PERCENT else claimed.value
    b = found.value / 100 if found.form is Form.PERCENT else found.value
    if a == b:
        return Match.EQUAL
    near = abs(a - b) <= Decimal("0.01") if claimed.spelled else abs(a - b) <= Decimal("0.005")
    if found.form is Form.PERCENT and near:
        return Match.ROUNDED
    return _hedged(claimed.hedge, abs(a), abs(b))


def _same_unit(claimed: Quantity, found: Quantity) -> bool:
    if claimed.form is Form.ORDINAL:
        return not claimed.unit or claimed.unit == found.unit
    return not claimed.unit or not found.unit or claimed.unit == found.unit


def _converted(claimed: Quantity, found: Quantity) -> bool:
    """One measure in two units, as far as people round what they convert: "8 km" of "5 miles", "90 days" of
    "3 months"."""
    if claimed.unit == found.unit and claimed.factor == found.factor:
        return False
    ours, theirs = _IN_ONE_UNIT.get(claimed.unit), _IN_ONE_UNIT.get(found.unit)
    if claimed.unit == found.unit and claimed.unit in _PHYSICAL:
        a, b = claimed.value, found.value
    elif ours and theirs and ours[0] == theirs[0]:
        a, b = ours[1](claimed.value), theirs[1](found.value)
    else:
        return {claimed.unit, found.unit} == _BY_SUBSTANCE
    return abs(a - b) <= Decimal("0.05") * abs(b)


_IN_ONE_UNIT: dict[str, tuple[str, Callable[[Decimal], Decimal]]] = {
    "seconds": ("time", lambda value: value),
    "months": ("time", lambda value: value * 2_629_746),
    "temperature C": ("temperature", lambda value: value),
    "temperature F": ("temperature", lambda value: (value - 32) * 5 / 9),
}
_BY_SUBSTANCE = {"mass concentration", "molar concentration"}


def _readings(found: Quantity, scales: frozenset[Decimal]) -> list[Decimal]:
    """What the evidence's digits may stand for: as written, and under each declared scale."""
    if found.scaled or found.form not in {Form.NUMBER, Form.MONEY, Form.YEAR} or found.unit in _PHYSICAL:
        return [found.value]
    return [found.value * scale for scale in scales]


def _claim_readings(claimed: Quantity, own: frozenset[Decimal]) -> list[tuple[Decimal, Decimal]]:
    if (
        claimed.scaled
        or claimed.form not in {Form.NUMBER, Form.MONEY, Form.YEAR}
        or claimed.unit in _PHYSICAL
    ):
        return [(claimed.value, claimed.step)]
    return [(claimed.value * scale, claimed.step * scale) for scale in own]


_PHYSICAL = frozenset(
    {"mass", "length", "seconds", "months", "volume", "area", "power", "energy", "frequency", "data", "speed"}
)


def _agree(claimed: Quantity, value: Decimal, step: Decimal, source: Decimal) -> Match:
    if value == source:
        return Match.EQUAL
    if claimed.form in {Form.ORDINAL, Form.TIME}:
        return Match.OTHER
    if claimed.form is Form.YEAR:
        return _hedged(claimed.hedge, value, source)
    if claimed.form is Form.NUMBER and claimed.step == 1 and not claimed.unit and not claimed.scaled:
        # A whole number of things ("12 stores") is a count, not a rounding of 11.6.
        return _hedged(claimed.hedge, value, source)
    significant = len((value / step).to_integral_value().as_tuple().digits) if step else 1
    rounded = any(_round(source, step, how) == value for how in (ROUND_HALF_UP, ROUND_HALF_EVEN))
    if rounded and (significant >= 2 or claimed.hedge == "about") and source > step:
        return Match.ROUNDED
    return _hedged(claimed.hedge, value, source)


def _round(source: Decimal, step: Decimal, how: str) -> Decimal:
    return (source / step).quantize(Decimal(1), rounding=how) * step


_HEDGED: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "about": lambda value, source: abs(value - source) <= Decimal("0.05") * source,
    "over": lambda value, source: value <= source,
    "nearly": lambda value, source: Decimal("0.9") * value <= source <= value,
    "under": lambda value, source: source <= value,
}


def _hedged(hedge: str, value: Decimal, source: Decimal) -> Match:
    holds = _HEDGED.get(hedge)
    if not holds or not value or not holds(value, source):
        return Match.OTHER
    return Match.BOUNDED if value / 2 <= source <= 2 * value else Match.OPEN


def _direction_holds(claimed: Quantity, found: Quantity) -> bool:
    """A sign or direction that one side states must not be denied by the other."""
    says = claimed.direction or claimed.sign
    negative = found.sign < 0
    if claimed.direction and found.direction:
        return claimed.direction == found.direction
    if claimed.sign < 0 and not claimed.direction:
        # "a loss of 5" against "5" may be the row's label speaking; only an explicit "+" would deny it,
        # but a minus written in digits needs a minus, brackets or a fall.
        written = claimed.value < 0
        return not written or negative or found.brackets or found.direction < 0
    if says > 0:
        return not (negative or found.brackets)
    if negative and found.value < 0:
        return says < 0
    return True

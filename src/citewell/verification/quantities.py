"""Quantities as people write them, found in text: numbers, money, percentages, dates, ordinals.

In: text. Out: :class:`Quantity` values in order, never overlapping, each with its value at full scale, the
size of its last written digit, unit, sign and the hedge or direction beside it; :func:`in_digits`: the text
with other notations ("Phase III", "tenfold", "one in five") in digits, whose offsets are not those of the
text and which are loose, so that they may hold a number of a claim and never deny one. Knows nothing about
evidence or verdicts: those are :mod:`citewell.verification.numbers`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

import msgspec

from citewell.core.records import Record
from citewell.core.stretches import with_free
from citewell.verification.numerals import fractions, numerals, ordinals, quarters, spelled
from citewell.verification.quantity import ONES, TENS, UNITS, Form, Quantity, moments


class Said(Record, frozen=True, kw_only=True):
    """``hedge`` is about, over, nearly, under or ""; ``direction`` +1 for a rise, -1 for a fall, else 0."""

    hedge: str = ""
    direction: int = 0
    loss: bool = False


_HEDGES: tuple[tuple[str, str], ...] = (
    ("about", r"about|around|approximately|approx\.?|roughly|circa|ca\.|c\.|some|estimated|in the region of|"
              r"close to|or so|on the order of|~|≈"),
    ("over", r"over|more than|greater than|at least|exceed(?:s|ed|ing)?|above|upwards? of|not less than|"
             r"no fewer than|in excess of|minimum of|surpass(?:es|ed|ing)?|>|≥"),
    ("nearly", r"nearly|almost|just short of|just under"),
    ("under", r"under|less than|fewer than|at most|below|up to|no more than|"
              r"not more than|maximum of|<|≤"),
)  # fmt: skip
_HEDGE_AFTER = (
    ("about", re.compile(r"\s{0,9}(?:or so|or thereabouts)\b")),
    ("over", re.compile(r"\s{0,9}(?:\+|or more\b|or higher\b|or above\b|plus\b)")),
    ("under", re.compile(r"\s{0,9}or (?:less|fewer|lower)\b")),
)
_HEDGE = re.compile(
    "|".join(rf"(?P<{name}>(?<!\w)(?:{words}))" for name, words in _HEDGES) + r"", re.IGNORECASE
)
_HEDGED = re.compile(rf"(?:{_HEDGE.pattern})(?: (?:the|a|an|of|just|only))?\s*$", re.IGNORECASE)

RISE = (
    r"increas\w*|ris(?:e|es|en|ing)|rose|grew|grow(?:n|s|th|ing)?|gain(?:s|ed|ing)?|climb\w*|jump\w*|surg\w*|"
    r"improv\w*|higher|expan\w+|soar\w*|up"
)
FALL = (
    r"decreas\w*|fall(?:s|en|ing)?|fell|declin\w*|drop\w*|reduc\w*|shr[aiu]nk\w*|"
    r"lower\w*|down|slump\w*|plung\w*|contract(?:ed|ion)|cut"
)
_RISE_BEFORE = re.compile(rf"\b(?:{RISE})(?:\s+(?:by|of|was|a|an|another))?\s*$", re.IGNORECASE)
_FALL_BEFORE = re.compile(rf"\b(?:{FALL})(?:\s+(?:by|of|was|a|an|another))?\s*$", re.IGNORECASE)
_RISE_AFTER = re.compile(rf"^\s*(?:\w+ )?(?:{RISE})\b", re.IGNORECASE)
_FALL_AFTER = re.compile(rf"^\s*(?:\w+ )?(?:{FALL})\b", re.IGNORECASE)
_LOSS_BEFORE = re.compile(
    r"\b(?:loss(?:es)?|deficit|shortfall|minus|negative)(?:\s+(?:of|was|were|totall?ed|at))?\s*$",
    re.IGNORECASE,
)


def surroundings(text: str, start: int, end: int) -> Said:
    """Hedge, direction and loss of the number at ``[start, end)``."""
    before = re.split(r"[.;:!?\n\t]\s", text[max(0, start - 48) : start])[-1].rstrip("(")
    after = text[end : end + 32]
    hedge = ""
    if found := _HEDGED.search(before):
        hedge = found.lastgroup or ""
        before = before[: found.start()]
    else:
        hedge = next((name for name, tail in _HEDGE_AFTER if tail.match(after)), "")
    direction = 0
    if _FALL_BEFORE.search(before) or _FALL_AFTER.match(after):
        direction = -1
    elif _RISE_BEFORE.search(before) or _RISE_AFTER.match(after):
        direction = 1
    return Said(hedge=hedge, direction=direction, loss=bool(_LOSS_BEFORE.search(before)))


_COUNT = "|".join(sorted((*ONES, *TENS), key=len, reverse=True))
_NUMBER = rf"(?:{_COUNT}|\d{{1,3}}(?:,\d{{3}}){{1,4}}|\d{{1,9}})"
_UNIT = "|".join(sorted((word for word in UNITS if len(word) > 2 and word.islower()), key=len, reverse=True))
_OFTEN = (
    r"(?= (?:(?:an?|per|each|every|in an?) (?:hour|day|night|week|fortnight|month|quarter|year)|"
    r"hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually))"
)
_ROMAN = r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})(?![\w-])"
NUMBERED = (
    "phase", "type", "section", "article", "chapter", "part", "volume", "class", "stage", "grade", "level",
    "title", "schedule", "appendix", "annex", "tier", "category", "war",
)  # fmt: skip
"""What bears its number behind it."""
_QUARTERS = {"march": 1, "june": 2, "september": 3, "december": 4}
_RATE_ROW = re.compile(
    r"^(?P<label>(?![^\t\n:]{0,80}(?:per share|exchange rate))"
    r"[^\t\n:]{0,80}\b(?:rate|margin|share|yield|percentage)\b[^\t\n:]{0,80})(?P<cells>(?:\t|: ).*)$",
    re.IGNORECASE | re.MULTILINE,
)
_BARE = re.compile(r"(?<![\w.,$€£%])\(?[-\u2212]?\d+(?:\.\d+)?\)?(?![\w.,%)])")


@lru_cache(maxsize=64)  # asked for each number of a claim about a premise, which may be a whole source
def in_digits(text: str, things: frozenset[str] = frozenset()) -> str:
    """``things`` are words of which the claim says "1": "a tablet" is one where the claim counts tablets."""
    for pattern, said in _NOTATIONS:
        text = pattern.sub(said, text)
    if things:
        text = re.sub(
            rf"\b(?:an?|one)(?= (?:{'|'.join(map(re.escape, sorted(things)))})\b)", "1", text, flags=re.I
        )
    return text


def _count(word: str) -> int:
    word = word.lower().replace(",", "")
    return int(word) if word.isdigit() else ONES.get(word, TENS.get(word, 0))


def _arabic(found: re.Match[str]) -> str:
    def value(roman: str) -> int:
        worth = [{"I": 1, "V": 5, "X": 10}[letter] for letter in roman]
        return sum(-a if a < b else a for a, b in zip(worth, (*worth[1:], 0), strict=True))

    return found["noun"] + re.sub(r"\b[IVX]+\b", lambda roman: str(value(roman.group())), found["run"])


def _share(found: re.Match[str]) -> str:
    part, whole = _count(found["part"]), _count(found["whole"])
    year = found["joint"].lower() == "in" and whole >= 1000
    if year or not 0 < part < whole:
        return found.group()
    return f"{(Decimal(100) * part / whole).quantize(Decimal('0.0001')).normalize():f}%"


def _percents(row: re.Match[str]) -> str:
    return row["label"] + _BARE.sub(r"\g<0>%", row["cells"])


_NOTATIONS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(
            rf"\b(?P<noun>(?i:{'|'.join(NUMBERED)})s?[ -])"
            rf"(?P<run>{_ROMAN}(?:(?:, |/|-|–| and | or | to ){_ROMAN})*)"
        ),
        _arabic,
    ),
    (
        re.compile(rf"\b({_COUNT})-?fold\b", re.I),
        lambda found: f"{_count(found[1])} fold, {_count(found[1])} times",
    ),
    (re.compile(rf"\bonce{_OFTEN}", re.I), "1 time"),
    (re.compile(rf"\btwice(?:(?= as )|{_OFTEN})", re.I), "2 times"),
    (re.compile(rf"\bthrice(?:(?= as )|{_OFTEN})", re.I), "3 times"),
    (re.compile(r"\b(?:noon|midday)\b", re.I), "12:00"),
    (re.compile(r"\bmidnight\b", re.I), "0:00"),
    (re.compile(r"\b(?:wholly|fully)[- ]own(?:s|ed)\b", re.I), "100% owned"),
    (re.compile(r"\b(?:doubled|doubling)\b", re.I), "increased 100%"),
    (re.compile(r"\b(?:tripled|tripling|trebled)\b", re.I), "increased 200%"),
    (re.compile(r"\b(?:halved|halving)\b", re.I), "decreased 50%"),
    (
        re.compile(
            rf"\b(?P<part>{_NUMBER}) (?P<joint>in|of|out of)(?: every| the| a total of)? "
            rf"(?P<whole>{_NUMBER})\b(?!%|[.,]\d)",
            re.I,
        ),
        _share,
    ),
    (
        re.compile(rf"\bthree months end(?:ed|ing) ({'|'.join(_QUARTERS)}) 3[01]\b", re.I),
        lambda found: f"Q{_QUARTERS[found[1].lower()]}",
    ),
    (re.compile(rf"\bhalf an? (?={_UNIT}\b)", re.I), "0.5 "),
    (re.compile(rf"(?<!times )(?<!once )(?<!twice )\b(?:an?|one) (?=(?:{_UNIT})\b)", re.I), "1 "),
    (_RATE_ROW, _percents),
)


_RANGE = re.compile(r"^\s*(?:-|\u2010|\u2011|\u2012|\u2013|\u2014|to|and|or)\s*$", re.IGNORECASE)


@lru_cache(maxsize=2048)
def extract_quantities(text: str) -> tuple[Quantity, ...]:
    """Every quantity of ``text``, in order, never overlapping; offsets in code points."""
    taken = [
        Quantity(
            text=text[m.start : m.end], start=m.start, end=m.end, form=Form.DATE,
            value=Decimal(m.readings[0][0] or 0), moment=m,
        )
        for m in moments(text)
    ]  # fmt: skip
    for finder in (quarters, fractions, numerals, spelled, ordinals):
        taken = with_free(taken, finder(text))
    return tuple(_in_words(text, q) for q in _ranges(text, taken))


def _ranges(text: str, ordered: list[Quantity]) -> list[Quantity]:
    """ "10 to 15 percent", "$3-5 million": what one end leaves out it takes from the other."""
    shared = {Form.PERCENT, Form.POINTS, Form.MONEY}
    result = list(ordered)
    for index, (first, second) in reversed(list(enumerate(itertools.pairwise(ordered)))):
        second = result[index + 1]
        if (
            not _RANGE.match(text[first.end : second.start])
            or first.form is Form.DATE
            or second.form is Form.DATE
        ):
            continue
        if first.form in {Form.NUMBER, Form.YEAR, Form.FRACTION} and not first.unit and second.form in shared:
            factor = _written_scale(second) if second.form is Form.MONEY or not first.scaled else 1
            if first.form is Form.YEAR and second.form is not Form.MONEY:
                continue
            result[index] = _rescaled(first, second.form, second.unit, 1 if first.scaled else factor)
        elif first.form is Form.MONEY and second.form is Form.NUMBER and not second.unit:
            result[index + 1] = _rescaled(second, Form.MONEY, first.unit, 1)
            if second.scaled and not first.scaled:
                result[index] = _rescaled(first, Form.MONEY, first.unit, _written_scale(second))
        elif first.form is Form.MONEY and second.form is Form.MONEY and second.scaled and not first.scaled:
            if first.value < 1000:
                result[index] = _rescaled(first, Form.MONEY, first.unit, _written_scale(second))
        elif first.form is Form.NUMBER and second.form is Form.NUMBER and not first.unit and not first.scaled:
            factor = _written_scale(second)
            result[index] = (
                _rescaled(first, Form.NUMBER, second.unit, factor, second.factor)
                if factor != 1 or second.unit
                else first
            )
    return result


def _written_scale(quantity: Quantity) -> Decimal:
    """The worth of 1 as written: scale word times unit factor."""
    digits = re.search(r"\d[\d,]*(?:\.(\d+))?", quantity.text)
    return quantity.step * (Decimal(10) ** len(digits[1] or "")) if digits else Decimal(1)


def _rescaled(
    quantity: Quantity, form: Form, unit: str, factor: Decimal | int, of_unit: Decimal = Decimal(1)
) -> Quantity:
    return msgspec.structs.replace(
        quantity, form=form, unit=unit, value=quantity.value * factor, step=quantity.step * factor,
        scaled=quantity.scaled or factor != of_unit, factor=of_unit,
    )  # fmt: skip


def _in_words(text: str, quantity: Quantity) -> Quantity:
    if quantity.form in {Form.DATE, Form.ORDINAL, Form.TIME}:
        return quantity
    said = surroundings(text, quantity.start, quantity.end)
    fell = said.direction > 0 > quantity.value  # "growth of -5%"
    return msgspec.structs.replace(
        quantity,
        hedge=said.hedge,
        direction=0 if quantity.form is Form.YEAR else -1 if fell else said.direction,
        sign=-1 if quantity.sign < 0 or said.loss else 0,
    )

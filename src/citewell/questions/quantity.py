"""The quantity record, and the vocabulary of measurement: scales, currencies, units, number words, dates.

In: text and the end of a number in it, or text with dates. Out: :class:`Quantity` values and the end of what
belongs to them; :class:`Moment` values in order, never overlapping: a date, a month and year, a day and
month, or an explicit year ("in 2018"). A bare "2018" is left to
:mod:`citewell.verification.quantities`; "5/6/2018" keeps both readings. Scales are short scale
(a billion is 10**9). Independent of verdicts.
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum

from citewell.core.records import Record
from citewell.core.sentences import with_free
from citewell.questions.periods import MONTHS as MONTH_NAMES

SCALES: dict[str, int] = {
    "hundred": 10**2, "thousand": 10**3, "thousands": 10**3, "million": 10**6, "millions": 10**6,
    "billion": 10**9, "billions": 10**9, "trillion": 10**12, "trillions": 10**12,
    "mn": 10**6, "mln": 10**6, "mio": 10**6, "bn": 10**9, "bln": 10**9, "tn": 10**12,
    "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7, "dozen": 12,
}  # fmt: skip

# Letters count only directly after the number; "m" and "mm" are units of length except after a currency.
LETTER_SCALES: dict[str, int] = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
MONEY_SCALES: dict[str, int] = {"m": 10**6, "mm": 10**6, "MM": 10**6, "b": 10**9, "t": 10**12}

CURRENCIES: dict[str, str] = {
    "$": "USD", "us$": "USD", "u.s.$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "£": "GBP", "gbp": "GBP",
    "pounds sterling": "GBP", "¥": "JPY", "jpy": "JPY", "yen": "JPY", "cny": "CNY", "rmb": "CNY", "yuan": "CNY",
    "₹": "INR", "inr": "INR", "rupees": "INR", "rupee": "INR", "chf": "CHF", "francs": "CHF",
    "c$": "CAD", "cad": "CAD", "a$": "AUD", "aud": "AUD", "hk$": "HKD", "hkd": "HKD", "nz$": "NZD",
    "s$": "SGD", "sgd": "SGD", "₩": "KRW", "krw": "KRW", "₽": "RUB", "rubles": "RUB",
    "cent": "USD", "cents": "USD", "brl": "BRL", "r$": "BRL", "mxn": "MXN", "sek": "SEK", "nok": "NOK",
}  # fmt: skip
CENTS = {"cent", "cents"}

_DIMENSIONS: dict[str, dict[str, str]] = {
    "mass": {
        "0.000001": "µg μg ug mcg microgram micrograms", "0.001": "mg milligram milligrams",
        "1": "g gram grams gm", "1000": "kg kilo kilos kilogram kilograms", "453.59237": "lb lbs",
        "28.349523125": "oz ounce ounces", "1000000": "tonne tonnes",
    },
    "length": {
        "0.000000001": "nm nanometre nanometres nanometer nanometers",
        "0.000001": "µm μm micron microns", "0.001": "mm millimetre millimetres millimeter millimeters",
        "0.01": "cm centimetre centimetres centimeter centimeters", "1": "m metre metres meter meters",
        "1000": "km kilometre kilometres kilometer kilometers", "0.0254": "inch inches",
        "0.3048": "ft foot feet", "0.9144": "yd yard yards", "1609.344": "mi mile miles",
    },
    "seconds": {
        "0.001": "ms millisecond milliseconds", "1": "s sec secs second seconds",
        "60": "min mins minute minutes", "3600": "h hr hrs hour hours", "86400": "day days",
        "604800": "week weeks", "1209600": "fortnight fortnights",
    },
    "months": {"1": "month months", "12": "year years yr yrs", "120": "decade decades",
               "1200": "century centuries"},
    "volume": {"0.001": "ml mL millilitre millilitres milliliter milliliters",
               "1": "l L litre litres liter liters", "3.785411784": "gallon gallons", "158.987": "barrel barrels bbl"},
    "area": {"1": "m2 m²", "1000000": "km2 km²", "10000": "ha hectare hectares",
             "4046.8564224": "acre acres"},
    "temperature C": {"1": "°C ℃ celsius"}, "temperature F": {"1": "°F fahrenheit"},
    "power": {"1": "W watt watts", "1000": "kW kilowatt kilowatts", "1000000": "MW megawatt megawatts",
              "1000000000": "GW gigawatt gigawatts"},
    "energy": {"1": "kWh", "1000": "MWh", "1000000": "GWh", "1000000000": "TWh"},
    "frequency": {"1": "Hz", "1000": "kHz", "1000000": "MHz", "1000000000": "GHz"},
    "data": {"1": "byte bytes", "1000": "kB KB", "1000000": "MB", "1000000000": "GB", "1000000000000": "TB"},
    "calories": {"1": "kcal calories", "0.001": "cal"},
    "mass concentration": {"1": "mg/dl mg/dL"}, "molar concentration": {"1": "mmol/l mmol/L"},
    "speed": {"1": "km/h kph", "1.609344": "mph"},
}  # fmt: skip

UNITS: dict[str, tuple[str, Decimal]] = {
    word: (dimension, Decimal(factor))
    for dimension, factors in _DIMENSIONS.items()
    for factor, words in factors.items()
    for word in words.split()
}

# A symbol of one or two letters, or with capitals, is a unit only right after a number in digits.

ONES = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen".split()
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
        "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        start=1,
    )
} | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100, "thousandth": 1000}
Parts = tuple[int | None, int | None, int | None]

MONTHS = {name: number for number, full in enumerate(MONTH_NAMES, start=1) for name in (full, full[:3])} | {
    "sept": 9
}


class Moment(Record, frozen=True, kw_only=True):
    """``readings`` are (year, month, day) with None for parts not stated; more than one if the
    order of day and month is ambiguous."""

    start: int
    end: int
    readings: tuple[Parts, ...]


_MONTH = "(?P<{0}>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_M = _MONTH.format("m")
_D = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?\b"
_Y = r"(?P<y>(?:1[0-9]|20)\d\d)(?!\d|[.,]\d|\s?%)"
_DASH = r"[-\u2010\u2011\u2012\u2013\u2014/]"

# Applied in this order; earlier patterns take precedence where matches overlap.
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("iso", r"\b(?P<y>\d{4})([-/.])(?P<n>\d{1,2})\2(?P<d>\d{1,2})(?![\d%])"),
        ("slash", r"(?<![\d./-])(?P<a>\d{1,2})([/.-])(?P<b>\d{1,2})\2(?P<y>\d{4}|\d\d)(?![\d%/])(?!\.\d)"),
        ("month day year", rf"\b{_M}\s+(?:the\s+)?{_D},?\s+(?:of\s+)?{_Y}"),
        ("day month year", rf"(?<![\d.,$])\b{_D}(?:\s+of)?[\s-]+{_M},?[\s-]+(?:of\s+)?{_Y}"),
        ("month year", rf"\b{_M}(?:\s+of|,)?[\s-]+{_Y}"),
        ("month day", rf"\b{_M}\s+(?:the\s+)?{_D}(?![,.]?\d|\s?%)"),
        ("day month", rf"(?<![\d.,$])\b{_D}(?:\s+of)?[\s-]+{_M}(?!\w)"),
        ("fiscal short", r"\bF(?:Y|iscal(?:\s+year)?)\s?['\u2019]?(?P<s>\d\d)\b(?![,.]?\d)"),
        ("fiscal", rf"\b(?:FY|CY)\s?-?{_Y}"),
        (
            "said year",
            r"\b(?:in|since|until|till|during|year|years|fiscal|calendar|season|early|late|mid|circa|c\.|"
            r"spring|summer|autumn|winter|quarter(?:\s+of)?|ended|ending|class\s+of)[\s-]+"
            rf"{_Y}(?!{_DASH}?\d)(?!\s+(?:[a-z]+\s+)?"
            r"(?:people|persons|employees|stores|units|shares|votes|members|students|players|points|"
            r"dollars|euros|pounds|miles|km|kg|men|women|patients|participants)\b)",
        ),
    )
)  # fmt: skip

# "may" and "march" are also ordinary words: without a year they are months only if capitalised.
_ALSO_WORDS = {"may", "march", "mar", "sec"}


def moments(text: str) -> tuple[Moment, ...]:
    """All dates in ``text``."""
    taken: list[Moment] = []
    for name, pattern in _PATTERNS:
        taken = with_free(
            taken, (moment for match in pattern.finditer(text) for moment in _read(name, match))
        )
    return tuple(taken)


def agree(claimed: Moment, found: Moment) -> bool:
    """Whether ``found`` states all that ``claimed`` does: "May 31, 2018" for "May 2018", not the reverse."""
    return any(
        all(x is None or x == y for x, y in zip(a, b, strict=True))
        for a in claimed.readings
        for b in found.readings
    )


def _read(name: str, match: re.Match[str]) -> list[Moment]:
    groups = match.groupdict()
    month = MONTHS[groups["m"].lower()] if groups.get("m") else None
    if month and not groups.get("y") and groups["m"].lower() in _ALSO_WORDS and groups["m"][0].islower():
        return []
    year = int(groups["y"]) if groups.get("y") else None
    if groups.get("s"):
        year = (1900 if int(groups["s"]) >= 50 else 2000) + int(groups["s"])
    day = int(groups["d"]) if groups.get("d") else None
    start, end = match.span()
    if name == "said year":
        start = match.start("y")
    if name == "slash":
        return _slashed(match)
    if name == "iso":
        month = int(groups["n"])
    if (day is not None and not 1 <= day <= 31) or (month is not None and not 1 <= month <= 12):
        return []
    return [Moment(start=start, end=end, readings=((year, month, day),))]


def _slashed(match: re.Match[str]) -> list[Moment]:
    a, b, year = int(match["a"]), int(match["b"]), int(match["y"])
    if len(match["y"]) == 2:
        if match[2] != "/":  # "3.2.1" and "10-15-20" are not dates
            return []
        year += 1900 if year >= 50 else 2000
    readings = tuple(
        (year, month, day)
        for month, day in dict.fromkeys(((a, b), (b, a)))
        if 1 <= month <= 12 and 1 <= day <= 31
    )
    return [Moment(start=match.start(), end=match.end(), readings=readings)] if readings else []


class QuantityForm(StrEnum):
    NUMBER = "number"
    MONEY = "money"
    PERCENT = "percent"
    POINTS = "percentage points"
    ORDINAL = "ordinal"
    DATE = "date"
    YEAR = "year or number"
    TIME = "time of day"


class Quantity(Record, frozen=True, kw_only=True):
    """``value`` is at full scale, in the base unit of ``unit`` (a dimension, a currency or ""); ``step`` is
    the worth of the last written digit, ``factor`` that of the unit (1000 for "kg"). ``scaled``: a scale word
    was written. ``brackets``: accounting brackets, which are a minus in tables. ``hedged``: about, over, at
    most, or the like."""

    text: str
    start: int
    end: int
    form: QuantityForm
    value: Decimal
    step: Decimal = Decimal(1)
    unit: str = ""
    factor: Decimal = Decimal(1)
    scaled: bool = False
    brackets: bool = False
    hedged: bool = False
    moment: Moment | None = None


_SCALE = re.compile(
    r"[ \t\u00a0]?-?[ \t]?(" + "|".join(sorted(SCALES, key=len, reverse=True)) + r")\b", re.IGNORECASE
)
PERCENT = re.compile(
    r"[ \t\u00a0-]?(?P<pp>percentage[ -]points?\b|%[ -]?points?\b|percent points?\b|ppts?\b|p\.?p\.?\b|pts\b)"
    r"|[ \t\u00a0-]?(?P<bp>basis[ -]points?\b|bps?\b)"
    r"|\)?[ \t\u00a0-]?(?P<pc>%|per[ -]?cent\b|pct\b\.?|percentage\b)",
    re.IGNORECASE,
)
WORD = re.compile(r"[ \t\u00a0-]?(?:U\.?S\.? )?(?P<word>°[CF]|[A-Za-zµμ℃][A-Za-zµμ²]*(?:/[A-Za-z]+)?|km2|m2)")


def unsigned_quantity(
    text: str, start: int, end: int, form: QuantityForm, value: Decimal, *,
    step: Decimal = Decimal(1), unit: str = "", factor: Decimal = Decimal(1), scaled: bool = False,
) -> Quantity:  # fmt: skip
    """The quantity written at ``[start, end)``, without a sign."""
    return Quantity(
        text=text[start:end], start=start, end=end, form=form, value=value, step=step, unit=unit,
        factor=factor, scaled=scaled,
    )  # fmt: skip


_MOST_SCALE = 10**24  # a further "million" after this is ignored


def scale_after(text: str, end: int) -> tuple[int, int]:
    """(end of the scale words after ``end``, their product), as in "hundred million"; else (``end``, 0)."""
    value, match = 1, _SCALE.match(text, end)
    if not match:
        return end, 0
    while match is not None and value < _MOST_SCALE:
        value *= SCALES[match[1].lower()]
        end, match = match.end(), _SCALE.match(text, match.end())
    return end, value

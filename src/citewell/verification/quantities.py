"""Quantities as people write them, found in text: numbers, money, percentages, dates, ordinals.

In: text. Out: :class:`Quantity` values in order, never overlapping, each with its value at full
scale, the size of its last written digit, unit, sign and hedge. Numbers that are part of a name
("COVID-19", "10-K", "B12") are no quantities. Knows nothing about evidence or verdicts: those
are :mod:`citewell.verification.numbers`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache

import msgspec

from citewell.records import Record
from citewell.verification.dates import Moment, moments
from citewell.verification.surroundings import surroundings
from citewell.verification.units import (
    CENTS,
    CURRENCIES,
    DENOMINATORS,
    GLYPHS,
    LETTER_SCALES,
    MONEY_SCALES,
    ONES,
    ORDINALS,
    SCALES,
    SHORT_UNITS,
    TENS,
    UNITS,
)


class Form(StrEnum):
    NUMBER = "number"
    MONEY = "money"
    PERCENT = "percent"
    POINTS = "percentage points"
    FRACTION = "fraction"
    ORDINAL = "ordinal"
    DATE = "date"
    YEAR = "year or number"
    TIME = "time of day"


class Quantity(Record, frozen=True, kw_only=True):
    """``value`` is at full scale and in the base unit of ``unit`` (a dimension, a currency or "");
    ``step`` is the worth of the last digit written, ``factor`` that of the unit (1000 for "kg").
    ``scaled``: a scale word was written.
    ``sign`` is -1 for a minus or a loss, ``brackets`` for accounting brackets. ``direction`` is +1
    or -1 when the text says that it is the size of a rise or a fall. ``hedge``: about, over, under."""

    text: str
    start: int
    end: int
    form: Form
    value: Decimal
    step: Decimal = Decimal(1)
    unit: str = ""
    factor: Decimal = Decimal(1)
    scaled: bool = False
    sign: int = 0
    brackets: bool = False
    direction: int = 0
    hedge: str = ""
    moment: Moment | None = None
    spelled: bool = False


_DIGITS = r"(?:\d{1,3}(?:[,\u00a0\u202f\u2009']\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\d.])\.\d+)"
_PREFIX = (
    r"(?:US\$|U\.S\.\$|HK\$|NZ\$|[ACSR]\$|[$€£¥₹₩]|"
    r"\b(?:USD|EUR|GBP|JPY|CNY|RMB|INR|CHF|CAD|AUD|HKD|SGD|SEK|NOK)\b)"
)
_NUMERAL = re.compile(
    rf"(?P<open>\()?\s?(?P<minus>[-\u2212\u2012\u2013](?=[\d.$€£]))?(?P<cur>{_PREFIX})?[ \t\u00a0]?"
    rf"(?P<open2>(?<=[$€£\t ])\()?(?P<minus2>(?<=[$€£])[-\u2212])?(?P<num>{_DIGITS})"
    rf"(?:[ \u00a0-](?P<frac>\d/\d{{1,2}})(?![\d/]))?"
)
_ORDINAL_TAIL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_SCALE_TAIL = re.compile(
    r"[ \t\u00a0]?-?[ \t]?(" + "|".join(sorted(SCALES, key=len, reverse=True)) + r")\b", re.IGNORECASE
)
_LETTER_TAIL = re.compile(r" ?(k|K|MM|mm|M|m|B|b|T|t)\b")
_PERCENT_TAIL = re.compile(
    r"[ \t\u00a0-]?(?P<pp>percentage[ -]points?\b|%[ -]?points?\b|percent points?\b|ppts?\b|p\.?p\.?\b|pts\b)"
    r"|[ \t\u00a0-]?(?P<bp>basis[ -]points?\b|bps?\b)"
    r"|\)?[ \t\u00a0-]?(?P<pc>%|per[ -]?cent\b|pct\b\.?|percentage\b)",
    re.IGNORECASE,
)
_TIME_TAIL = re.compile(r"(?::(?P<min>[0-5]\d)(?::[0-5]\d)?)?\s?(?P<half>[ap]\.?m\b\.?)?", re.IGNORECASE)
_WORD_TAIL = re.compile(
    r"[ \t\u00a0-]?(?:U\.?S\.? )?(?P<word>°[CF]|[A-Za-zµμ℃][A-Za-zµμ²]*(?:/[A-Za-z]+)?|km2|m2)"
)

_ONE = "|".join(sorted(ONES, key=len, reverse=True))
_TEN = "|".join(TENS)
_SUB100 = rf"(?:(?:{_TEN})(?:[ -](?:{_ONE})\b)?|{_ONE})"
_SUB1000 = rf"(?:{_SUB100}|an?(?=[ -](?:hundred|thousand|million|billion|trillion|dozen)\b))"
_BIG = r"(?:hundred|thousand|million|billion|trillion|dozen)"
_SPELLED = re.compile(
    rf"\b{_SUB1000}\b(?:[ -]{_BIG}\b(?:,? (?:and )?{_SUB1000}\b)?)*(?![-'\u2019]?\w)", re.IGNORECASE
)
_FRACTION = re.compile(
    rf"\b(?P<top>{_ONE}|an?|\d+)[ -](?P<bottom>{'|'.join(DENOMINATORS)})\b"
    rf"(?! (?:of (?:fiscal |FY)?(?:19|20)\d\d|quarter|place))"
    rf"|\b(?P<half>half)\b(?: an?(?= (?:million|billion|dozen)\b))?"
    rf"(?= (?:of|an?|the|its|their|as|million|billion|dozen)\b)"
    rf"|(?P<glyph>\d*[{''.join(GLYPHS)}])|(?<![\d/.,])(?<!\d )(?P<x>\d{{1,3}})/(?P<y>\d{{1,3}})(?![\d/]|,\d)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(rf"\b(?:(?P<ten>{_TEN})[ -])?(?P<word>{'|'.join(ORDINALS)})\b", re.IGNORECASE)
_QUARTER = re.compile(r"\b(?:Q(?P<a>[1-4])|(?P<b>[1-4])Q)(?=\b|['\u2019]?\d\d)", re.IGNORECASE)
_NO_ONE = re.compile(r"(?:\b(?:no|any|every|some|each|this|that|the|which|another)[ -]|\S-)$", re.IGNORECASE)
_ONE_OF = re.compile(r"^(?: of\b| another\b| such\b| or more\b|['\u2019]s\b|-)", re.IGNORECASE)
_NOT_RANK = re.compile(r"(?:\bat )$", re.IGNORECASE)
_NOT_RANK_AFTER = re.compile(r"^(?: of all\b| and foremost\b| time\b|-hand\b| hand\b| half\b)", re.IGNORECASE)

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
    for finder in (_quarters, _fractions, _numerals, _spelled, _ordinals):
        for quantity in finder(text):
            if not any(quantity.start < other.end and other.start < quantity.end for other in taken):
                taken.append(quantity)
    ordered = sorted(taken, key=lambda q: q.start)
    return tuple(_in_words(text, q) for q in _ranges(text, ordered))


def _quarters(text: str) -> Iterator[Quantity]:
    for match in _QUARTER.finditer(text):
        number = int(match["a"] or match["b"])
        yield _plain(text, match.start(), match.end(), Form.ORDINAL, Decimal(number), unit="quarter")


def _fractions(text: str) -> Iterator[Quantity]:
    for match in _FRACTION.finditer(text):
        whole = Decimal(0)
        if match["half"]:
            top, bottom = 1, 2
        elif match["glyph"]:
            top, bottom = (int(part) for part in GLYPHS[match["glyph"][-1]].split("/"))
            whole = Decimal(match["glyph"][:-1] or 0)
        elif match["x"]:
            top, bottom = int(match["x"]), int(match["y"])
            if bottom == 0 or top >= bottom:
                continue
        else:
            word = match["top"].lower()
            if word in {"a", "an"} and match["bottom"].lower() not in {
                "third",
                "quarter",
                "half",
                "fifth",
                "tenth",
            }:
                continue
            if word == "a" and not text[match.end() :].startswith(" of"):
                continue
            top = int(word) if word.isdigit() else ONES.get(word, 1)
            bottom = DENOMINATORS[match["bottom"].lower()]
            if top != 1 and not match["bottom"].lower().endswith("s"):
                continue
        value = whole + Decimal(top) / Decimal(bottom)
        end, scale = _scale(text, match.end())
        form = Form.NUMBER if scale else Form.FRACTION
        yield _plain(text, match.start(), end, form, value * (scale or 1), scaled=bool(scale), spelled=True)


def _numerals(text: str) -> Iterator[Quantity]:
    position = 0
    while match := _NUMERAL.search(text, position):
        start, end = match.start("num"), match.end("num")
        position = end
        if _inside_name(text, match):
            position = _end_of_word(text, end)
            continue
        tail = _TIME_TAIL.match(text, end)
        clock = tail and (tail["half"] or tail["min"]) and not match["cur"] and len(match["num"]) <= 2
        if tail and clock and match["num"].isdigit() and int(match["num"]) <= 24:
            yield _plain(text, start, tail.end(), Form.TIME, _minutes(match["num"], tail))
            position = tail.end()
            continue
        quantity = _numeral(text, match)
        position = max(end, quantity.end)
        yield quantity


def _numeral(text: str, match: re.Match[str]) -> Quantity:
    written = re.sub(r"[,\u00a0\u202f\u2009']", "", match["num"])
    value, step = Decimal(written), Decimal(1).scaleb(-len(written.partition(".")[2]))
    end = match.end("num")
    if match["frac"]:
        top, bottom = match["frac"].split("/")
        value, end = value + Decimal(top) / Decimal(bottom or 1), match.end("frac")
    start = match.start("cur") if match["cur"] else match.start("num")
    minus = bool(match["minus"] and _free(text, match.start("minus"))) or bool(match["minus2"])
    if match["minus"] and minus:
        start = match.start("minus")
    unit, factor = CURRENCIES.get((match["cur"] or "").lower(), ""), Decimal(1)
    form = Form.MONEY if unit else Form.NUMBER
    if _ORDINAL_TAIL.match(text, end) and not unit and step == 1:
        end += 2
        unit = "quarter" if re.match(r"[ -]quarter\b", text[end:], re.IGNORECASE) else ""
        return _plain(text, start, end, Form.ORDINAL, value, unit=unit)
    scale_end, scale = _scale(text, end)
    if not scale:
        letter = _LETTER_TAIL.match(text, end)
        if letter:
            touching = letter.group(0) == letter[1]
            table = LETTER_SCALES | MONEY_SCALES if unit else LETTER_SCALES if touching else {}
            scale = table.get(letter[1], 0)
            scale_end = letter.end() if scale else end
    if scale:
        value, step, end = value * scale, step * scale, scale_end
    closing = text[end : end + 1] == ")"
    percent = _PERCENT_TAIL.match(text, end)
    if percent:
        end = percent.end()
        form = Form.PERCENT if percent["pc"] else Form.POINTS
        unit = ""
        if percent["bp"]:
            value, step = value / 100, step / 100
    elif word := _WORD_TAIL.match(text, end):
        name = word["word"]
        known = name if name in UNITS else name.lower()
        touching = text[end] not in " \t\u00a0-"
        if name.lower() in CURRENCIES and not unit and name.lower() not in {"won"}:
            unit, form, end = CURRENCIES[name.lower()], Form.MONEY, word.end()
            if name.lower() in CENTS:
                value, step = value / 100, step / 100
        elif known in UNITS and not unit and (known not in SHORT_UNITS or _symbol(text, word, touching)):
            unit, factor = UNITS[known]
            value, step, end = value * factor, step * factor, word.end()
    brackets = bool((match["open"] or match["open2"]) and (closing or text[end : end + 1] == ")"))
    brackets = brackets and bool(
        match["cur"] or "," in match["num"] or "." in match["num"] or percent or _tabular(text, match)
    )
    if (
        form is Form.NUMBER
        and not unit
        and not scale
        and not minus
        and re.fullmatch(r"1[1-9]\d\d|20\d\d", match["num"])
    ):
        form = Form.YEAR
    return Quantity(
        text=text[start:end], start=start, end=end, form=form, value=-value if minus else value, step=step,
        unit=unit, factor=factor, scaled=bool(scale), sign=-1 if minus else 0, brackets=brackets,
    )  # fmt: skip


def _spelled(text: str) -> Iterator[Quantity]:
    for match in _SPELLED.finditer(text):
        words = match.group().lower()
        value = _words_value(words)
        start, end = match.span()
        if not value:
            continue
        if words == "one" and (
            _NO_ONE.search(text[:start]) or _ONE_OF.match(text[end:]) or not _counts(text, end)
        ):
            continue
        unit, form = "", Form.NUMBER
        step = factor = Decimal(1)
        while value % (step * 10) == 0:
            step *= 10
        percent = _PERCENT_TAIL.match(text, end)
        if percent:
            form, end = (Form.PERCENT if percent["pc"] else Form.POINTS), percent.end()
            if percent["bp"]:
                value, step = value / 100, step / 100
        elif (word := _WORD_TAIL.match(text, end)) and len(word["word"]) > 2:
            name = word["word"].lower()
            if name in CURRENCIES and name != "won":
                unit, form, end = CURRENCIES[name], Form.MONEY, word.end()
                if name in CENTS:
                    value, step = value / 100, step / 100
            elif name in UNITS:
                unit, factor = UNITS[name]
                value, step, end = value * factor, step * factor, word.end()
        scaled = any(big in words for big in ("million", "billion", "trillion", "thousand", "hundred"))
        yield _plain(
            text, start, end, form, value,
            step=step, unit=unit, factor=factor, scaled=scaled, spelled=True,
        )  # fmt: skip


def _ordinals(text: str) -> Iterator[Quantity]:
    for match in _ORDINAL.finditer(text):
        if _NOT_RANK.search(text[: match.start()]) or _NOT_RANK_AFTER.match(text[match.end() :]):
            continue
        value = Decimal(ORDINALS[match["word"].lower()] + TENS.get((match["ten"] or "").lower(), 0))
        unit = "quarter" if re.match(r"[ -](?:fiscal )?quarter\b", text[match.end() :], re.IGNORECASE) else ""
        yield _plain(text, match.start(), match.end(), Form.ORDINAL, value, unit=unit, spelled=True)


def _plain(
    text: str, start: int, end: int, form: Form, value: Decimal, *,
    step: Decimal = Decimal(1), unit: str = "", factor: Decimal = Decimal(1), scaled: bool = False,
    spelled: bool = False,
) -> Quantity:  # fmt: skip
    return Quantity(
        text=text[start:end], start=start, end=end, form=form, value=value, step=step, unit=unit,
        factor=factor, scaled=scaled, spelled=spelled,
    )  # fmt: skip


def _words_value(words: str) -> Decimal:
    total = group = 0
    for word in re.split(r"[ ,-]+(?:and )?", words):
        if word in {"hundred", "dozen"}:
            group = max(group, 1) * SCALES[word]
        elif word in SCALES:
            total, group = total + max(group, 1) * SCALES[word], 0
        else:
            group += 1 if word in {"a", "an"} else ONES.get(word, TENS.get(word, 0))
    return Decimal(total + group)


def _scale(text: str, end: int) -> tuple[int, int]:
    value, match = 1, _SCALE_TAIL.match(text, end)
    if not match:
        return end, 0
    while match is not None:
        value *= SCALES[match[1].lower()]
        end, match = match.end(), _SCALE_TAIL.match(text, match.end())
    return end, value


def _minutes(hours: str, tail: re.Match[str]) -> Decimal:
    hour = int(Decimal(hours))
    if tail["half"]:
        hour = hour % 12 + (12 if tail["half"].lower().startswith("p") else 0)
    return Decimal(60 * hour + int(tail["min"] or 0))


def _inside_name(text: str, match: re.Match[str]) -> bool:
    """A letter touches the number ("B12", "COVID-19", "10-K", "401(k)"): it is part of a name."""
    start, end = match.start("num"), match.end("num")
    if not match["cur"] and start > 0:
        before = text[:start]
        if before[-1].isalpha() or (
            re.search(r"[A-Z]\w*[-\u2011]$", before)
            and not re.search(r"(?i)(?:mid|pre|post|early|late|non|sub|year)-$", before)
        ):
            return True
        if re.search(r"\d[.,:]$", before) or re.search(r"[A-Za-z0-9]/$", before):
            return bool(re.search(r"\d[.:]$", before))
    after = text[end:]
    if re.match(r"-[A-Z]\b(?!-)|\([a-zA-Z]{1,3}\)|\.\d+\.|(?!st\b|nd\b|rd\b|th\b)[A-Z][a-z]", after):
        return True
    glued = re.match(r"[A-Za-z]+", after)
    if not glued:
        return False
    tail = glued.group()
    return not (
        tail.lower() in _GLUED
        or tail in UNITS or tail.lower() in UNITS or tail in LETTER_SCALES or tail in MONEY_SCALES
        or tail.lower() in CURRENCIES
    )  # fmt: skip


_GLUED = frozenset(
    {
        "st",
        "nd",
        "rd",
        "th",
        "s",
        "x",
        "am",
        "pm",
        "bps",
        "bp",
        "pp",
        "ppt",
        "bn",
        "mn",
        "tn",
        "mln",
        "q",
        "h",
    }
)


def _end_of_word(text: str, end: int) -> int:
    match = re.compile(r"[\w.-]*\w").match(text, end)
    return match.end() if match else end


def _free(text: str, position: int) -> bool:
    """A dash is a minus where no word or digit stands before it."""
    return position == 0 or not (text[position - 1].isalnum() or text[position - 1] in ")%]")


def _tabular(text: str, match: re.Match[str]) -> bool:
    line = text[text.rfind("\n", 0, match.start()) + 1 :].split("\n", 1)[0]
    return "\t" in line or not re.search(r"[A-Za-z]", line)


def _symbol(text: str, word: re.Match[str], touching: bool) -> bool:
    """ "5 m" and "5m" are metres, "5 s" hardly ever seconds, "in 5 in" never inches."""
    return touching or (word["word"] not in {"s", "l", "L", "W"} and word["word"] not in {"ms", "in"})


def _counts(text: str, end: int) -> bool:
    """ "one" is a number when a measure, a scale or a percent follows it."""
    word = _WORD_TAIL.match(text, end)
    return bool(_PERCENT_TAIL.match(text, end)) or bool(
        word and (word["word"].lower() in UNITS or word["word"].lower() in CURRENCIES)
    )


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
    return msgspec.structs.replace(
        quantity,
        hedge=said.hedge,
        direction=0 if quantity.form is Form.YEAR else said.direction,
        sign=-1 if quantity.sign < 0 or said.loss else 0,
    )

"""Extract quantities from text as people write them: numbers, money, percentages, dates, ordinals.

In: text. Out: :class:`Quantity` values in order, never overlapping, each with its value at full scale, the
size of its last written digit, its unit, and whether it is hedged. Numbers that are part of a name
("COVID-19", "10-K", "B12") do not count, and "one" counts only with a unit. Superscript digits are an
exponent after ten ("5 × 10⁶") and a footnote mark after any other number ("5¹ million" is five million). A
number longer than forty characters is left out: see :func:`has_long_number`. Independent of evidence and
verdicts: see :mod:`citewell.verification.numbers`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

import msgspec

from citewell.core.metering import must_go_on
from citewell.core.sentences import line_span, with_free
from citewell.questions.quantity import (
    CENTS,
    CURRENCIES,
    LETTER_SCALES,
    MONEY_SCALES,
    ONES,
    ORDINALS,
    PERCENT,
    SCALES,
    TENS,
    UNITS,
    WORD,
    Quantity,
    QuantityForm,
    moments,
    scale_after,
    unsigned_quantity,
)

_HEDGE = re.compile(
    r"(?:(?<!\w)(?:about|around|approx\w*\.?|roughly|circa|ca\.|some|estimated|close to|over|under|above|"
    r"below|up to|nearly|almost|(?:more|less|fewer|greater|higher|lower) than|at (?:least|most)|exceed\w*|"
    r"upwards? of|in excess of|(?:maximum|minimum) of|surpass\w*)|[~≈<>≤≥])"
    r"(?: (?:the|a|an|of|just|only))?\s*$",
    re.IGNORECASE,
)
_RANGE = re.compile(r"^\s*(?:-|\u2010|\u2011|\u2012|\u2013|\u2014|to|and|or)\s*$", re.IGNORECASE)


@lru_cache(maxsize=2048)
def extract_quantities(text: str) -> tuple[Quantity, ...]:
    """Every quantity in ``text``, in order, never overlapping; offsets in code points."""
    taken = [
        Quantity(
            text=text[m.start : m.end], start=m.start, end=m.end, form=QuantityForm.DATE,
            value=Decimal(m.readings[0][0] or 0), moment=m,
        )
        for m in moments(text)
    ]  # fmt: skip
    for finder in (_numerals, _spelled_numbers, _ordinals):
        taken = with_free(taken, finder(text))
    return tuple(_in_words(text, q) for q in _ranges(text, taken))


def extract_values(text: str) -> list[Quantity]:
    """The quantities of ``text`` other than dates, years and ordinals."""
    return [quantity for quantity in extract_quantities(text) if quantity.form not in _DATED]


_DATED = frozenset({QuantityForm.DATE, QuantityForm.YEAR, QuantityForm.ORDINAL})


def _ranges(text: str, ordered: list[Quantity]) -> list[Quantity]:
    """ "10 to 15 percent", "$3-5 million": each end takes what it omits from the other."""
    result = list(ordered)
    for index, (first, _) in reversed(list(enumerate(itertools.pairwise(ordered)))):
        second = result[index + 1]
        if not _RANGE.match(text[first.end : second.start]):
            continue
        forms = first.form, second.form
        scale = Decimal(1) if first.scaled else _written_scale(second)
        if first.form is QuantityForm.MONEY and (second.form is first.form or _bare(second)):
            if second.form is QuantityForm.NUMBER:
                result[index + 1] = _rescaled(second, QuantityForm.MONEY, first.unit, 1)
            if second.scaled and first.value < _LENT:
                result[index] = _rescaled(first, QuantityForm.MONEY, first.unit, scale)
        elif forms == (QuantityForm.YEAR, QuantityForm.MONEY) or (_bare(first) and second.form in _LENDING):
            result[index] = _rescaled(first, second.form, second.unit, scale)
        elif forms == (QuantityForm.NUMBER, QuantityForm.NUMBER) and _bare(first) and not first.scaled:
            result[index] = _rescaled(first, second.form, second.unit, scale, second.factor)
    return result


_LENDING = frozenset({QuantityForm.PERCENT, QuantityForm.POINTS, QuantityForm.MONEY})
_LENT = 1000  # a larger amount of money is written in full: "$1,000 to $2 million"


def _bare(quantity: Quantity) -> bool:
    return quantity.form is QuantityForm.NUMBER and not quantity.unit


def _written_scale(quantity: Quantity) -> Decimal:
    """What 1 as written is worth: scale word times unit factor."""
    digits = re.search(r"\d[\d,]*(?:\.(\d+))?", quantity.text)
    return quantity.step * (Decimal(10) ** len(digits[1] or "")) if digits else Decimal(1)


def _rescaled(
    quantity: Quantity, form: QuantityForm, unit: str, factor: Decimal | int, of_unit: Decimal = Decimal(1)
) -> Quantity:
    return msgspec.structs.replace(
        quantity, form=form, unit=unit, value=quantity.value * factor, step=quantity.step * factor,
        scaled=quantity.scaled or factor != of_unit, factor=of_unit,
    )  # fmt: skip


def _in_words(text: str, quantity: Quantity) -> Quantity:
    if quantity.form in {QuantityForm.DATE, QuantityForm.ORDINAL, QuantityForm.TIME}:
        return quantity
    before = text[max(0, quantity.start - 32) : quantity.start].rstrip("(")
    return msgspec.structs.replace(quantity, hedged=bool(_HEDGE.search(before)))


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
_LONG = re.compile(_DIGITS)
MOST_DIGITS = 40
"""The longest number that is compared, in characters; a longer one is a key, a hash or an attack."""
_ORDINAL_TAIL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_LETTER_TAIL = re.compile(r" ?(k|K|MM|mm|M|m|B|b|T|t)\b")
_TIME_TAIL = re.compile(r"(?::(?P<min>[0-5]\d)(?::[0-5]\d)?)?\s?(?P<half>[ap]\.?m\b\.?)?", re.IGNORECASE)
_POWER = re.compile(r"(?:[ \u00a0]?[×x·][ \u00a0]?10)?(?P<power>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})(?![⁰¹²³⁴⁵⁶⁷⁸⁹])")
_MARK = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_PLAIN_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_GLUED = frozenset("st nd rd th s x am pm bps bp pp ppt bn mn tn mln q h".split())


def has_long_number(text: str) -> bool:
    """Whether a number in ``text`` is too long to be compared."""
    return any(found.end() - found.start() > MOST_DIGITS for found in _LONG.finditer(text))


def _numerals(text: str) -> Iterator[Quantity]:
    position = 0
    while match := _NUMERAL.search(text, position):
        must_go_on()  # a long text has half a million
        start, end = match.start("num"), match.end("num")
        position = end
        if end - start > MOST_DIGITS or _inside_name(text, match):
            position = _end_of_word(text, end)
            continue
        tail = _TIME_TAIL.match(text, end)
        clock = tail and (tail["half"] or tail["min"]) and not match["cur"] and len(match["num"]) <= 2
        if tail and clock and match["num"].isdigit() and int(match["num"]) <= 24:
            yield unsigned_quantity(text, start, tail.end(), QuantityForm.TIME, _minutes(match["num"], tail))
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
    form = QuantityForm.MONEY if unit else QuantityForm.NUMBER
    if _ORDINAL_TAIL.match(text, end) and not unit and step == 1:
        end += 2
        unit = "quarter" if re.match(r"[ -]quarter\b", text[end : end + 9], re.IGNORECASE) else ""
        return unsigned_quantity(text, start, end, QuantityForm.ORDINAL, value, unit=unit)
    power = _POWER.match(text, end)
    if power and (written == "10" or power.start("power") > end):
        exponent = int(power["power"].translate(_PLAIN_DIGITS)) - (power.start("power") == end)
        value, step, end = value.scaleb(exponent), step.scaleb(exponent), power.end()
    elif mark := _MARK.match(text, end):
        end = mark.end()
    opened = bool(match["open"] or match["open2"])
    closing = opened and text[end : end + 1] == ")"
    scale_end, scale = scale_after(text, end + closing)  # "$(5) million"
    if not scale:
        letter = _LETTER_TAIL.match(text, end)
        if letter:
            touching = letter.group(0) == letter[1]
            table = LETTER_SCALES | MONEY_SCALES if unit else LETTER_SCALES if touching else {}
            scale = table.get(letter[1], 0)
            scale_end = letter.end() if scale else end
    if scale:
        value, step, end = value * scale, step * scale, scale_end
    closing = closing or text[end : end + 1] == ")"
    if measure := _measure(text, end, unit):
        form, unit, factor, worth, end = measure
        value, step = (value * worth, step * worth) if worth != 1 else (value, step)
    share = form in {QuantityForm.PERCENT, QuantityForm.POINTS}
    brackets = opened and (closing or text[end : end + 1] == ")")
    brackets = brackets and bool(
        match["cur"] or "," in match["num"] or "." in match["num"] or share or _tabular(text, match)
    )
    if (
        form is QuantityForm.NUMBER
        and not unit
        and not scale
        and not minus
        and re.fullmatch(r"1[1-9]\d\d|20\d\d", match["num"])
    ):
        form = QuantityForm.YEAR
    return Quantity(
        text=text[start:end], start=start, end=end, form=form, value=-value if minus else value, step=step,
        unit=unit, factor=factor, scaled=bool(scale), brackets=brackets,
    )  # fmt: skip


def _minutes(hours: str, tail: re.Match[str]) -> Decimal:
    hour = int(Decimal(hours))
    if tail["half"]:
        hour = hour % 12 + (12 if tail["half"].lower().startswith("p") else 0)
    return Decimal(60 * hour + int(tail["min"] or 0))


_CAPITAL_WORD = re.compile(r"[A-Z]\w{0,63}[-\u2011]$")
_REST_OF_WORD = re.compile(r"(?:[.-]*+\w++)++")
_NEAR = 256  # characters examined on each side of a number: longer than any name, to bound the cost


def _inside_name(text: str, match: re.Match[str]) -> bool:
    """Whether the number is part of a name ("B12", "COVID-19", "10-K", "401(k)") or a code."""
    start, end = match.start("num"), match.end("num")
    if not match["cur"] and start > 0:
        before = text[max(0, start - _NEAR) : start]
        if before[-1].isalpha() or (
            _CAPITAL_WORD.search(before)
            and not re.search(r"(?i)(?:mid|pre|post|early|late|non|sub|year)-$", before)
        ):
            return True
        if re.search(r"\d[.:/]$", before):
            return True
    after = text[end : end + _NEAR]
    if re.match(r"/\d|-[A-Z]\b(?!-)|\([a-zA-Z]{1,3}\)|\.\d+\.|(?!st\b|nd\b|rd\b|th\b)[A-Z][a-z]", after):
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


def _end_of_word(text: str, end: int) -> int:
    match = _REST_OF_WORD.match(text, end)
    return match.end() if match else end


def _free(text: str, position: int) -> bool:
    """Whether a dash is a minus: no letter, digit, closing bracket or percent sign directly before it."""
    return position == 0 or not (text[position - 1].isalnum() or text[position - 1] in ")%]")


def _tabular(text: str, match: re.Match[str]) -> bool:
    start, end = line_span(text, match.start())
    return "\t" in text[start:end] or not re.search(r"[A-Za-z]", text[start:end])


_HUNDREDTH = Decimal("0.01")


Measure = tuple[QuantityForm, str, Decimal, Decimal, int]
"""Form, unit, the unit's factor, the worth of one, the end offset."""


def _measure(text: str, end: int, currency: str, least: int = 1) -> Measure | None:
    """Measure for a percent sign, or a currency or unit of at least ``least`` letters, after a number that
    may have a ``currency`` before it; None if there is none."""
    if percent := PERCENT.match(text, end):
        worth = _HUNDREDTH if percent["bp"] else Decimal(1)
        return (
            QuantityForm.PERCENT if percent["pc"] else QuantityForm.POINTS,
            "",
            Decimal(1),
            worth,
            percent.end(),
        )
    word = WORD.match(text, end)
    if not word or currency or len(word["word"]) < least:
        return None
    name = word["word"]
    if name.lower() in CURRENCIES:
        worth = _HUNDREDTH if name.lower() in CENTS else Decimal(1)
        return QuantityForm.MONEY, CURRENCIES[name.lower()], Decimal(1), worth, word.end()
    known = name if name in UNITS else name.lower()
    if known not in UNITS:
        return None
    unit, factor = UNITS[known]
    return QuantityForm.NUMBER, unit, factor, factor, word.end()


_ONE = "|".join(sorted(ONES, key=len, reverse=True))
_TEN = "|".join(TENS)
_SUB100 = rf"(?:(?:{_TEN})(?:[ -](?:{_ONE})\b)?|{_ONE})"
_SUB1000 = rf"(?:{_SUB100}|an?(?=[ -](?:hundred|thousand|million|billion|trillion|dozen)\b))"
_BIG = r"(?:hundred|thousand|million|billion|trillion|dozen)"
_SPELLED = re.compile(
    rf"\b{_SUB1000}\b(?:[ -]{_BIG}\b(?:,? (?:and )?{_SUB1000}\b)?){{0,9}}(?![-'\u2019]?\w)", re.IGNORECASE
)
_ORDINAL = re.compile(rf"\b(?:(?P<ten>{_TEN})[ -])?(?P<word>{'|'.join(ORDINALS)})\b", re.IGNORECASE)
_BEYOND = 10**24  # "a trillion trillion": too large to be a spelled-out count
_BESIDE = 32  # characters examined on each side of an ordinal
_NOT_RANK = re.compile(r"(?:\bat )$", re.IGNORECASE)
_NOT_RANK_AFTER = re.compile(r"^(?: of all\b| and foremost\b| time\b|-hand\b| hand\b| half\b)", re.IGNORECASE)


def _spelled_numbers(text: str) -> Iterator[Quantity]:
    for match in _SPELLED.finditer(text):
        words = match.group().lower()
        value = _words_value(words)
        start, end = match.span()
        if not 0 < value < _BEYOND:
            continue
        if words == "one" and not _measure(text, end, ""):
            continue
        unit, form = "", QuantityForm.NUMBER
        step = factor = Decimal(1)
        while value % (step * 10) == 0:
            step *= 10
        if measure := _measure(text, end, "", least=3):
            form, unit, factor, worth, end = measure
            value, step = (value * worth, step * worth) if worth != 1 else (value, step)
        scaled = any(big in words for big in ("million", "billion", "trillion", "thousand", "hundred"))
        yield unsigned_quantity(
            text, start, end, form, value,
            step=step, unit=unit, factor=factor, scaled=scaled,
        )  # fmt: skip


def _ordinals(text: str) -> Iterator[Quantity]:
    for match in _ORDINAL.finditer(text):
        value = Decimal(ORDINALS[match["word"].lower()] + TENS.get((match["ten"] or "").lower(), 0))
        before = text[max(0, match.start() - _BESIDE) : match.start()]
        behind = text[match.end() : match.end() + _BESIDE]
        if _NOT_RANK.search(before) or _NOT_RANK_AFTER.match(behind):
            continue
        unit = "quarter" if re.match(r"[ -](?:fiscal )?quarter\b", behind, re.IGNORECASE) else ""
        yield unsigned_quantity(text, match.start(), match.end(), QuantityForm.ORDINAL, value, unit=unit)


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

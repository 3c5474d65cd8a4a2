"""Extract quantities from text as people write them: numbers, money, percentages, dates, ordinals.

In: text. Out: :class:`Quantity` values in order, never overlapping, each with its value at full scale, the
size of its last written digit, its unit, and whether it is hedged. Independent of evidence and verdicts:
see :mod:`citewell.verification.numbers`.
"""

from __future__ import annotations

import itertools
import re
from decimal import Decimal
from functools import lru_cache

import msgspec

from citewell.core.stretches import with_free
from citewell.questions.quantity import Quantity, QuantityForm, moments
from citewell.verification.numerals import numerals, ordinals, spelled_numbers

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
    for finder in (numerals, spelled_numbers, ordinals):
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

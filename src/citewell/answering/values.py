"""Whether two written numbers are the same value, up to rounding, scale or unit.

In: numbers as written, whether their text declares a scale, their units. Out: a truth value. Independent of
what the numbers measure.
"""

from __future__ import annotations

import re
from decimal import Decimal

from citewell.questions.quantity import LETTER_SCALES, SCALES

MIN_FIGURES = 3
POWERS = (3, 6, 9, 12)

_SCALES = {
    word: len(str(factor)) - 1 for word, factor in (SCALES | LETTER_SCALES).items() if factor % 100 == 0
}
NUMBER = re.compile(
    r"\(?-?[$€£]?\s?\d[\d,]*(?:\.\d+)?\s?%?\)?"
    rf"(?:(?:{'|'.join(LETTER_SCALES)})\b|\s?(?:{'|'.join(_SCALES.keys() - LETTER_SCALES.keys())})\b)?"
)

_MONEY = re.compile("[$€£]")

Unit = tuple[str, Decimal] | None
"""The dimension, and the factor to its base unit: ("mass", 0.001) for milligrams."""


def same_value(
    a: str, b: str, *, scaled: bool = False, units: tuple[Unit, Unit] = (None, None), prose: bool = False
) -> bool:
    """Equal up to sign style, rounding, scale and unit: 1,577 is 1,577.0 and, in billions, 1.58; 60 minutes
    are an hour; 40 grams are not 40 milligrams.

    Unless both state their scale, they may differ by a power of a thousand if the text declares a scale
    (``scaled``) or the figures are long enough: a limit of 30 days is neither 3 days nor 30,000. In ``prose``
    that holds for money only, as 1,250 people are not 1,250,000; but 1.577 may be 1,577.
    """
    of_a, of_b = units
    if of_a is not None and of_b is not None and of_a != of_b:
        return _same_measure(a, of_a, b, of_b)
    low, high = sorted((_value(a), _value(b)))
    figures = min(map(_figures, (low, high)))
    written = [_scale(number) for number in (a, b)]
    declared = scaled or any(written)
    digits = {re.sub(r"\D", "", number) for number in (a, b)}
    if prose and not scaled and len(digits) > 1 and not any(map(_MONEY.search, (a, b))):
        return _rounded(low, high)
    return _rounded(low, high) or any(
        low == scaled_down or (_rounded(low, scaled_down) and figures > 1)
        for scaled_down in (high.scaleb(-power) for power in POWERS)
        if not all(written) and (declared or figures >= MIN_FIGURES)
    )


def _same_measure(a: str, of_a: tuple[str, Decimal], b: str, of_b: tuple[str, Decimal]) -> bool:
    if of_a[0] != of_b[0]:
        return False
    one, other = _value(a) * of_a[1], _value(b) * of_b[1]
    coarse = max(of_a[1].scaleb(-_decimals(_value(a))), of_b[1].scaleb(-_decimals(_value(b))))
    return one == other or (abs(one - other) * 2 < coarse and min(_figures(one), _figures(other)) > 1)


def _rounded(a: Decimal, b: Decimal) -> bool:
    """Whether the coarser number is the finer one, rounded half up to its decimal places."""
    coarse, fine = sorted((a, b), key=_decimals)
    unit = Decimal(1).scaleb(-_decimals(coarse))
    return -unit <= 2 * (fine - coarse) < unit


def _decimals(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0  # parsed from digits, so never NaN


def _value(number: str) -> Decimal:
    digits = Decimal(re.sub(r"[^\d.]", "", number).strip(".") or 0)
    return digits.scaleb(_scale(number))


def _scale(number: str) -> int:
    """The power of ten of the scale written with it; 0 for none."""
    return _SCALES.get(re.sub(r"[^A-Za-z]", "", number), 0)


def _figures(number: Decimal) -> int:
    return len("".join(map(str, number.as_tuple().digits)).strip("0"))

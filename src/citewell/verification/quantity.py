"""One quantity, and what may stand behind a number: a scale word, a percent sign, a unit.

In: text and the end of a number in it. Out: :class:`Quantity` values, and how far what follows belongs to
them. Knows nothing about how the number itself is written.
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum

from citewell.core.records import Record
from citewell.verification.dates import Moment
from citewell.verification.units import SCALES


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
    or -1 when the text says that it is the size of a rise or a fall. ``hedge``: about, over, nearly,
    under."""

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


def plain(
    text: str, start: int, end: int, form: Form, value: Decimal, *,
    step: Decimal = Decimal(1), unit: str = "", factor: Decimal = Decimal(1), scaled: bool = False,
    spelled: bool = False,
) -> Quantity:  # fmt: skip
    """The quantity written at ``[start, end)``, without a sign."""
    return Quantity(
        text=text[start:end], start=start, end=end, form=form, value=value, step=step, unit=unit,
        factor=factor, scaled=scaled, spelled=spelled,
    )  # fmt: skip


def scale_after(text: str, end: int) -> tuple[int, int]:
    """(where the scale words behind ``end`` end, their product): "hundred million"; else (``end``, 0)."""
    value, match = 1, _SCALE.match(text, end)
    if not match:
        return end, 0
    while match is not None:
        value *= SCALES[match[1].lower()]
        end, match = match.end(), _SCALE.match(text, match.end())
    return end, value

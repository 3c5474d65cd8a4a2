"""The scales that text around a number declares: "(In millions, except per share data)".

In: a table's title, heads, a sentence. Out: factors, or the words that declare them. Knows no numbers.
"""

from __future__ import annotations

import re
from decimal import Decimal

_CONTEXT_SCALE = re.compile(
    r"\b(?:in|of|usd|us\$|dollars|\$|amounts?|values?|figures?)\s+(?:usd\s+|us\$\s*|u\.s\.\s+)?(?:dollars?\s+in\s+)?"
    r"(thousands|millions|billions|000s)\b|[($](?:000|'000)s?\b|\((?:[$€£]\s?|usd\s+)?(thousands|millions|billions|mn|bn|m|k)\)",
    re.IGNORECASE,
)
_CONTEXT_SCALES = {
    "thousands": 1000, "000s": 1000, "k": 1000, "millions": 10**6, "mn": 10**6, "m": 10**6,
    "billions": 10**9, "bn": 10**9,
}  # fmt: skip


def context_scales(text: str) -> frozenset[Decimal]:
    """1 and the scales that ``text`` declares: "(In millions, except per share data)" gives 10**6."""
    scales = {Decimal(1)}
    for match in _CONTEXT_SCALE.finditer(text):
        word = (match[1] or match[2] or "000s").lower()
        scales.add(Decimal(_CONTEXT_SCALES[word]))
    return frozenset(scales)


def declared_units(text: str) -> str:
    """The words of ``text`` that declare a scale or percent: "In millions"; "" when none do."""
    found = [match.group() for match in _CONTEXT_SCALE.finditer(text)]
    return "\n".join(dict.fromkeys(found))

"""Does a question ask for a number that stands in no source but must be computed from several?

In: a question. Out: yes or no, by words. Where no claim has a computed proof, such a question is answered
with its operands and decided PARTIAL. Knows nothing about answers.
"""

from __future__ import annotations

import re

_COMPUTED = re.compile(
    r"\b(?:ratio|margin|growth rate|growth in|growth of|rate of growth|cagr|compound annual|average|"
    r"mean of|median|"
    r"percent(?:age)? (?:change|increase|decrease|growth|difference|of)|percentage points? (?:change|"
    r"difference)|% (?:change|of)|"
    r"difference between|differ(?:s|ed)? from|how much (?:more|less|higher|lower|larger|smaller)|by how much|"
    r"by what (?:percent(?:age)?|amount|factor)|sum of|total of|combined|altogether|add(?:ed)? (?:up|"
    r"together)|"
    r"divided by|multiplied by|times (?:as|more|higher|larger)|per (?:share|employee|store|unit|capita)|"
    r"year[- ]over[- ]year|yoy|quarter[- ]over[- ]quarter|turnover|days (?:sales|payable|inventory|"
    r"outstanding)|dpo|dso|dio|"
    r"return on (?:assets|equity|capital|investment)|roa|roe|roic|ebitda|free cash flow|"
    r"working capital|net debt|leverage|"
    r"(?:increase|decrease|change|grow|fall|rise|drop|decline)[sd]? (?:between|from|compared|relative|"
    r"versus|vs)|calculate|compute|"
    r"what (?:fraction|proportion|share) of|conversion cycle|interest coverage|effective tax rate)\b",
    re.IGNORECASE,
)


def needs_arithmetic(question: str) -> bool:
    """True for ratios, margins, differences, averages, growth: when in doubt, true."""
    return bool(_COMPUTED.search(question))

"""The units that a table's surroundings print: "(In millions, except per share data)".

In: one line of text. Out: the words as printed, without their brackets. Knows nothing about tables.
"""

from __future__ import annotations

import re

_UNITS = re.compile(
    r"\(([^()]*\b(?:millions?|thousands?|billions?|per[- ]share|"
    r"except (?:for )?(?:share|per|ratio|number|percent)|dollars|percentages?|unaudited)\b[^()]*)\)",
    re.IGNORECASE,
)
_SCALE = re.compile(r"\b(?:millions|thousands|billions|dollars)\b", re.IGNORECASE)
_BARE_UNITS = re.compile(
    r"^(?:(?:amounts?|dollars?|shares?|and|are|expressed|stated|u\.?s\.?|\$|€|£|¥)[\s,]*){0,6}in "
    r"(?:u\.?s\.? )?(?:millions|thousands|billions)\b.{0,80}$",
    re.IGNORECASE,
)


def units_in(text: str) -> str:
    """ "In millions, except per share data" of a line that prints units, else ""."""
    for match in _UNITS.finditer(text):
        found = match.group(1).strip()
        if _SCALE.search(found) or "share" in found.lower() or "percent" in found.lower():
            return found
    bare = text.strip().strip("()")
    return bare if _BARE_UNITS.match(bare) else ""

"""One visual line -> a label and its values, with "$", "(", ")" and "%" attached; and the units it prints.

In: :class:`layout.VisualLine`, or its text. Out: :class:`LineCell` values from left to right, or the units as
printed, without brackets. Knows nothing about columns, heads or neighbouring lines.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from citewell.documents.pdf.layout import LineSegment, VisualLine

_OPEN = re.compile(r"[$€£¥(+\-–—]*[$€£¥(][$€£¥(+\-–—]*")
_CLOSE = re.compile(r"[)%]+|bps|pts|pp|x")
_DASH = re.compile(r"[-–—]+")
_NUMBER = re.compile(
    r"[$€£¥]?[(+\-–—]?[$€£¥]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?"
    r"(?:%|x|bps|pts|pp)?\)?%?(?:\([a-z0-9]{1,2}\)|[*†‡⁰¹²³⁴-⁹⁺⁻]|,(?=[⁰¹²³⁴-⁹]))*"
)
_FOOTNOTE = re.compile(r"\([a-z0-9]{1,2}\)|[*†‡⁰¹²³⁴-⁹]+")
_BLANK_WORDS = {"NM", "N/M", "N/A", "n/a", "NA", "nm", "n.m.", "*", "**"}
MARKS = r"(?: ?(?:\([a-z0-9]{1,2}\)|[*†‡⁰¹²³⁴-⁹]+))?"
"""Of a footnote, behind a head or figure."""
YEAR = re.compile(rf"(?:FY\s?)?(?:19|20)\d{{2}}(?:E|A)?{MARKS}")
BULLET = re.compile(r"[•●▪◦‣∙·■□☐☒☑✓*–—\-o]|\(?(?:[a-zA-Z]|[ivxIVX]{1,4}|\d{1,2})[.)]")


class LineCell(NamedTuple):
    """A cell of a line. ``number``: a figure, a dash for none, or NM."""

    text: str
    x0: float
    x1: float
    number: bool


def is_number(text: str) -> bool:
    """Whether it is a figure as printed in tables: ``$(1,234.5)``, ``12.3%``, ``—``, ``NM``."""
    if text in _BLANK_WORDS or _DASH.fullmatch(text.lstrip("$€£¥")):
        return True
    return any(letter.isdigit() for letter in text) and _NUMBER.fullmatch(text) is not None


def pieces_of(line: VisualLine) -> list[LineCell]:
    """The pieces from left to right; adjacent words form one piece, each figure is a piece of its own."""
    loose: list[LineCell] = []
    for segment in line.segments:
        loose.extend(_split(segment))
    return _glued(loose)


def _split(segment: LineSegment) -> list[LineCell]:
    """One piece per figure; "Total assets $" loses its dollar sign to the next piece."""
    words = segment.text.split(" ")
    share = (segment.x1 - segment.x0) / max(1, len(segment.text))
    if all(_figure(word) for word in words):
        return [
            LineCell(word[0], x0, x0 + share * len(word[0]), True)
            for word in re.finditer("[^ ]+", segment.text)
            for x0 in (segment.x0 + share * word.start(),)
        ]
    if len(words) > 1 and words[-1] in {"$", "€", "£", "¥", "$(", "("}:
        cut = segment.x1 - share * len(words[-1])
        return [
            LineCell(" ".join(words[:-1]), segment.x0, cut - share, False),
            LineCell(words[-1], cut, segment.x1, True),
        ]
    return [LineCell(segment.text, segment.x0, segment.x1, False)]


def _figure(word: str) -> bool:
    return bool(
        is_number(word) or _OPEN.fullmatch(word) or _CLOSE.fullmatch(word) or _FOOTNOTE.fullmatch(word)
    )


def _glued(loose: list[LineCell]) -> list[LineCell]:
    glued: list[LineCell] = []
    opened = False
    for piece in loose:
        near = glued and glued[-1].number and piece.x0 - glued[-1].x1 < 14
        if piece.number and (opened or (near and _closes(piece.text))):
            glued[-1] = LineCell(glued[-1].text + piece.text, glued[-1].x0, piece.x1, True)
        else:
            glued.append(piece)
        opened = piece.number and _OPEN.fullmatch(piece.text) is not None
    return [piece._replace(number=piece.number and is_number(piece.text)) for piece in glued]


def _closes(text: str) -> bool:
    return bool(_CLOSE.fullmatch(text) or (_FOOTNOTE.fullmatch(text) and len(text) < 5))


_UNITS = re.compile(
    r"\(([^()]*\b(?:millions?|thousands?|billions?|per[- ]share|"
    r"except (?:for )?(?:share|per|ratio|number|percent)|dollars|percentages?|unaudited)\b[^()]*)\)",
    re.I,
)
_SCALE = re.compile(r"\b(?:millions|thousands|billions|dollars)\b", re.I)
_BARE_UNITS = re.compile(
    r"^(?:(?:amounts?|dollars?|shares?|and|are|expressed|stated|u\.?s\.?|\$|€|£|¥)[\s,]*){0,6}in "
    r"(?:u\.?s\.? )?(?:millions|thousands|billions)\b.{0,80}$",
    re.I,
)


def units_in(text: str) -> str:
    """ "In millions, except per share data" from a line that prints units, else ""."""
    for match in _UNITS.finditer(text):
        found = match.group(1).strip()
        if _SCALE.search(found) or "share" in found.lower() or "percent" in found.lower():
            return found
    bare = text.strip().strip("()")
    return bare if _BARE_UNITS.match(bare) else ""

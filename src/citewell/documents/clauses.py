"""The place in a document that the number or the heading of a clause means.

In: a document and "4.1", "5(b)" or "Break clause". Out: offsets of the section, or of the numbered line with
what belongs to it. Knows nothing about who asks.
"""

from __future__ import annotations

import re

from citewell.core.records import Document
from citewell.core.sentences import sentence_spans
from citewell.documents.statements import NUMBER, UNIT


def place_of(document: Document, section: str) -> tuple[int, int] | None:
    """The one section or numbered paragraph that a statement calls so ("4.1", "5(b)", "Break clause"); None
    for none and for several."""
    head, *inner = re.split(r"(?=\()", section) if section[:1].isdigit() else [section]
    place = _section(document, head) or _paragraph(document, head)
    for letter in inner:
        place = _inside(document.text, place, letter) if place else None
    return place


def _section(document: Document, name: str) -> tuple[int, int] | None:
    numbered = _numbered_as(name)
    fit = [
        one
        for one in document.sections
        if one.path[-1].casefold() == name.casefold()
        or re.sub(r"^[\W\d.]+", "", one.path[-1]).casefold() == name.casefold()
        or numbered.match(one.path[-1])
    ]
    return (fit[0].start, fit[0].end) if len(fit) == 1 else None


def _numbered_as(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{UNIT}|§)\s*)?{re.escape(name)}(?:\.?(?=\s|$)|[):])")


def _paragraph(document: Document, name: str) -> tuple[int, int] | None:
    """A line that begins with the number, with those below it up to the next that is numbered and no part of
    it, or the end of its section."""
    if not re.fullmatch(NUMBER, name):
        return None
    wanted, found = _numbered_as(name), []
    lines, at = [], 0
    for line in document.text.split("\n"):
        lines.append((at, line))
        if wanted.match(line):
            found.append(len(lines) - 1)
        at += len(line) + 1
    if len(found) != 1:
        return None
    start = lines[found[0]][0]
    ends = [one.end for one in document.sections if one.start <= start < one.end]
    stops = min([*ends, *(s.start for s in document.sections if s.start > start), len(document.text)])
    end = start
    for offset, line in lines[found[0] :]:
        other = re.match(rf"(?:(?:{UNIT}|§)\s*)?(\d+[A-Z]?(?:\.\d+)*)(?:\.?\s|[):])", line)
        if offset >= stops or (offset > start and other and not other[1].startswith(f"{name}.")):
            break
        end = offset + len(line)
    return start, end


def _inside(text: str, place: tuple[int, int], letter: str) -> tuple[int, int] | None:
    """The line of ``place`` that begins with "(b)"."""
    found = [
        match.start() for match in re.finditer(rf"(?m)^{re.escape(letter)}\s", text[place[0] : place[1]])
    ]
    if len(found) != 1:
        return None
    start = place[0] + found[0]
    end = text.find("\n", start)
    return start, min(end if end >= 0 else len(text), place[1])


def sentence_with(text: str, place: tuple[int, int] | None, words: str) -> tuple[int, int] | None:
    """The one sentence of the place that has these words."""
    if place is None:
        return None
    base = text[place[0] : place[1]]
    found = [span for span in sentence_spans(base) if words in base[slice(*span)]]
    return (place[0] + found[0][0], place[0] + found[0][1]) if len(found) == 1 else None

"""Recognises what is printed on page after page: running heads, running feet and page numbers.

In: the lines of every page. Out: for each page the lines that are its own, and what was set aside and
how often. The first printing of a running head stays where it stands; page numbers all go.
Knows nothing about tables or paragraphs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import NamedTuple

from citewell.documents.pdf.layout import Line

_NUMBER = re.compile(
    r"(?:page\s+|[-–—]\s*)?(?:[A-Z]{1,2}-?)?(\d{1,4}|[ivxlc]{1,7})(?:\s*[-–—]|\s+of\s+\d+)?", re.IGNORECASE
)
_EDGE_LINES = 3
_ZONE = 0.14
_MIN_PAGES = 3
_NEAR = 5


class Pages(NamedTuple):
    """``lines`` by page; ``set_aside`` counts texts (digits as #) left out of the document's text."""

    lines: list[list[Line]]
    set_aside: Counter[str]


def set_running_aside(pages: list[list[Line]], heights: list[float]) -> Pages:
    """The pages without their running lines."""
    places: dict[tuple[str, int], list[int]] = defaultdict(list)
    edges: list[list[tuple[int, tuple[str, int]]]] = []
    for index, lines in enumerate(pages):
        found = _edge(lines, heights[index])
        edges.append([(at, _key(lines[at])) for at in found])
        for _, key in edges[-1]:
            places[key].append(index)
    numbered = _numbered(pages)
    kept: list[list[Line]] = []
    aside: Counter[str] = Counter()
    seen: set[str] = set()
    for index, lines in enumerate(pages):
        drop: set[int] = set()
        for at, key in edges[index]:
            if _repeats(places, key, index) and not (key[0] not in seen and "#" not in key[0]):
                drop.add(at)
                aside[key[0]] += 1
            elif _repeats(places, key, index):
                seen.add(key[0])
        for at in numbered.get(index, ()):
            if at not in drop:
                drop.add(at)
                aside["#"] += 1
        kept.append([line for at, line in enumerate(lines) if at not in drop])
    return Pages(kept, aside)


def _edge(lines: list[Line], height: float) -> list[int]:
    """Indexes of the highest and lowest few lines inside the margins."""
    order = sorted(range(len(lines)), key=lambda at: -lines[at].base)
    top = [at for at in order[:_EDGE_LINES] if lines[at].base > (1 - _ZONE) * height]
    bottom = [at for at in order[-_EDGE_LINES:] if lines[at].base < _ZONE * height]
    return [at for at in dict.fromkeys([*top, *bottom]) if len(lines[at].text) < 160]


def _key(line: Line) -> tuple[str, int]:
    return re.sub(r"\d+", "#", line.text).strip(), round(line.base / 3)


def _repeats(places: dict[tuple[str, int], list[int]], key: tuple[str, int], index: int) -> bool:
    """The same words at the same height on several pages around this one."""
    text, height = key
    around: set[int] = set()
    for near in (height - 1, height, height + 1):
        around.update(page for page in places.get((text, near), ()) if abs(page - index) <= 6)
    return len(around) >= _MIN_PAGES


def _numbered(pages: list[list[Line]]) -> dict[int, list[int]]:
    """Lines that are page numbers: alone at the top or bottom, and counting on with the pages."""
    candidates: dict[int, list[tuple[int, int]]] = {}
    for index, lines in enumerate(pages):
        order = sorted(range(len(lines)), key=lambda at: -lines[at].base)
        found = []
        for at in dict.fromkeys([*order[:2], *order[-2:]]):
            text = lines[at].text.strip()
            match = _NUMBER.fullmatch(text)
            if match and match.group(1).isdigit():
                found.append((at, int(match.group(1)) - index))
        candidates[index] = found
    result: dict[int, list[int]] = {}
    for index, found in candidates.items():
        for at, offset in found:
            company = sum(
                any(other == offset for _, other in candidates.get(near, ()))
                for near in range(index - _NEAR, index + _NEAR + 1)
            )
            if company >= min(_MIN_PAGES, len(pages)):
                result.setdefault(index, []).append(at)
    return result

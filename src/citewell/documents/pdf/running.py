"""Recognises what is repeated on page after page: running heads, running feet and page numbers.

In: the lines of every page. Out: for each page the lines that are its own, and what was set aside and
how often. The first occurrence of a running head and the last of a running foot stay in place, where they do
not split a paragraph that continues on the next page; page numbers are all removed.
Knows nothing about tables or paragraphs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import NamedTuple

from citewell.documents.pdf.layout import VisualLine

_NUMBER = re.compile(
    r"(?:page\s+|[-–—]\s*)?(?:[A-Z]{1,2}-?)?(\d{1,4}|[ivxlc]{1,7})(?:\s*[-–—]|\s+of\s+\d+)?", re.I
)
_EDGE_NUMBER = re.compile(r"^(?:page\s+)?\d{1,4}(?=\s)|(?<=\s)\d{1,4}$", re.I)
_EDGE_LINES = 3
_ZONE = 0.14
_AROUND = 6
_MIN_PAGES = 3
_SHARE = 0.38
"""Of the pages within ``_AROUND``: a table's title may head three consecutive pages, a running head is on
every page or every other one."""


class Pages(NamedTuple):
    """``lines`` by page; ``set_aside`` counts texts (page numbers as #) left out of the document's text,
    ``characters`` is how many characters that is on each page, without white space."""

    lines: list[list[VisualLine]]
    set_aside: Counter[str]
    characters: list[int]


class _Key(NamedTuple):
    text: str
    x: int
    height: int


def set_running_aside(pages: list[list[VisualLine]], heights: list[float]) -> Pages:
    """The pages without their running lines."""
    numbered = _numbered(pages)
    places: dict[_Key, list[int]] = defaultdict(list)
    edges: list[tuple[list[int], list[int]]] = []
    keys: list[dict[int, _Key]] = []
    for index, lines in enumerate(pages):
        top, bottom = _edges(lines, heights[index])
        edges.append((top, bottom))
        keys.append({at: _key(lines[at], index) for at in {*top, *bottom}})
        for key in keys[-1].values():
            places[key].append(index)
    drops = [set(numbered.get(index, ())) for index in range(len(pages))]
    aside = Counter({"#": sum(map(len, drops))})
    for feet in (False, True):
        seen: set[str] = set()
        for index in sorted(range(len(pages)), reverse=feet):
            for at in edges[index][feet]:
                if at in drops[index]:
                    continue
                key = keys[index][at]
                if not _repeats(places, key, index, len(pages)):
                    break  # anything further in than a line of the page's own is its own too
                if "#" in key.text or key.text in seen:
                    drops[index].add(at)
                    aside[key.text] += 1
                seen.add(key.text)
    kept = [
        [line for at, line in enumerate(lines) if at not in drop]
        for lines, drop in zip(pages, drops, strict=True)
    ]
    lost = [sum(lines[at].letters for at in drop) for lines, drop in zip(pages, drops, strict=True)]
    return Pages(kept, +aside, lost)


def _edges(lines: list[VisualLine], height: float) -> tuple[list[int], list[int]]:
    """Indexes of the few highest and lowest lines inside the margins, outermost first."""
    order = sorted(range(len(lines)), key=lambda at: -lines[at].base)
    top = [at for at in order[:_EDGE_LINES] if lines[at].base > (1 - _ZONE) * height]
    bottom = [at for at in order[: -_EDGE_LINES - 1 : -1] if lines[at].base < _ZONE * height]
    return [at for at in top if len(lines[at].text) < 120], [at for at in bottom if len(lines[at].text) < 120]


def _key(line: VisualLine, index: int) -> _Key:
    """The key of a line; a number at either end is replaced by its offset from the page's index, which is
    constant for page numbers."""
    text = line.text.strip()
    match = _EDGE_NUMBER.search(text)
    if match:
        offset = int(re.sub(r"\D", "", match.group())) - index
        text = f"{_EDGE_NUMBER.sub('#', text, count=1)} #{offset}"
    return _Key(text, round(line.x0 / 8), round(line.base / 3))


def _repeats(places: dict[_Key, list[int]], key: _Key, index: int, count: int) -> bool:
    """Whether the same words are at the same place on many of the surrounding pages."""
    around: set[int] = set()
    for x in (key.x - 1, key.x, key.x + 1):
        for height in (key.height - 1, key.height, key.height + 1):
            near = places.get(_Key(key.text, x, height), ())
            around.update(page for page in near if abs(page - index) <= _AROUND)
    window = min(count, index + _AROUND + 1) - max(0, index - _AROUND)
    return len(around) >= max(2, min(_MIN_PAGES, count), _SHARE * window)


def _numbered(pages: list[list[VisualLine]]) -> dict[int, list[int]]:
    """Lines that are page numbers: alone at the top or bottom, and increasing with the pages."""
    candidates: list[list[tuple[int, int]]] = []  # of each page: a line, and its number less the page's index
    for index, lines in enumerate(pages):
        order = sorted(range(len(lines)), key=lambda at: -lines[at].base)
        edges = dict.fromkeys([*order[:2], *order[-2:]])
        matches = [(at, _NUMBER.fullmatch(lines[at].text.strip())) for at in edges]
        candidates.append([(at, int(m[1]) - index) for at, m in matches if m and m[1].isdigit()])
    result: dict[int, list[int]] = defaultdict(list)
    for index, found in enumerate(candidates):
        around = candidates[max(0, index - _AROUND) : index + _AROUND + 1]
        for at, offset in found:
            company = sum(any(other == offset for _, other in near) for near in around)
            first_pages = len(pages) < _MIN_PAGES and offset == 1
            if len(pages[index]) > 1 and (company >= _MIN_PAGES or first_pages):
                result[index].append(at)
    return result

"""Words of a page -> visual lines in reading order, each cut into segments at wide gaps.

In: :class:`glyphs.PageWords`. Out: :class:`VisualLine` values, top to bottom, a left column before the right
one. A page is read across unless a band of it is clearly two columns of prose: tables also have white gaps,
so a split needs full lines of words on both sides. Knows nothing about tables, headings or documents.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from typing import NamedTuple

from citewell.documents.pdf.glyphs import PageWords, PdfWord, RuledLine
from citewell.documents.scripts import Script, to_script

_LEADER = re.compile(r"[.·…_]{4,}|(?:[.·…]{2,}$)")
_NUMERIC = re.compile(r"[$€£¥(]*[-–—]?[\d.,]*\d[\d.,]*[)%]*|[-–—$€£¥%()]+")
_MARK = re.compile(r"[-−+]?[0-9]{1,2}|[0-9](?:,[0-9]){1,3}")
_MIN_COLUMN_LINES = 5
_SMALL = 0.85
"""Of the type beside it: what is smaller, and stands higher, is raised."""
_GAP = 0.95
"""Ems of white that end a segment: gaps in justified prose are narrower, those between columns wider."""
_DOUBLE_SPACE = 2.7
"""Times a line's usual word space: a gap after a sentence of up to this is prose, not a border."""
_SENTENCE_END = re.compile(r"[.!?:;][\"”’')\]]*$")
_ENUMERATOR = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}\.?|[A-Z]\.?|\(?[a-z0-9]{1,3}\)")


class LineSegment(NamedTuple):
    """Adjacent words without a wide gap."""

    text: str
    x0: float
    x1: float


class VisualLine(NamedTuple):
    """One visual line. ``column`` numbers the regions of a page in reading order."""

    segments: tuple[LineSegment, ...]
    base: float
    size: float
    bold: bool
    italic: bool
    column: int
    page: int

    ruled: tuple[tuple[float, float], ...] = ()
    """The extents of the rules drawn directly under the line, points."""

    confidence: float | None = None
    """Of the OCR engine in what it is least sure of; None for text of the file."""

    @property
    def text(self) -> str:
        return " ".join(segment.text for segment in self.segments)

    @property
    def letters(self) -> int:
        """The number of characters without white space."""
        return sum(len(segment.text) - segment.text.count(" ") for segment in self.segments)

    @property
    def x0(self) -> float:
        return self.segments[0].x0

    @property
    def x1(self) -> float:
        return max(segment.x1 for segment in self.segments)


def read_lines(page: PageWords, number: int) -> list[VisualLine]:
    """The lines of physical page ``number`` in reading order; rotated text comes last, in page order."""
    upright = [word for word in page.words if word.turned == 0]
    turned = [word for word in page.words if word.turned != 0]
    if len(turned) > len(upright):
        # A landscape table on a portrait page: text in quarter turns is read as the main text.
        turned, upright = upright, turned
    regions = [*_regions(upright, depth=0), *([turned] if turned else ())]
    lines = [line for column, region in enumerate(regions) for line in _lines(region, column, number)]
    return _ruled(lines, page.rules) if page.rules else lines


def _ruled(lines: list[VisualLine], rules: list[RuledLine]) -> list[VisualLine]:
    """The lines, each with the rules directly under it."""
    rules = sorted(rules, key=lambda rule: rule.y)
    heights = [rule.y for rule in rules]
    found = []
    for line in lines:
        low = bisect_left(heights, line.base - 0.75 * line.size)
        near = rules[low : bisect_right(heights, line.base + 0.1 * line.size)]
        under = (rule for rule in near if rule.x1 > line.x0 - 40 and rule.x0 < line.x1 + 40)
        spans = {(round(rule.x0, 1), round(rule.x1, 1)) for rule in under}
        found.append(line._replace(ruled=tuple(sorted(spans))) if spans else line)
    return found


def _regions(words: list[PdfWord], depth: int) -> list[list[PdfWord]]:
    """Bands of the page in reading order; a two-column band yields its left side, then its right."""
    if depth > 1 or len(words) < 40:
        return [words] if words else []
    for gutter in _gutters(words):
        found = _split(words, gutter, depth)
        if len(found) > 1:
            return found
    return [words]


def _split(words: list[PdfWord], gutter: float, depth: int) -> list[list[PdfWord]]:
    found: list[list[PdfWord]] = []
    across: list[PdfWord] = []
    for crossing, band in _bands(words, gutter):
        sides = [word for word in band if word.x0 < gutter], [word for word in band if word.x0 >= gutter]
        if crossing or not all(map(_stands_alone, sides)):
            across.extend(band)
            continue
        if across:
            found.append(across)
            across = []
        for side in sides:
            found.extend(_regions(side, depth + 1))
    if across:
        found.append(across)
    return found


def _gutters(words: list[PdfWord]) -> list[float]:
    """Middles of the whitest gaps near the centre, most central first; none if prose runs across."""
    left, right = min(word.x0 for word in words), max(word.x1 for word in words)
    width = int(right - left)
    if width < 150:
        return []
    steps = [0] * (width + 2)
    for word in words:
        steps[max(0, int(word.x0 - left))] += 1
        steps[min(width + 1, int(word.x1 - left) + 1)] -= 1
    covers = list(itertools.accumulate(steps))
    low, high = int(0.3 * width), int(0.7 * width)
    rows = len({round(word.base / 3) for word in words})
    limit = min(0.5 * rows, min(covers[low:high]) + 2)
    runs = [
        (low + group[0][0], low + group[-1][0])
        for white, items in itertools.groupby(enumerate(covers[low:high]), lambda item: item[1] <= limit)
        if white and (group := list(items))
    ]
    middles = [left + (a + b) / 2 for a, b in runs if b - a >= 5]
    return sorted(middles, key=lambda x: abs(x - (left + right) / 2))[:3]


def _bands(words: list[PdfWord], gutter: float) -> list[tuple[bool, list[PdfWord]]]:
    """Bands from top to bottom: those whose lines cross the gutter, and those that leave it white."""
    runs = itertools.groupby(_rows(words), key=lambda row: _crosses(row, gutter))
    return [(crossing, list(itertools.chain.from_iterable(rows))) for crossing, rows in runs]


def _crosses(row: list[PdfWord], gutter: float) -> bool:
    left = [word for word in row if word.x0 < gutter]
    right = [word for word in row if word.x0 >= gutter]
    if not left:
        return False
    edge = max(left, key=lambda word: word.x1)
    if edge.x1 > gutter:
        return True
    return bool(right) and min(word.x0 for word in right) - edge.x1 < 0.8 * edge.size


def _stands_alone(words: list[PdfWord]) -> bool:
    """Whether a side is prose that fills its column, table rows with their own labels, or a mixture. The
    right half of an ordinary table begins with figures, the left half ends with labels: neither qualifies."""
    if not words:
        return False
    rows = _rows(words)
    if len(rows) < _MIN_COLUMN_LINES:
        return False
    left, right = min(word.x0 for word in words), max(word.x1 for word in words)
    begun = full = 0
    for row in rows:
        first, last = min(row, key=lambda word: word.x0), max(row, key=lambda word: word.x1)
        begun += first.x0 < left + 0.15 * (right - left) and not _NUMERIC.fullmatch(first.text)
        ended = len(row) > 1 and last.x1 > right - 0.25 * (right - left) and _NUMERIC.fullmatch(last.text)
        ink = sum(word.x1 - word.x0 for word in row)
        full += bool(ended) or ink > 0.6 * (right - left)
    return begun >= 0.6 * len(rows) and full >= 0.4 * len(rows)


def _rows(words: list[PdfWord]) -> list[list[PdfWord]]:
    """Words grouped by vertical overlap, top to bottom: a superscript belongs to the line it rises from."""
    rows: list[list[PdfWord]] = []
    spans: list[tuple[float, float]] = []
    for word in sorted(words, key=lambda word: -word.base):
        low, high = word.base - 0.2 * word.size, word.base + 0.65 * word.size
        if rows and spans[-1] == (low, high):
            rows[-1].append(word)
            continue
        for back in range(1, min(3, len(rows)) + 1):
            below, above = spans[-back]
            shared = min(high, above) - max(low, below)
            least, most = sorted((high - low, above - below))
            # Small raised type overlaps its line less than type of the same size does.
            if shared >= (0.35 if least < _SMALL * most else 0.55) * least:
                rows[-back].append(word)
                if high - low > above - below:
                    spans[-back] = low, high
                break
        else:
            rows.append([word])
            spans.append((low, high))
    return rows


def _lines(words: list[PdfWord], column: int, number: int) -> list[VisualLine]:
    rows = (sorted(row, key=lambda word: word.x0) for row in _rows(words))
    return [line for row in rows if (line := _line(row, column, number)) is not None]


def _line(row: list[PdfWord], column: int, number: int) -> VisualLine | None:
    runs: list[tuple[list[str], float, float]] = []
    goes_on = False  # the last run, with the next piece
    last: PdfWord | None = None
    gap = 0.0
    letters = Counter[float]()
    bold = italic = 0
    double = _double_space(row)
    if len(row) > 1 and _MARK.fullmatch(row[0].text) and _raised(row[0], row[1]):
        mark = row[0]._replace(text=to_script(row[0].text, Script.RAISED))  # before a footnote
        row = [mark, row[1]._replace(spaced=True), *row[2:]]
    for word in row:
        if last is not None:
            if word.text == last.text and word.x0 - last.x0 < 0.08 * word.size:
                continue  # printed twice to look bold
            if _MARK.fullmatch(word.text) and _raised(word, last):
                word = word._replace(text=to_script(word.text, Script.RAISED), spaced=False)
            gap = word.x0 - last.x1
            wide = gap > _GAP * max(word.size, last.size)
            if wide and gap < double and _SENTENCE_END.search(last.text):
                wide = bool(_NUMERIC.fullmatch(word.text))
            goes_on = goes_on and not wide
        pieces = _around_leader(word)
        for at, (text, x0, x1) in enumerate(pieces):
            goes_on = goes_on and not at
            if text and goes_on:
                parts, start, _ = runs[-1]
                parts += [" ", text] if word.spaced or gap > 0.22 * word.size else [text]
                runs[-1] = parts, start, x1
            elif text:
                runs.append(([text], x0, x1))
                goes_on = True
        count = len(pieces[0][0])
        letters[word.size] += count
        bold += count * word.bold
        italic += count * word.italic
        last = word
    if not runs:
        return None
    # In NFC: a file may set an accent as a separate piece after its letter.
    segments = [LineSegment(unicodedata.normalize("NFC", "".join(parts)), x0, x1) for parts, x0, x1 in runs]
    size = max(letters, key=lambda key: letters[key])
    return VisualLine(
        tuple(_numbered(segments)),
        next((word.base for word in row if word.size == size), row[0].base),
        round(size, 1),
        bold > 0.6 * letters.total(),
        italic > 0.6 * letters.total(),
        column,
        number,
        confidence=min((word.confidence for word in row if word.confidence is not None), default=None),
    )


def _around_leader(word: PdfWord) -> list[tuple[str, float, float]]:
    """The text of a word and its extent; before and after a leader, if it has one."""
    leader = _LEADER.search(word.text)
    if leader is None:
        return [(word.text, word.x0, word.x1)]
    before, after = word.text[: leader.start()], word.text[leader.end() :]
    letter = 0.5 * word.size
    return [
        (before, word.x0, min(word.x1, word.x0 + letter * len(before))),
        (after, word.x1 - letter * len(after), word.x1),
    ]


def _double_space(row: list[PdfWord]) -> float:
    """The widest gap, in points, between sentences in a line of prose; 0.0 for a line of few words."""
    gaps = sorted(b.x0 - a.x1 for a, b in itertools.pairwise(row) if b.x0 - a.x1 < _GAP * b.size)
    return _DOUBLE_SPACE * gaps[len(gaps) // 2] if len(gaps) > 2 else 0.0


def _numbered(segments: list[LineSegment]) -> list[LineSegment]:
    """Joins a heading's or an item's number, set off by white, to the words that it numbers."""
    if len(segments) != 2 or not segments[1].text[0].isalpha():
        return segments
    number, words = segments
    if not _ENUMERATOR.fullmatch(number.text) or words.x0 - number.x1 > 40:
        return segments
    return [LineSegment(f"{number.text} {words.text}", number.x0, words.x1)]


def _raised(word: PdfWord, last: PdfWord) -> bool:
    """Whether it is a footnote number or an exponent: "1,234" with a small raised 5 is not 12,345."""
    return (
        word.size < _SMALL * last.size
        and word.base > last.base + 0.12 * last.size
        and max(word.x0, last.x0) - min(word.x1, last.x1) < 2 * last.size
    )

"""Visual lines of prose -> paragraphs of one line each.

In: lines in reading order and their headings. Out: :class:`Paragraph` values. Words hyphenated at a line
end are joined only on evidence: lower-case letters after the hyphen, and the joined but not the hyphenated
form elsewhere in the document. Knows nothing about tables or offsets.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from citewell.documents.pdf.cells import BULLET
from citewell.documents.pdf.layout import VisualLine

ENDS = re.compile(r"[.!?:;][\"”’')\]]*$")
_CLAUSE = re.compile(r"\d{1,2}(?:\.\d{1,2}){1,3}\.? \S")
_CUT = re.compile(r"(?<![^\W\d_])([^\W\d_]+)-$")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass
class Paragraph:
    """``parts``: the text of each visual line and the separators between them."""

    lines: list[VisualLine]
    level: float | None = None
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)


def vocabulary(pages: list[list[VisualLine]]) -> set[str]:
    """Every word inside a line of the document, and so certainly whole: lower case, hyphens kept."""
    words: set[str] = set()
    for lines in pages:
        for line in lines:
            words.update(match.group().lower() for match in list(_WORD.finditer(line.text))[1:-1])
    return words


def joins(lines: list[VisualLine], following: VisualLine, right: float, pitch: float) -> bool:
    """Does ``following`` continue the paragraph of ``lines``? ``right``: the column's right edge."""
    last = lines[-1]
    if following.column != last.column or following.page != last.page:
        return False
    drop = last.base - following.base
    size = max(last.size, following.size)
    if not 0 < drop <= max(1.28 * pitch, 1.1 * size) or abs(last.size - following.size) > 1.0:
        return False
    if BULLET.fullmatch(following.text.split(" ", 1)[0]) and " " in following.text:
        return False
    ended = bool(ENDS.search(last.text))
    if ended and _CLAUSE.match(following.text):
        return False
    bulleted = BULLET.fullmatch(lines[0].text.split(" ", 1)[0]) is not None
    if bulleted and not ended and following.x0 > lines[0].x0 + 0.5 * size and following.bold == last.bold:
        return True  # it hangs under the item's words
    first_word = following.segments[0].text.split(" ", 1)[0]
    room = right - last.x1
    needed = 0.5 * following.size * len(first_word)
    if room > needed + 2.5 * size and (ended or not following.text[0].islower()):
        return False
    left = min(line.x0 for line in lines[1:] or lines)
    if ended and following.x0 < left - 0.8 * size and (len(lines) > 1 or bulleted):
        return False  # outdented: the list or the indented part is over
    return not (following.x0 > left + 1.2 * size and ended and len(lines) > 1)


def carries_over(last: Paragraph, first: VisualLine, right: float | None = None) -> bool:
    """Does a paragraph at the foot of a page or column continue at the top of the next? It does if its last
    line has no room for the next word up to ``right``, its column's edge, where that is known."""
    text = last.lines[-1].text
    if last.level is not None or ENDS.search(text) or len(text) < 30:
        return False
    if abs(last.lines[-1].size - first.size) > 1.0 or last.lines[-1].bold != first.bold:
        return False
    if first.text[0].islower() or text.endswith((",", "-")) or not text[-1].isalnum():
        return True
    word = first.text.split(" ", 1)[0]
    full = right is not None and last.lines[-1].x1 + 0.5 * first.size * len(word) > right
    return full and not BULLET.fullmatch(word)


def joint(before: str, after: str, words: set[str]) -> tuple[str, str]:
    """What remains of ``before``, and the separator: joins "opera-|tions", keeps "long-|term"."""
    match = _CUT.search(before)
    if not match or not after or not after[0].isalpha():
        return before, " "
    head = match.group(1)
    tail_match = _WORD.match(after)
    tail = tail_match.group() if tail_match else ""
    joined, hyphenated = (head + tail).lower(), f"{head}-{tail}".lower()
    if hyphenated in words or not tail[:1].islower():
        return before, ""
    return (before[:-1] if joined in words else before), ""


def right_edges(lines: list[VisualLine]) -> dict[int, float]:
    """The right edge of prose in each column of a page, points."""
    edges: dict[int, float] = {}
    for line in lines:
        if len(line.text) > 30:
            edges[line.column] = max(edges.get(line.column, 0.0), line.x1)
    return edges


def usual_pitch(lines: list[VisualLine]) -> dict[float, float]:
    """Distance between baselines inside paragraphs, by type size, points."""
    seen: dict[float, list[float]] = {}
    sure: dict[float, list[float]] = {}
    for above, below in itertools.pairwise(lines):
        drop = above.base - below.base
        if above.column != below.column or above.size != below.size or drop <= 0:
            continue
        if drop < 2.2 * above.size:
            seen.setdefault(above.size, []).append(drop)
        if drop < 3.2 * above.size and below.text[0].islower() and len(above.text) > 30:
            sure.setdefault(above.size, []).append(drop)
    pitches = {}
    for size, drops in seen.items():
        drops.sort()
        pitches[size] = min(max(drops[len(drops) // 4], 1.05 * size), 1.9 * size)
    for size, drops in sure.items():
        # Wide line spacing: a line that continues in lower case shows how wide.
        pitches[size] = max(pitches.get(size, 0.0), min(drops))
    return pitches

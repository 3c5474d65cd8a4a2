"""Which lines are headings, and at which level.

In: a line, its surroundings, the body's type size, the outline. Out: a level (1 outermost) or None. The
standard words of filings come first (PART II, Item 7., Note 5, CONSOLIDATED BALANCE SHEETS), then the
outline, then the type: larger, bold, capitals. Knows nothing about text offsets.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict

from citewell.documents.pdf.layout import VisualLine

PART = re.compile(r"PART\s+(?:IV|I{1,3})(?:\s*[.:—–-].{0,60}|\s+[A-Z].{0,50})?", re.I)
ITEM = re.compile(r"Item\s+\d{1,2}[A-C]?(?:\.\d{2})?\s*[.:—–-]?(?:\s.{0,160})?", re.I)
NOTE = re.compile(r"NOTE\s+\d{1,2}[A-Z]?\s*(?:[.:—–-].{0,120}|[A-Z].{0,120})?", re.I)
STATEMENT = re.compile(
    r"(?:(?:unaudited|interim|condensed|supplemental|schedule of|combined|parent company|consolidated)\s+)*"
    r"(?:statements?\s+of\s+(?:consolidated\s+)?(?:net\s+|other\s+|changes in\s+)?"
    r"(?:operations|income|earnings|comprehensive|cash\s*flows?|financial\s+(?:position|condition)|"
    r"(?:share|stock)(?:holders|owners)|(?:total\s+)?equity|loss|retained)|balance\s+sheets?|"
    r"(?:income|cash flow) statements?)\b[^.;]{0,90}",
    re.I,
)
_NOTES = re.compile(
    r"(?:index|notes) to (?:(?:the|unaudited|condensed|consolidated|interim) )*financial statements.{0,40}",
    re.I,
)
_FORM = re.compile(r"FORM\s+(?:10|8|20|40|6)\s*-\s*[A-Z]{1,2}(?:/A)?", re.I)
_REGISTRANT = re.compile(r"exact name of (?:the )?(?:registrant|company)", re.I)
_ENUMERATED = re.compile(
    r"(?:Article |Section |Clause |§ ?)?(\d{1,2}(?:\.\d{1,2}){0,3})[.:)]? +([^\W\d_].{1,78})"
)
_CLAUSE = re.compile(r"(\d{1,2}(?=\.)(?:\.\d{1,2}){0,3})\.? +[^\W\d_a-z][^;]{1,68}[^\W_]")
_LETTERED = re.compile(r"\(\w{1,4}\) [^\W\d_a-z]")
_NO_HEADING = re.compile(r"[(•$]|total", re.I)
_PROSE, _PROSE_LINES = 60, 5
"""Characters of a line of prose, and lines of it that show in which type a page is set."""
_MOST_TITLES = 2
_LEVELS = ((PART, 1), (ITEM, 2), (_NOTES, 3), (NOTE, 4))
STYLE_LEVEL = 5
"""Headings recognised by type alone rank below those recognised by a filing's standard words."""


class Headings:
    """Levels for one document. ``outline`` maps (page, squeezed title) to a depth from 0."""

    def __init__(self, pages: list[list[VisualLine]], outline: dict[tuple[int, str], int]) -> None:
        letters = Counter[float]()
        for line in itertools.chain.from_iterable(pages):
            letters[line.size] += len(line.text)
        self.body = letters.most_common(1)[0][0] if letters else 10.0
        self._of_page = [max(self.body, _prose_size(lines)) for lines in pages]
        self._below: dict[str, set[str]] = defaultdict(set)
        for above, below in itertools.chain.from_iterable(map(itertools.pairwise, pages)):
            if above.bold:
                self._below[above.text].add(below.text)
        self._outline = outline
        self._contents = {
            index + 1
            for index, lines in enumerate(pages)
            if sum(1 for line in lines if ITEM.fullmatch(line.text) or PART.fullmatch(line.text)) >= 6
        }

        self._clauses = _clauses(pages, self.body)
        first = [line.text for line in pages[0]] if pages else []
        self._cover = any(map(_FORM.fullmatch, first)) and any(map(_REGISTRANT.search, first))

    def stands_over_many(self, line: VisualLine) -> bool:
        """Whether a bold line, as a firm's name does, stands over several different titles."""
        return len(self._below[line.text]) > _MOST_TITLES

    def level(self, text: str, line: VisualLine) -> float | None:
        """The level of a heading, or None. ``text`` may be several visual lines joined; ``line`` is the first
        of them. Headings in the same type are ranked by the parts of their numbers: 7.1 is below 7."""
        if self._cover and line.page == 1:
            return None  # a filing's whole cover is set like headings
        if len(text) > 200 or not any(letter.isalpha() for letter in text):
            return None
        strong = line.bold or line.size > self._of_page[line.page - 1] + 0.6 or text.isupper()
        if line.page not in self._contents:
            for pattern, level in _LEVELS:
                if pattern.fullmatch(text) and (strong or text.startswith("PART")):
                    return level
        if STATEMENT.fullmatch(text) and (strong or text.istitle()) and len(text) < 120:
            return 3
        depth = self._outline.get((line.page, squeezed(text)))
        if depth is not None:
            return STYLE_LEVEL + depth
        number = _ENUMERATED.fullmatch(text)
        found = self._by_type(text.rstrip(".") if number and line.bold else text, line)
        if found is None and (line.page, line.column, line.base) in self._clauses:
            found = STYLE_LEVEL + 9
        return found + 0.1 * number.group(1).count(".") if found and number else found

    def _by_type(self, text: str, line: VisualLine) -> int | None:
        if not 3 <= len(text) <= 120 or text.endswith((".", ";", ",")):
            return None
        if _NO_HEADING.match(text) and not (_LETTERED.match(text) and (line.bold or line.italic)):
            return None
        if text[0].islower() or len(line.segments) > 1 or sum(letter.isalpha() for letter in text) < 3:
            return None
        larger = line.size - self._of_page[line.page - 1]
        ranks = (
            larger > 3,
            larger > 0.9,
            line.bold and text.isupper(),
            line.bold and not line.italic,
            line.bold or (text.isupper() and " " in text),
            line.italic and len(text) < 80,
        )
        return STYLE_LEVEL + 3 + ranks.index(True) if True in ranks else None


def _prose_size(lines: list[VisualLine]) -> float:
    """The type size of a page's prose, points; 0.0 for a page without."""
    sizes = Counter(line.size for line in lines if len(line.text) > _PROSE)
    size, count = sizes.most_common(1)[0] if sizes else (0.0, 0)
    return size if count >= _PROSE_LINES else 0.0


def _clauses(pages: list[list[VisualLine]], body: float) -> set[tuple[int, int, float]]:
    """Places of headings that only their numbers distinguish from prose: "7. Break clause", alone on its
    line, part of a consecutive series, and not followed by an item of its level, as list items are."""
    found: list[tuple[tuple[str, ...], VisualLine]] = []
    lines = [line for page in pages for line in page]
    for line, following in itertools.pairwise(lines):
        match, deeper = _CLAUSE.fullmatch(line.text), _ENUMERATED.fullmatch(following.text)
        if not match or len(line.segments) > 1 or line.size < body - 0.3 or following.text[0].islower():
            continue
        number = tuple(match.group(1).split("."))
        if not deeper or len(deeper.group(1).split(".")) > len(number):
            found.append((number, line))
    numbers = {number for number, _ in found}
    return {
        (line.page, line.column, line.base)
        for number, line in found
        if number[:-1] in numbers
        or any((*number[:-1], str(int(number[-1]) + step)) in numbers for step in (-1, 1))
    }


def squeezed(text: str) -> str:
    """Letters and digits only, in lower case: for comparing outline titles with printed headings."""
    return re.sub(r"[\W_]+", "", text).lower()

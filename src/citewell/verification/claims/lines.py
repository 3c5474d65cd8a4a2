"""The lines of an answer: paragraphs, list items, table rows, headings, code, lists of sources.

In: clean text, the ranges of its code fences and the offsets of removed markers. Out: :class:`TextLine`
values in order. What looks like a heading, a table head or a list-of-sources entry but states something is
text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from citewell.core.records import Record
from citewell.questions.quantity import QuantityForm
from citewell.verification.claims.phrases import PieceKind, heads_references
from citewell.verification.claims.statements import has_amount, has_verb, makes_statement
from citewell.verification.quantities import extract_values


class TextLine(Record, frozen=True, kw_only=True):
    """``kind`` is CLAIM for text, else HEADING, CODE or REFERENCES; ``paragraph`` counts blocks separated by
    blank lines; ``row_text`` is a table row with its heads."""

    start: int
    end: int
    kind: PieceKind
    paragraph: int
    item: bool = False
    row: bool = False
    row_text: str = ""


_ITEM = re.compile(r"[ \t]*(?:>\s*)?(?:[-*•‣◦▪–]|\(?\d{1,2}[.)]|\(?[a-zA-Z][.)])[ \t]+")
_HASH = re.compile(r"[ \t]*#{1,6}\s")
_BOLD_ONLY = re.compile(r"[ \t]*(\*\*|__)[^*_\n]{1,80}\1:?[ \t]*")
_RULE = re.compile(r"[ \t]*+(?:[-*_=]\s*+){3,}+|(?=[ \t:|-]*---)[ \t:|-]+")
_MOST_HEAD = 200
"""Maximum characters of a column head repeated with its cells."""
_QUOTE = re.compile(r"[ \t]*>\s?")


# Signs of a reference: a URL, a file name, a year in parentheses, pages, a volume, an ISBN.
_BIBLIOGRAPHIC = re.compile(
    r"https?:|www\.|\bdoi\b|\b[\w-]{1,60}\.(?:com|org|net|gov|edu|pdf|docx?|html?|txt|md|csv|xlsx?|pptx?|json)\b|"
    r"\((?:19|20)\d\d[a-z]?\)|\bet al\b|\bpp?\. ?\d|\bvol\. ?\d|\bISBN\b|"
    r"\b(?:retrieved|accessed) (?:on|from|\d)",
    re.IGNORECASE,
)


def read_lines(
    text: str, fenced: Sequence[tuple[int, int, str]], marked: Sequence[int] = ()
) -> list[TextLine]:
    """All non-blank lines, in order. ``marked``: the offsets of removed markers."""
    lines: list[TextLine] = []
    paragraph, references = 0, False
    heads: list[str] | None = None
    places = sorted(marked)
    ranges = sorted((low, high) for low, high, _ in fenced)
    for match in re.finditer(r"[^\n]*\n?", text):
        raw = match.group().rstrip("\n")
        start, end = match.start(), match.start() + len(raw)
        if not raw.strip():
            paragraph += match.end() > match.start()
            heads = None
            continue
        while end > start and text[end - 1].isspace():
            end -= 1
        fence = bisect_right(ranges, (start, len(text) + 1)) - 1
        if fence >= 0 and start < ranges[fence][1]:
            lines.append(TextLine(start=start, end=end, kind=PieceKind.CODE, paragraph=paragraph))
            continue
        place = bisect_left(places, start)
        cited = place < len(places) and places[place] <= end
        titled = _HASH.match(raw) or _BOLD_ONLY.fullmatch(raw)
        references = heads_references(raw) or (references and not titled)
        if references and (heads_references(raw) or _refers(raw, cited)):
            lines.append(TextLine(start=start, end=end, kind=PieceKind.REFERENCES, paragraph=paragraph))
            continue
        if _RULE.fullmatch(raw) or (titled and not cited and not makes_statement(raw)):
            lines.append(TextLine(start=start, end=end, kind=PieceKind.HEADING, paragraph=paragraph))
            continue
        if raw.lstrip().startswith("|") and raw.count("|") >= 2:
            cells = [cell.strip(" *`") for cell in raw.strip().strip("|").split("|")]
            below_end = text.find("\n", match.end())
            below = text[match.end() : below_end if below_end >= 0 else len(text)]
            names = heads is None and _names_columns(cells, below, cited)
            head = names and not any(has_verb(cell) for cell in cells)
            spelled = _spell(heads or [], cells)
            heads = [cell[:_MOST_HEAD] for cell in cells] if names else heads or []
            lines.append(
                TextLine(
                    start=start, end=end, kind=PieceKind.HEADING if head else PieceKind.CLAIM,
                    paragraph=paragraph, row=True, row_text="" if head else spelled,
                )
            )  # fmt: skip
            continue
        heads = None
        item = _ITEM.match(raw)
        opening = item or _HASH.match(raw) or _QUOTE.match(raw)
        begin = start + (opening.end() if opening else 0)
        while begin < end and text[begin].isspace():
            begin += 1
        if begin >= end:
            lines.append(TextLine(start=start, end=end, kind=PieceKind.HEADING, paragraph=paragraph))
            continue
        previous = lines[-1] if lines else None
        if not item and not titled and previous and _wrapped(text, previous, begin, paragraph):
            lines[-1] = TextLine(
                start=previous.start, end=end, kind=previous.kind, paragraph=paragraph, item=previous.item
            )
            continue
        lines.append(
            TextLine(start=begin, end=end, kind=PieceKind.CLAIM, paragraph=paragraph, item=bool(item))
        )
    return lines


def _refers(line: str, cited: bool) -> bool:
    """Whether the line is an entry in a list of sources: a reference or a title. A clause is a title only
    after a label and without a full stop."""
    if _BIBLIOGRAPHIC.search(line):
        return True
    bare = line[item.end() :].strip() if (item := _ITEM.match(line)) else line.strip()
    clause = has_verb(bare) and (bare.endswith((".", "!")) or not (item or cited))
    return not has_amount(bare) and not clause


def _names_columns(cells: Sequence[str], below: str, cited: bool) -> bool:
    """Whether a table's first line is its head: a rule follows, or another row follows and no cell contains
    a number or a statement. A line with a sum of money is never a head."""
    numbers = [value for cell in cells for value in extract_values(cell)]
    if any(value.form is QuantityForm.MONEY and value.value for value in numbers):
        return False
    if _RULE.fullmatch(below):
        return True
    row = below.lstrip().startswith("|") and not cited
    return row and not numbers and not any(has_verb(cell) for cell in cells)


def _wrapped(text: str, previous: TextLine, begin: int, paragraph: int) -> bool:
    """Whether the line continues a previous line that broke off mid-sentence."""
    if previous.kind is not PieceKind.CLAIM or previous.row or previous.paragraph != paragraph:
        return False
    last, first = text[previous.end - 1], text[begin]
    between = text[previous.end : begin]
    return (
        between.count("\n") == 1
        and last not in ".!?:;|"
        and (first.islower() or first.isdigit() or last in ",-(" or first in "$€£(")
    )


def _spell(heads: Sequence[str], cells: Sequence[str]) -> str:
    label = cells[0]
    pairs = [
        f"{head}: {cell}" if head else cell
        for head, cell in zip([*heads[1:], *[""] * len(cells)], cells[1:], strict=False)
        if cell
    ]
    return f"{label}: " + "; ".join(pairs) + "." if pairs else label

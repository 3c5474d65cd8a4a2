"""The lines of an answer: paragraphs, list items, table rows, headings, code.

In: clean text and where its fences are. Out: :class:`Line` values in order. Lines that were only wrapped
are joined; list marks are not part of a line. Knows nothing about sentences or markers.
"""

from __future__ import annotations

import re
from enum import StrEnum

from citewell.claims.phrases import PieceKind, heads_references
from citewell.records import Record


class LineKind(StrEnum):
    TEXT = "text"
    HEADING = "heading"
    CODE = "code"
    REFERENCES = "references"

    @property
    def piece(self) -> PieceKind:
        return {
            LineKind.HEADING: PieceKind.HEADING,
            LineKind.CODE: PieceKind.CODE,
            LineKind.REFERENCES: PieceKind.REFERENCES,
        }.get(self, PieceKind.CLAIM)


class Line(Record, frozen=True, kw_only=True):
    """``paragraph`` counts blank-line-separated blocks; ``row_text`` spells a table row with its heads."""

    start: int
    end: int
    kind: LineKind
    paragraph: int
    item: bool = False
    row: bool = False
    row_text: str = ""
    blank: bool = False


_ITEM = re.compile(r"[ \t]*(?:>\s*)?(?:[-*•‣◦▪–]|\(?\d{1,2}[.)]|\(?[a-zA-Z][.)])[ \t]+")
_HASH = re.compile(r"[ \t]*#{1,6}\s")
_BOLD_ONLY = re.compile(r"[ \t]*(\*\*|__)[^*_\n]{1,80}\1:?[ \t]*")
_RULE = re.compile(r"[ \t]*(?:[-*_=]\s*){3,}|[ \t]*\|?[ \t:|-]*-{3,}[ \t:|-]*")
_QUOTE = re.compile(r"[ \t]*>\s?")


def read_lines(text: str, fenced: list[tuple[int, int, str]]) -> list[Line]:
    """Every line with something on it, in order."""
    lines: list[Line] = []
    paragraph, references = 0, False
    heads: list[str] = []
    for match in re.finditer(r"[^\n]*\n?", text):
        raw = match.group().rstrip("\n")
        start, end = match.start(), match.start() + len(raw)
        if not raw.strip():
            paragraph += match.end() > match.start()
            heads = []
            continue
        while end > start and text[end - 1].isspace():
            end -= 1
        if any(low <= start < high for low, high, _ in fenced):
            lines.append(Line(start=start, end=end, kind=LineKind.CODE, paragraph=paragraph))
            continue
        if references or heads_references(raw):
            references = True
            lines.append(Line(start=start, end=end, kind=LineKind.REFERENCES, paragraph=paragraph))
            continue
        if _RULE.fullmatch(raw) or _HASH.match(raw) or _BOLD_ONLY.fullmatch(raw):
            lines.append(Line(start=start, end=end, kind=LineKind.HEADING, paragraph=paragraph))
            continue
        if raw.lstrip().startswith("|") and raw.count("|") >= 2:
            cells = [cell.strip(" *`") for cell in raw.strip().strip("|").split("|")]
            if not heads:
                heads = cells
                lines.append(Line(start=start, end=end, kind=LineKind.HEADING, paragraph=paragraph, row=True))
            else:
                lines.append(
                    Line(
                        start=start,
                        end=end,
                        kind=LineKind.TEXT,
                        paragraph=paragraph,
                        row=True,
                        row_text=_spell(heads, cells),
                    )
                )
            continue
        heads = []
        item = _ITEM.match(raw)
        begin = start + (item.end() if item else (quote.end() if (quote := _QUOTE.match(raw)) else 0))
        while begin < end and text[begin].isspace():
            begin += 1
        if begin >= end:
            lines.append(Line(start=start, end=end, kind=LineKind.HEADING, paragraph=paragraph))
            continue
        previous = lines[-1] if lines else None
        if not item and previous and _wrapped(text, previous, begin, paragraph):
            lines[-1] = Line(
                start=previous.start, end=end, kind=previous.kind, paragraph=paragraph, item=previous.item
            )
            continue
        lines.append(Line(start=begin, end=end, kind=LineKind.TEXT, paragraph=paragraph, item=bool(item)))
    return lines


def _wrapped(text: str, previous: Line, begin: int, paragraph: int) -> bool:
    """The line goes on where the one before it stopped in mid-sentence."""
    if previous.kind is not LineKind.TEXT or previous.row or previous.paragraph != paragraph:
        return False
    last, first = text[previous.end - 1], text[begin]
    between = text[previous.end : begin]
    return (
        between.count("\n") == 1
        and last not in ".!?:;|"
        and (first.islower() or first.isdigit() or last in ",-(" or first in "$€£(")
    )


def _spell(heads: list[str], cells: list[str]) -> str:
    label = cells[0]
    pairs = [
        f"{head}: {cell}" if head else cell
        for head, cell in zip([*heads[1:], *[""] * len(cells)], cells[1:], strict=False)
        if cell
    ]
    return f"{label}: " + "; ".join(pairs) + "." if pairs else label

"""What a claim is checked against: a text, what stands around it, and its table rows.

In: passages or plain text. Out: :class:`EvidenceText`. Rows come from the reader of the document when
it knows them, else from lines with tabs. Knows nothing about where the text is stored.
"""

from __future__ import annotations

import re

from citewell.matching.scales import declared_units
from citewell.records import Passage, Record, Row


class TableLine(Record, frozen=True, kw_only=True):
    """A row as words: its label and its cells as (text, column head)."""

    label: str
    cells: tuple[tuple[str, str], ...]


class EvidenceText(Record, frozen=True, kw_only=True):
    """``context`` is no evidence: title, units, column heads. ``language`` "" when nobody said.

    ``source`` is the name used in reasons.
    """

    text: str
    context: str = ""
    lines: tuple[TableLine, ...] = ()
    language: str = ""
    source: str = ""

    def around(self, more: str = "") -> str:
        """Context for numbers: what stands around the text, and the units that it declares itself."""
        return "\n".join(part for part in (self.context, more, declared_units(self.text)) if part)


def as_evidence(given: str | EvidenceText) -> EvidenceText:
    """Plain text as evidence; its tables are read from its tabs, or from Markdown's pipes."""
    if isinstance(given, EvidenceText):
        return given
    text = _tabbed(given)
    return EvidenceText(text=text, lines=lines_of(text))


def passage_evidence(passage: Passage, document_text: str | None = None) -> EvidenceText:
    """A passage's content with its context; rows with their heads as the document's reader saw them."""
    chunk = passage.chunk
    text = chunk.content if chunk.rows else _tabbed(chunk.content)
    if chunk.rows and document_text is not None:
        lines = tuple(_line(row, document_text) for row in chunk.rows)
    elif chunk.rows:
        lines = tuple(_line_within(row, chunk.content, chunk.start_offset) for row in chunk.rows)
    else:
        lines = lines_of(text)
    return EvidenceText(text=text, context=chunk.context, lines=lines, source=chunk.document_id)


def lines_of(text: str) -> tuple[TableLine, ...]:
    """Rows of plain text: lines with tabs; the first of a block that holds years or no numbers is its
    head. A head with one cell less than a row has none over the labels."""
    lines: list[TableLine] = []
    heads: list[str] = []
    for line in text.split("\n"):
        if "\t" not in line:
            heads = []
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if not heads and _is_head(cells[1:]):
            heads = cells
            continue
        over = heads if len(cells) == len(heads) + 1 else heads[1:]
        lines.append(
            TableLine(
                label=cells[0],
                cells=tuple(
                    (cell, over[index] if index < len(over) else "")
                    for index, cell in enumerate(cells[1:])
                    if cell
                ),
            )
        )
    return tuple(lines)


def _tabbed(text: str) -> str:
    """``text``, of the same length, with tabs for the pipes of its Markdown tables: a row over "|---|---|",
    and the rows below it. The line of dashes becomes blanks behind the row above."""
    lines: list[str] = []
    within = False
    for line in text.split("\n"):
        if within and "|" in line:
            lines.append(_tabbed_row(line))
        elif lines and not within and _is_rule(line) and _tabs(line) == _tabs(lines[-1]):
            lines[-1] = _tabbed_row(lines[-1]) + " " * (1 + len(line))
            within = True
        else:
            lines.append(line)
            within = False
    return "\n".join(lines)


def _tabbed_row(line: str) -> str:
    row = re.sub(r"(?<!\\)\|", "\t", line.replace("\t", " "))
    if row.lstrip(" ").startswith("\t"):
        row = row.replace("\t", " ", 1)
    if row.rstrip(" \r").endswith("\t"):
        last = row.rindex("\t")
        row = f"{row[:last]} {row[last + 1 :]}"
    return row


def _tabs(line: str) -> int:
    return _tabbed_row(line).count("\t")


def _is_rule(line: str) -> bool:
    return "|" in line and "-" in line and not line.strip("|:- \t\r")


def _is_head(cells: list[str]) -> bool:
    filled = [cell for cell in cells if cell]
    years = [cell for cell in filled if re.search(r"\b(?:19|20)\d\d\b", cell)]
    wordy = [cell for cell in filled if not re.search(r"\d", cell)]
    return bool(filled) and (len(years) == len(filled) or len(wordy) == len(filled))


def _line(row: Row, text: str) -> TableLine:
    return TableLine(
        label=row.label, cells=tuple((text[cell.start : cell.end], cell.head) for cell in row.cells)
    )


def _line_within(row: Row, content: str, offset: int) -> TableLine:
    return TableLine(
        label=row.label,
        cells=tuple((content[max(0, c.start - offset) : max(0, c.end - offset)], c.head) for c in row.cells),
    )

"""Fixed text around quotes: where a cell stands. Text comes from prompt files and from the source.

In: a :class:`CellAnswer`. Out: the words in front of its claim. Frames hold no fact of their own:
the place, the column head and the units are the document's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.core.prompts.loading import load_prompt
from citewell.core.records import Chunk
from citewell.questions.cells import CellAnswer

CELL = load_prompt("frame_cell", ("place", "head", "units"))
ROW = load_prompt("frame_row", ("place", "units"))
LEFT_OPEN = load_prompt("frame_left_open", ("question",))
WORKED = load_prompt("frame_worked", ("units",))
JOINER = " … "
MAX_NAME = 80


def place_of(answer: CellAnswer) -> tuple[str, str]:
    """(title of the table or section with its page, units as printed) from the chunk's context.

    The context's lines after the first are "Table title (units): heads", one a table.
    """
    chunk = answer.passage.chunk
    lines = [line.strip() for line in chunk.context.split("\n")[1:] if line.strip()]
    heads = list(dict.fromkeys(cell.head for row in chunk.rows for cell in row.cells if cell.head))
    title, units = _table_line(lines[0], heads) if len(lines) == 1 else ("", _shared_units(lines, heads))
    name = title or (chunk.section_path[-1] if chunk.section_path else "")
    parts = dict.fromkeys(part for part in (_document_name(chunk), name) if part)
    page = f", page {chunk.page}" if chunk.page is not None else ""
    return " › ".join(parts) + page, units


def cell_frame(answer: CellAnswer) -> str:
    """``Title › Statement, page 5, column “2018” (In millions): ``"""
    place, units = place_of(answer)
    in_units = f" ({units})" if units else ""
    if answer.cell is not None and answer.cell.head.strip():
        head = " ".join(answer.cell.head.split())
        return CELL.fill(place=place, head=head, units=in_units).rstrip("\n")
    return ROW.fill(place=place, units=in_units).rstrip("\n")


def _document_name(chunk: Chunk) -> str:
    name = " ".join(chunk.title.split()) or chunk.document_id
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1].rstrip() + "…"


def _table_line(line: str, heads: Sequence[str]) -> tuple[str, str]:
    """(title, units) of "title (units): heads"; brackets in a head are its own ("Margin (%)")."""
    told = _before_heads(line, heads)
    if told.endswith(")") and "(" in told:
        title, _, units = told[:-1].rpartition("(")
        return title.strip(), units.strip()
    return told, ""


def _before_heads(line: str, heads: Sequence[str]) -> str:
    """What stands before the list of heads, which begins with one of ``heads``; all where there is none."""
    for head in heads:
        if found := re.search(rf"(?:^|: ){re.escape(head)}(?= \| |$)", line):
            return line[: found.start()]
    return line


def _shared_units(lines: list[str], heads: Sequence[str]) -> str:
    units = {_table_line(line, heads)[1] for line in lines}
    return units.pop() if len(units) == 1 else ""

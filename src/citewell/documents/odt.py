"""ODT -> Document: headings to sections, lists with their numbers, tables to rows, notes after the text.

In: bytes of an OpenDocument text. Out: a Document with all changes accepted; text that a style hides is left
out and counted. Knows nothing about the spreadsheets and presentations of that family.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from citewell.core.config import Documents
from citewell.documents.archives import office_metadata, open_archive, parse_part
from citewell.documents.canonical import Canonical

_NAMESPACE = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _TABLE, _STYLE, _OFFICE = (_NAMESPACE % name for name in ("text", "table", "style", "office"))
_SPACES = (f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break")
_DEEPEST_HEADING = 10
_DROPPED = (f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}table-of-content", f"{_TEXT}note")


def read_odt(data: bytes, limits: Documents) -> Canonical:
    """Text documents of LibreOffice and similar programs."""
    with open_archive(data, limits) as archive:
        out = Canonical(office_metadata(archive))
        parts = [part for part in ("content.xml", "styles.xml") if part in archive.namelist()]
        roots = [parse_part(archive, part) for part in parts]
        _Body(out, roots).read(roots[0].find(f"{_OFFICE}body/{_OFFICE}text"))
    return out


class _Body:
    """Elements of the text -> pieces of a :class:`Canonical`."""

    def __init__(self, out: Canonical, roots: list[Any]) -> None:
        self.out = out
        self._notes: list[str] = []
        self._hiding = {
            style.get(f"{_STYLE}name")
            for root in roots
            for style in root.iter(f"{_STYLE}style")
            if any(p.get(f"{_TEXT}display") == "none" for p in style.iter(f"{_STYLE}text-properties"))
        }
        self._numbered = {
            (style.get(f"{_STYLE}name"), level.get(f"{_TEXT}level")): level.get(f"{_STYLE}num-format", "")
            for root in roots
            for style in root.iter(f"{_TEXT}list-style")
            for level in style.iter(f"{_TEXT}list-level-style-number")
        }

    def read(self, text: Any) -> None:
        self._blocks(text)
        for note in self._notes:
            self.out.paragraph(note)

    def _blocks(self, parent: Any) -> None:
        for element in parent:
            if element.tag == f"{_TEXT}h":
                level = element.get(f"{_TEXT}outline-level", "1")
                depth = min(int(level), _DEEPEST_HEADING) if level.isdecimal() else 1
                self.out.heading(self._text(element), depth)
            elif element.tag == f"{_TEXT}p":
                self.out.paragraph(self._text(element))
            elif element.tag == f"{_TEXT}list":
                self._list(element, element.get(f"{_TEXT}style-name"), 1)
            elif element.tag == f"{_TABLE}table":
                self._table(element)
            elif element.tag not in _DROPPED:  # sections and indexes
                self._blocks(element)

    def _list(self, items: Any, style: str | None, level: int) -> None:
        numbered = self._numbered.get((style, str(level)), "")
        for number, item in enumerate(items.findall(f"{_TEXT}list-item"), 1):
            mark = f"{number}." if numbered else "•"
            for element in item:
                if element.tag == f"{_TEXT}list":
                    self._list(element, element.get(f"{_TEXT}style-name") or style, level + 1)
                elif element.tag in (f"{_TEXT}p", f"{_TEXT}h"):
                    self.out.paragraph(self._text(element), mark)
                    mark = ""

    def _table(self, table: Any) -> None:
        # A table inside a cell is part of the cell's text.
        rows = [row for row in table.iter(f"{_TABLE}table-row") if _table_of(row) is table]
        heads = sum(row.getparent().tag == f"{_TABLE}table-header-rows" for row in rows)
        cells = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
        grid = [[self._text(cell) for cell in row if cell.tag in cells] for row in rows]
        self.out.table(grid, head_rows=heads or None)

    def _text(self, element: Any) -> str:
        return "".join(self._pieces(element))

    def _pieces(self, element: Any) -> Iterator[str]:
        if element.get(f"{_TEXT}style-name") in self._hiding:
            self.out.note("hidden runs of text left out: {n}")
            return
        yield element.text or ""
        for child in element:
            if child.tag == f"{_TEXT}note":
                self._notes += [self._text(body) for body in child.findall(f"{_TEXT}note-body")]
            elif child.tag in _SPACES:
                yield " "
            elif child.tag not in _DROPPED and isinstance(child.tag, str):
                yield " " if child.tag == f"{_TEXT}p" else ""
                yield from self._pieces(child)
            yield child.tail or ""


def _table_of(row: Any) -> Any:
    return next(row.iterancestors(f"{_TABLE}table"), None)

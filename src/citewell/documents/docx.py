"""DOCX -> Document: styled headings to sections, tables to rows, core properties to metadata.

In: bytes of a Word document whose unpacked size is bounded. Out: a Document with the text as if all
changes were accepted: deletions and hidden text are left out. Footnotes follow the body; headers and
footers, repeated on every page, are left out. Of formatting it considers only what hides text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from citewell.core.config import Documents
from citewell.documents.archives import office_metadata, open_archive, root_of
from citewell.documents.canonical import Canonical
from citewell.documents.formulas import UNKNOWN, linear, symbol
from citewell.documents.hiding import is_pale
from citewell.documents.lists import Numbering
from citewell.documents.scripts import Script, join_scripts

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_HEADING_STYLE = re.compile(r"heading (\d)$", re.I)
_SPACES = {f"{_W}tab": " ", f"{_W}br": " ", f"{_W}cr": " ", f"{_W}noBreakHyphen": "-"}
_LEFT_OUT = (f"{_W}del", f"{_W}moveFrom")
_OFF = ("0", "false", "off")
_STRIKES = ("strike", "dstrike")
_SCRIPTS = {"superscript": Script.RAISED, "subscript": Script.LOWERED}


def read_docx(data: bytes, limits: Documents) -> Canonical:
    """Reads Word documents from 2007 on."""
    import io

    import docx

    with open_archive(data, limits) as archive:
        out = Canonical(office_metadata(archive))
        opened = docx.Document(io.BytesIO(data))
        body = _Body(out, opened.styles, Numbering(next(_parts(opened.part, "numbering"), ())))
        body.read(opened.element.body)
        body.notes(opened.part)
    return out


class _Body:
    """Elements of the main part -> pieces of a :class:`Canonical`."""

    def __init__(self, out: Canonical, styles: Any, numbering: Numbering) -> None:
        self.out = out
        self._numbering = numbering
        self._styles = {style.style_id: (style.name or "") for style in styles}
        self._elements = {style.style_id: style.element for style in styles}
        self._asked: dict[str, Any] = {}
        self._found: dict[str, dict[str, Any]] = {}
        self._properties: dict[tuple[str, str], Any] = {}
        self._boxes: list[Any] = []
        self._hidden = self._struck = self._unknown = 0

    def read(self, body: Any) -> None:
        for blocks in _run_on(_blocks(body)):
            if blocks[0].tag == f"{_W}p":
                self._paragraph(blocks)
            else:
                self._table(blocks[0])
            self._read_boxes()

    def _read_boxes(self) -> None:
        """Text boxes follow the paragraph or table that they are anchored to."""
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self.read(box)

    def notes(self, part: Any) -> None:
        """Footnotes and endnotes, one paragraph each, after the body; then what was left out."""
        for note in chain.from_iterable(_parts(part, "footnotes", "endnotes")):
            if note.get(f"{_W}type") is None:
                self.out.paragraph(self._running(note))
                self._read_boxes()
        self.out.note("hidden runs of text left out: {n}", self._hidden)
        self.out.note("struck-out runs of text left out: {n}", self._struck)
        unknown = f"symbols in a font that Citewell cannot read, shown as {UNKNOWN}: {{n}}"
        self.out.note(unknown, self._unknown)

    def _paragraph(self, elements: list[Any]) -> None:
        level = self._level(elements[-1])
        text = self._text(elements)
        mark = self._mark(elements[-1]) if text.strip() else ""
        if level:
            self.out.heading(f"{mark} {text}", level)
        else:
            self.out.paragraph(text, mark)

    def _mark(self, paragraph: Any) -> str:
        """The number or bullet that is printed before the paragraph, if any."""
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        name = style.get(f"{_W}val", "") if style is not None else ""
        own = paragraph.find(f"{_W}pPr/{_W}numPr")
        said = own if own is not None else self._of_style(name, f"{_W}pPr/{_W}numPr")
        return self._numbering.mark(said, name) if said is not None else ""

    def _level(self, element: Any) -> int:
        style = element.find(f"{_W}pPr/{_W}pStyle")
        name = self._styles.get(style.get(f"{_W}val", ""), "") if style is not None else ""
        if match := _HEADING_STYLE.match(name):
            return int(match.group(1)) + 1
        if name.lower() == "title":
            return 1
        outline = element.find(f"{_W}pPr/{_W}outlineLvl")
        value = outline.get(f"{_W}val", "9") if outline is not None else "9"
        return int(value) + 2 if value.isdigit() and int(value) < 9 else 0

    def _running(self, element: Any) -> str:
        """All paragraphs of a cell or a note, including those of nested tables."""
        return " ".join(map(self._text, _run_on(_blocks(element, (f"{_W}p",)))))

    def _text(self, paragraphs: list[Any]) -> str:
        return join_scripts(chain.from_iterable(map(self._pieces, paragraphs)))

    def _pieces(self, element: Any) -> Iterator[tuple[str, Script]]:
        """Text in reading order, without what is deleted, struck out or hidden; iterative, so that only the
        parser limits nesting. Text boxes are set aside for later."""
        waiting = [iter(element)]
        while waiting:
            child = next(waiting[-1], None)
            if child is None:
                waiting.pop()
            elif child.tag == f"{_W}t":
                yield child.text or "", self._script(child.getparent())
            elif child.tag in _SPACES:
                yield _SPACES[child.tag], Script.PLAIN
            elif child.tag == f"{_W}sym":
                text = symbol(child.get(f"{_W}font", ""), child.get(f"{_W}char", ""))
                self._unknown += text == UNKNOWN
                yield text, self._script(child.getparent())
            elif child.tag == f"{_M}oMath":
                apart = " " if child.getparent().tag == f"{_M}oMathPara" else ""
                yield apart + linear(child, self._left_out), Script.PLAIN
            elif child.tag == f"{_W}txbxContent":
                self._boxes.append(child)
            elif not self._left_out(child):
                waiting.append(iter(child))

    def _left_out(self, element: Any) -> bool:
        """Whether it is deleted, hidden or struck out; the last two are counted."""
        if element.tag in (f"{_W}r", f"{_M}r"):
            hidden = self._unseen(element)
            struck = not hidden and any(_is_on(element.find(f"{_W}rPr/{_W}{name}")) for name in _STRIKES)
            self._hidden += hidden
            self._struck += struck
            return hidden or struck
        return _is_dropped(element)

    def _unseen(self, run: Any) -> bool:
        """Hidden, or white on a background that is not darker, by its own properties or its styles."""
        if _is_on(self._said(run, "vanish")):
            return True
        colour = self._said(run, "color")
        return colour is not None and is_pale(colour.get(f"{_W}val", "")) and not self._on_ground(run)

    def _said(self, run: Any, name: str, of: str = "rPr") -> Any:
        """The property of the run (or, by ``of``, its paragraph), else of its style, else of its paragraph's
        style; None if none sets it."""
        path, paragraph = f"{_W}{of}/{_W}{name}", _nearest(run, f"{_W}p")
        own = self._find(run if of == "rPr" else paragraph, path)
        styles = (self._find(run, f"{_W}rPr/{_W}rStyle"), self._find(paragraph, f"{_W}pPr/{_W}pStyle"))
        named = (self._of_style(style.get(f"{_W}val", ""), path) for style in styles if style is not None)
        return own if own is not None else next((found for found in named if found is not None), None)

    def _find(self, element: Any, path: str) -> Any:
        """As ``element.find``, which looks through all children, once for the texts of one run and the runs
        of one paragraph."""
        if self._asked.get(element.tag) is not element:
            self._asked[element.tag], self._found[element.tag] = element, {}
        found = self._found[element.tag]
        if path not in found:
            found[path] = element.find(path)
        return found[path]

    def _of_style(self, style_id: str, path: str) -> Any:
        """The property of a style or of the styles it is based on, remembered for all of them: a long chain
        is walked once."""
        found, asked = None, dict[tuple[str, str], None]()
        while found is None and style_id in self._elements and (style_id, path) not in asked:
            if (style_id, path) in self._properties:
                found = self._properties[style_id, path]
                break
            asked[style_id, path] = None
            element = self._elements[style_id]
            found = element.find(path)
            base = element.find(f"{_W}basedOn")
            style_id = base.get(f"{_W}val", "") if base is not None else ""
        self._properties.update(dict.fromkeys(asked, found))
        return found

    def _on_ground(self, run: Any) -> bool:
        """Whether its background is or may be darker: shading, highlighting, a table style, a shape."""
        shades = [self._said(run, "shd"), self._said(run, "highlight"), self._said(run, "shd", "pPr")]
        shades += [cell.find(f"{_W}tcPr/{_W}shd") for cell in run.iterancestors(f"{_W}tc")]
        page = run.getroottree().getroot().find(f"{_W}background")
        return (
            any(map(_darkens, shades))
            or any(t.find(f"{_W}tblPr/{_W}tblStyle") is not None for t in run.iterancestors(f"{_W}tbl"))
            or _nearest(run, f"{_W}txbxContent") is not None
            or (page is not None and not is_pale(page.get(f"{_W}color", "white")))
        )

    def _script(self, run: Any) -> Script:
        mark = self._said(run, "vertAlign")
        return _SCRIPTS.get(mark.get(f"{_W}val", ""), Script.PLAIN) if mark is not None else Script.PLAIN

    def _table(self, element: Any) -> None:
        grid: list[list[str | None]] = []
        heads = 0
        headless = False  # the cell continued in this row began in a deleted row
        for row in element.iter(f"{_W}tr"):
            if _nearest(row, f"{_W}tbl") is not element:
                continue
            if _is_dropped(row):
                headless = headless or not _goes_on(row)
                continue
            cells: list[str | None] = [""] * _number(row, "trPr/gridBefore", 0)
            for cell in row.iter(f"{_W}tc"):
                if _nearest(cell, f"{_W}tr") is row:
                    cells += self._cell(cell)
            if headless and cells[:1] == [None]:
                cells[0] = ""
            headless = False
            if heads == len(grid) and row.find(f"{_W}trPr/{_W}tblHeader") is not None:
                heads += 1
            grid.append(cells)
        if grid and max(map(len, grid)) == 1:
            for row_cells in grid:
                self.out.paragraph(" ".join(filter(None, row_cells)))
        else:
            self.out.table(grid, head_rows=heads or None)

    def _cell(self, cell: Any) -> list[str | None]:
        """The cell's text, None if it continues the cell above; then "" for each further column it covers."""
        text = None if _goes_on(cell) else self._running(cell)
        return [text, *[""] * (_number(cell, "tcPr/gridSpan", 1) - 1)]


def _parts(part: Any, *kinds: str) -> Iterator[Any]:
    """The roots of a part's related parts of these kinds."""
    for link in part.rels.values():
        if link.reltype.rpartition("/")[2] in kinds and not link.is_external:
            yield root_of(link.target_part.blob)


def _blocks(body: Any, tags: tuple[str, ...] = (f"{_W}p", f"{_W}tbl")) -> Iterator[Any]:
    """Paragraphs and tables of the body in order, including those inside content controls and the like."""
    waiting = [iter(body)]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
        elif child.tag in tags:
            yield child
        elif not _is_dropped(child):
            waiting.append(iter(child))


def _is_dropped(element: Any) -> bool:
    """Whether it is deleted, or a fallback copy for old programs, as text boxes have."""
    if element.tag == f"{_W}tr":
        return element.find(f"{_W}trPr/{_W}del") is not None
    return element.tag in _LEFT_OUT or str(element.tag).endswith("}Fallback")


def _goes_on(owner: Any) -> bool:
    """Whether a cell, or a row's first cell, continues the cell above."""
    cell = next(owner.iter(f"{_W}tc"), None)
    merged = cell.find(f"{_W}tcPr/{_W}vMerge") if cell is not None else None
    return merged is not None and merged.get(f"{_W}val", "continue") == "continue"


def _run_on(blocks: Iterable[Any]) -> Iterator[list[Any]]:
    """Each block; paragraphs together with the next one if the mark between them is deleted."""
    together: list[Any] = []
    for block in blocks:
        if together and block.tag != f"{_W}p":
            yield together
            together = []
        together.append(block)
        if all(block.find(f"{_W}pPr/{_W}rPr/{mark}") is None for mark in _LEFT_OUT):
            yield together
            together = []
    if together:
        yield together


def _number(owner: Any, path: str, least: int) -> int:
    """The value of a property, from ``least`` to 100; ``least`` if it is missing or not a number."""
    found = owner.find("/".join(f"{_W}{name}" for name in path.split("/")))
    value = found.get(f"{_W}val", "") if found is not None else ""
    return max(least, min(100, int(value))) if value.isascii() and value.isdigit() else least


def _nearest(element: Any, tag: str) -> Any:
    return next(element.iterancestors(tag), None)


def _is_on(mark: Any) -> bool:
    return mark is not None and mark.get(f"{_W}val", "true") not in _OFF


def _darkens(shade: Any) -> bool:
    """Whether shading or highlighting paints a colour other than white."""
    if shade is None:
        return False
    fill, value = shade.get(f"{_W}fill", "auto"), shade.get(f"{_W}val", "clear")
    return not (fill == "auto" or is_pale(fill)) or value not in ("clear", "nil", "none", "white")

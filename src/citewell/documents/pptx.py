"""PPTX -> Document: slides in order, titles to sections, lists, tables and speaker notes.

In: bytes of a PowerPoint presentation. Out: a Document. Hidden slides, charts and diagrams are left out and
counted. Ignores positions on a slide: text follows the order in which it was drawn.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections import Counter
from typing import Any

from citewell.core.config import Documents
from citewell.documents.archives import office_metadata, open_archive, parse_part
from citewell.documents.canonical import Canonical

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_LISTED = ("body", "obj", "subTitle", "")
_DEEPEST = 8
"""The deepest level of a list, from 0, as in PowerPoint."""
_NO_TEXT = ("sldNum", "dt", "ftr", "hdr", "sldImg")  # repeated on every slide


def read_pptx(data: bytes, limits: Documents) -> Canonical:
    """Reads PowerPoint presentations from 2007 on."""
    with open_archive(data, limits) as archive:
        out = Canonical(office_metadata(archive))
        links = _links(archive, "ppt/presentation.xml")
        for entry in parse_part(archive, "ppt/presentation.xml").iter(f"{_P}sldId"):
            _slide(archive, links[entry.get(f"{_R}id")][1], out)
    return out


def _links(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """For each relationship of a part, by id: its type and the part it points to."""
    folder, name = posixpath.split(part)
    path = f"{folder}/_rels/{name}.rels"
    if path not in archive.namelist():
        return {}
    return {
        link.get("Id", ""): (
            link.get("Type", "").rpartition("/")[2],
            posixpath.normpath(posixpath.join("/", folder, link.get("Target", ""))).lstrip("/"),
        )
        for link in parse_part(archive, path)
    }


def _slide(archive: zipfile.ZipFile, part: str, out: Canonical) -> None:
    root = parse_part(archive, part)
    if root.get("show") in ("0", "false"):
        out.note("hidden slides left out: {n}")
        return
    shapes = [
        shape
        for shape in root.iter(f"{_P}sp", f"{_P}graphicFrame")
        if next(shape.iterancestors(f"{_P}sp"), None) is None  # else its text is that of the outer shape
    ]
    titles = [shape for shape in shapes if _kind(shape) in ("title", "ctrTitle")]
    out.leave(1)
    out.heading(" ".join(_text(title) for title in titles), 1)
    for shape in shapes:
        if shape.tag == f"{_P}graphicFrame":
            _frame(shape, out)
        elif shape not in titles and _kind(shape) not in _NO_TEXT:
            _paragraphs(shape, out, listed=_kind(shape) in _LISTED)
    for kind, name in _links(archive, part).values():
        if kind == "notesSlide":
            for shape in parse_part(archive, name).iter(f"{_P}sp"):
                if _kind(shape) == "body":
                    out.paragraph(_text(shape), "Notes:")


def _kind(shape: Any) -> str:
    """The type of a placeholder, "" if it has none; "box" for other shapes."""
    holder = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return holder.get("type", "") if holder is not None else "box"


def _frame(frame: Any, out: Canonical) -> None:
    table = next(frame.iter(f"{_A}tbl"), None)
    if table is None:
        out.note("charts and diagrams left out: {n}")
        return
    grid = [
        [None if cell.get("vMerge") == "1" else _text(cell) for cell in row.findall(f"{_A}tc")]
        for row in table.findall(f"{_A}tr")
    ]
    marked = table.find(f"{_A}tblPr")
    out.table(grid, head_rows=1 if marked is not None and marked.get("firstRow") == "1" else None)


def _paragraphs(shape: Any, out: Canonical, *, listed: bool) -> None:
    """``listed``: paragraphs have a bullet by default."""
    numbers = Counter[int]()
    for paragraph in shape.iter(f"{_A}p"):
        said = paragraph.find(f"{_A}pPr")
        level = min(int(said.get("lvl", "0")), _DEEPEST) if said is not None else 0
        numbered = said.find(f"{_A}buAutoNum") if said is not None else None
        none = said is not None and said.find(f"{_A}buNone") is not None
        bullet = said is not None and said.find(f"{_A}buChar") is not None
        text = _text(paragraph)
        for deeper in [depth for depth in numbers if depth > level or (depth == level and numbered is None)]:
            del numbers[deeper]
        if numbered is not None and text:
            numbers[level] += 1
            out.paragraph(text, f"{int(numbered.get('startAt', '1')) + numbers[level] - 1}.")
        else:
            out.paragraph(text, "•" if bullet or (listed and not none) else "")


def _text(element: Any) -> str:
    """All text, paragraph by paragraph."""
    runs = element.iter(f"{_A}t", f"{_A}br", f"{_A}tab", f"{_A}p")
    return "".join((run.text or "") if run.tag == f"{_A}t" else " " for run in runs).strip()

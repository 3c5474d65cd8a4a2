"""HTML -> Document: headings to sections, tables to rows, what a visitor cannot see left out.

In: bytes of HTML. Out: a Document. The page is read as a stream of events, so no tree is built, however deep
or large it is; hidden and struck-out text, scripts, comments and what frames every page of a site are
dropped and counted in the notes. Knows nothing about style sheets or what frames a page:
:mod:`citewell.documents.hiding` does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import takewhile
from typing import Any, cast

from citewell.core.config import Documents
from citewell.core.errors import DamagedError
from citewell.documents.canonical import Canonical, clean
from citewell.documents.encoding import decode
from citewell.documents.grids import Grid, GridCell, expanded, span
from citewell.documents.hiding import VOID, Hiding, frame, nested_too_deep, script_of, strikes
from citewell.documents.lists import Marks
from citewell.documents.metadata import Metadata, found, found_date, found_language, found_title
from citewell.documents.scripts import Script, join_scripts

_WORD = re.compile(r"\w+")
BLOCKS = frozenset(
    _WORD.findall(
        "address article aside blockquote body br center dd details dialog div dl dt fieldset figcaption "
        "figure footer form header hr legend li main nav ol p section summary table tbody tfoot thead tr ul"
    )
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SILENT = frozenset(
    _WORD.findall(
        "script style template noscript iframe object embed applet svg math canvas audio video select option "
        "datalist textarea button input head map"
    )
)
_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w:.-]+)|^\s*<\?xml[^>]*?encoding\s*=\s*[\"']([\w:.-]+)",
    re.I,
)
_CELLS = frozenset(("td", "th", "caption"))
STRUCK = frozenset(("s", "del", "strike"))
SCRIPTS = {"sup": Script.RAISED, "sub": Script.LOWERED}
_TITLES, _AUTHORS = ("og:title", "dc.title", "citation_title"), ("author", "dc.creator", "article:author")
_DATES = (
    "article:published_time",
    "datepublished",
    "dc.date",
    "dc.date.issued",
    "citation_publication_date",
    "date",
    "pubdate",
)
_SAVED = ("last-modified", "article:modified_time")


def read_html(data: bytes, limits: Documents) -> Canonical:
    """Reads HTML and XHTML of any version."""
    text, note = decode_page(data)
    for framed in (False, True):
        out = Canonical()
        out.note(note)
        page = read_page(text, out, limits, framed=framed)
        if not (out.is_empty and page.framed):  # else the frame is the page
            break
    out.metadata = page.metadata()
    return out


def decode_page(data: bytes) -> tuple[str, str]:
    """The text of a page in the encoding that it declares, and a note, as :func:`decode`."""
    return decode(data, declared=_declared(data))


def read_page(
    text: str, out: Canonical, limits: Documents, *, framed: bool = False, hiding: Hiding | None = None
) -> HtmlPage:
    """Reads a whole page, even one inside another format, and notes what was left out; ``framed`` keeps the
    navigation and the like, ``hiding`` knows its linked style sheets. Raises LimitError if it is nested too
    deep."""
    from lxml import etree

    page = HtmlPage(out, limits, framed=framed, hiding=hiding or Hiding())
    parser = etree.HTMLParser(target=cast(Any, page), huge_tree=True, no_network=True)
    try:
        # Without the XML declaration: the parser would apply its encoding to text that is already decoded.
        parser.feed(re.sub(r"^\s*<\?xml[^>]*\?>", "", text).replace("\0", "") or " ")
        parser.close()
    except etree.LxmlError as error:
        raise DamagedError(
            f"its HTML cannot be read: {error}", hint="open it in a browser and save it again"
        ) from error
    page.finish()
    return page


class HtmlPage:
    """Events of one page -> pieces of a :class:`Canonical`."""

    def __init__(self, out: Canonical, limits: Documents, *, framed: bool, hiding: Hiding) -> None:
        self._out = out
        self._keeps_frame = framed
        self.framed = Counter[str]()  # characters left out, by reason
        self._frame: tuple[str, int] | None = None  # the reason, and the element's depth
        self._marks = Marks()
        self._in_term = False
        self._limits = limits
        self._text: list[tuple[str, Script]] = []
        self._pre = 0
        self._heading = 0
        # Tag, whether it silences its contents, and the script and background in force before it.
        self._open: list[tuple[str, bool, Script, bool]] = []
        self._ground = False
        self._script = Script.PLAIN
        self._silent = 0
        self._grids: list[Grid] = []
        self._hiding = hiding
        self._meta: dict[str, str] = {}
        self._title: list[str] | None = None
        self._style: list[str] | None = None
        self._language = ""
        self._hidden = self._struck = self._scripts = self._comments = 0

    def finish(self) -> None:
        """Writes whatever is still open, and the notes."""
        self._flush()
        self._out.paragraph(", ".join(self._marks.terms))  # without a definition
        while self._grids:
            self._close_grid()
        self._out.note("struck-out elements left out: {n}", self._struck)
        self._out.note("scripts and other invisible elements left out: {n}", self._scripts)
        self._out.note("comments left out: {n}", self._comments)
        self._out.note("hidden elements left out: {n}", self._hidden)
        for reason, count in self.framed.items():
            self._out.note(f"{reason} left out: {{n}} characters", count)

    def metadata(self) -> Metadata:
        """Title, author, date and language from the page's head."""
        title = found_title(_first(self._meta, _TITLES) or "".join(self._title or []), "metadata")
        return Metadata(
            title=title,
            author=found(_first(self._meta, _AUTHORS), "metadata"),
            language=found_language(self._language, "metadata"),
            published_at=found_date(_first(self._meta, _DATES), "metadata"),
            saved_at=found_date(_first(self._meta, _SAVED), "metadata: modified"),
        )

    # --- events of the parser; the names are its protocol ---

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        tag = tag.lower().rpartition(":")[2]
        if tag == "meta" and attributes.get("content"):
            keys = (attributes.get(name) for name in ("name", "property", "itemprop"))
            self._meta.setdefault(next(filter(None, keys), "").lower(), attributes["content"])
        if tag == "html" and attributes.get("lang"):
            self._language = attributes["lang"]
        if tag == "title" and self._title is None:
            self._title = []
        if tag == "style":
            self._style = []
        silent, before = False, self._ground
        own = self._hiding.ground(tag, attributes)
        ground = before if own is None else own
        if tag != "head" and tag not in VOID and not self._silent:
            silent = self._silences(tag, attributes, ground) or self._frames(tag, attributes)
        if tag not in VOID:
            if len(self._open) >= self._limits.max_nesting:
                raise nested_too_deep(self._limits.max_nesting)
            self._open.append((tag, silent, self._script, before))
            self._ground = ground
            self._silent += silent
            self._script = self._script_of(tag, attributes)
        if not self._silent:
            self._begin(tag, attributes)

    def end(self, tag: str) -> None:
        tag = tag.lower().rpartition(":")[2]
        if tag in VOID:
            return
        if not self._silent:
            self._finish(tag)
        if tag == "style" and self._style is not None:
            self._hiding.learn("".join(self._style))
            self._style = None
        if self._open:
            _, silent, self._script, self._ground = self._open.pop()
            self._silent -= silent
            if self._frame and len(self._open) == self._frame[1]:
                self._frame = None

    def data(self, text: str) -> None:
        inside = self._open[-1][0] if self._open else ""
        if inside == "title" and self._title is not None:
            self._title.append(text)
        elif inside == "style" and self._style is not None:
            self._style.append(text)
        elif self._frame and self._silent == 1:
            self.framed[self._frame[0]] += len("".join(text.split()))
        elif not self._silent and not any(entry[0] == "head" for entry in self._open[:3]):
            self._say(text)

    def comment(self, text: str) -> None:
        self._comments += 1

    def close(self) -> None:
        return None

    # --- what they mean ---

    def _silences(self, tag: str, attributes: Mapping[str, str], ground: bool) -> bool:
        hidden = self._hiding.hides(tag, attributes, ground)
        self._hidden += hidden
        if hidden:
            return True
        if tag in STRUCK or strikes(attributes):
            self._struck += 1
            return True
        self._scripts += tag in _SILENT
        return tag in _SILENT

    def _frames(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether the element is part of what frames the page."""
        reason = "" if self._keeps_frame else frame(tag, attributes, (entry[0] for entry in self._open))
        if reason:
            self._frame = (reason, len(self._open))
        return bool(reason)

    def _script_of(self, tag: str, attributes: Mapping[str, str]) -> Script:
        """Blocks end what was left open: the effect of a forgotten ``</sup>`` ends with its paragraph."""
        if tag in BLOCKS or tag in _CELLS or tag in _HEADINGS:
            return Script.PLAIN
        return SCRIPTS.get(tag) or script_of(attributes) or self._script

    def _begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        grid = self._grids[-1] if self._grids else None
        if tag == "table":
            self._flush()
            if grid is not None:
                self._make_layout(grid)
            self._grids.append(Grid())
        elif grid is not None and not grid.layout and tag in ("tr", "thead", "tbody", "tfoot", "caption"):
            grid.cell = grid.caption if tag == "caption" else None
            if tag == "tr":
                grid.rows.append([])
            elif tag != "caption":
                grid.in_head = tag == "thead"
        elif grid is not None and not grid.layout and tag in ("td", "th"):
            if not grid.rows:
                grid.rows.append([])
            grid.cell = GridCell(
                head=tag == "th" or grid.in_head,
                columns=span(attributes.get("colspan")),
                rows=span(attributes.get("rowspan")),
            )
            grid.rows[-1].append(grid.cell)
        elif tag in _HEADINGS and not self._in_cell():
            self._flush()
            self._heading = _HEADINGS[tag]
        elif tag == "pre" and not self._in_cell():
            self._flush()
            self._pre += 1
        elif tag in BLOCKS or tag in _CELLS:
            if tag in ("dt", "dd"):
                self._end_term()  # which may be left open
            self._break()
            self._in_term = tag == "dt" and not self._in_cell()
            if (number := self._marks.begin(tag, attributes)) and self._in_cell():
                self._say(f"{number} ")
        elif tag == "img" and attributes.get("alt"):
            self._say(f" {attributes['alt']} ")

    def _finish(self, tag: str) -> None:
        if tag == "table" and self._grids:
            self._flush()
            self._close_grid()
        elif tag in _CELLS and self._in_cell():
            self._grids[-1].cell = None
        elif tag in _HEADINGS and not self._in_cell():
            self._flush()
        elif tag == "pre" and self._pre and not self._in_cell():
            self._flush()
            self._pre -= 1
        elif tag == "dt":
            self._end_term()
        elif tag in BLOCKS or tag in _CELLS:
            self._break()
            self._marks.end(tag)

    def _end_term(self) -> None:
        if self._in_term:
            self._marks.terms += [clean(join_scripts(self._text))]
            self._in_term, self._text = False, []
        self._break()

    def _in_cell(self) -> bool:
        return bool(self._grids) and self._grids[-1].cell is not None

    def _say(self, text: str) -> None:
        cell = self._grids[-1].cell if self._grids else None
        (self._text if cell is None else cell.text).append((text, self._script))

    def _break(self) -> None:
        if self._in_cell():
            self._say(" ")
        else:
            self._flush()

    def _flush(self) -> None:
        text, self._text = join_scripts(self._text), []
        mark = self._marks.taken() if text.strip() else ""
        if self._heading:
            self._out.heading(f"{mark} {text}" if mark != "•" else text, self._heading)
            self._heading = 0
        elif self._pre:
            self._out.verbatim(text)
        else:
            self._out.paragraph(text, mark)

    def _make_layout(self, grid: Grid) -> None:
        """A table that contains a table is page layout: what it held so far is written as running text."""
        if not grid.layout:
            grid.layout = True
            for row in grid.rows:
                for cell in row:
                    self._out.paragraph(join_scripts(cell.text))
            grid.cell = None

    def _close_grid(self) -> None:
        grid = self._grids.pop()
        kept = [n for n, row in enumerate(grid.rows) if any(join_scripts(cell.text).strip() for cell in row)]
        rows = [grid.rows[n] for n in kept]
        if grid.layout or not rows:
            return
        if max(len(row) for row in rows) == 1 or (len(rows) == 1 and not all(c.head for c in rows[0])):
            for row in rows:
                self._out.paragraph(" ".join(join_scripts(cell.text) for cell in row))
            return
        heads = len(list(takewhile(lambda row: all(cell.head for cell in row), rows[:-1])))
        lines = expanded(grid.rows)  # empty rows too: cells from above may fill them
        title = join_scripts(grid.caption.text)
        self._out.paragraph(title)
        self._out.table([lines[n] for n in kept], head_rows=heads or None, title=title)


def _first(values: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((values[name] for name in names if name in values), "")


def _declared(data: bytes) -> str:
    match = _CHARSET.search(data[:4096])
    name = next((group for group in match.groups() if group), b"") if match else b""
    return name.decode("ascii", "replace")

"""Markdown -> Document: front matter to metadata, headings to sections, tables to rows.

In: bytes of CommonMark with tables and front matter. Out: a Document. Raw HTML inside is read as
HTML, link targets are dropped. Knows nothing about the many dialects beyond that.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from citewell.core.config import Documents
from citewell.core.errors import LimitError
from citewell.documents.canonical import Canonical
from citewell.documents.encoding import decode
from citewell.documents.hiding import Hidden, Hiding
from citewell.documents.html import BLOCKS, SCRIPTS, STRUCK, Page
from citewell.documents.lists import Numbers
from citewell.documents.metadata import Metadata, found, found_date, found_language, found_title
from citewell.documents.scripts import Script, joined

if TYPE_CHECKING:
    from markdown_it.token import Token

_YAML = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.S | re.M)
_PAIR = re.compile(r"^([A-Za-z][\w-]*)\s*:[ \t]*(.*)$")
_ITEM = re.compile(r"^\s*-\s+(.*)$")
_BLOCK = re.compile(r"[>|][-+1-9]{0,2}(?:\s+#.*)?")
_UNREAD = ("{", "&", "*", "!", ">", "|")  # mappings, references and types: the field is left out
_DEEPEST = 80
_NAMED_TAG = re.compile(r"<(/?)([a-z]+)\b", re.I)


def read_markdown(data: bytes, limits: Documents) -> Canonical:
    """CommonMark, tables, struck text, YAML or TOML front matter of plain keys."""
    text, note = decode(data)
    values, body = _front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    out = Canonical(_metadata(values))
    out.note(note)
    walk = _Walk(out, limits)
    try:
        walk.blocks(_parse(body))
    except RecursionError as error:
        raise _too_deep() from error
    out.note("hidden elements left out: {n}", walk.hidden.count)
    out.note("struck-out passages left out: {n}", walk.struck)
    return out


def _metadata(values: Mapping[str, str]) -> Metadata:
    origin = "front matter"
    return Metadata(
        title=found_title(values.get("title"), origin),
        author=found(values.get("author") or values.get("authors"), origin),
        language=found_language(values.get("language") or values.get("lang"), origin),
        **{
            name: found_date(next((values[key] for key in keys if key in values), None), origin)
            for name, keys in _DATES.items()
        },
        edition=found(values.get("edition") or values.get("version"), origin),
        replaces=tuple(filter(None, map(str.strip, values.get("supersedes", "").split(",")))),
    )


_DATES = {
    "published_at": ("published_at", "published", "date"),
    "effective_at": ("effective_at", "effective", "effective_date", "valid_from"),
    "expires_at": ("expires_at", "expires", "expiry", "expiry_date", "valid_until"),
    "signed_at": ("signed_at", "signed"),
}


class _Walk:
    """The parser's flat stream of tokens -> pieces of a :class:`Canonical`."""

    def __init__(self, out: Canonical, limits: Documents) -> None:
        self._out = out
        self._limits = limits
        self._grid: list[list[str]] | None = None
        self._heads = 0
        self._heading = 0
        self._hiding = Hiding()
        self.hidden = Hidden(self._hiding, limits.max_nesting)
        self._depths: list[int] = []
        self._lists: list[Numbers | None] = []  # None for one of bullets
        self._mark = ""
        self.struck = 0

    def blocks(self, tokens: list[Token]) -> None:
        for token in tokens:
            if token.level > _DEEPEST:
                raise _too_deep()
            self._enter_or_leave(token)
            if token.type in ("bullet_list_open", "ordered_list_open"):
                ordered = token.type == "ordered_list_open"
                self._lists.append(Numbers({"start": str(token.attrGet("start") or 1)}) if ordered else None)
            elif token.type == "list_item_open":
                numbers = self._lists[-1]
                self._mark = numbers.next({}) if numbers else "•"
            elif token.type in ("bullet_list_close", "ordered_list_close"):
                self._lists.pop()
            elif token.type == "heading_open":
                self._heading = int(token.tag[1])
            elif token.type == "inline":
                self._inline(token)
            elif token.type in ("fence", "code_block"):
                self._out.verbatim("" if self.hidden.open else token.content)
            elif token.type == "html_block":
                self._html(token.content)
            elif token.type == "table_open":
                self._grid, self._heads = [], 0
            elif token.type == "tr_open" and self._grid is not None:
                self._grid.append([])
            elif token.type == "thead_close" and self._grid is not None:
                self._heads = len(self._grid)
            elif token.type == "table_close" and self._grid is not None:
                grid, self._grid = self._grid, None
                self._out.table(grid, head_rows=self._heads)

    def _enter_or_leave(self, token: Token) -> None:
        """What hides inside a list item or a paragraph ends with it; a hiding paragraph with any block."""
        if token.nesting < 0 and self._depths:
            self.hidden.leave(self._depths.pop(), but=BLOCKS if token.type == "paragraph_close" else ())
        elif token.nesting > 0 or token.type in ("fence", "code_block"):
            self.hidden.handle_endtag("p")
            self._depths += [len(self.hidden.open)] * token.nesting

    def _html(self, content: str) -> None:
        """Raw HTML, inside what was left open and hides."""
        page = Page(self._out, self._limits, self._hiding)
        page.feed("".join(text for _, text in self.hidden.open) + content)
        page.finish()
        self.hidden.read(content)

    def _inline(self, token: Token) -> None:
        children = token.children or []
        self.struck += sum(_strikes(child) > 0 for child in children)
        pieces = [joined(line) for line in _lines(children, self.hidden)]
        if self._grid is not None:
            self._grid[-1].append(" ".join(pieces))
        elif self._heading:
            self._out.heading(" ".join(pieces), self._heading)
            self._heading = 0
        else:
            for piece in pieces:
                self._out.paragraph(piece, self._mark)
                self._mark = "" if piece.strip() else self._mark


def _lines(children: list[Token], hidden: Hidden) -> list[list[tuple[str, Script]]]:
    """Lines of an inline token: a hard break begins a new one; markup, struck text, hidden text and link
    targets go."""
    lines: list[list[tuple[str, Script]]] = [[]]
    scripts = [Script.PLAIN]
    struck = 0
    for child in children:
        struck = max(0, struck + _strikes(child))
        if child.type == "hardbreak":
            lines.append([])
        elif child.type == "softbreak":
            lines[-1].append((" ", Script.PLAIN))
        elif child.type == "html_inline":
            hidden.read(child.content)
            closes, tag = _tag(child)
            if tag == "br":
                lines[-1].append((" ", Script.PLAIN))
            elif tag in SCRIPTS and not closes:
                scripts.append(SCRIPTS[tag])
            elif tag in SCRIPTS and len(scripts) > 1:
                scripts.pop()
        elif not struck and not hidden.open:  # text, code, image (whose content is its alternative text)
            lines[-1].append((child.content, scripts[-1]))
    return lines


def _strikes(child: Token) -> int:
    """1 where struck text begins, -1 where it ends."""
    if child.type in ("s_open", "s_close"):
        return child.nesting
    closes, tag = _tag(child)
    return (-1 if closes else 1) * (tag in STRUCK)


def _tag(child: Token) -> tuple[bool, str]:
    """Of raw HTML: whether it closes, and its name in small letters; "" for what is none."""
    match = _NAMED_TAG.match(child.content) if child.type == "html_inline" else None
    return (bool(match.group(1)), match.group(2).lower()) if match else (False, "")


def _parse(body: str) -> list[Token]:
    from markdown_it import MarkdownIt

    # The parser stops reading, in silence, at this depth; the walk refuses well before it.
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST + 20}).enable(["table", "strikethrough"])
    return parser.parse(body)


def _too_deep() -> LimitError:
    return LimitError(
        f"its quotes or lists are nested more than {_DEEPEST} deep",
        hint="this is unusual; reduce the nesting",
    )


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Plain ``key: value`` pairs before the text, a value on one line or several; a list of names is joined
    by commas."""
    if match := _TOML.match(text):
        try:
            table = tomllib.loads(match.group(1))
        except tomllib.TOMLDecodeError:
            return {}, text
        values = {
            key.lower(): ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            for key, value in table.items()
            if not isinstance(value, dict)
        }
        return values, text[match.end() :]
    match = _YAML.match(text)
    if match is None:
        return {}, text
    parts: dict[str, list[str]] = {}
    key, block = "", False
    for line in match.group(1).splitlines():
        indented = line.startswith((" ", "\t")) or not line.strip()
        if block and indented:
            parts[key] += " ", line.strip()
        elif pair := _PAIR.match(line):
            key, value = pair.group(1).lower(), pair.group(2).strip()
            block = bool(_BLOCK.fullmatch(value))
            parts[key] = [] if block or value.startswith(_UNREAD) else [_scalar(value)]
            key = key if block or parts[key] else ""
        elif (item := _ITEM.match(line)) and key:
            parts[key] += ", " if any(parts[key]) else "", _scalar(item.group(1))
        elif indented and key and any(parts[key]):
            parts[key] += " ", _scalar(line)
        elif not indented and not line.startswith("#"):
            return {}, text
    values = {name: "".join(pieces).strip() for name, pieces in parts.items()}
    return values, text[match.end() :] if values else text


def _scalar(text: str) -> str:
    return text.strip().strip("[]").strip("\"'")

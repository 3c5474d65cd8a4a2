"""Markdown -> Document: front matter to metadata, headings to sections, tables to rows.

In: bytes of CommonMark with tables and front matter. Out: a Document. Raw HTML inside is read as
HTML, link targets are dropped. Other dialects are not supported.
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
from citewell.documents.hiding import VOID, nested_too_deep
from citewell.documents.html import BLOCKS, read_page
from citewell.documents.metadata import Metadata, found, found_date, found_language, found_title

if TYPE_CHECKING:
    from markdown_it.token import Token

_YAML = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.S | re.M)
_PAIR = re.compile(r"^([A-Za-z][\w-]*)\s*:[ \t]*(.*)$")
_ITEM = re.compile(r"^\s*-\s+(.*)$")
_BLOCK = re.compile(r"[>|][-+1-9]{0,2}(?:\s+#.*)?")
_UNREAD = ("{", "&", "*", "!", ">", "|")  # mappings, references and types: the field is left out
_DEEPEST = 80
_RAW_TAG = re.compile(r"<(/?)([a-z][\w-]*)(?:[^<>\"']|\"[^\"]{0,2000}\"|'[^']{0,2000}')*+>", re.I)
# Browsers reopen these in the next paragraph if they were left open.
_GOING_ON = frozenset(re.findall(r"\w+", "a b big code em font i nobr small strong tt u"))


def read_markdown(data: bytes, limits: Documents) -> Canonical:
    """CommonMark with tables, strikethrough, and YAML or TOML front matter of plain keys."""
    text, note = decode(data)
    values, body = _front_matter(text.replace("\r\n", "\n").replace("\r", "\n"))
    out = Canonical(_metadata(values))
    out.note(note)
    read_page(_page(body, limits.max_nesting), out, limits, framed=True)
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


def _page(body: str, most: int) -> str:
    """The text as a page of HTML. Raises LimitError for quotes, lists or elements nested too deep."""
    from markdown_it import MarkdownIt

    # The parser silently stops reading at this depth; deep nesting is refused well before that.
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST + 20}).enable(["table", "strikethrough"])
    try:
        tokens = parser.parse(body)
        if all(token.level <= _DEEPEST for token in tokens):
            return str(parser.renderer.render(_as_browsers(tokens, most), parser.options, {}))
    except RecursionError:
        pass
    hint = "this is unusual; reduce the nesting"
    raise LimitError(f"its quotes or lists are nested more than {_DEEPEST} deep", hint=hint)


def _as_browsers(tokens: list[Token], most: int) -> list[Token]:
    """Ends raw HTML that is left open where a browser does: with its paragraph, list item or quotation; an
    inline format continues in the next paragraph, a block in all that follows."""
    from markdown_it.token import Token

    made: list[Token] = []
    left: list[tuple[str, str]] = []  # name, and the tag as written
    depths: list[int] = []
    for token in tokens:
        if token.type in ("list_item_open", "blockquote_open"):
            depths.append(len(left))
        elif token.type in ("list_item_close", "blockquote_close"):
            depth = depths.pop()
            closing = "".join(f"</{name}>" for name, _ in reversed(left[depth:]))
            made.append(Token("html_block", "", 0, content=closing))
            left[depth:] = [one for one in left[depth:] if one[0] in _GOING_ON]
        again = [tag for name, tag in left if name in _GOING_ON]
        for raw in (token, *(token.children or ())):
            if raw.type in ("html_block", "html_inline"):
                # A browser reads "<span/>" as an opening tag.
                raw.content = _RAW_TAG.sub(lambda tag: tag[0][:-1].rstrip("/") + ">", raw.content)
                _follow(raw.content, left, most)
        if token.type == "inline" and token.children is not None:
            token.children[:0] = [Token("html_inline", "", 0, content=tag) for tag in again]
            left = [one for one in left if one[0] in _GOING_ON or one[0] in BLOCKS]
        made.append(token)
    return made


def _follow(raw: str, left: list[tuple[str, str]], most: int) -> None:
    """Updates ``left``, the tags that are open after ``raw``."""
    for match in _RAW_TAG.finditer(raw):
        name = match[2].lower()
        at = next((at for at in reversed(range(len(left))) if left[at][0] == name), None)
        if match[1] and at is not None:
            del left[at:]
        elif not match[1] and name not in VOID:
            one = (name, match[0])
            # Browsers reopen at most three of a kind; otherwise a page of open tags would grow quadratically.
            left += [one] if name not in _GOING_ON or left.count(one) < 3 else []
    if len(left) > most:
        raise nested_too_deep(most)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Plain ``key: value`` pairs before the text, each value on one or more lines; lists are joined by
    commas."""
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

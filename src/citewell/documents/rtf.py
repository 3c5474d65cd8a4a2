"""RTF -> Document: paragraphs with their list marks, styled headings to sections, tables to rows.

In: bytes of a Rich Text Format file. Out: a Document with all changes accepted; what is hidden, struck out or
white on white is left out and counted. Text boxes follow their paragraph, footnotes the text; headers and
footers are left out. Every token is looked at once. Source: Microsoft's specification, version 1.9.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import takewhile
from typing import NamedTuple

from citewell.core.config import Documents
from citewell.core.errors import DamagedError
from citewell.documents.canonical import Canonical
from citewell.documents.formulas import UNKNOWN, symbol
from citewell.documents.grids import EdgedRow, aligned
from citewell.documents.hiding import is_pale, nested_too_deep
from citewell.documents.metadata import Metadata, found_author, found_date, found_title
from citewell.documents.scripts import Script, join_scripts

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?\d{1,10})? ?|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z])|([{}])|([^\\{}\r\n]+)|[\r\n]+",
    re.S,
)
_HEADING = re.compile(r"title|heading ([1-9])", re.I)
_WORD = re.compile(r"\w+")
_CHARSETS = (
    "0:cp1252 77:mac_roman 128:cp932 129:cp949 130:johab 134:gbk 136:cp950 161:cp1253 162:cp1254 163:cp1258 "
    "177:cp1255 178:cp1256 186:cp1257 204:cp1251 222:cp874 238:cp1250 255:cp437"
)
_CODECS = {int(charset): codec for charset, codec in re.findall(r"(\d{1,3}):(\w{1,12})", _CHARSETS)}
_DEFAULT, _SYMBOLS = 1, 2  # character sets without a codec
_CODE_PAGES = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_CHARACTERS = dict(
    zip(_WORD.findall("emdash endash lquote rquote ldblquote rdblquote bullet"), "—–‘’“”•", strict=True)
)
_CHARACTERS |= dict.fromkeys(_WORD.findall("tab line page column nestcell nestrow emspace enspace"), " ")
_SIGNS = {b"~": " ", b"_": "-", b"\t": " "}
_TOGGLES = frozenset(("v", "deleted", "strike", "striked"))
_SCRIPTS = dict.fromkeys(("super", "up"), Script.RAISED) | dict.fromkeys(("sub", "dn"), Script.LOWERED)
_SCRIPTS["nosupersub"] = Script.PLAIN
_WRITTEN = frozenset(("", "footnote", "shptxt", "listtext", "pntext"))
_DATES = ("creatim", "revtim")
_INFO = frozenset(("title", "author", *_DATES))
_TABLES = frozenset(("fonttbl", "colortbl", "stylesheet", *_DATES))
_DESTINATIONS = _WRITTEN | _TABLES | {"info"}
_LEFT_OUT = "left out"
_SKIPPED = frozenset(
    _WORD.findall(
        "fldinst filetbl footer footerf footerl footerr ftnsep ftnsepc ftncn header headerf headerl headerr "
        "pict nonesttables nonshppict objdata private rxe shprslt sn sv tc txe xe"
    )
)
_LONGEST_NAME = 60


def _level(outline: int) -> int:
    """The level of a heading: 1 for a title, -1 in the outline; 0 for body text."""
    return outline + 2 if -1 <= outline < 9 else 0


_PAINTS = frozenset(("cb", "highlight", "chcbpat"))
_SHADES = frozenset(("cbpat", "shading"))
_PATTERNS = frozenset(("shading", "clshdng", "clshdngraw"))


class _State(NamedTuple):
    """What a group inherits from the one around it: where its text goes, the format of its letters, and from
    ``level`` on that of its paragraph. ``painted`` and ``shaded``: the background is not white."""

    target: str
    pieces: list[tuple[str, Script]]
    font: int = 0
    replaced: int = 1  # characters after a Unicode one that stand in for it in old programs
    unseen: frozenset[str] = frozenset()
    script: Script = Script.PLAIN
    pale: bool = False
    painted: bool = False
    level: int = 0
    in_table: bool = False
    shaded: bool = False


_FORMATS: dict[str, Callable[[_State, int], _State]] = {
    "f": lambda state, value: state._replace(font=value),
    "uc": lambda state, value: state._replace(replaced=max(0, value)),
    "outlinelevel": lambda state, value: state._replace(level=_level(value)),
    "pard": lambda state, value: state._replace(level=0, in_table=False, shaded=False),
    "intbl": lambda state, value: state._replace(in_table=True),
    "itap": lambda state, value: state._replace(in_table=value > 0),
}


def read_rtf(data: bytes, limits: Documents) -> Canonical:
    """Reads RTF of Word, LibreOffice, WordPad, TextEdit and similar programs."""
    out = Canonical()
    _Body(out, limits.max_nesting).read(data)
    return out


class _Body:
    """Tokens -> pieces of a :class:`Canonical`."""

    def __init__(self, out: Canonical, deepest: int) -> None:
        self._out, self._deepest = out, deepest
        self._text: list[tuple[str, Script]] = []
        self._state = _State("", self._text)
        self._outer: list[_State] = []
        self._raw = bytearray()  # decoded together: a character may take two bytes
        self._skip = self._surrogate = self._font = self._style = 0
        self._codec, self._mark = "cp1252", ""
        self._fonts: dict[int, tuple[int, str]] = {}
        self._rgb: dict[str, int] = {}
        self._pale: dict[int, bool] = {}
        self._levels: dict[int, int] = {}
        self._info: dict[str, str] = {}
        self._boxes: list[str] = []
        self._notes: list[str] = []
        self._rows: list[EdgedRow] = []
        self._cells: list[str] = []
        self._edges: list[tuple[int, bool]] = []
        self._is_optional = self._is_head = self._continues = self._row_shaded = False

    def read(self, data: bytes) -> None:
        at = len(data) - len(data.lstrip())
        while token := _TOKEN.match(data, at):
            at = token.end()
            word, number, code, sign, brace, text = token.groups()
            if text or code:
                self._take(text or bytes.fromhex(code.decode()))
            elif word == b"bin":
                at += max(0, int(number or 0))
            elif word:
                self._flush()
                self._word(word.decode(), None if number is None else int(number))
            elif brace == b"{":
                self._flush()
                if len(self._outer) >= self._deepest:
                    raise nested_too_deep(self._deepest)
                self._outer.append(self._state)
            elif brace:
                self._close()
                if not self._outer:
                    self._finish()
                    return
            elif sign:
                self._sign(sign)
        raise DamagedError("it ends in the middle: it was truncated", hint="download or save it again")

    def _finish(self) -> None:
        if self._cells:
            self._cells.append(self._taken())
            self._end_row()
        self._end()
        for note in self._notes:
            self._out.paragraph(note)
        saved, created = (self._info.get(name) for name in ("revtim", "creatim"))
        self._out.metadata = Metadata(
            title=found_title(self._info.get("title"), "metadata"),
            author=found_author(self._info.get("author"), "metadata"),
            saved_at=found_date(saved, "metadata: modified") or found_date(created, "metadata: created"),
        )

    def _take(self, data: bytes) -> None:
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        if self._state.target != _LEFT_OUT:
            self._raw += data[skipped:]

    def _flush(self) -> None:
        if self._raw:
            raw, self._raw = bytes(self._raw), bytearray()
            charset, name = self._fonts.get(self._state.font, (_DEFAULT, ""))
            if charset == _SYMBOLS and self._state.target in _WRITTEN:
                self._say("".join(" " if byte == 32 else symbol(name, f"f0{byte:02x}") for byte in raw))
            else:
                self._say(raw.decode(_CODECS.get(charset, self._codec), "replace"))

    def _sign(self, sign: bytes) -> None:
        if sign in b"\\{}":
            self._take(sign)
            return
        self._flush()
        if sign == b"*":
            self._is_optional = True
        elif sign in b"\r\n":
            self._word("par", None)
        elif self._skip:
            self._skip -= 1
        else:
            self._say(_SIGNS.get(sign, ""))

    def _close(self) -> None:
        self._flush()
        self._skip = 0
        closed = self._state
        self._state = self._outer.pop() if self._outer else closed
        if closed.pieces is self._state.pieces:
            return
        text = join_scripts(closed.pieces)
        if closed.target == "footnote":
            self._notes += text.split("\n")
        elif closed.target == "shptxt":
            self._boxes += text.split("\n")
        elif closed.target not in _WRITTEN:
            self._info[closed.target] = text
        elif text.strip():  # the number or bullet of a list item
            mark = text.strip() if any(map(str.isalnum, text)) else "•"
            if self._state.in_table:
                self._text.append((f"{mark} ", Script.PLAIN))
            else:
                self._mark = mark

    def _word(self, word: str, number: int | None) -> None:
        state = self._state
        optional, self._is_optional = self._is_optional, False
        if state.target == _LEFT_OUT:
            return
        if self._skip and _CHARACTERS.get(word, " ") != " ":
            self._skip -= 1
            return
        self._skip = 0
        if word in _CHARACTERS:
            self._say(_CHARACTERS[word])
        elif word in (_INFO if state.target == "info" else _DESTINATIONS):
            self._state = state._replace(target=word, pieces=[], script=Script.PLAIN)
        elif word in _SKIPPED or (optional and word != "shpinst"):
            self._out.note("formulas left out: {n}", word == "moMath")
            self._state = state._replace(target=_LEFT_OUT)
        elif word in _TOGGLES:
            unseen = state.unseen - {word} if number == 0 else state.unseen | {word}
            self._state = state._replace(unseen=unseen)
        elif word in _SCRIPTS:
            self._state = state._replace(script=Script.PLAIN if number == 0 else _SCRIPTS[word])
        elif state.target in _TABLES:
            self._define(word, number or 0)
        else:
            self._format(word, number or 0)

    def _define(self, word: str, value: int) -> None:
        """What the tables at the head of the file say."""
        match word:
            case "f":
                self._state = self._state._replace(font=value)
                self._fonts[value] = _DEFAULT, ""
            case "fcharset":
                self._fonts[self._state.font] = value, ""
            case "red" | "green" | "blue":
                self._rgb[word] = min(255, max(0, value))
            case "s":
                self._style = value
            case "outlinelevel":
                self._levels[self._style] = _level(value)
            case "yr" | "mo" | "dy":
                self._state.pieces.append((f"{value}" if word == "yr" else f"-{value}", Script.PLAIN))

    def _format(self, word: str, value: int) -> None:
        state = self._state
        if word in _FORMATS:
            self._state = _FORMATS[word](state, value)
        elif word in _PAINTS:
            self._state = state._replace(painted=self._darkens(word, value))
        elif word in _SHADES:
            self._state = state._replace(shaded=self._darkens(word, value))
        elif word in _CODE_PAGES:
            self._codec = _CODE_PAGES[word]
        elif word in ("par", "sect"):
            self._end()
        elif word == "u":
            self._unicode(value)
        elif word == "plain":
            plain = state._replace(font=self._font, script=Script.PLAIN, pale=False, painted=False)
            self._state = plain._replace(unseen=state.unseen & {"deleted"})
        elif word == "cf":
            self._state = state._replace(pale=self._pale.get(value, False))
        elif word == "s":
            self._state = state._replace(level=self._levels.get(value, 0))
        elif word == "ansicpg":
            self._codec = "mac_roman" if value == 10_000 else f"cp{value or 1252}"
        elif word == "deff":
            self._font = value
            self._state = state._replace(font=value)
        else:
            self._table(word, value)

    def _table(self, word: str, value: int) -> None:
        match word:
            case "cell" | "row" if self._state.pieces is not self._text:
                self._say(" ")
            case "cell":
                self._cells.append(self._taken())
            case "row":
                self._end_row()
            case "trowd":
                self._edges, self._is_head, self._continues, self._row_shaded = [], False, False, False
            case "trhdr":
                self._is_head = True
            case "clvmrg":
                self._continues = True
            case "cellx":
                self._edges.append((value, self._continues))
                self._continues = False
            case "clcbpat" | "clcbpatraw" | "trcbpat" | "clshdng" | "clshdngraw":
                self._row_shaded |= self._darkens(word, value)

    def _unicode(self, value: int) -> None:
        self._skip = self._state.replaced
        code = value if 0xFFFF < value <= 0x10FFFF else value & 0xFFFF
        if 0xD800 <= code < 0xDC00:
            self._surrogate = code
            return
        if 0xDC00 <= code < 0xE000:
            code += 0x10000 + ((self._surrogate - 0xD800) << 10) - 0xDC00
            self._surrogate = 0
        charset, name = self._fonts.get(self._state.font, (_DEFAULT, ""))
        self._say(" " if code < 32 else symbol(name if charset == _SYMBOLS else "", f"{code:x}"))

    def _say(self, text: str) -> None:
        state = self._state
        match state.target:
            case "fonttbl":
                charset, name = self._fonts.get(state.font, (_DEFAULT, ""))
                self._fonts[state.font] = charset, (name + text.partition(";")[0])[:_LONGEST_NAME]
            case "colortbl":
                for _ in range(text.count(";")):
                    channels = "".join(f"{self._rgb.get(name, 0):02x}" for name in ("red", "green", "blue"))
                    self._pale[len(self._pale)] = is_pale(channels)
                    self._rgb = {}
            case "stylesheet":
                state.pieces.append((text, Script.PLAIN))
                if ";" in text:
                    name = join_scripts(state.pieces).partition(";")[0].strip()
                    state.pieces.clear()
                    if heading := _HEADING.fullmatch(name):
                        self._levels[self._style] = _level(int(heading[1] or 0) - 1)
                    self._style = 0
            case _ if state.target != _LEFT_OUT and not self._hides(text):
                state.pieces.append((text, state.script))
                unknown = f"characters that Citewell cannot read, shown as {UNKNOWN}: {{n}}"
                self._out.note(unknown, text.count(UNKNOWN))

    def _hides(self, text: str) -> bool:
        """Whether no reader sees the text; what is not a deletion is counted."""
        state = self._state
        if not text.strip() or "deleted" in state.unseen:
            return bool(state.unseen)
        ground = state.painted or state.shaded or (state.in_table and self._row_shaded)
        hidden = "v" in state.unseen or (state.pale and not ground and state.target != "shptxt")
        self._out.note("hidden runs of text left out: {n}", hidden)
        self._out.note("struck-out runs of text left out: {n}", bool(state.unseen) and not hidden)
        return hidden or bool(state.unseen)

    def _darkens(self, word: str, value: int) -> bool:
        """Whether it paints a background other than white; a pattern is taken for one."""
        return value > 0 and (word in _PATTERNS or not self._pale.get(value, False))

    def _taken(self) -> str:
        text = join_scripts(self._text)
        self._text.clear()
        return text

    def _end(self) -> None:
        """Ends a paragraph."""
        state = self._state
        if state.pieces is not self._text:
            state.pieces.append(("\n", Script.PLAIN))
        elif state.in_table or self._cells:
            self._text.append((" ", Script.PLAIN))
        else:
            self._end_table()
            text, mark = self._taken(), self._mark
            self._mark = ""
            if state.level and text.strip():
                self._out.heading(f"{mark} {text}", state.level)
            else:
                self._out.paragraph(text, mark)
            for box in self._boxes:
                self._out.paragraph(box)
            self._boxes = []

    def _end_row(self) -> None:
        edges = self._edges.copy() if len(self._edges) == len(self._cells) else []
        self._rows.append(EdgedRow(self._cells, edges, self._is_head))
        self._cells = []

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        grid = aligned(rows)
        if max(map(len, grid), default=0) > 1:
            heads = len(list(takewhile(lambda row: row.is_head, rows)))
            self._out.table(grid, head_rows=heads or None)
        else:
            for row in rows:
                self._out.paragraph(" ".join(row.cells))

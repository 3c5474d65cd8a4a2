"""CSV, TSV and XLSX -> Document: one line per row, its cells under their column heads.

In: bytes of a delimited text or a workbook. Out: a Document; the sheets of a workbook are its
sections, and a block of rows between blank ones is a table. A workbook's numbers are written as
the sheet shows them (percent, thousands, currency, dates), from cached values. Formulas are not
evaluated: one without a cached value has nothing to quote.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import accumulate, chain, groupby
from typing import Any

from citewell.core.config import Documents
from citewell.core.errors import DamagedError, LimitError, UnsupportedError
from citewell.documents.archives import office_metadata, open_archive
from citewell.documents.canonical import Canonical, heads_numbers, numeric_columns
from citewell.documents.detect import dialect
from citewell.documents.encoding import decode
from citewell.documents.scripts import Script, join_scripts

_MOST_CELL = 1 << 20
_LOOKED_AT = 50  # rows of a table examined to decide whether a block continues it
_MOST_COLUMNS = 2_000
_SCRIPTS = {script.value: script for script in Script}
_AFFIX = re.compile(
    r'\[\$(?P<symbol>[^\]-]*)(?:-[^\]]*)?\]|"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|'
    r"(?P<sign>[-$€£¥+()% ])|\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+)\]",
    re.I,
)
_PARTS = f"(?:{re.sub(r'[?]P<[a-z]+>', '?:', _AFFIX.pattern)})*"
_LAYOUT = re.compile(
    rf"(?P<before>{_PARTS})(?P<whole>[#0?](?:[#0?,]*[#0?])?|(?=\.))(?:\.(?P<places>[#0?]{{0,10}}))?(?P<scale>,*)"
    rf"(?P<after>{_PARTS})",
    re.I,
)
_WITHOUT = "formulas without a stored value left out: {n} (open and save the file to store their values)"
_LONGEST_FORMAT = 255  # Excel's own limit
_MOST_SHOWN = 10**15  # a sheet stores fifteen digits of a number


def read_csv(data: bytes) -> Canonical:
    """Delimited text; the delimiter, and whether the first row names columns, are detected from the rows."""
    text, note = decode(data)
    out = Canonical()
    out.note(note)
    delimiter = dialect(text) or ("\t" if "\t" in text[:_MOST_COLUMNS] else ",")
    csv.field_size_limit(_MOST_CELL)
    try:
        grid = list(csv.reader(io.StringIO(text.replace("\0", "")), delimiter=delimiter))
    except csv.Error as error:
        raise DamagedError(
            f"it cannot be split into rows ({error})", hint='check its quotes: each " needs a closing one'
        ) from error
    _write((_Line(row) for row in grid), out)
    return out


def read_xlsx(data: bytes, limits: Documents) -> Canonical:
    """Reads Excel workbooks from 2007 on; hidden sheets are left out and counted."""
    with open_archive(data, limits) as archive:
        out = Canonical(office_metadata(archive), titled=False)
        _refuse_inline_type(archive)
        _sheets(data, out)
    return out


def _sheets(data: bytes, out: Canonical) -> None:
    import warnings

    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about styles and extensions that carry no text
        values = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, rich_text=True)
        formulas = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=False)
        for sheet in values.worksheets:
            if sheet.sheet_state == "visible":
                out.heading(sheet.title, 1)
                _write(_rows(sheet, formulas[sheet.title], out), out)
            else:
                out.note("hidden sheets left out: {n}")
        values.close()
        formulas.close()


_INLINE_TYPE = re.compile(rb"<(?:\w+:)?(?:vertAlign|strike)\b")


def _refuse_inline_type(archive: zipfile.ZipFile) -> None:
    """Raises UnsupportedError for rich text inside the sheet itself, where the reader would turn 5,120² into
    5,1202; among the shared strings, where spreadsheet programs put it, it is recognised."""
    for name in archive.namelist():
        if name.startswith("xl/worksheets/") and _INLINE_TYPE.search(archive.read(name)):
            raise UnsupportedError(
                "a cell contains raised, lowered or struck type that cannot be distinguished from plain text",
                hint="open it in a spreadsheet program and save it again",
            )


@dataclass(frozen=True, slots=True)
class _Line:
    """A row's cells; ``bold`` if all filled cells are bold."""

    cells: list[str]
    bold: bool = False


_Block = list[_Line]


def _rows(sheet: Any, formulas: Any, out: Canonical) -> Iterator[_Line]:
    """Rows as text. The declared size of a sheet is ignored: one cell in a far corner inflates it."""
    sheet.reset_dimensions()
    formulas.reset_dimensions()
    for shown, written in zip(sheet.iter_rows(), formulas.iter_rows(), strict=False):
        if len(shown) > _MOST_COLUMNS:
            filled = [cell for cell in shown if cell.value is not None]
            if len(filled) > _MOST_COLUMNS:
                hint = "split the sheet, or save it as CSV"
                raise LimitError(f"a row has more than {_MOST_COLUMNS} filled cells", hint=hint)
            yield _line(filled)
            continue
        pairs = zip(shown, written, strict=False)
        without = sum(was.data_type == "f" and now.value is None for now, was in pairs)
        out.note(_WITHOUT, without)
        yield _line(shown)


def _line(cells: Sequence[Any]) -> _Line:
    filled = [cell for cell in cells if cell.value is not None]
    bold = bool(filled) and all(cell.has_style and cell.font.bold for cell in filled)
    return _Line([_shown(cell) for cell in cells], bold)


def _shown(cell: Any) -> str:
    """The cell as text; "" if it is empty or its whole text is struck out."""
    if cell.value is None or (cell.has_style and cell.font.strike):
        return ""
    return shown_value(cell.value, cell.number_format)


def shown_value(value: Any, number_format: str | None) -> str:
    """A cell's value as the sheet shows it, or as stored if its number format is not fully understood."""
    if isinstance(value, list):
        return _rich(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ") if value.time() != time() else value.date().isoformat()
    if isinstance(value, date | time | timedelta):
        return str(value)
    if not isinstance(value, int | float):
        return str(value)
    written = number_format or ""
    layout = _LAYOUT.fullmatch(written.split(";")[0]) if len(written) <= _LONGEST_FORMAT else None
    if layout is None or abs(value) >= _MOST_SHOWN:
        return _plain(value)
    whole, places = layout["whole"], layout["places"] or ""
    thousands = len(layout["scale"])
    before, after = (list(_AFFIX.finditer(layout[side])) for side in ("before", "after"))
    hundreds = sum(part["sign"] == "%" for part in (*before, *after))
    if hundreds > 1:
        return _plain(value)
    number = Decimal(str(abs(value))).scaleb(2 * hundreds - 3 * thousands)
    digits = (
        f"{number.quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP):{',' if ',' in whole else ''}f}"
    )
    kept = len(digits) - len(places) + places.rfind("0") + 1  # a "#" shows a digit only if there is one
    digits = digits[:kept] + digits[kept:].rstrip("0") if places else digits.zfill(whole.count("0"))
    shown = f"{_written(before)}{digits.rstrip('.')}{_written(after)}".strip()
    return f"-{shown}" if value < 0 else shown


def _written(parts: list[re.Match[str]]) -> str:
    """Symbols and literal text, without widths and colours."""
    return "".join(next(filter(None, part.groups()), "") for part in parts)


def _rich(runs: list[Any]) -> str:
    """The runs of one cell as text: raised and lowered ones marked as such, struck-out ones left out."""
    pieces: list[tuple[str, Script]] = []
    for run in runs:
        if isinstance(run, str):
            pieces.append((run, Script.PLAIN))
        elif not run.font.strike:
            pieces.append((run.text, _SCRIPTS.get(run.font.vertAlign, Script.PLAIN)))
    return join_scripts(pieces)


def _plain(value: float) -> str:
    whole = int(value) if abs(value) < 1e15 else None  # beyond that a float has no units digit
    return str(whole) if whole is not None and whole == value else str(value)


def _between_blanks(rows: Iterable[_Line]) -> Iterator[list[_Line]]:
    for filled, block in groupby(rows, key=lambda row: any(cell.strip() for cell in row.cells)):
        if filled:
            yield list(block)


def _write(rows: Iterable[_Line], out: Canonical) -> None:
    """Writes one table per block of rows, together with the blocks that continue it; if :func:`_goes_on`
    cannot tell, the block has no heads."""
    parts: list[_Block] = []
    heads: int | None = None
    for block in _between_blanks(rows):
        further = _goes_on(parts[0], block) if parts else False
        if not further:
            _write_table(list(chain.from_iterable(parts)), out, heads)
            parts, heads = [], 0 if further is None else None
        parts.append(block)
    _write_table(list(chain.from_iterable(parts)), out, heads)


def _goes_on(table: _Block, block: _Block) -> bool | None:
    """Whether ``block`` continues ``table``: yes if its numbers are in the same columns; no if it begins with
    a title, a bold row or words over numbers; None for words under words, which is ambiguous."""
    rest = table[_lead(table) :][:_LOOKED_AT]
    if not rest or _first(rest) != _first(block) or _width(rest) < _width(block):
        return False
    if _lead(block) or block[0].bold or heads_numbers([line.cells for line in block]):
        return False
    body = [line.cells for line in rest[1:]]
    alike = bool(body) and numeric_columns(body) == numeric_columns([block[0].cells]) != set()
    return True if alike else None


def _lead(block: _Block) -> int:
    """How many rows of a single cell come first: they introduce a table; on their own they are paragraphs.
    A cell further right than the labels heads columns instead ("Three months ended")."""
    lead = 0
    # For each row, the first filled column of it and all rows below.
    below = list(accumulate((_first([line]) for line in reversed(block)), min))[::-1]
    while lead < len(block) and sum(bool(cell.strip()) for cell in block[lead].cells) == 1:
        if lead + 1 < len(block) and _first([block[lead]]) > below[lead + 1]:
            break
        lead += 1
    if lead == len(block):
        return 0 if len(block) > 2 and _width(block) == 1 else lead
    return lead


def _width(block: _Block) -> int:
    return max(len(line.cells) for line in block)


def _first(block: _Block) -> int:
    """The first column that any row fills."""
    return min(next(i for i, cell in enumerate(line.cells) if cell.strip()) for line in block)


def _write_table(block: _Block, out: Canonical, heads: int | None) -> None:
    lead = _lead(block)
    title = [" ".join(line.cells).strip() for line in block[:lead]]
    for line in title:
        out.paragraph(line)
    if rest := block[lead:]:
        first = _first(rest)
        out.table([line.cells[first:] for line in rest], head_rows=heads, title=" \u203a ".join(title))

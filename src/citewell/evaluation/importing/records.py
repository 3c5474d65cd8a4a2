"""What an importer gives, and how it reads somebody else's file: whole, bounded, with one clear error.

In: a path, plain, gzipped or in a zip. Out: JSON objects, each with the place it stands at. Knows no format.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from citewell.core.errors import UsageError
from citewell.core.records import Case, Record

MOST_BYTES = 4 << 30
"""Of one unpacked file; more is refused, so that a small file cannot fill the memory."""

Texts = Callable[[str], str | None]
"""document id -> its canonical text here; None when there is none."""
Row = Mapping[str, Any]
File = Path | zipfile.Path


class Imported(Record, frozen=True, kw_only=True):
    """``answers`` are lines for ``eval run --answers``; ``documents`` texts by their ids, to be ingested.
    ``notes`` say what the cases lack."""

    cases: tuple[Case, ...]
    answers: tuple[dict[str, Any], ...] = ()
    documents: dict[str, str] = {}
    notes: tuple[str, ...] = ()


def folder(path: Path) -> File:
    """``path``, or the inside of a zip; where that holds one folder alone, that folder. Raises UsageError."""
    if not zipfile.is_zipfile(path):
        return path
    try:
        root = zipfile.Path(path)
    except zipfile.BadZipFile as error:
        raise UsageError(f"{path} cannot be read ({error})", hint="check the file") from error
    inner = [item for item in root.iterdir() if not item.name.startswith(("__MACOSX", "."))]
    return inner[0] if len(inner) == 1 and inner[0].is_dir() else root


def inside(place: File, name: str) -> File | None:
    """The file ``name`` of a folder, gzipped or not."""
    for candidate in (place / name, place / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    return None


def text_of(file: File) -> str:
    """Raises UsageError for what cannot be read, unpacked or decoded."""
    try:
        with file.open("rb") as raw, ExitStack() as stack:
            packed = file.name.endswith(".gz")
            data = (stack.enter_context(gzip.open(raw)) if packed else raw).read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise UsageError(f"{file} unpacks to over {MOST_BYTES >> 30} GiB", hint="split it")
        return bytes(data).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8", hint="save it as UTF-8") from error
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:  # or a password
        raise UsageError(f"{file} cannot be read ({error})", hint="check the path and the file") from error


def rows(file: File, *own: str) -> Iterator[tuple[str, Row]]:
    """(where, object) of JSON lines, of an array, or of the first array of objects inside one object: unless
    that has one of ``own``, keys of a record, and so is one."""
    text = text_of(file)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and lines[0][1].lstrip().startswith("{") and lines[0][1].rstrip().endswith("}"):
        for number, line in lines:
            where = f"{file}, line {number}"
            row = _decoded(line, where)
            if not isinstance(row, dict):
                raise UsageError(f"{where} is no object", hint="one JSON object a line")
            yield where, row
        return
    whole = _decoded(text, str(file))
    if isinstance(whole, dict):
        lists = [value for value in whole.values() if _objects(value) and not whole.keys() & set(own)]
        whole = lists[0] if lists and len(whole) <= 3 else [whole]
    if not _objects(whole):
        raise UsageError(f"{file} holds no objects", hint="one JSON object a line, or an array of them")
    for number, item in enumerate(whole, 1):
        yield f"{file}, record {number}", item


def _objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _decoded(text: str, where: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON ({error})", hint="one object a line, or an array") from error


def string(row: Row, where: str, *keys: str, needed: bool = False) -> str:
    """The first of ``keys`` that ``row`` has. Raises UsageError for no text, or a needed one missing."""
    for key in keys:
        value = row.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise UsageError(f"{where}: {key} is no text", hint=f"it is {type(value).__name__}")
        return str(value)
    if needed:
        raise UsageError(f"{where} has no {keys[0]!r}", hint=f"it has {', '.join(map(repr, list(row)[:12]))}")
    return ""


def strings(row: Row, where: str, *keys: str) -> tuple[str, ...]:
    """A list of texts under the first of ``keys`` that is there; a single text counts as a list of one."""
    for key in keys:
        value = row.get(key)
        if value is None:
            continue
        many = [value] if isinstance(value, str) else value
        if not isinstance(many, list) or not all(isinstance(item, str) for item in many):
            raise UsageError(f"{where}: {key} is no list of texts", hint="see docs/cases.md for the form")
        return tuple(many)
    return ()


def objects(row: Row, where: str, key: str) -> list[Row]:
    """Raises UsageError for what is no list of objects."""
    value = row.get(key)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise UsageError(f"{where}: {key} is no list of objects", hint=f"it has {', '.join(list(row)[:12])}")
    return value


def recorded(name: str, question: str, answer: str, sources: tuple[str, ...]) -> dict[str, Any]:
    """A line for ``eval run --answers``: sources numbered as markers like [1] name them."""
    numbered = [{"id": str(number), "text": text} for number, text in enumerate(sources, 1)]
    return {"id": name, "question": question, "answer": answer, "sources": numbered}

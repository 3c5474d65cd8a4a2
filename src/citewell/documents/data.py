"""JSON and JSON Lines -> Document: flat records as a table, other values as lines "field: value".

In: bytes of one JSON value, or of one per line. Out: a Document. Knows nothing about what fields mean.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import msgspec

from citewell.core.errors import DamagedError, LimitError
from citewell.documents.canonical import Canonical
from citewell.documents.encoding import decode

_LONGEST_CELL, _MOST_FIELDS, _LONGEST_PATH = 200, 60, 500


def read_json(data: bytes) -> Canonical:
    """One value, or one per line."""
    text, note = decode(data)
    out = Canonical()
    out.note(note)
    value = _value(text)
    records = value if isinstance(value, list) else [value]
    fields = list(dict.fromkeys(key for record in records if isinstance(record, dict) for key in record))
    if len(records) > 1 and 1 < len(fields) <= _MOST_FIELDS and all(map(_is_flat, records)):
        out.table([fields, *([_said(r.get(key)) for key in fields] for r in records)], head_rows=1)
    else:
        for record in records:
            for line in _lines(record, ""):
                out.paragraph(line)
    return out


def _value(text: str) -> Any:
    with contextlib.suppress(msgspec.DecodeError):
        return msgspec.json.decode(text)
    values: list[Any] = []
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        for line in lines:
            values.append(msgspec.json.decode(line))  # noqa: PERF401 - what was read says which line is wrong
    except msgspec.DecodeError as error:
        told = lines[len(values)][:60]
        raise DamagedError(f"{told!r} is not JSON ({error})", hint="correct or remove the line") from error
    return values


def _is_flat(record: Any) -> bool:
    """Whether the record fits into a table row of short cells."""
    return isinstance(record, dict) and all(
        not isinstance(value, dict | list) and len(_said(value)) <= _LONGEST_CELL for value in record.values()
    )


def _lines(value: Any, name: str) -> Iterator[str]:
    """One line per value, prefixed with its path of names. Raises LimitError for a long path, which every
    value under it repeats."""
    if len(name) > _LONGEST_PATH:
        told = f"the names around one value are longer than {_LONGEST_PATH} characters: {name[:60]}..."
        raise LimitError(told, hint="shorten them, or put long texts into values")
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lines(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        for inner in value:
            yield from _lines(inner, name)
    else:
        said = "; ".join(map(_said, value)) if isinstance(value, list) else _said(value)
        if said:
            yield f"{name}: {said}" if name else said


def _said(value: Any) -> str:
    """The value as in JSON, but strings without quotes and "" for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()

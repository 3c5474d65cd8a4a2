"""What a search may see, as a condition the table checks before it ranks.

In: a mapping of known keys. Out: an SQL condition with every value quoted, "" for no condition.
Unknown keys are refused: a filter that is silently dropped would leak. Knows nothing about vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from citewell.core.errors import UsageError


def quoted(value: str) -> str:
    """``value`` as an SQL string; a quote inside is doubled, nothing else has a meaning."""
    return "'" + value.replace("'", "''") + "'"


def one_of(column: str, values: Iterable[str]) -> str:
    """``column IN (...)``; false for no values at all."""
    inside = ", ".join(quoted(value) for value in sorted(set(values)))
    return f"{column} IN ({inside})" if inside else "false"


def list_of(values: Iterable[str]) -> str:
    """The values as an SQL list; NULL for none, as an empty list has no type there."""
    inside = ", ".join(quoted(value) for value in values)
    return f"[{inside}]" if inside else "NULL"


def _groups(groups: Iterable[str]) -> str:
    # No group at all still sees what carries no list; a listed document needs one group in common.
    held = sorted(set(groups))
    shared = f" OR array_has_any(acl, {list_of(held)})" if held else ""
    return f"(array_length(acl) = 0 OR array_length(acl) IS NULL{shared})"


def _since(date: str) -> str:
    # Dates are ISO 8601 texts, which order as they read; an unknown date is not known to be later.
    return f"(published_at != '' AND published_at >= {quoted(date)})"


_CONDITIONS: dict[str, Callable[[Any], str]] = {
    "groups": _groups,
    "document_id": lambda value: one_of("document_id", [value]),
    "document_ids": lambda values: one_of("document_id", values),
    "not_document_ids": lambda values: f"NOT ({one_of('document_id', values)})",
    "since": _since,
    "tag": lambda value: f"array_has(tags, {quoted(value)})",
    "tags": lambda values: " AND ".join(f"array_has(tags, {quoted(value)})" for value in sorted(set(values))),
}


def condition(where: Mapping[str, Any]) -> str:
    """All of ``where`` must hold; a value of None asks nothing. Raises UsageError for an unknown key."""
    parts = []
    for key, value in where.items():
        if key not in _CONDITIONS:
            raise UsageError(f"unknown filter {key!r}", hint=f"use one of {', '.join(_CONDITIONS)}")
        if value is not None:
            part = _CONDITIONS[key](value)
            if part:
                parts.append(part)
    return " AND ".join(parts)

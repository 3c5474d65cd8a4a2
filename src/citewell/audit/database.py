"""What the log asks of a database: one writer at a time, snapshots to read, and the same SQL over each.

SQL is written with ``?`` for parameters; an implementation for another style replaces them. Implemented for
SQLite in :mod:`citewell.audit.sqlite`. Knows nothing about what is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Row = tuple[Any, ...]


class Cursor(Protocol):
    """What a statement gave."""

    def fetchone(self) -> Row | None: ...

    def fetchall(self) -> list[Row]: ...

    def __iter__(self) -> Iterator[Row]: ...


class Rows(Protocol):
    """A running transaction. Raises LogError."""

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor: ...

    def executemany(self, sql: str, values: Iterable[Sequence[Any]]) -> object: ...


class Database(Protocol):
    """``where`` names it in messages; ``types`` fills ``{id}``, ``{bytes}`` and ``{compact}`` in schema
    steps."""

    where: str
    types: Mapping[str, str]

    def reading(self) -> AbstractContextManager[Rows]:
        """One snapshot. Any thread may read while another writes. Raises AbandonedError where nobody waits
        any more (:func:`citewell.core.metering.must_go_on`)."""
        ...

    def writing(self) -> AbstractContextManager[Rows]:
        """The only writer of all processes until the block ends: then durable, or nothing was written.

        Raises LogError, whose hint says what to do.
        """
        ...

    def tables(self, rows: Rows) -> set[str]:
        """The names of the tables that are there."""
        ...

    def overwrite(self) -> None:
        """After it, what was deleted stands in no file of this database any more. Raises LogError."""
        ...

    def close(self) -> None: ...

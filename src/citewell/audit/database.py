"""What the log requires of a database: one writer at a time, snapshot reads, and the same SQL everywhere.

SQL uses ``?`` for parameters; implementations translate it if necessary. Implemented for SQLite in
:mod:`citewell.audit.sqlite`. Independent of what is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Row = tuple[Any, ...]


class Cursor(Protocol):
    """The result of a statement."""

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
        """One snapshot. Any thread may read while another writes. Raises AbandonedError if nobody is waiting
        any more (:func:`citewell.core.metering.must_go_on`)."""
        ...

    def writing(self) -> AbstractContextManager[Rows]:
        """The only writer of all processes until the block ends; its writes are then durable, or none are.

        Raises LogError, whose hint says what to do.
        """
        ...

    def tables(self, rows: Rows) -> set[str]:
        """The names of the existing tables."""
        ...

    def overwrite(self) -> None:
        """Removes deleted data from every file of this database. Raises LogError."""
        ...

    def close(self) -> None: ...

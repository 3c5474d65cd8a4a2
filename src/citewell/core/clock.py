"""The time, behind a port so that tests can freeze it, and the one format it is written in.

In: a :class:`citewell.core.ports.Clock`. Out: ISO-8601 in UTC with microseconds and a ``Z``, which sorts
as text.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.core.ports import Clock


class SystemClock:
    """The machine's clock; it may jump, so nothing is ever ordered by it alone."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def stamp(clock: Clock) -> str:
    """The current time in the format of every record: ``2026-11-21T03:41:09.000000Z``."""
    return format_time(clock.now())


def format_time(moment: datetime) -> str:
    """``moment`` in that format; a naive datetime is taken as UTC."""
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

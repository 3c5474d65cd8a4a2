"""What a caller may and wants to see.

In: groups, a document, a date, a tag. Out: conditions that the index checks before it ranks.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from citewell.core.errors import UsageError
from citewell.core.records import Record


class Filters(Record, frozen=True, kw_only=True):
    """Empty ``groups`` sees what carries no access list, None everything; every other field narrows when it
    is set.

    ``since`` is an ISO date: documents published on it or later; those without a date are left out.
    """

    groups: tuple[str, ...] | None = ()
    document_id: str | None = None
    since: str | None = None
    tag: str | None = None

    def where(self) -> dict[str, Any]:
        """For :meth:`citewell.core.ports.IndexSnapshot.search`."""
        return {
            "groups": self.groups,
            "document_id": self.document_id,
            "since": self.since,
            "tag": self.tag,
        }


def refuse_filters(filters: Filters) -> None:
    """Raises UsageError for a date that orders nothing, and for a document or tag that is no text."""
    for name in ("document_id", "tag"):
        given = getattr(filters, name)
        if given is not None and not isinstance(given, str):
            raise UsageError(f"{name} must not be {given!r}", hint="give text")
    since = filters.since
    if since is not None and not _is_day(since):
        raise UsageError(f"since must not be {since!r}", hint="write a date such as 2026-11-21")


def _is_day(given: object) -> bool:
    # Compared as texts, so no other form of ISO 8601 will do.
    if not isinstance(given, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", given):
        return False
    try:
        date.fromisoformat(given)
    except ValueError:
        return False
    return True

"""What a caller may and wants to see.

In: groups, a document, a date, a tag. Out: conditions that the index checks before it ranks.
"""

from __future__ import annotations

from typing import Any

from citewell.records import Record


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
        """For :meth:`citewell.ports.IndexSnapshot.search`."""
        return {
            "groups": self.groups,
            "document_id": self.document_id,
            "since": self.since,
            "tag": self.tag,
        }

"""What a check can find, as a value."""

from __future__ import annotations

from citewell.records import Record


class Finding(Record, frozen=True, kw_only=True):
    """``kind``: edited, deleted, inserted, reordered, duplicated, side-table, evidence or prompt."""

    kind: str
    seq: int
    reason: str

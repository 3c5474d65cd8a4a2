"""The seven things users do that tell of an answer's worth.

In: what was done, to which answer. Out: values. Knows nothing about stores.
"""

from __future__ import annotations

from enum import StrEnum

from citewell.records import Record


class Signal(StrEnum):
    """The first four and ``no_engagement`` raise or lower a flag; the others are signs of checking."""

    THUMBS_DOWN = "thumbs_down"
    THUMBS_UP = "thumbs_up"
    REPHRASED_QUERY = "rephrased_query"
    FOLLOW_UP_CORRECTION = "follow_up_correction"
    NO_ENGAGEMENT = "no_engagement"
    CITATION_OPENED = "citation_opened"
    COPIED = "copied"


class Feedback(Record, frozen=True, kw_only=True):
    """One signal on one answer, or on its claim number ``claim`` (from 1; None for the whole answer).

    ``found_by`` is "user" for what somebody did on purpose and "citewell" for what was noticed.
    """

    feedback_id: str
    request_id: str
    session_id: str
    user: str
    timestamp: str
    signal: Signal
    claim: int | None = None
    meta: dict[str, str] = {}
    found_by: str = "user"

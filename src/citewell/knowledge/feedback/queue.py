"""The review queue: failed and flagged answers as items, and the patterns among them.

In: records with their feedback and reviews. Out: items; groups by cause or document with their counts,
deterministic for the same items. Knows nothing about where they come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from citewell.core.records import AuditRecord, Record
from citewell.knowledge.feedback.signals import (
    TROUBLE,
    WEAK,
    Feedback,
    current_signals,
    documents_of,
    failing_stage,
)
from citewell.knowledge.feedback.store import Review

OPEN = "open"
UNKNOWN = "unknown stage"
NO_DOCUMENT = "no document"


class QueueItem(Record, frozen=True, kw_only=True):
    """``causes`` are the current signals of trouble and the ``failure_reason``; ``stage`` is the failed
    stage, "" where unknown; ``state`` is ``open``, ``accepted`` or ``dismissed``."""

    request_id: str
    timestamp: str
    user: str
    session_id: str
    question: str
    decision: str
    causes: tuple[str, ...]
    stage: str
    documents: tuple[str, ...]
    signals: tuple[Feedback, ...] = ()
    state: str = OPEN
    reviewer: str = ""
    reason: str = ""

    @property
    def weak(self) -> bool:
        """Undecided, and with nothing but weak signals against it."""
        return self.state == OPEN and WEAK.issuperset(self.causes)


class Group(Record, frozen=True, kw_only=True):
    """``n`` answers that share the cause or document ``name``; ``newest`` is a request id."""

    name: str
    n: int
    stages: dict[str, int]
    newest: str


def item_of(record: AuditRecord, said: Sequence[Feedback], review: Review | None) -> QueueItem:
    """The queue item of a record; its stage is that of the first signal naming one, else the record's."""
    trouble = [one for one in current_signals(said) if one.signal in TROUBLE]
    causes = dict.fromkeys(one.signal.value for one in trouble)
    if record.failure_reason:
        causes[record.failure_reason] = None
    stage = next((one.stage for one in trouble if one.stage), "")
    pointed = [document for one in trouble for document in one.documents if one.claim is not None]
    return QueueItem(
        request_id=record.request_id,
        timestamp=record.timestamp,
        user=record.user,
        session_id=record.session_id,
        question=record.user_query,
        decision=record.response_decision,
        causes=tuple(causes),
        stage=stage or (failing_stage(record) if causes else ""),
        documents=tuple(dict.fromkeys(pointed)) or documents_of(record),
        signals=tuple(said),
        state=review.outcome if review else OPEN,
        reviewer=review.reviewer if review else "",
        reason=review.reason if review else "",
    )


BY: Mapping[str, Callable[[QueueItem], tuple[str, ...]]] = {
    "cause": lambda item: item.causes,
    "document": lambda item: item.documents or (NO_DOCUMENT,),
}
"""Ways to group; an item counts in each of its groups."""


def grouped(items: Sequence[QueueItem], by: str) -> tuple[Group, ...]:
    """Groups, largest first, then by name. Expects ``items`` newest first."""
    members: dict[str, list[QueueItem]] = {}
    for item in items:
        for name in BY[by](item):
            members.setdefault(name, []).append(item)
    groups = (
        Group(
            name=name,
            n=len(found),
            stages=dict(sorted(Counter(item.stage or UNKNOWN for item in found).items())),
            newest=found[0].request_id,
        )
        for name, found in members.items()
    )
    return tuple(sorted(groups, key=lambda group: (-group.n, group.name)))

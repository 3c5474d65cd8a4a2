"""The stores outside the log that hold personal text, and how each erases it.

In: the parts of a home. Out: for each store, by name, a function that overwrites a person's text and that
of their requests and returns how many items it erased. Any new store that keeps personal text belongs
here. Knows nothing about keys.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from citewell.audit.keys import session_in
from citewell.audit.question import AuditQuery
from citewell.core.environment import format_time

if TYPE_CHECKING:
    from citewell.audit.erasure import Forget
    from citewell.audit.log import Log
    from citewell.audit.pages import Queries
    from citewell.knowledge.assembly import Assembly
    from citewell.knowledge.traces import Traces


_ON_ITS_WAY = timedelta(minutes=10)
"""After this, a traced request missing from the log will not arrive: the process was killed, or could not
write."""


def forget_unsealed(traces: Traces, log: Log, now: datetime) -> None:
    """Overwrites traces that have no log entry and are over ten minutes old."""
    if lacking := log.lacking(traces.before(format_time(now - _ON_ITS_WAY))):
        traces.forget(lacking)


def stores_with_words(parts: Assembly, queries: Queries) -> dict[str, Forget]:
    """Store name -> erasing function."""

    def traces(person: str, requests: Collection[str]) -> int:
        """Questions and answers, and requests without a log entry, which may have been theirs."""
        forget_unsealed(parts.traces, parts.log, parts.clock.now())
        return parts.traces.forget(requests)

    def feedback(person: str, requests: Collection[str]) -> int:
        """Their feedback, and anybody's on their answers; the signals stay, so counts are unchanged."""
        session = session_in(person)
        return parts.feedback.forget("" if session else person, requests, session=session)

    def cases(person: str, requests: Collection[str]) -> int:
        """Review cases made from their questions; ``citewell review --to FILE`` removes them from FILE."""
        return parts.feedback.forget_cases(requests)

    def supplied(person: str, requests: Collection[str]) -> int:
        """Texts that the person supplied as evidence and that nobody else's answer cites."""
        own = set(requests)
        records = [parts.log.record(request) for request in own]
        named = {one.document_id for record in records for claim in record.claims for one in claim.citations}
        # Sources against which an external answer was checked, cited or not.
        named |= {name for record in records for name in record.parameters.get("looked_into", ())}
        versions = {(name, version) for name in named for version in parts.evidence.versions(name)}
        gone = 0
        for document_id, version in sorted(parts.evidence.caller_supplied(versions)):
            citing = queries.every(AuditQuery(document=document_id))
            if all(record.request_id in own for record in citing):
                parts.evidence.erase(document_id, version)
                gone += 1
        return gone

    return {"traces": traces, "feedback": feedback, "cases": cases, "caller-supplied evidence": supplied}

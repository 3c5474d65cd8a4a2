"""The stores beside the log that hold people's words, and how each forgets them.

In: the parts of a home. Out: for each store, by name, what overwrites the words of a person and of the
requests that were theirs, and says how many things that were. A store that is added to Citewell and keeps
anybody's words belongs in here. Knows nothing about keys.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from citewell.audit.keys import session_in
from citewell.audit.question import AuditQuery
from citewell.core.clock import written

if TYPE_CHECKING:
    from citewell.audit.erasure import Forget
    from citewell.audit.log import Log
    from citewell.audit.pages import Queries
    from citewell.knowledge.assembly import Assembly
    from citewell.knowledge.traces import Traces


_ON_ITS_WAY = timedelta(minutes=10)
"""After which a request that is in no log is not coming any more: its trace was kept, and then whoever
answered it was killed, or could not write."""


def forget_unsealed(traces: Traces, log: Log, now: datetime) -> None:
    """Overwrites the traces to which no entry of the log leads."""
    if lacking := log.lacking(traces.before(written(now - _ON_ITS_WAY))):
        traces.forget(lacking)


def stores_with_words(parts: Assembly, queries: Queries) -> dict[str, Forget]:
    """Those of a home."""

    def traces(person: str, requests: Collection[str]) -> int:
        """Question and answer; also of requests that came to no entry, which may have been theirs."""
        forget_unsealed(parts.traces, parts.log, parts.clock.now())
        return parts.traces.forget(requests)

    def feedback(person: str, requests: Collection[str]) -> int:
        """What they said of answers, and what anybody said of theirs; the signals stay, so counts do."""
        session = session_in(person)
        return parts.feedback.forget("" if session else person, requests, session=session)

    def cases(person: str, requests: Collection[str]) -> int:
        """Made of their questions by reviewers; ``citewell review --to FILE`` takes them out of FILE."""
        return parts.feedback.forget_cases(requests)

    def supplied(person: str, requests: Collection[str]) -> int:
        """Texts that the person handed in as evidence and that nobody else's answer leans on."""
        own = set(requests)
        records = [parts.log.record(request) for request in own]
        named = {one.document_id for record in records for claim in record.claims for one in claim.citations}
        # Sources that an answer of another system was checked against, cited or not.
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

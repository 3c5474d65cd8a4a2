"""The stores beside the log that hold people's words, and how each forgets them.

In: a person and the requests that were theirs. Out: how many things were overwritten. A store that is added
to Citewell and keeps anybody's words belongs in here. Knows nothing about keys.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from citewell.audit.holds import holds_in_force
from citewell.audit.keys import session_in
from citewell.audit.question import AuditQuery
from citewell.core.clock import written

if TYPE_CHECKING:
    from citewell.audit.log import Log
    from citewell.audit.pages import Queries
    from citewell.core.ports import Clock
    from citewell.documents.evidence.sqlite import SqliteEvidence
    from citewell.knowledge.feedback import FeedbackStore
    from citewell.knowledge.traces import Traces


_ON_ITS_WAY = timedelta(minutes=10)
"""After which a request that is in no log is not coming any more: its trace was kept, and then whoever
answered it was killed, or could not write."""


def forget_unsealed(traces: Traces, log: Log, now: datetime) -> None:
    """Overwrites the traces to which no entry of the log leads, whoever's they were: so none of them while
    anything at all is held."""
    if not holds_in_force(log) and (lacking := log.lacking(traces.before(written(now - _ON_ITS_WAY)))):
        traces.forget(lacking)


class ForgetTraces:
    """What happened in each request, with question and answer; and in those that came to no entry, which may
    have been theirs."""

    name = "traces"

    def __init__(self, traces: Traces, log: Log, clock: Clock) -> None:
        self._traces, self._log, self._clock = traces, log, clock

    def forget(self, person: str, requests: Collection[str]) -> int:
        forget_unsealed(self._traces, self._log, self._clock.now())
        return self._traces.forget(requests)


class ForgetFeedback:
    """What they said of answers, and what anybody said of theirs; the signals stay, so counts do."""

    name = "feedback"

    def __init__(self, store: FeedbackStore) -> None:
        self._store = store

    def forget(self, person: str, requests: Collection[str]) -> int:
        session = session_in(person)
        return self._store.forget("" if session else person, requests, session=session)


class ForgetCases:
    """Cases that reviewers made of their questions; ``citewell review --to FILE`` takes them out of FILE."""

    name = "cases"

    def __init__(self, store: FeedbackStore) -> None:
        self._store = store

    def forget(self, person: str, requests: Collection[str]) -> int:
        return self._store.forget_cases(requests)


class ForgetSuppliedTexts:
    """Texts that the person handed in as evidence and that nobody else's answer leans on."""

    name = "caller-supplied evidence"

    def __init__(self, evidence: SqliteEvidence, log: Log, queries: Queries) -> None:
        self._evidence, self._log, self._queries = evidence, log, queries

    def forget(self, person: str, requests: Collection[str]) -> int:
        own = set(requests)
        records = [self._log.record(request) for request in own]
        named = {one.document_id for record in records for claim in record.claims for one in claim.citations}
        # Sources that an answer of another system was checked against, cited or not.
        named |= {name for record in records for name in record.parameters.get("looked_into", ())}
        versions = {(name, version) for name in named for version in self._evidence.versions(name)}
        supplied = sorted(self._evidence.caller_supplied(versions))
        going = [one for one in supplied if self._only(one[0], own)]
        for document_id, version in going:
            self._evidence.erase(document_id, version)
        return len(going)

    def _only(self, document_id: str, own: set[str]) -> bool:
        found = self._queries.every(AuditQuery(document=document_id))
        return all(record.request_id in own for record in found)

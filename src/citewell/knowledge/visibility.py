"""What one caller may see of a home: documents by their access lists as they are today, records and traces by
the documents in them.

In: a caller, the evidence with its access lists, the log. Out: yes or no, or a record. A record is its
asker's, and an auditor's who may see *every* document it names: retrieved, cited, or mentioned in a note. For
everybody else it does not exist: same error, same words as for one that was never made. Knows nothing about
how anything is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from citewell.audit.bodies import UNREADABLE
from citewell.core.access import Caller, Role
from citewell.core.errors import UsageError
from citewell.core.records import AuditRecord, Trace

if TYPE_CHECKING:
    from citewell.audit.log import Log
    from citewell.core.ports import TraceStore
    from citewell.documents.evidence.sqlite import SqliteEvidence


class Visibility:
    """Asked anew each time: a list that changes holds at once, for old records too."""

    def __init__(self, caller: Caller, evidence: SqliteEvidence, log: Log) -> None:
        self.caller = caller
        self._evidence, self._log = evidence, log

    def document(self, document_id: str) -> bool:
        """Whether the caller may read it, every version of it; False for one that is not there."""
        if self.caller.unrestricted:
            return True
        acl = self._evidence.access([document_id]).get(document_id)
        return acl is not None and self.caller.sees(acl)

    def documents(self, document_ids: Iterable[str]) -> bool:
        """Whether all of them; a text that a caller handed in belongs to the record that cites it."""
        if self.caller.unrestricted:
            return True
        wanted = set(document_ids)
        lists = self._evidence.access(wanted)
        return len(lists) == len(wanted) and all(
            acl is None or self.caller.sees(acl) for acl in lists.values()
        )

    def listed(self) -> set[str]:
        """Every document that may stand in a record of theirs, today."""
        lists = self._evidence.access()
        return {name for name, acl in lists.items() if acl is None or self.caller.sees(acl)}

    def record(self, record: AuditRecord) -> bool:
        """Whether the caller may read it: their own, an auditor anybody's, if they may see all it names."""
        if self.caller.unrestricted:
            return True
        return (self.owns(record) or self.caller.has(Role.AUDITOR)) and self.documents(named_by(record))

    def review(self, record: AuditRecord) -> bool:
        """Whether the caller may judge it: reviewers are curators and auditors."""
        return self.caller.has(Role.CURATOR, Role.AUDITOR) and self.documents(named_by(record))

    def owns(self, record: AuditRecord) -> bool:
        """Whether the caller asked it; who gave no name owns nothing."""
        return self.caller.user not in ("", *UNREADABLE) and record.user == self.caller.user

    def request(self, request_id: str, *, review: bool = False) -> AuditRecord:
        """The record of one request, to read or to ``review``. Raises UsageError when there is none for this
        caller."""
        if self.caller.unrestricted:
            return self._log.record(request_id)
        try:
            record = self._log.record(request_id)
        except UsageError:
            # Also one whose content has expired: nobody can tell any more whose documents it named.
            record = None
        if record is None or not (self.review(record) if review else self.record(record)):
            raise self._log.absent(request_id)
        return record

    def may(self, request_id: str, *, review: bool = False) -> bool:
        """Whether there is one for this caller."""
        if self.caller.unrestricted:
            return True
        try:
            self.request(request_id, review=review)
        except UsageError:
            return False
        return True

    def all_of(self, request_ids: Iterable[str]) -> bool:
        """Whether the caller may read every one of these."""
        return all(self.may(request_id) for request_id in request_ids)

    def traces(self, traces: Sequence[Trace]) -> list[Trace]:
        """Those of requests that the caller may read."""
        return [trace for trace in traces if self.may(trace.request_id)]


class VisibleTraces:
    """The trace store as one caller may read it: another person's turns are no part of a conversation."""

    def __init__(self, traces: TraceStore, visibility: Visibility) -> None:
        self._traces, self._visibility = traces, visibility

    def put(self, trace: Trace) -> None:
        self._traces.put(trace)

    def session(self, session_id: str) -> list[Trace]:
        return self._visibility.traces(self._traces.session(session_id))

    def between(self, first: str, last: str) -> list[Trace]:
        return self._visibility.traces(self._traces.between(first, last))

    def get(self, request_id: str) -> Trace | None:
        found = self._traces.get(request_id)
        return found if found is not None and self._visibility.traces([found]) else None

    def flag(self, request_id: str, flags: tuple[str, ...]) -> bool:
        return self._traces.flag(request_id, flags)


def named_by(record: AuditRecord) -> set[str]:
    """Every document that the record names. Names that were erased with a person tell nothing any more."""
    cited = [citation for claim in record.claims for citation in claim.citations]
    cited += [side for conflict in record.conflicts for side in conflict.sides]
    named = {result.document_id for result in record.retrieval_results}
    # Without a version there is no document behind it: a writer's invention, and no way to ask what is there.
    named |= {citation.document_id for citation in cited if citation.document_version}
    named |= set(record.parameters.get("looked_into", ()))
    return named - {"", *UNREADABLE}


def requests_in(body: Any) -> set[str]:
    """Every request that a body names as such, at any depth."""
    if isinstance(body, dict):
        own = {body["request_id"]} if isinstance(body.get("request_id"), str) else set()
        return own.union(*(requests_in(value) for value in body.values()))
    if isinstance(body, list | tuple):
        return set[str]().union(*(requests_in(value) for value in body))
    return set()

"""What one caller may see of a home: documents by their current access lists, records and traces by the
documents they name.

In: a caller, the evidence with its access lists, the log. Out: yes or no, or a record. Only the asker and
auditors see a record, and only if they may see *every* document it names: retrieved, cited, or looked into.
For everybody else it does not exist: the error is the same as for one that was never made. Knows nothing
about how anything is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from citewell.audit.entries import UNREADABLE
from citewell.core.access import Caller, Role
from citewell.core.errors import UsageError
from citewell.core.records import AuditRecord, Trace

if TYPE_CHECKING:
    from citewell.audit.log import Log
    from citewell.core.ports import TraceStore
    from citewell.documents.evidence.sqlite import SqliteEvidence


class Visibility:
    """Checks live access lists, so a change applies at once, to old records too."""

    def __init__(self, caller: Caller, evidence: SqliteEvidence, log: Log) -> None:
        self.caller = caller
        self._evidence, self._log = evidence, log

    def document(self, document_id: str) -> bool:
        """True if the caller may read it, in every version; False if it does not exist."""
        if self.caller.unrestricted:
            return True
        acl = self._evidence.access([document_id]).get(document_id)
        return acl is not None and self.caller.sees(acl)

    def documents(self, document_ids: Iterable[str]) -> bool:
        """True if the caller may read all of them; caller-supplied text is governed by the citing record."""
        if self.caller.unrestricted:
            return True
        wanted = set(document_ids)
        lists = self._evidence.access(wanted)
        return len(lists) == len(wanted) and all(
            acl is None or self.caller.sees(acl) for acl in lists.values()
        )

    def listed(self) -> set[str]:
        """Every document that a record visible to the caller may name today."""
        lists = self._evidence.access()
        return {name for name, acl in lists.items() if acl is None or self.caller.sees(acl)}

    def record(self, record: AuditRecord) -> bool:
        """True if the caller asked it or is an auditor, and may see every document it names."""
        if self.caller.unrestricted:
            return True
        return (self.owns(record) or self.caller.has(Role.AUDITOR)) and self.documents(named_by(record))

    def review(self, record: AuditRecord) -> bool:
        """True if the caller is a curator or auditor and may see every document it names."""
        return self.caller.has(Role.CURATOR, Role.AUDITOR) and self.documents(named_by(record))

    def owns(self, record: AuditRecord) -> bool:
        """True if the caller asked it; an unnamed caller owns nothing."""
        return self.caller.user not in ("", *UNREADABLE) and record.user == self.caller.user

    def request(self, request_id: str, *, review: bool = False) -> AuditRecord:
        """The record of one request, to read or to ``review``. Raises UsageError when there is none for this
        caller."""
        if self.caller.unrestricted:
            return self._log.record(request_id)
        try:
            record = self._log.record(request_id)
        except UsageError:
            # Also if its content has expired: which documents it named is no longer known.
            record = None
        if record is None or not (self.review(record) if review else self.record(record)):
            raise self._log.absent(request_id)
        return record

    def may(self, request_id: str, *, review: bool = False) -> bool:
        """True if :meth:`request` returns a record for this caller."""
        if self.caller.unrestricted:
            return True
        try:
            self.request(request_id, review=review)
        except UsageError:
            return False
        return True

    def all_of(self, request_ids: Iterable[str]) -> bool:
        """True if the caller may read every one of these."""
        return all(self.may(request_id) for request_id in request_ids)

    def traces(self, traces: Sequence[Trace]) -> list[Trace]:
        """The traces of requests that the caller may read."""
        return [trace for trace in traces if self.may(trace.request_id)]


class VisibleTraces:
    """The trace store limited to one caller: other people's turns are not part of their conversation."""

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
    """Every document that the record names, except names erased along with a person."""
    cited = [citation for claim in record.claims for citation in claim.citations]
    cited += [side for conflict in record.conflicts for side in conflict.sides]
    named = {result.document_id for result in record.retrieval_results}
    # Without a version it is a writer's invention; checking it would reveal which documents exist.
    named |= {citation.document_id for citation in cited if citation.document_version}
    named |= set(record.parameters.get("looked_into", ()))
    return named - {"", *UNREADABLE}


def requests_in(body: Any) -> set[str]:
    """Every ``request_id`` in a body, at any depth."""
    if isinstance(body, dict):
        own = {body["request_id"]} if isinstance(body.get("request_id"), str) else set()
        return own.union(*(requests_in(value) for value in body.values()))
    if isinstance(body, list | tuple):
        return set[str]().union(*(requests_in(value) for value in body))
    return set()

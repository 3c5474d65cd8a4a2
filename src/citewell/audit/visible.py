"""Questions to the log by somebody who may see some of its records: the others do not exist for them.

In: :class:`citewell.audit.pages.Queries` and what says which records are theirs to see. Out: the same pages
and counts, made of those records alone. A cursor is the id of the last record shown, as a place in the log
would tell how many others there are; expired entries are left out, as nobody can tell any more what they
named. Where a person may see few of many records, all that fit are opened to find them. Knows nothing about
access lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from citewell.audit.entries import EntryKind
from citewell.audit.finding import cursor_of
from citewell.audit.log import Log
from citewell.audit.pages import BY, Counts, Page, Queries, added_up, refuse_counts
from citewell.audit.profiles import Profile, facts_of, microseconds
from citewell.audit.question import MAX_PAGE, AuditQuery, refuse
from citewell.errors import UsageError
from citewell.identity import plain
from citewell.records import AuditRecord

_FIRST = 64
"""Records opened at first; each further step opens four times as many."""


class VisibleQueries:
    """As :class:`Queries`, of the records that ``sees`` lets through. ``only`` names the one person whose
    records can be among them, None where anybody's can."""

    def __init__(
        self, queries: Queries, log: Log, sees: Callable[[AuditRecord], bool], only: str | None
    ) -> None:
        self._queries, self._log, self._sees, self._only = queries, log, sees, only

    def page(self, query: AuditQuery) -> Page:
        """Newest first."""
        refuse(query)
        records = list(islice(self._from(query, self._place(query.cursor)), query.limit + 1))
        shown = tuple(records[: query.limit])
        return Page(records=shown, next=shown[-1].request_id if len(records) > query.limit else "")

    def every(self, query: AuditQuery) -> Iterator[AuditRecord]:
        """All that fits, newest first."""
        refuse(query)
        yield from self._from(query, self._place(query.cursor))

    def counts(self, query: AuditQuery, *, by: str = "day", of: str = "decision") -> Counts:
        """Over time."""
        refuse(query)
        refuse_counts(by, of)
        counted: Counter[tuple[int, Profile]] = Counter()
        for record in self._from(query, ""):
            facts = facts_of(_kind(record), record.timestamp, "", plain(record))
            counted[BY[by](facts.time), facts.profile] += 1
        profiles = {profile: profile for _, profile in counted}
        return added_up(counted, profiles, by=by, of=of)

    def _from(self, query: AuditQuery, cursor: str) -> Iterator[AuditRecord]:
        if self._only is not None:
            if not self._only or query.user not in ("", self._only):
                return
            query = msgspec.structs.replace(query, user=self._only)
        limit = min(max(_FIRST, query.limit + 1), MAX_PAGE)
        while True:
            page = self._queries.page(msgspec.structs.replace(query, cursor=cursor, limit=limit))
            yield from (record for record in page.records if self._sees(record))
            if not page.next:
                return
            cursor, limit = page.next, min(limit * 4, MAX_PAGE)

    def _place(self, cursor: str) -> str:
        """Where in the log the record stands that a cursor names; nobody pages from one they may not see."""
        if not cursor:
            return ""
        refused = UsageError(f"{cursor!r} is no cursor", hint="pass `next` of the page before, as it was")
        try:
            entry = self._log.get(cursor)
            record = self._log.record(cursor)
        except UsageError:
            raise refused from None
        if not self._sees(record):
            raise refused
        return cursor_of(microseconds(entry.timestamp), entry.seq)


def _kind(record: AuditRecord) -> EntryKind:
    return EntryKind.ERROR if record.error else EntryKind.ANSWER

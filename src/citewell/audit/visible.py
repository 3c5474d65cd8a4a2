"""Questions to the log by somebody who may see some of its records: the others do not exist for them.

In: :class:`citewell.audit.pages.Queries`, the documents that the person may see, and the rule that decides of
an opened record. Out: the same pages and counts, made of their records alone. The tables for questions hold
which documents a record names, so records that are not theirs are passed over unopened; what is shown is
opened and asked for by the rule once more. A cursor is the id of the last record shown, as a place in the log
would tell how many others there are; expired entries are left out, as nobody can tell any more what they
named. Knows nothing about access lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Set
from itertools import islice

import msgspec

from citewell.audit.finding import Candidate, cursor_of
from citewell.audit.log import Log
from citewell.audit.pages import BY, Counts, Page, Queries, added_up, refuse_counts
from citewell.audit.profiles import Axis, key_of, microseconds
from citewell.audit.question import AuditQuery, narrows, refuse, within
from citewell.core.errors import UsageError
from citewell.core.records import AuditRecord

_OPENED = 64
"""Records opened at a time."""


class VisibleQueries:
    """As :class:`Queries`, of the records that ``sees`` lets through. ``documents`` are the ids that may be
    named in them, asked for anew with each question; ``only`` names the one person whose records can be among
    them, None where anybody's can."""

    def __init__(
        self,
        queries: Queries,
        log: Log,
        sees: Callable[[AuditRecord], bool],
        documents: Callable[[], Set[str]],
        only: str | None,
    ) -> None:
        self._queries, self._log = queries, log
        self._sees, self._documents, self._only = sees, documents, only

    def page(self, query: AuditQuery) -> Page:
        """Newest first."""
        refuse(query)
        records = list(islice(self._from(query, self._place(query.cursor), query.limit + 1), query.limit + 1))
        shown = tuple(records[: query.limit])
        return Page(records=shown, next=shown[-1].request_id if len(records) > query.limit else "")

    def every(self, query: AuditQuery) -> Iterator[AuditRecord]:
        """All that fits, newest first."""
        refuse(query)
        yield from self._from(query, self._place(query.cursor), _OPENED)

    def counts(self, query: AuditQuery, *, by: str = "day", of: str = "decision") -> Counts:
        """Over time; a record is opened only where the tables cannot tell what it names."""
        refuse(query)
        refuse_counts(by, of)
        counted = self._counted(query, by)
        every = self._counted(within(query), by) if narrows(query) else counted
        return added_up(counted, self._queries.profiles, by=by, of=of, every=every)

    def _counted(self, query: AuditQuery, by: str) -> Counter[tuple[int, int]]:
        counted: Counter[tuple[int, int]] = Counter()
        for one in self._fitting(query, ""):
            if one.named is not None or any(self._opened([one], query)):
                counted[BY[by](one.time), one.profile] += 1
        return counted

    def _from(self, query: AuditQuery, cursor: str, at_once: int) -> Iterator[AuditRecord]:
        fitting = self._fitting(query, cursor)
        while some := list(islice(fitting, min(at_once, _OPENED))):
            yield from self._opened(some, query)

    def _opened(self, some: list[Candidate], query: AuditQuery) -> Iterator[AuditRecord]:
        return filter(self._sees, self._queries.opened([one.seq for one in some], query))

    def _fitting(self, query: AuditQuery, cursor: str) -> Iterator[Candidate]:
        """What may be the person's, as far as the tables know."""
        if self._only is not None:
            if not self._only or query.user not in ("", self._only):
                return
            query = msgspec.structs.replace(query, user=self._only)
        seen = {key_of(Axis.DOCUMENT, name) for name in self._documents()}
        for one in self._queries.each(msgspec.structs.replace(query, cursor=cursor)):
            if one.named is None or seen.issuperset(one.named):
                yield one

    def _place(self, cursor: str) -> str:
        """Where in the log the record stands that a cursor names; nobody pages from one they may not see."""
        if not cursor:
            return ""
        refused = UsageError(
            f"{cursor!r} is not a cursor", hint="pass `next` from the previous page unchanged"
        )
        try:
            entry = self._log.get(cursor)
            record = self._log.record(cursor)
        except UsageError:
            raise refused from None
        if not self._sees(record):
            raise refused
        return cursor_of(microseconds(entry.timestamp), entry.seq)

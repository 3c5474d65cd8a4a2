"""Using a home's log: queries, receipts, rechecks, recalls, replays, expiry and erasure.

In: the parts of a home. Out: values. Reading other people's records is logged: the entry names readers as
they name themselves, and the people searched for by pseudonym. To a caller, what they may not see does not
exist (:mod:`citewell.knowledge.visibility`). Knows nothing about terminals, files or HTTP.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.entries import EntryKind
from citewell.audit.erasure import Erasure, erase
from citewell.audit.expiries import CLASSES
from citewell.audit.keys import asker
from citewell.audit.pages import Counts, Page, Queries, VisibleQueries
from citewell.audit.question import AuditQuery
from citewell.audit.retention import Expiry, expire
from citewell.core.access import OWNER, Caller, Role
from citewell.core.environment import stamp
from citewell.core.errors import UsageError
from citewell.core.identity import plain
from citewell.core.records import AuditRecord, Citation, Trace
from citewell.documents.evidence.catalogue import missing_version
from citewell.knowledge.revisiting.rechecking import (
    CurrentCitation,
    Notice,
    Recheck,
    Resolution,
    Revisiting,
    notice_of,
    readers_of,
    seal_notice,
)
from citewell.knowledge.revisiting.replaying import Replay, replayed
from citewell.knowledge.visibility import Visibility, named_by, requests_in

if TYPE_CHECKING:
    from citewell.audit.entries import Entry
    from citewell.audit.receipts import Receipt
    from citewell.knowledge.assembly import Assembly


class Auditing:
    """Made by :attr:`citewell.knowledge.home.KnowledgeBase.audit`."""

    def __init__(self, parts: Assembly, caller: Caller = OWNER) -> None:
        self._parts, self._caller = parts, caller

    @property
    def queries(self) -> Queries:
        """Unlogged, unrestricted queries, for internal reads on nobody's behalf."""
        return Queries(self._parts.log, self._parts.postings)

    @property
    def visibility(self) -> Visibility:
        """What the caller may see."""
        return Visibility(self._caller, self._parts.evidence, self._parts.log)

    @property
    def _asked(self) -> Queries:
        """Queries restricted to what the caller may see."""
        if self._caller.unrestricted:
            return self.queries
        only = None if self._caller.has(Role.AUDITOR) else self._caller.user
        visibility = self.visibility
        return VisibleQueries(
            self._parts.log, self._parts.postings, visibility.record, visibility.listed, only
        )

    # --- queries ----------------------------------------------------------------------------------

    def query(self, query: AuditQuery, *, reader: str = "") -> Page:
        """A page of records, newest first; the read is logged."""
        page = self._asked.page(query)
        # By id, so that a recall can name everyone who was shown one of them.
        seen = [{"request_id": record.request_id} for record in page.records]
        self.note_read({"query": self._without_names(query), "seen": seen}, reader, len(seen))
        return page

    def every(self, query: AuditQuery, *, reader: str = "") -> Iterator[AuditRecord]:
        """Every matching record, newest first, for an export; the read is logged before the first."""
        count = self._asked.counts(query).total
        self.note_read({"query": self._without_names(query), "export": "all"}, reader, count)
        yield from self._asked.every(query)

    def counts(self, query: AuditQuery, *, by: str = "day", of: str = "decision", reader: str = "") -> Counts:
        """Counts and rates over time; the read is logged, since narrow counts reveal people too."""
        counts = self._asked.counts(query, by=by, of=of)
        self.note_read({"counts": self._without_names(query)}, reader, counts.total)
        return counts

    def citing(self, document_id: str) -> Page:
        """The newest 200 answers citing a document, for statistics on it; logged as a count."""
        query = AuditQuery(document=document_id, limit=200)
        page = self._asked.page(query)
        self.note_read({"counts": self._without_names(query)}, "", len(page.records))
        return page

    def bodies(
        self, query: AuditQuery, *, reader: str | None = ""
    ) -> Iterator[tuple[Entry | None, dict[str, Any]]]:
        """Every matching entry with its body, newest first, personal texts still sealed; a restricted caller
        gets readable records and no entry. Logged as a read, unless an unrestricted caller's ``reader`` is
        None (counters)."""
        if not self._caller.unrestricted:
            for record in self.every(query, reader=reader or ""):
                yield None, plain(record)
            return
        if reader is not None:
            self.note_read({"numbers": self._without_names(query)}, reader, self.queries.counts(query).total)
        for entry in self.queries.entries(query):
            if entry.body is not None:
                yield entry, msgspec.json.decode(entry.body)

    def signals(self, since: str = "") -> Iterator[tuple[str, str]]:
        """(request, signal) of the feedback since that time (formatted as by ``environment.format_time``) on
        answers that the caller may see."""
        log = self._parts.log
        for entry in log.entries(EntryKind.FEEDBACK):
            if entry.body is not None and entry.timestamp >= since:
                body = msgspec.json.decode(entry.body)
                request, signal = body.get("request_id"), body.get("signal")
                if isinstance(request, str) and isinstance(signal, str) and self.visibility.all_of([request]):
                    yield request, signal

    def record(self, request_id: str, *, reader: str = "") -> AuditRecord:
        """The record of one request; the read is logged. Raises UsageError when there is none."""
        record = self.visibility.request(request_id)
        self.note_read({"show": request_id}, reader, 1)
        return record

    def trace_of(self, record: AuditRecord) -> Trace | None:
        """The trace of a request whose record has been read."""
        return self._parts.traces.get(record.request_id)

    def readers(self, request_id: str) -> tuple[str, ...]:
        """Named, unerased people who were shown a record; for auditors."""
        self._caller.must(Role.AUDITOR, to="see who read a record")
        return readers_of(self._parts.log).get(request_id, ())

    def export(self, folder: str | Path, *, reader: str = "") -> int:
        """Writes the log as tlog-tiles with its sealed bodies and returns the entry count. Logged as a read.

        Raises AccessError for non-admins: the log holds everybody's records.
        """
        from citewell.audit.export import export

        self._caller.must(Role.ADMIN, to="export the log")
        self.note_read({"export": "all"}, reader, self._parts.log.size())
        return export(self._parts.log, Path(folder))

    # --- receipts ---------------------------------------------------------------------------------

    def receipt(
        self,
        request_id: str,
        *,
        with_user: bool = False,
        hashes_only: bool = False,
        checkpoint: str = "",
        reader: str = "",
    ) -> Receipt:
        """See :func:`citewell.audit.issuing.issue`; logged as a read."""
        from citewell.audit.issuing import issue

        if not self._caller.unrestricted:
            self.visibility.request(request_id)
        receipt = issue(
            self._parts.log,
            request_id,
            with_user=with_user,
            hashes_only=hashes_only,
            checkpoint=checkpoint,
        )
        self.note_read({"receipt": request_id}, reader, 1)
        return receipt

    # --- rechecks, recalls and replays ------------------------------------------------------------

    def recheck(self, request_id: str = "", *, reader: str = "") -> Iterator[Recheck]:
        """Checks one answer, or all, newest first, against today's documents; seals an entry for each with a
        citation that is not SAME."""
        only = [self.visibility.request(request_id)] if request_id else []
        count = len(only) or self._asked.counts(AuditQuery()).total
        self.note_read({"recheck": request_id or "all"}, reader, count)
        records = only or self._asked.every(AuditQuery())
        self._parts.seal_configuration()
        revisiting = self._revisiting()
        for record in records:
            found = revisiting.recheck(record)
            if set(found.counts) - {Resolution.SAME.value}:
                body = {
                    "request_id": found.request_id,
                    "outcome": found.outcome,
                    "resolutions": found.counts,
                }
                self._parts.log.note(EntryKind.RECHECK, body)
            yield found

    def resolve(self, citations: Sequence[Citation]) -> tuple[CurrentCitation, ...]:
        """Resolves located citations against today's documents, in order, without judging claims or reading
        records. Raises EvidenceError for a document that the caller may not see or that does not exist."""
        revisiting = self._revisiting()
        for citation in citations:
            if not self.visibility.documents([citation.document_id]):
                raise missing_version(citation.document_version, citation.document_id)
        return tuple(revisiting.today(citation) for citation in citations)

    def recall(self, document_id: str, *, reason: str = "", reader: str = "") -> Iterator[Notice]:
        """A notice for every past answer that cites a document, each sealed as an entry.

        If the newest version was cited, or the document is withdrawn, the claims must hold without it; if
        there is a newer version, they are judged by that. Raises UsageError for a document that no answer
        cites, AccessError for callers who may not read other people's answers.
        """
        self._caller.must(Role.AUDITOR, to="recall a document")
        query = AuditQuery(document=document_id)
        count = self._asked.counts(query).total
        if not count:
            raise UsageError(
                f"no recorded answer cites {document_id!r}", hint="`citewell documents list` shows the ids"
            )
        self.note_read({"recall": document_id}, reader, count)
        self._parts.seal_configuration()
        revisiting = self._revisiting()
        readers = readers_of(self._parts.log)
        newest = self._parts.evidence.versions(document_id)[-1:]
        for record in self._asked.every(query):
            versions = {
                citation.document_version
                for claim in record.claims
                for citation in claim.citations
                if citation.document_id == document_id
            }
            corrected = bool(newest) and versions.isdisjoint(newest)
            found = revisiting.recheck(record, without="" if corrected else document_id)
            notice = notice_of(record, found, document_id, reason, readers.get(record.request_id, ()))
            seal_notice(self._parts.log, notice)
            yield notice

    def replay(self, request_id: str, *, reader: str = "") -> Replay:
        """Reproduces the record on its index version and compares bit by bit.

        With the extractive writer, everything is reproduced; text or queries by a language model are taken
        from the record and only retrieval and verdicts are reproduced. Searches missing from the record are
        listed in ``elsewhere``. Raises UsageError when the index version is no longer kept.
        """
        record = self.visibility.request(request_id)
        self.note_read({"replay": request_id}, reader, 1)
        found, made = replayed(self._parts, record)
        # Run with the asker's groups, it may have found documents that this caller may not see.
        if found.differences and not self.visibility.documents(named_by(made)):
            return msgspec.structs.replace(
                found, differences=("the result differs; you may not see the details",)
            )
        return found

    # --- expiry, erasure, evaluations -------------------------------------------------------------

    def expire(self, *, dry_run: bool = False) -> Expiry:
        """Applies the configured retention as of today; traces of requests that never reached the log go too.
        Raises LogError."""
        from citewell.knowledge.erasure import forget_unsealed

        self._caller.must(Role.ADMIN, to="expire records")
        parts = self._parts
        if not dry_run:
            parts.seal_configuration()
        kept = parts.config.retention
        days = {name: getattr(kept, f"{name}_days") for name in CLASSES}

        def forget(requests: Collection[str], feedback: Collection[str]) -> None:
            parts.traces.forget(requests)
            parts.feedback.drop(feedback)

        now = parts.clock.now()
        outcome = expire(parts.log, parts.postings, days, now, dry_run=dry_run, forget=forget)
        if not dry_run:
            forget_unsealed(parts.traces, parts.log, now)
        return outcome

    def erase(self, user: str = "", *, session: str = "") -> Erasure:
        """Erases a user, or the session of an unnamed user; see :func:`citewell.audit.erasure.erase`."""
        from citewell.knowledge.erasure import stores_with_words

        self._caller.must(Role.ADMIN, to="erase a person")
        if bool(user) == bool(session):
            raise UsageError(
                "name either a user or a session",
                hint="only the session of an unnamed user can be erased by session",
            )
        parts = self._parts
        parts.seal_configuration()
        return erase(parts.log, asker(user, session), stores_with_words(parts, self.queries))

    def note_evaluation(self, body: Mapping[str, Any], *, subject: str = "") -> None:
        """Seals a measurement or judgement, under the key of ``subject`` if a person made it."""
        self._parts.seal_configuration()
        self._parts.log.note(EntryKind.EVALUATION, body, subject=subject)

    def evaluations(self, measure: str) -> Iterator[tuple[Entry, dict[str, Any]]]:
        """Evaluation entries for ``measure`` with their bodies, oldest first, except expired ones and those
        naming an answer that the caller may not see."""
        log = self._parts.log
        for entry in log.entries(EntryKind.EVALUATION):
            body = {} if entry.body is None else log.body(entry)
            if body.get("measure") == measure and self.visibility.all_of(requests_in(body)):
                yield entry, body

    def pseudonym(self, name: str) -> str:
        """The pseudonym under which that person's entries are kept; "" if there is none."""
        if name != self._caller.user:
            self._caller.must(Role.AUDITOR, to="search for people")
        known = self._parts.log.keys.find(name) if name else None
        return known.id if known is not None else ""

    # --- helpers ----------------------------------------------------------------------------------

    def _revisiting(self) -> Revisiting:
        from citewell.documents.supersession import speaks_for
        from citewell.verification.verifier import Verifier

        parts = self._parts
        return Revisiting(
            parts.evidence,
            Verifier(parts.entailer, parts.config.verification, card=parts.card_hash),
            day=stamp(parts.clock)[:10],
            sees=self._caller.sees,
            counts=speaks_for(parts.evidence, parts.config.sources.rank),
        )

    def _without_names(self, query: AuditQuery) -> dict[str, Any]:
        """The query with people as pseudonyms: the logged read must not outlive their erasure."""
        keys, asked = self._parts.log.keys, plain(query)
        person = keys.find(query.user) if query.user else None
        asked["user"] = person.id if person else "nobody known" if query.user else ""
        asked["session"] = keys.blind(query.session) if query.session else ""
        return dict(asked)

    def note_read(self, what: Mapping[str, Any], reader: str, shown: int) -> None:
        """Logs that other people's records were shown; also for code that reads through :attr:`queries`."""
        # A caller known by name reads under that name.
        reader = reader if self._caller.everything else self._caller.user
        body = {**what, "reader": reader, "records": shown}
        self._parts.log.note(EntryKind.READ, body, subject=reader)

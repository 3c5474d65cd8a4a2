"""A home and what can be done with it: the object behind ``citewell.open``.

In: files and questions. Out: reports, answers, records. Everything that changes the home, and every
read of the log's contents, leaves an entry in its audit log. What its caller may not see does not exist in it
(:mod:`citewell.knowledge.visibility`). Knows nothing about terminals, HTTP or models. Long because it is the
whole Python interface; each method hands on to the part that does the work.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.core.access import OWNER, Caller, Role, texts
from citewell.core.config import Config
from citewell.core.errors import EvidenceError, UsageError
from citewell.core.files import make_folder
from citewell.core.metering import Meter, metered
from citewell.core.records import Answer, AuditRecord, Document, Passage, Supersession, Trace
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.feedback.signals import USER, standing
from citewell.knowledge.sealing import failures

if TYPE_CHECKING:
    from citewell.answering.answering import Answering
    from citewell.answering.journal import Ask
    from citewell.answering.streaming import Event, Tell
    from citewell.core.ports import Entailer
    from citewell.documents.evidence.catalogue import CatalogueEntry
    from citewell.documents.outcomes import FileOutcome, IngestReport, Progress
    from citewell.knowledge.auditing import Auditing
    from citewell.knowledge.feedback import Feedback
    from citewell.knowledge.logkeeping import LogKeeping
    from citewell.knowledge.reviewing import Reviewing
    from citewell.knowledge.visibility import Visibility
    from citewell.retrieval import Filters
    from citewell.verification.confidence.cards import CardState, Today


class KnowledgeBase:
    """Made by :func:`citewell.open` for the owner of the home; :meth:`as_` makes one for somebody else. May
    be shared between threads; a context manager closes its stores."""

    def __init__(self, assembly: Assembly) -> None:
        self._parts = assembly
        self._opened = self
        self._auditing: Auditing | None = None
        self.caller = OWNER

    def as_(self, caller: Caller) -> KnowledgeBase:
        """The same home, limited to what ``caller`` may see and do; costs nothing, so make one a request.

        A document or record that they may not see behaves as one that does not exist: same error, same words.
        Raises AccessError from whatever their roles do not allow. Closing it closes nothing.
        """
        other = copy.copy(self)
        other.caller, other._auditing = caller, None
        return other

    @property
    def visibility(self) -> Visibility:
        """What the caller may see."""
        return self.audit.visibility

    @property
    def home(self) -> Path:
        return self._parts.home

    @property
    def config(self) -> Config:
        return self._parts.config

    @property
    def _there(self) -> Assembly:
        self._parts.must_be_there()
        return self._parts

    @property
    def parts(self) -> Assembly:
        """What this home is made of: for evaluation, which changes one part and keeps the others."""
        self.caller.must(Role.ADMIN, to="use the home's internal parts")
        return self._parts

    def ingest(
        self,
        *paths: str | Path,
        acl: Sequence[str] = (),
        tags: Sequence[str] = (),
        document_id: str | None = None,
        supersedes: Sequence[str] = (),
        progress: Progress | None = None,
        gone: Callable[[], str] = lambda: "",
    ) -> IngestReport:
        """Brings the knowledge base up to date with files and folders; see
        :func:`citewell.documents.ingesting.ingest`.

        A file that cannot be read is in the report with its remedy; the others go on. Raises UsageError for
        what is no path or id and when another ingest is writing, AccessError when the caller may not, or
        would not see what comes in, AbandonedError once ``gone`` says why nobody waits for it any more.
        """
        from citewell.knowledge.documents import ingest, refuse

        self.caller.must(Role.CURATOR, to="change documents")
        acl, tags = texts("acl", acl), texts("tags", tags)
        self.caller.must_see(acl)
        refuse(paths, document_id)
        make_folder(self.home)
        self._parts.seal_configuration()
        return ingest(
            self._parts,
            [Path(path) for path in paths],
            acl=acl,
            tags=tags,
            document_id=document_id,
            supersedes=self._seen_ids(supersedes),
            progress=progress,
            sees=self.caller.sees,
            gone=gone,
        )

    def ingest_documents(self, documents: Iterable[Any], *, collection: str = "") -> IngestReport:
        """Brings the knowledge base up to date with documents of a LangChain, LlamaIndex or Haystack loader.

        Their id is ``source`` (or ``url``, ``file_path``) of the metadata with its page, else their own;
        ``title``, ``published_at``, ``acl`` and ``tags`` of the metadata are kept. With ``collection``, which
        becomes a tag and the beginning of their ids, documents of an earlier call that are no longer among
        them are withdrawn. Raises UsageError for what is no document, AccessError as :meth:`ingest`.
        """
        from citewell.knowledge.documents import ingest_documents

        self.caller.must(Role.CURATOR, to="change documents")
        make_folder(self.home)
        self._parts.seal_configuration()
        return ingest_documents(self._parts, documents, collection=collection, sees=self.caller.sees)

    def _seen_ids(self, document_ids: Sequence[str]) -> tuple[str, ...]:
        """These, once it is sure that the caller may see each: it is not told which exist. Raises
        EvidenceError."""
        for document_id in texts("supersedes", document_ids):
            self.document(document_id)
        return tuple(document_ids)

    def superseded(self, document_id: str) -> tuple[Supersession, ...]:
        """What of this document is not in force, was not or will not be, as documents that the caller may see
        say."""
        from citewell.documents.supersession import superseded

        seen = self.visibility.document
        found = superseded(self._there.evidence, [document_id]) if seen(document_id) else ()
        return tuple(one for one in found if not one.by or seen(one.by))

    def stream(self, question: str, **options: Any) -> Iterator[Event]:
        """As :meth:`ask`, told while it is made: claims appear as provisional, and are confirmed or
        withdrawn.

        The last event is ``done`` with the Answer; errors are raised as :meth:`ask` raises them. Whoever
        stops listening does not stop the request: it is answered and sealed.
        """
        from citewell.answering.streaming import told_by

        for event in told_by(lambda tell: self.ask(question, **options, tell=tell)):
            given = event.answer and self._with_receipt(event.answer)
            yield msgspec.structs.replace(event, answer=given)

    def ask(
        self,
        question: str,
        *,
        user: str = "",
        groups: Sequence[str] | None = None,
        session_id: str = "",
        top_k: int | None = None,
        pool: int | None = None,
        runs: int = 1,
        document: str | None = None,
        since: str | None = None,
        tag: str | None = None,
        as_of: str = "",
        tell: Tell | None = None,
        request_id: str = "",
        gone: Callable[[], str] = lambda: "",
    ) -> Answer:
        """The accountable pass; its record is durable when this returns. ``tell`` hears it being made;
        once ``gone`` says why nobody waits for it any more, it ends at its next stage, or run of a model;
        ``request_id`` is one
        of :func:`citewell.core.identity.request_id`, drawn here when empty.

        ``as_of`` is the ISO date whose law is asked: what was superseded later counts, what was not in force
        yet does not. Empty, it is today, or the end of a past period that the question names.

        ``user`` and ``groups`` are the caller's own when not given; ``groups`` may narrow them. The owner
        says both: without groups a question of theirs looks into what carries no access list.

        Raises UsageError for a question or option that cannot be used, AccessError for one in another's name,
        LogError when the record could not be sealed, and whatever a stage raised, AbandonedError too, after
        sealing that it did.
        """
        from citewell.answering.journal import Ask, refuse

        ask = Ask(
            question=question,
            user=self.caller.name(user),
            session_id=session_id,
            filters=self._filters(groups, document, since, tag),
            top_k=top_k,
            pool=pool,
            runs=runs,
            request_id=request_id,
            as_of=as_of,
        )
        refuse(ask)
        self._parts.seal_configuration()
        answer = self._pass_for(ask).ask(ask, tell, gone)
        if ask.session_id:
            self._parts.implicit.turn(answer.session_id, answer.request_id, ask.user)
        return self._with_receipt(answer)

    def _with_receipt(self, answer: Answer) -> Answer:
        """Whoever got an answer may have its receipt, also without a name."""
        return answer.issued_by(partial(self._opened.audit.receipt, reader=self.caller.user))

    def search(
        self,
        query: str,
        *,
        groups: Sequence[str] | None = None,
        top_k: int | None = None,
        pool: int | None = None,
        document: str | None = None,
        since: str | None = None,
        tag: str | None = None,
    ) -> tuple[Passage, ...]:
        """The passages for ``query``, best first, before the threshold, each marked ``relevant`` or not.

        ``groups`` as in :meth:`ask`. Raises UsageError for a query or option that cannot be used.
        """
        from citewell.answering.journal import Ask, refuse

        filters = self._filters(groups, document, since, tag)
        refuse(Ask(question=query, filters=filters, top_k=top_k, pool=pool))
        return self._parts.retriever.retrieve(query, filters=filters, top_k=top_k, pool=pool).passages

    def documents(self) -> list[CatalogueEntry]:
        """The newest version of each document, by id."""
        return [entry for entry in self._there.evidence.catalogue() if self.caller.sees(entry.acl)]

    def document(self, document_id: str, version: str = "") -> Document:
        """One version, the newest when none is named. Raises EvidenceError when it is not there."""
        from citewell.documents.evidence.catalogue import absent

        evidence, seen = self._there.evidence, self.visibility.document(document_id)
        if version and not seen:
            raise absent(version, document_id)
        if version:
            return evidence.get(version, document_id)
        document = evidence.latest(document_id) if seen else None
        if document is None:
            hint = "`citewell documents list` shows the ids; or check --home"
            raise EvidenceError(f"no document {document_id!r}", hint=hint)
        return document

    def versions(self, document_id: str) -> list[str]:
        """Every version of a document, oldest first."""
        return self._there.evidence.versions(document_id) if self.visibility.document(document_id) else []

    def failures(self) -> tuple[FileOutcome, ...]:
        """Files that could not be read when they were last offered, with the remedy; for admins alone, as a
        file that became no document has no access list."""
        self.caller.must(Role.ADMIN, to="see which files failed")
        return failures(self._there.log)

    def withdraw(self, document_id: str, *, reason: str = "", user: str = "") -> None:
        """Keeps a document as evidence and retrieves it no more. Raises EvidenceError for an unknown one."""
        from citewell.knowledge.documents import withdraw

        self.caller.must(Role.CURATOR, to="withdraw a document")
        self.document(document_id)
        withdraw(self._parts, document_id, reason=reason, user=self.caller.name(user))

    def share(self, document_id: str, acl: Sequence[str], *, user: str = "") -> None:
        """Replaces a document's access list (empty: everybody), for every version and every record that names
        it.

        Raises EvidenceError for an unknown one, AccessError when the caller would not see it afterwards,
        UsageError when an ingest is writing.
        """
        from citewell.knowledge.documents import share

        self.caller.must(Role.CURATOR, to="share a document")
        self.document(document_id)
        acl = texts("acl", acl)
        self.caller.must_see(acl)
        share(self._parts, document_id, acl, user=self.caller.name(user))

    def feedback(
        self,
        request_id: str,
        signal: str,
        *,
        user: str = "",
        claim: int | None = None,
        meta: Mapping[str, str] | None = None,
    ) -> Feedback:
        """What somebody did with an answer: sealed, kept beside its trace, raised as its flag.

        ``signal`` is a :class:`citewell.knowledge.feedback.Signal`; ``claim`` counts from 1; ``meta`` says
        more, as
        ``{"because": "..."}``. Said twice it is kept once. Raises UsageError for what is not there.
        """
        parts = self._there
        if not self.caller.unrestricted:
            self.visibility.request(request_id)
        parts.seal_configuration()
        user = self.caller.name(user)
        return parts.intake.feedback(request_id, signal, user=user, claim=claim, meta=meta)

    def said_of(self, request_id: str) -> tuple[Feedback, ...]:
        """What the caller themselves said of an answer, as it stands, oldest first."""
        said = standing(self._there.feedback.of(request_id))
        return tuple(one for one in said if one.found_by == USER and one.user == self.caller.user)

    def trace(self, session_id: str) -> list[Trace]:
        """What happened in a session, oldest first, read on record; empty for one that is not known."""
        found = self.visibility.traces(self._there.traces.session(session_id))
        if found:
            seen = [{"request_id": trace.request_id} for trace in found]
            # The read must not outlive the erasure of whose session it is.
            blinded = self._parts.log.keys.blind(session_id)
            self.audit.note_read({"trace": blinded, "seen": seen}, "", len(found))
        return found

    @property
    def log(self) -> LogKeeping:
        """The log kept honest: check, checkpoints, witnesses, proofs, keys."""
        from citewell.knowledge.logkeeping import LogKeeping

        return LogKeeping(self._parts, self.caller)

    @property
    def audit(self) -> Auditing:
        """The log put to use: questions, receipts, recheck, recall, replay, expiry, erasure."""
        parts = self._there
        if self._auditing is None:
            from citewell.knowledge.auditing import Auditing

            owned = self._opened is self
            self._auditing = Auditing(parts) if owned else self._opened.audit.as_(self.caller)
        return self._auditing

    def answer(self, request_id: str) -> Answer:
        """A past answer again, read on record. Raises UsageError when there is none."""
        return self.answer_of(self.audit.record(request_id))

    def answer_of(self, record: AuditRecord) -> Answer:
        """The answer of a record that was read; see
        :func:`citewell.knowledge.revisiting.recounting.answer_of`."""
        from citewell.knowledge.revisiting.recounting import answer_of

        return answer_of(self._parts, record).issued_by(self.audit.receipt)

    def verify_line(self, line: str | bytes, *, gone: Callable[[], str] = lambda: "") -> bytes:
        """One line of ``citewell verify --jsonl`` in and out, by this home's models; nothing is kept. Raises
        AbandonedError once ``gone`` says why nobody waits for it any more."""
        from citewell.answering.verifying import verify_json_line

        parts = self._parts
        with metered(Meter(gone)):
            return verify_json_line(
                line,
                entailer=parts.entailer,
                embedder=parts.embedder,
                settings=self.config.verification,
                card=parts.card_state(verdicts=True),
            )

    def warm(self) -> None:
        """Makes every part of the pass now rather than for the first who asks; the index is opened while the
        models are loaded. Raises what a part raises."""
        parts = self._there
        with ThreadPoolExecutor(1) as beside:
            index = beside.submit(lambda: parts.index)
            parts.reading, parts.entailer  # noqa: B018 - made when first looked at, then kept
            index.result()
        parts.answering  # noqa: B018

    @property
    def entailer(self) -> Entailer:
        """Who verifies."""
        return self._parts.entailer

    def card_state(self) -> CardState:
        """The calibration card in use, and whether what it was made for is what is in use today."""
        return self._there.card_state()

    def today(self) -> Today:
        """Models, prompts, documents and settings in use: what a calibration card depends on."""
        self.caller.must(Role.ADMIN, to="see which models are in use")
        return self._there.today()

    def under(self, config: Config) -> KnowledgeBase:
        """The same home, stores and models under other settings and no card, to try them: close neither it
        nor what it gives."""
        self.caller.must(Role.ADMIN, to="try other settings")
        return KnowledgeBase(self._parts.under(config)).as_(self.caller)

    def rehearse(self, question: str, *, groups: Sequence[str] | None = None) -> AuditRecord:
        """The record that an ask would seal; nothing is sealed, traced or told."""
        from citewell.answering.journal import Ask, refuse

        ask = Ask(question=question, filters=self._filters(groups))
        refuse(ask)
        return self._parts.answering.rehearse(ask)

    @property
    def review(self) -> Reviewing:
        """What went wrong, for people to look at: the queue, its patterns, cases made of it."""
        from citewell.knowledge.reviewing import Reviewing

        return Reviewing(self._parts, self.audit, self.caller)

    def now(self) -> datetime:
        """By the clock that stamps the records."""
        return self._parts.clock.now().astimezone(UTC)

    def close(self) -> None:
        if self._opened is not self:
            return
        if self._auditing is not None:
            self._auditing.close()
            self._auditing = None
        self._parts.close()

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _pass_for(self, ask: Ask) -> Answering:
        """The pass, limited to what the caller may see. When a part of it cannot be made (weights, index),
        that is on record like any error, then raised."""
        from citewell.answering.journal import Journal
        from citewell.core.environment import environment
        from citewell.knowledge.visibility import VisibleTraces

        parts = self._parts
        journal = Journal(ask, clock=parts.clock, config=parts.config, environment=environment())
        try:
            with journal.stage("assembly"):
                if self.caller.unrestricted:
                    return parts.answering
                return replace(parts.answering, traces=VisibleTraces(parts.traces, self.visibility))
        except Exception as error:
            journal.failed(error)
            parts.log.append(journal.record())
            raise

    def _filters(
        self,
        groups: Sequence[str] | None,
        document: str | None = None,
        since: str | None = None,
        tag: str | None = None,
    ) -> Filters:
        from citewell.retrieval.wording import Filters, refuse_filters

        parts = self._there
        held = self.caller.narrowed(groups)
        filters = Filters(groups=held, document_id=document, since=since, tag=tag)
        refuse_filters(filters)
        if document is not None:
            acl = parts.evidence.access([document]).get(document)
            if acl is None or not (held is None or not acl or set(acl) & set(held)):
                # One answer for what is not there and what those groups may not see.
                raise UsageError(
                    "there is no document with that id to ask, or the asker may not see it",
                    hint="check the id (`citewell documents list`) and the asker's groups",
                )
        return filters

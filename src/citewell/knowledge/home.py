"""A home and what can be done with it: the object behind ``citewell.open``.

In: files and questions. Out: reports, answers, records. Every change to the home, and every read of the
log's contents, leaves an entry in its audit log. To a caller, what they may not see does not exist
(:mod:`citewell.knowledge.visibility`). Knows nothing about terminals, HTTP or models. Long because it is the
whole Python interface; each method delegates to the part that does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.core.access import OWNER, Caller, Role, string_tuple
from citewell.core.addresses import is_address
from citewell.core.config import Config
from citewell.core.errors import AccessError, EvidenceError, UsageError
from citewell.core.files import make_folder
from citewell.core.metering import Meter, metered
from citewell.core.records import Answer, AuditRecord, Document, Passage, Supersession, Trace
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.feedback.signals import USER, current_signals
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
    from citewell.verification.confidence.cards import CardState, CurrentSetup


class KnowledgeBase:
    """Made by :func:`citewell.open` for the owner of the home; :meth:`as_` makes one for another caller.
    Thread-safe; as a context manager it closes its stores."""

    def __init__(self, assembly: Assembly, caller: Caller = OWNER, *, closes: bool = True) -> None:
        """``closes``: closing it closes the home's stores."""
        self._parts, self.caller, self._closes = assembly, caller, closes

    def as_(self, caller: Caller) -> KnowledgeBase:
        """The same home, limited to what ``caller`` may see and do; cheap, so make one per request.

        A document or record that they may not see behaves as if it did not exist, down to the error message.
        Methods that their roles do not allow raise AccessError. Closing it closes nothing.
        """
        return KnowledgeBase(self._parts, caller, closes=False)

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
        """The home's parts, for evaluation, which replaces one and keeps the others."""
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
        :func:`citewell.documents.ingesting.ingest`. A string such as ``s3://bucket/reports`` or
        ``https://host/page`` is an address, for the owner of the home alone; a Path never is one.

        An unreadable file is reported with its remedy and the others continue. Raises UsageError for an
        invalid path or id, or while another ingest is writing; MissingExtraError for an address whose package
        is not installed; AccessError when the caller may not ingest or could not see the result;
        AbandonedError once ``gone`` returns why nobody is waiting any more.
        """
        from citewell.knowledge.documents import ingest, validate_sources

        self.caller.must(Role.CURATOR, to="change documents")
        acl, tags = string_tuple("acl", acl), string_tuple("tags", tags)
        self.caller.must_see(acl)
        validate_sources(paths, document_id)
        if any(map(is_address, paths)) and not self.caller.everything:
            hint = "run `citewell ingest` on the machine that has the home"
            raise AccessError("only the owner of the home can ingest from an address", hint=hint)
        make_folder(self.home)
        self._parts.seal_configuration()
        return ingest(
            self._parts,
            [path if is_address(path) else Path(path) for path in paths],
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

        The id is ``source`` (or ``url``, ``file_path``) from the metadata with its page, else the document's
        own; ``title``, ``published_at``, ``acl`` and ``tags`` from the metadata are kept. ``collection``
        becomes a tag and the id prefix; its documents from earlier calls that are now missing are withdrawn.
        Raises UsageError for objects that are not documents, AccessError as :meth:`ingest` does.
        """
        from citewell.knowledge.documents import ingest_documents

        self.caller.must(Role.CURATOR, to="change documents")
        make_folder(self.home)
        self._parts.seal_configuration()
        return ingest_documents(self._parts, documents, collection=collection, sees=self.caller.sees)

    def _seen_ids(self, document_ids: Sequence[str]) -> tuple[str, ...]:
        """The ids, if the caller may see each document. Raises EvidenceError, the same for a hidden document
        as for a missing one."""
        for document_id in string_tuple("supersedes", document_ids):
            self.document(document_id)
        return tuple(document_ids)

    def superseded(self, document_id: str) -> tuple[Supersession, ...]:
        """Parts of this document not in force in the past, now or in the future, according to documents that
        the caller may see."""
        from citewell.documents.supersession import find_superseded

        seen = self.visibility.document
        found = find_superseded(self._there.evidence, [document_id]) if seen(document_id) else ()
        return tuple(one for one in found if not one.by or seen(one.by))

    def stream(self, question: str, **options: Any) -> Iterator[Event]:
        """Streams :meth:`ask`: claims arrive as provisional and are then confirmed or withdrawn.

        The last event is ``done`` with the Answer; errors are raised as in :meth:`ask`. A listener who leaves
        does not stop the request: it is answered and sealed.
        """
        from citewell.answering.streaming import stream_events

        for event in stream_events(lambda tell: self.ask(question, **options, tell=tell)):
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
        """Answers a question; the record is durable when this returns. ``tell`` receives progress events;
        once ``gone`` returns why nobody is waiting any more, the request ends at its next stage or model run;
        ``request_id`` is one from :func:`citewell.core.identity.request_id`, generated when empty.

        ``as_of`` is the ISO date whose law applies: statements superseded later count, those not yet in force
        do not. If empty, it is today, or the end of a past period named in the question.

        ``user`` and ``groups`` default to the caller's own; ``groups`` may only narrow them. The owner gives
        both: without groups, their question searches only documents without an access list.

        Raises UsageError for an unusable question or option, AccessError for asking in another's name,
        LogError when the record could not be sealed, and whatever a stage raised, including AbandonedError,
        after sealing the failure.
        """
        from citewell.answering.journal import Ask, validate_question

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
        validate_question(ask)
        self._parts.seal_configuration()
        answer = self._pass_for(ask).ask(ask, tell, gone)
        if ask.session_id:
            self._parts.implicit.turn(answer.session_id, answer.request_id, ask.user)
        return self._with_receipt(answer)

    def _with_receipt(self, answer: Answer) -> Answer:
        """The answer with access to its receipt, which even an unnamed asker may have."""
        from citewell.knowledge.auditing import Auditing

        return answer.issued_by(partial(Auditing(self._parts).receipt, reader=self.caller.user))

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
        """The passages for ``query``, best first, before thresholding, each marked ``relevant`` or not.

        ``groups`` as in :meth:`ask`. Raises UsageError for an unusable query or option.
        """
        from citewell.answering.journal import Ask, validate_question

        filters = self._filters(groups, document, since, tag)
        validate_question(Ask(question=query, filters=filters, top_k=top_k, pool=pool))
        return self._parts.retriever.retrieve(query, filters=filters, top_k=top_k, pool=pool).passages

    def documents(self) -> list[CatalogueEntry]:
        """The newest version of each document, by id."""
        return [entry for entry in self._there.evidence.catalogue() if self.caller.sees(entry.acl)]

    def document(self, document_id: str, version: str = "") -> Document:
        """One version, by default the newest. Raises EvidenceError when it does not exist."""
        from citewell.documents.evidence.catalogue import missing_version

        evidence, seen = self._there.evidence, self.visibility.document(document_id)
        if version and not seen:
            raise missing_version(version, document_id)
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
        """Files whose last ingest failed, with the remedy; only for admins, as a file without a document has
        no access list."""
        self.caller.must(Role.ADMIN, to="see which files failed")
        return failures(self._there.log)

    def withdraw(self, document_id: str, *, reason: str = "", user: str = "") -> None:
        """Keeps a document as evidence but stops retrieving it. Raises EvidenceError if it is unknown."""
        from citewell.knowledge.documents import withdraw

        self.caller.must(Role.CURATOR, to="withdraw a document")
        self.document(document_id)
        withdraw(self._parts, document_id, reason=reason, user=self.caller.name(user))

    def share(self, document_id: str, acl: Sequence[str], *, user: str = "") -> None:
        """Replaces a document's access list (empty: everybody) for all versions and all records naming it.

        Raises EvidenceError for an unknown document, AccessError when the caller could not see it afterwards,
        UsageError while an ingest is writing.
        """
        from citewell.knowledge.documents import share

        self.caller.must(Role.CURATOR, to="share a document")
        self.document(document_id)
        acl = string_tuple("acl", acl)
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
        """Records feedback on an answer: seals it, stores it, and flags the trace.

        ``signal`` is a :class:`citewell.knowledge.feedback.Signal`; ``claim`` counts from 1; ``meta`` adds
        detail, such as ``{"because": "..."}``. Repeats are kept once. Raises UsageError for an unknown
        request, signal or claim.
        """
        parts = self._there
        if not self.caller.unrestricted:
            self.visibility.request(request_id)
        parts.seal_configuration()
        user = self.caller.name(user)
        return parts.intake.feedback(request_id, signal, user=user, claim=claim, meta=meta)

    def said_of(self, request_id: str) -> tuple[Feedback, ...]:
        """The caller's own current feedback on an answer, oldest first."""
        said = current_signals(self._there.feedback.of(request_id))
        return tuple(one for one in said if one.found_by == USER and one.user == self.caller.user)

    def trace(self, session_id: str) -> list[Trace]:
        """The traces of a session, oldest first; the read is logged. Empty for an unknown session."""
        found = self.visibility.traces(self._there.traces.session(session_id))
        if found:
            seen = [{"request_id": trace.request_id} for trace in found]
            # The logged read must not outlive the erasure of the session's user.
            blinded = self._parts.log.keys.blind(session_id)
            self.audit.note_read({"trace": blinded, "seen": seen}, "", len(found))
        return found

    @property
    def log(self) -> LogKeeping:
        """Integrity of the log: check, checkpoints, witnesses, proofs, keys."""
        from citewell.knowledge.logkeeping import LogKeeping

        return LogKeeping(self._parts, self.caller)

    @property
    def audit(self) -> Auditing:
        """Use of the log: queries, receipts, recheck, recall, replay, expiry, erasure."""
        from citewell.knowledge.auditing import Auditing

        return Auditing(self._there, self.caller)

    def answer(self, request_id: str) -> Answer:
        """A past answer; the read is logged. Raises UsageError when there is none."""
        return self.answer_of(self.audit.record(request_id))

    def answer_of(self, record: AuditRecord) -> Answer:
        """The answer of a record already read; see
        :func:`citewell.knowledge.revisiting.recounting.answer_of`."""
        from citewell.knowledge.revisiting.recounting import answer_of

        return answer_of(self._parts, record).issued_by(self.audit.receipt)

    def verify_line(self, line: str | bytes, *, gone: Callable[[], str] = lambda: "") -> bytes:
        """Verifies one line of ``citewell verify --jsonl`` with this home's models and stores nothing. Raises
        AbandonedError once ``gone`` returns why nobody is waiting any more."""
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
        """Builds every part for answering now instead of on the first question, opening the index while the
        models load. Raises what a part raises."""
        parts = self._there
        with ThreadPoolExecutor(1) as beside:
            index = beside.submit(lambda: parts.index)
            parts.reading, parts.entailer  # noqa: B018 - made when first looked at, then kept
            index.result()
        parts.answering  # noqa: B018

    @property
    def entailer(self) -> Entailer:
        """The entailment model that verifies claims."""
        return self._parts.entailer

    def card_state(self) -> CardState:
        """The calibration card in use, and whether it still matches what is in use."""
        return self._there.card_state()

    def today(self) -> CurrentSetup:
        """Models, prompts, documents and settings in use: what a calibration card depends on."""
        self.caller.must(Role.ADMIN, to="see which models are in use")
        return self._there.today()

    def under(self, config: Config) -> KnowledgeBase:
        """The same home, stores and models under trial settings and without a card. Do not close it or
        anything obtained from it."""
        self.caller.must(Role.ADMIN, to="try other settings")
        return KnowledgeBase(self._parts.under(config), self.caller, closes=False)

    def rehearse(self, question: str, *, groups: Sequence[str] | None = None) -> AuditRecord:
        """The record that :meth:`ask` would seal; nothing is sealed, traced or escalated."""
        from citewell.answering.journal import Ask, validate_question

        ask = Ask(question=question, filters=self._filters(groups))
        validate_question(ask)
        return self._parts.answering.rehearse(ask)

    @property
    def review(self) -> Reviewing:
        """Human review of failed and flagged answers: the queue, its patterns, and cases made from it."""
        from citewell.knowledge.reviewing import Reviewing

        return Reviewing(self._parts, self.audit, self.caller)

    def now(self) -> datetime:
        """The time by the clock that stamps the records, in UTC."""
        return self._parts.clock.now().astimezone(UTC)

    def close(self) -> None:
        if self._closes:
            self._parts.close()

    def __enter__(self) -> KnowledgeBase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _pass_for(self, ask: Ask) -> Answering:
        """The answering pipeline, limited to what the caller may see. If a part cannot be built (weights,
        index), the error is sealed like any other, then raised."""
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
                # The same error for a missing document and one those groups may not see.
                raise UsageError(
                    "there is no document with that id to ask, or the asker may not see it",
                    hint="check the id (`citewell documents list`) and the asker's groups",
                )
        return filters

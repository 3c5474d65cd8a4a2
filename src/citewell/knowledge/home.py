"""A home and what can be done with it: the object behind ``citewell.open``.

In: files and questions. Out: reports, answers, records. Every change to the home, and every read of the
log's contents, leaves an entry in its audit log. To a caller, what they may not see does not exist
(:mod:`citewell.knowledge.visibility`). Knows nothing about terminals, HTTP or models. The methods for its
documents are in :mod:`citewell.knowledge.documents`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.core.access import OWNER, Caller, Role
from citewell.core.config import Config
from citewell.core.errors import UsageError
from citewell.core.metering import Meter, metered
from citewell.core.records import Answer, AuditRecord, Decision, Passage, Trace
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.documents import DocumentKeeping
from citewell.knowledge.feedback.signals import USER, current_signals

if TYPE_CHECKING:
    from citewell.answering.answering import Answering
    from citewell.answering.journal import Ask
    from citewell.answering.streaming import Event, Tell
    from citewell.core.ports import Entailer
    from citewell.knowledge.auditing import Auditing
    from citewell.knowledge.feedback import Feedback
    from citewell.knowledge.logkeeping import LogKeeping
    from citewell.knowledge.reviewing import Reviewing
    from citewell.retrieval import Filters
    from citewell.verification.confidence.cards import CardState, CurrentSetup


class KnowledgeBase(DocumentKeeping):
    """Made by :func:`citewell.open` for the owner of the home; :meth:`as_` makes one for another caller.
    Thread-safe; as a context manager it closes its stores."""

    def __init__(self, assembly: Assembly, caller: Caller = OWNER, *, closes: bool = True) -> None:
        """``closes``: closing it closes the home's stores."""
        super().__init__(assembly, caller)
        self._closes = closes

    def as_(self, caller: Caller) -> KnowledgeBase:
        """The same home, limited to what ``caller`` may see and do; cheap, so make one per request.

        A document or record that they may not see behaves as if it did not exist, down to the error message.
        Methods that their roles do not allow raise AccessError. Closing it closes nothing.
        """
        return KnowledgeBase(self._parts, caller, closes=False)

    @property
    def parts(self) -> Assembly:
        """The home's parts, for evaluation, which replaces one and keeps the others."""
        self.caller.must(Role.ADMIN, to="use the home's internal parts")
        return self._parts

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

        own = {"reader": self.caller.user}
        return answer.issued_by(
            lambda request_id, **options: Auditing(self._parts).receipt(request_id, **(own | options))
        )

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
        """The answer of a record already read, with the same ids, claims and citations.

        What a record does not keep is not invented: passages whose index version is gone are left out, and
        the reason why one was set aside is in the trace's notes. Raises UsageError for a request that ended
        in an error and so has none.
        """
        from citewell.answering.force import force_on
        from citewell.retrieval.gate import nearest_places
        from citewell.retrieval.wording import Filters

        parts = self._parts
        if record.confidence_report is None or not record.response_decision:
            raise UsageError(
                f"{record.request_id} ended in an error ({record.failure_reason})", hint="ask again"
            )
        threshold = parts.config.retrieval.relevance_threshold
        names = {result.chunk_id for result in record.retrieval_results}
        try:
            chunks = parts.index.at(record.index_version).named(names) if names else []
        except UsageError:  # that index version is no longer kept
            chunks = []
        known = {(chunk.document_id, chunk.chunk_id): chunk for chunk in chunks}
        passages = tuple(
            Passage(
                chunk=known[result.document_id, result.chunk_id],
                similarity=result.similarity_score,
                relevance=result.reranker_score,
                relevant=result.reranker_score is not None and result.reranker_score >= threshold,
                used=result.was_used_in_generation,
                likeliest=result.likeliest,
            )
            for result in record.retrieval_results
            if (result.document_id, result.chunk_id) in known
        )
        decision = Decision(record.response_decision)
        asked, day = record.parameters, record.timestamp[:10]
        filters = msgspec.convert(asked.get("filters", {}), Filters)
        force = force_on(parts.in_force, record.user_query, asked.get("as_of", ""), filters, day)
        answer = Answer(
            request_id=record.request_id,
            session_id=record.session_id,
            question=record.user_query,
            text=record.shown_response,
            claims=record.claims,
            passages=passages,
            confidence=record.confidence_report,
            decision=decision,
            missing=record.missing,
            conflicts=record.conflicts,
            trace=parts.traces.get(record.request_id),
            record_hash=parts.log.get(record.request_id).hash,
            nearest=force.located(nearest_places(record.user_query, force.only_in_force(passages)))
            if decision is Decision.ABSTAIN
            else (),
        )
        return answer.issued_by(self.audit.receipt)

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

"""The review queue, in which people turn failed answers into test cases.

In: records that failed or were flagged. Out: a queue, its patterns, and cases that a person accepted,
corrected or dismissed; every decision is a log entry. The queue is read from the log each time, so it never
holds anything expired or erased. Retrieval, gate and writer read nothing here: a decision changes what is
tested, not what is answered.
"""

from __future__ import annotations

import heapq
import json
import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit import AuditQuery, EntryKind
from citewell.audit.entries import UNREADABLE
from citewell.audit.keys import asker
from citewell.audit.question import ANY
from citewell.core.access import EVALUATION, OWNER, Caller, Role
from citewell.core.environment import stamp
from citewell.core.errors import EvidenceError, UsageError
from citewell.core.files import replace_file
from citewell.core.identity import plain
from citewell.core.records import AuditRecord, Case, CaseSpan, Record, Status
from citewell.knowledge.feedback import Review
from citewell.knowledge.feedback.queue import BY, OPEN, Group, QueueItem, grouped, item_of
from citewell.knowledge.feedback.signals import TROUBLE, documents_of
from citewell.knowledge.feedback.store import ACCEPTED, DISMISSED

if TYPE_CHECKING:
    from citewell.knowledge.assembly import Assembly
    from citewell.knowledge.auditing import Auditing

MOST = 1_000
"""Maximum answers considered, newest first; more than people can review."""
STATES = (OPEN, ACCEPTED, DISMISSED)
ALL = "all"


class QueuePage(Record, frozen=True, kw_only=True):
    """A page of ``total`` matching items; ``next`` is "" on the last. ``complete`` is False when only the
    newest thousand answers were considered."""

    items: tuple[QueueItem, ...]
    total: int
    next: str = ""
    complete: bool = True


class ReviewedAnswer(Record, frozen=True, kw_only=True):
    """One answer with all that is known about it; ``case`` is the one a reviewer made from it."""

    item: QueueItem
    record: AuditRecord
    case: Case | None = None


class WrittenCases(Record, frozen=True, kw_only=True):
    """Changes to a case file: lines ``added``, cases ``already`` there, lines ``changed`` by a new decision,
    lines ``removed`` because the case was dismissed or reopened, or its asker erased."""

    path: str
    added: int
    already: int
    changed: int
    removed: int


class Reviewing:
    """Made by :attr:`citewell.knowledge.home.KnowledgeBase.review`.

    For curators and auditors; answers naming a document that they may not see do not exist for them. They
    read and decide under their own name. Raises AccessError for anybody else.
    """

    def __init__(self, parts: Assembly, auditing: Auditing, caller: Caller = OWNER) -> None:
        self._parts, self._auditing, self._caller = parts, auditing, caller
        self._visibility = auditing.visibility

    # --- reading ----------------------------------------------------------------------------------

    def queue(
        self,
        *,
        state: str = OPEN,
        cause: str = "",
        document: str = "",
        since: str = "",
        limit: int = 50,
        cursor: str = "",
        reader: str = "",
    ) -> QueuePage:
        """A page of answers to review, newest first; logged as a read.

        ``cause`` is a signal or a failure, ``since`` a time in the log's format. Answers with weak signals
        alone are listed by their cause only. Raises UsageError for an unknown state, or an invalid limit or
        cursor.
        """
        self._refuse()
        if not 1 <= limit <= MOST:
            raise UsageError(f"a page of {limit} items is not possible", hint=f"choose 1 to {MOST}")
        items, complete = self._items(state, since)
        fitting = [
            item
            for item in items
            if (cause in item.causes if cause else not item.weak) and document in ("", *item.documents)
        ]
        requests = [item.request_id for item in fitting]
        if cursor and cursor not in requests:
            raise UsageError(
                f"{cursor!r} is not a cursor", hint="pass `next` from the previous page unchanged"
            )
        start = requests.index(cursor) + 1 if cursor else 0
        page = fitting[start : start + limit]
        more = bool(page) and start + limit < len(fitting)
        self._auditing.note_read({"review": "queue", "state": state}, reader, len(page))
        return QueuePage(
            items=tuple(page),
            total=len(fitting),
            next=page[-1].request_id if more else "",
            complete=complete,
        )

    def groups(
        self, *, by: str = "cause", state: str = OPEN, since: str = "", reader: str = ""
    ) -> tuple[Group, ...]:
        """The patterns in the queue, largest first; logged as a read."""
        self._refuse()
        if by not in BY:
            raise UsageError(f"cannot group by {by!r}", hint=f"use one of {', '.join(BY)}")
        items, _ = self._items(state, since)
        self._auditing.note_read({"review": f"groups by {by}", "state": state}, reader, len(items))
        return grouped(items if by == "cause" else [item for item in items if not item.weak], by)

    def show(self, request_id: str, *, reader: str = "") -> ReviewedAnswer:
        """One answer, flagged or not; logged as a read. Raises UsageError when there is none."""
        record = self._record(request_id)
        self._auditing.note_read({"show": request_id}, reader, 1)
        review = self._parts.feedback.reviews().get(request_id)
        item = item_of(record, self._parts.feedback.of(request_id), review)
        return ReviewedAnswer(item=item, record=record, case=review.case if review else None)

    # --- deciding ---------------------------------------------------------------------------------

    def accept(
        self,
        request_id: str,
        *,
        reviewer: str = "",
        question: str = "",
        expected: str = "",
        spans: Sequence[CaseSpan] = (),
        abstain: str = "",
        tags: Sequence[str] = (),
    ) -> Case:
        """Makes a reviewed case from an answer and seals the decision, replacing any earlier one.

        Without ``spans`` and ``abstain``, uses the spans cited for the answer's verified claims. ``spans``
        must occur in a cited version of their document, or else in any other; the document's own text is
        kept. ``question`` rewords one that cannot stand alone. Raises UsageError.
        """
        record, reviewer = self._decidable(request_id, reviewer)
        if abstain and (spans or expected):
            raise UsageError(
                "a case has either an answer or a reason to abstain", hint="leave one of them out"
            )
        if spans:
            found = tuple(self._located(span, record) for span in spans)
        else:
            found = () if abstain else _cited(record)
        if not (found or abstain or expected):
            raise UsageError(
                f"{request_id} has no verified citation to make a case from",
                hint="give spans, abstain or expected",
            )
        said = self._parts.feedback.of(request_id)
        case = Case(
            id=request_id,
            question=question or record.user_query,
            expected=expected,
            spans=tuple(dict.fromkeys(found)),
            abstain=abstain,
            tags=tuple(tags) or item_of(record, said, None).causes,
            groups=tuple((record.parameters.get("filters") or {}).get("groups") or ()),
            reviewed=reviewer,
        )
        self._decide(record, reviewer, ACCEPTED, case=case)
        return case

    def dismiss(self, request_id: str, *, reviewer: str = "", reason: str) -> None:
        """Dismisses an answer with nothing to learn from; sealed. Raises UsageError without a reason."""
        if not reason.strip():
            raise UsageError("a dismissal needs a reason", hint="say why nothing needs to change")
        record, reviewer = self._decidable(request_id, reviewer)
        self._decide(record, reviewer, DISMISSED, reason=reason)

    def reopen(self, request_id: str, *, reviewer: str = "") -> None:
        """Revokes a decision: the answer is open again and has no case. Sealed."""
        record, reviewer = self._decidable(request_id, reviewer)
        self._decide(record, reviewer, OPEN)

    def cases(self) -> tuple[Case, ...]:
        """The accepted cases, oldest decision first, except those whose asker was erased."""
        self._refuse()
        cases = (one.case for one in self._parts.feedback.reviews().values() if one.case is not None)
        return tuple(case for case in cases if self._visibility.may(case.id, review=True))

    def write(self, path: str | Path) -> WrittenCases:
        """Updates a case file: each accepted case once, as last decided; cases since revoked are removed.

        Other lines are left unchanged. Raises UsageError for a file whose lines are not cases, AccessError
        for non-admins, since it writes to the server's disk.
        """
        self._caller.must(Role.ADMIN, to="write case files")
        cases = {one.id: one for one in self.cases()}
        gone = self._parts.feedback.reviews().keys() - cases.keys()
        return write_cases(Path(path), cases, gone)

    # --- helpers ----------------------------------------------------------------------------------

    def _items(self, state: str, since: str) -> tuple[list[QueueItem], bool]:
        """(items in ``state``, newest first; whether no older answers were left out)."""
        if state not in (*STATES, ALL):
            raise UsageError(f"unknown state {state!r}", hint=f"use one of {', '.join((*STATES, ALL))}")
        records = list(islice(self._records(since), MOST + 1))
        store = self._parts.feedback
        said = store.of_each([record.request_id for record in records])
        reviews = store.reviews()
        items = []
        for record in records[:MOST]:
            signals = said.get(record.request_id, ())
            item = item_of(record, signals, reviews.get(record.request_id))
            if item.causes and state in (item.state, ALL) and (record.user != EVALUATION or signals):
                items.append(item)
        return items, len(records) <= MOST

    def _records(self, since: str) -> Iterator[AuditRecord]:
        """Each record that failed or was flagged, once, newest first."""
        asked = [AuditQuery(failure=ANY), *(AuditQuery(flag=signal.value) for signal in TROUBLE)]
        queries = self._auditing.queries
        walks = [queries.every(msgspec.structs.replace(query, since=since)) for query in asked]
        seen: set[str] = set()
        for record in heapq.merge(*walks, key=lambda record: record.timestamp, reverse=True):
            if record.request_id not in seen and record.user_query not in UNREADABLE:
                seen.add(record.request_id)
                if self._visibility.review(record):
                    yield record

    def _refuse(self) -> None:
        self._caller.must(Role.CURATOR, Role.AUDITOR, to="review answers")

    def _record(self, request_id: str) -> AuditRecord:
        """The record. Raises UsageError if there is none that the caller may see."""
        self._refuse()
        return self._visibility.request(request_id, review=True)

    def _decidable(self, request_id: str, reviewer: str) -> tuple[AuditRecord, str]:
        """(record, reviewer); a caller known by name decides under that name."""
        record = self._record(request_id)
        reviewer = reviewer if self._caller.everything else self._caller.user
        if not reviewer.strip():
            raise UsageError("no reviewer is named", hint="name the reviewer with --reviewer")
        if why := UNREADABLE.get(record.user_query):
            raise UsageError(f"{request_id} cannot become a case", hint=why)
        return record, reviewer

    def _decide(
        self, record: AuditRecord, reviewer: str, outcome: str, *, reason: str = "", case: Case | None = None
    ) -> None:
        parts = self._parts
        review = Review(
            review_id="fb_" + secrets.token_hex(12),
            request_id=record.request_id,
            timestamp=stamp(parts.clock),
            reviewer=reviewer,
            outcome=outcome,
            reason=reason,
            case=case,
        )
        documents = {*documents_of(record), *(span.document for span in (case.spans if case else ()))}
        body: dict[str, Any] = {
            "feedback_id": review.review_id,
            "request_id": record.request_id,
            "outcome": outcome,
            "flags": [] if outcome == OPEN else [outcome],
            # A pseudonym, as the entry is under the asker's key: erasing the reviewer anonymises it.
            "reviewer": parts.log.keys.subject(reviewer).id,
            "reason": reason,
            "documents": [{"document_id": document} for document in sorted(documents)],
        }
        if case is not None:
            body["case"] = plain(msgspec.structs.replace(case, reviewed=""))
        parts.seal_configuration()
        parts.log.note(EntryKind.FEEDBACK, body, subject=asker(record.user, record.session_id))
        parts.feedback.decide(review)

    def _located(self, span: CaseSpan, record: AuditRecord) -> CaseSpan:
        """The document's own text for a quote that may differ in white space."""
        evidence = self._parts.evidence
        cited = [
            citation.document_version
            for claim in record.claims
            for citation in claim.citations
            if citation.document_id == span.document
        ]
        versions = dict.fromkeys([*cited, *evidence.versions(span.document)[::-1]])
        if not versions or not self._visibility.document(span.document):
            raise UsageError(f"no document {span.document!r}", hint="`citewell documents list` shows the ids")
        wanted = re.compile(r"\s+".join(map(re.escape, span.quote.split())))
        for version in versions:
            try:
                text = evidence.get(version, span.document).text
            except EvidenceError:
                continue  # erased: another version may have it
            found = wanted.search(text) if span.quote.strip() else None
            if found is not None:
                return CaseSpan(document=span.document, quote=found[0])
        raise UsageError(
            f"{span.document} does not contain the words {span.quote[:80]!r}",
            hint="copy the words from `citewell documents show`",
        )


def _cited(record: AuditRecord) -> tuple[CaseSpan, ...]:
    """The cited spans of verified claims, in the order of the answer."""
    return tuple(
        CaseSpan(document=citation.document_id, quote=citation.quote)
        for claim in record.claims
        if claim.shown and claim.verdict.status is Status.VERIFIED
        for citation in claim.citations
        if citation.start >= 0 and (citation.verdict is None or citation.verdict.status is Status.VERIFIED)
    )


def write_cases(path: Path, cases: Mapping[str, Case], gone: Collection[str]) -> WrittenCases:
    """Updates a case file: each of ``cases`` once, as it is now; lines with ``gone`` ids removed."""
    try:
        text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read: {error}", hint="name a file with one JSON object per line"
        ) from error
    # Not splitlines: a question may contain characters that are line ends in Unicode but not in JSON.
    lines = text.removesuffix("\n").split("\n") if text else []
    written = {name: msgspec.json.encode(case).decode() for name, case in cases.items()}
    missing, kept, changed = dict(written), [], 0
    for number, line in enumerate(lines, 1):
        name, said = _given(line, number, path)
        if name in gone:
            continue
        if name in cases:
            missing.pop(name, None)
            if said != json.loads(written[name]):
                line, changed = written[name], changed + 1
        kept.append(line)
    removed = len(lines) - len(kept)
    kept += missing.values()
    if missing or changed or removed:
        try:
            replace_file(path, "".join(f"{line}\n" for line in kept).encode())
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error}", hint="choose another file") from error
    already = len(cases) - len(missing) - changed
    return WrittenCases(path=str(path), added=len(missing), already=already, changed=changed, removed=removed)


def _given(line: str, number: int, path: Path) -> tuple[str, Any]:
    """(id, the case as written in the line); ("", None) for a blank line."""
    try:
        said = json.loads(line) if line.strip() else None
        return ("", None) if said is None else (str(said["id"]), said)
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(
            f"{path}, line {number} is not a case",
            hint="name a file with one JSON object per line, each with an id",
        ) from error

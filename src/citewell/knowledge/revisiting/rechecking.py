"""Checks past answers against today's documents: do their citations and claims still hold, and who is
notified when a document is recalled?

In: records, today's documents, the verifier, the reads in the log. Out: a :class:`Recheck` of each answer,
its citations SAME, MOVED, CHANGED or GONE, with a new verdict on claims whose cited text changed; a
:class:`Notice` of a recall for its recipients, sealed in the log. Knows nothing about how an answer is made.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from citewell.audit.entries import UNREADABLE, EntryKind
from citewell.audit.keys import asker
from citewell.core.errors import EvidenceError
from citewell.core.records import (
    AuditRecord,
    Citation,
    Claim,
    Document,
    Record,
    Standing,
    Status,
    Supersession,
    Verdict,
)
from citewell.core.sentences import line_span, sentence_spans
from citewell.documents.supersession import find_superseded

if TYPE_CHECKING:
    from citewell.audit import Log
    from citewell.documents.evidence.sqlite import SqliteEvidence
    from citewell.verification.verifier import Verifier

_ALIKE = 0.5
"""Minimum similarity (difflib's ratio) for a line to count as the same line, changed."""
_SURE_WORDS = 5
"""A quote of at least this many words is matched anywhere; a shorter one only within its line."""


class Resolution(StrEnum):
    """SAME: the quote is where it was. MOVED: elsewhere in today's version, in the same sentence. CHANGED:
    its line exists but says something else, with or without the quote, or is no longer in force. GONE:
    withdrawn, erased, or no such line."""

    SAME = "SAME"
    MOVED = "MOVED"
    CHANGED = "CHANGED"
    GONE = "GONE"


class CurrentCitation(Record, frozen=True, kw_only=True):
    """One citation resolved; ``text`` is its line in ``version``, ``[start, end)`` the quote, or the whole
    line if CHANGED. ``around``: the sentence is unchanged, but its line changed or cannot be compared."""

    document_id: str
    cited_version: str
    quote: str
    resolution: Resolution
    version: str = ""
    start: int = -1
    end: int = -1
    text: str = ""
    reason: str = ""
    around: bool = False


class ClaimToday(Record, frozen=True, kw_only=True):
    """``holds``: verified by what its citations say today; None when its text is erased or it cited nothing.
    ``now`` is a new verdict where something changed."""

    text: str
    then: Status
    holds: bool | None
    citations: tuple[CurrentCitation, ...]
    now: Verdict | None = None


class Recheck(Record, frozen=True, kw_only=True):
    """One answer today. ``holds``: every claim that was verified still is."""

    request_id: str
    timestamp: str
    holds: bool
    counts: dict[str, int]
    claims: tuple[ClaimToday, ...]

    @property
    def outcome(self) -> str:
        return "holds" if self.holds else "does not hold"


class Notice(Record, frozen=True, kw_only=True):
    """The recall notice for those who received an answer that relied on the document.

    ``user`` is the asker ("" if unnamed or erased), ``readers`` are those who viewed the record later.
    ``text`` is the message.
    """

    request_id: str
    timestamp: str
    user: str
    session_id: str
    readers: tuple[str, ...]
    document_id: str
    reason: str
    question: str
    recheck: Recheck
    text: str


class Revisiting:
    """Resolves citations against the documents as they are now; each document is read once."""

    def __init__(
        self,
        evidence: SqliteEvidence,
        verifier: Verifier,
        day: str = "",
        sees: Callable[[Iterable[str]], bool] = lambda acl: True,
        counts: Callable[[Supersession], bool] = lambda one: True,
    ) -> None:
        """``day``: today, as an ISO date. Text superseded on that day counts as changed, if the superseding
        document is one that the caller ``sees`` and the supersession ``counts``."""
        self._evidence, self._verifier, self._day, self._sees = evidence, verifier, day, sees
        self._counts = counts
        self._listed = {entry.document_id: entry for entry in evidence.catalogue()}
        self._latest: dict[str, Document | EvidenceError] = {}
        self._then: dict[tuple[str, str], str] = {}

    def recheck(self, record: AuditRecord, *, without: str = "") -> Recheck:
        """``without`` is a document that may no longer be relied on, whatever it says today."""
        claims = tuple(self._claim(record, claim, without) for claim in record.claims)
        found = [today.resolution.value for claim in claims for today in claim.citations]
        return Recheck(
            request_id=record.request_id,
            timestamp=record.timestamp,
            holds=all(claim.holds is not False for claim in claims if claim.then is Status.VERIFIED),
            counts={name: found.count(name) for name in dict.fromkeys(found)},
            claims=claims,
        )

    def _claim(self, record: AuditRecord, claim: Claim, without: str) -> ClaimToday:
        # An answer about a past date stays right, whatever came later.
        day = str(record.parameters.get("as_of") or self._day)
        cited = tuple(self.today(c, without, day) for c in claim.citations if c.start >= 0)
        told = ClaimToday(text=claim.text, then=claim.verdict.status, holds=None, citations=cited)
        if not cited or claim.text in UNREADABLE:
            return told
        kept = {Resolution.SAME, Resolution.MOVED}
        if all(today.resolution in kept and not today.around for today in cited):
            return msgspec.structs.replace(told, holds=claim.verdict.status is Status.VERIFIED)
        texts = [today.text for today in cited if today.resolution is not Resolution.GONE and today.text]
        verdict = self._verifier.verify(
            claim.text,
            list(dict.fromkeys(texts)),
            context=record.user_query,
            antecedent=claim.antecedent,
        )
        return msgspec.structs.replace(told, now=verdict, holds=verdict.status is Status.VERIFIED)

    def today(self, citation: Citation, without: str = "", day: str = "") -> CurrentCitation:
        """Resolves one located citation against today's documents, including whether it is in force on
        ``day``, by default today; judges no claim."""
        told = CurrentCitation(
            document_id=citation.document_id,
            cited_version=citation.document_version,
            quote=citation.quote,
            resolution=Resolution.GONE,
        )
        listed = self._listed.get(citation.document_id)
        if without and citation.document_id == without:
            return msgspec.structs.replace(told, reason="the document may no longer be relied on")
        if listed is not None and listed.state == "withdrawn":
            return msgspec.structs.replace(told, reason=f"withdrawn: {listed.reason}".rstrip(": "))
        document = self._document(citation)
        if isinstance(document, EvidenceError):
            return msgspec.structs.replace(told, reason=str(document))
        placed = self._placed(citation, document, told)
        return self._in_force(placed, day or self._day)

    def _in_force(self, placed: CurrentCitation, day: str) -> CurrentCitation:
        """CHANGED if a span that still exists is superseded; its text is then the superseding statement."""
        if placed.resolution not in (Resolution.SAME, Resolution.MOVED):
            return placed
        for one in find_superseded(self._evidence, [placed.document_id]):
            met = placed.start < one.end and one.start < placed.end and placed.version == one.what_version
            seen = not one.by or self._sees(self._evidence.access([one.by]).get(one.by) or ())
            if (
                day
                and met
                and seen
                and self._counts(one)
                and one.holds(day)
                and one.standing is not Standing.EARLY
            ):
                text = ""
                if one.by:
                    document = self._evidence.get(one.by_version, one.by)
                    text = document.text[one.source_start : one.source_end]
                    if not one.section:
                        text = _likest(document.text, placed.text)[0]
                by = f" by {one.by}" if one.by else ""
                since = f" since {one.from_date}" if one.from_date else ""
                return msgspec.structs.replace(
                    placed,
                    resolution=Resolution.CHANGED,
                    text=text,
                    reason=f"not in force{since}: {one.standing.value}{by}",
                )
        return placed

    def _placed(self, citation: Citation, document: Document, told: CurrentCitation) -> CurrentCitation:
        """Locates the quote in today's version; a quote whose sentence changed counts as CHANGED, wherever
        it is."""
        text, quote, start = document.text, citation.quote, citation.start
        told = msgspec.structs.replace(told, version=document.version)
        same = document.version == citation.document_version
        then = "" if same else self._text_then(citation)
        old = _line(then, start, citation.end)
        there = text[start : citation.end] == quote
        at = start if there else _find(text, quote, old, start)
        if at >= 0:
            end = at + len(quote)
            line = _line(text, at, end)
            if same or not then or _sentences(text, at, end) == _sentences(then, start, citation.end):
                return msgspec.structs.replace(
                    told,
                    resolution=Resolution.SAME if there else Resolution.MOVED,
                    start=at,
                    end=end,
                    text=line,
                    around=not same and line != old,
                    reason="" if same or then else "the cited version cannot be read",
                )
            at = text.rfind("\n", 0, at) + 1
        else:
            line, at = _likest(text, old or quote)
        if not line:
            return msgspec.structs.replace(told, reason="the newest version has nothing similar")
        return msgspec.structs.replace(
            told, resolution=Resolution.CHANGED, start=at, end=at + len(line), text=line
        )

    def _document(self, citation: Citation) -> Document | EvidenceError:
        """Today's version; caller-supplied text only ever has one."""
        key = citation.document_id
        if key not in self._latest:
            try:
                found = self._evidence.latest(key) if key in self._listed else None
                self._latest[key] = found or self._evidence.get(citation.document_version, key)
            except EvidenceError as error:
                self._latest[key] = error
        return self._latest[key]

    def _text_then(self, citation: Citation) -> str:
        """The cited version's text, "" when it cannot be read; cached."""
        key = (citation.document_version, citation.document_id)
        if key not in self._then:
            try:
                self._then[key] = self._evidence.get(*key).text
            except EvidenceError:
                self._then[key] = ""
        return self._then[key]


def _line(text: str, start: int, end: int) -> str:
    """The paragraphs or table rows that contain a span: whole lines of canonical text."""
    begins, ends = line_span(text, start, end)
    return text[begins:ends]


def _sentences(text: str, start: int, end: int) -> str:
    """The sentences of its line that a span overlaps, with white space normalised, as line breaks may
    differ."""
    begins, ends = line_span(text, start, end)
    line = text[begins:ends]
    met = [line[a:b] for a, b in sentence_spans(line) if begins + a < end and start < begins + b]
    return " ".join(" ".join(met).split())


def _find(text: str, quote: str, line: str, near: int) -> int:
    """The quote's offset now: within its old line, else anywhere if it is long enough; -1 if not found."""
    if line and quote in line:
        at = _nearest(text, line, near)
        if at >= 0:
            return at + line.index(quote)
    return _nearest(text, quote, near) if len(quote.split()) >= _SURE_WORDS else -1


def _nearest(text: str, words: str, near: int) -> int:
    before = text.rfind(words, 0, near + len(words))
    after = text.find(words, near)
    found = [at for at in (before, after) if at >= 0]
    return min(found, key=lambda at: abs(at - near)) if found else -1


def _likest(text: str, words: str) -> tuple[str, int]:
    """The run of lines most similar to ``words``, as many as it has, and its offset; ("", -1) for none."""
    best, likest, place = _ALIKE, "", -1
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(words)
    lines, count = text.split("\n"), words.count("\n") + 1
    at = 0
    for number in range(len(lines)):
        window = "\n".join(lines[number : number + count])
        matcher.set_seq1(window)
        quick = matcher.real_quick_ratio() >= best and matcher.quick_ratio() >= best
        if window and quick and (ratio := matcher.ratio()) >= best:
            best, likest, place = ratio, window, at
        at += len(lines[number]) + 1
    return likest, place


def notice_of(
    record: AuditRecord, found: Recheck, document_id: str, reason: str, readers: tuple[str, ...]
) -> Notice:
    fallen = [claim.text for claim in found.claims if claim.then == "VERIFIED" and claim.holds is False]
    told = [
        f"On {record.timestamp[:10]} you asked: {record.user_query}",
        f"The answer ({record.request_id}) relied on {document_id}, which has been recalled"
        f"{f': {reason}' if reason else ''}.",
        "No longer supported: " + " | ".join(fallen)
        if fallen
        else "The answer is still supported by other documents.",
    ]
    return Notice(
        request_id=record.request_id,
        timestamp=record.timestamp,
        user="" if record.user in UNREADABLE else record.user,
        session_id="" if record.session_id in UNREADABLE else record.session_id,
        readers=readers,
        document_id=document_id,
        reason=reason,
        question=record.user_query,
        recheck=found,
        text="\n".join(told),
    )


def seal_notice(log: Log, notice: Notice) -> None:
    body = {
        "request_id": notice.request_id,
        "document_id": notice.document_id,
        "outcome": notice.recheck.outcome,
        "resolutions": notice.recheck.counts,
        "reason": notice.reason,
        "notice": notice.text,
    }
    # Under the asker's key: the notice repeats their question.
    log.note(EntryKind.RECALL, body, subject=asker(notice.user, notice.session_id))


def readers_of(log: Log) -> dict[str, tuple[str, ...]]:
    """Request -> named, unerased people who were shown its record, alone or on a page. Exports are logged by
    their query alone, so they do not count."""
    found: dict[str, dict[str, None]] = {}
    for entry in log.entries(EntryKind.READ):
        if entry.body is None or not entry.subject:
            continue
        body = log.body(entry)
        looked = (body.get(what, "") for what in ("show", "receipt", "replay", "recheck"))
        alone = [request for request in looked if request not in ("", "all")]
        for request in (*alone, *(one["request_id"] for one in body.get("seen", ()))):
            found.setdefault(str(request), {})[log.keys.name(entry.subject)] = None
    return {request: tuple(name for name in names if name) for request, names in found.items()}

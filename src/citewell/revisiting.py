"""Past answers, looked at again: do their citations stand today, do their claims, do they come out the same?

In: records, today's documents, the verifier, a pass that can be rehearsed. Out: a :class:`Recheck` of each
citation (SAME, MOVED, CHANGED, GONE) with a new verdict where its words changed; a :class:`Replay` that
compares bit by bit. Another release, processor or configuration is named beside a replay: then a difference
proves nothing. Knows nothing about logs and about how an answer is made.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from citewell.answering.finding import MORE, SEARCHED_ALSO
from citewell.answering.questioning import HYPOTHESISED, WITHOUT
from citewell.config import Config
from citewell.errors import EvidenceError
from citewell.identity import plain
from citewell.records import (
    AuditRecord,
    Citation,
    Claim,
    Document,
    Draft,
    DraftClaim,
    Maker,
    Passage,
    Quote,
    Record,
    RetrievalResult,
    Status,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from citewell.evidence.catalogue import CatalogueEntry

_ALIKE = 0.5
"""Share of a line that must have stayed for it to be the same line, changed (difflib's ratio)."""
_SURE_WORDS = 5
"""A quote of so many words stands for itself wherever it is found; a shorter one needs its line."""


class Resolution(StrEnum):
    """SAME: the words stand where they stood. MOVED: elsewhere in today's version. CHANGED: their line is
    there and says something else. GONE: withdrawn, erased, or no such line."""

    SAME = "SAME"
    MOVED = "MOVED"
    CHANGED = "CHANGED"
    GONE = "GONE"


class Today(Record, frozen=True, kw_only=True):
    """One citation resolved; ``text`` is the line that stands for it in ``version`` at ``[start, end)``."""

    document_id: str
    cited_version: str
    quote: str
    resolution: Resolution
    version: str = ""
    start: int = -1
    end: int = -1
    text: str = ""
    reason: str = ""


class ClaimToday(Record, frozen=True, kw_only=True):
    """``holds``: whether it is verified by what its citations say today; None when its words are erased or it
    cited nothing. ``now`` is a new verdict where something changed."""

    text: str
    then: Status
    holds: bool | None
    citations: tuple[Today, ...]
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


class Evidence(Protocol):
    """Of :class:`citewell.evidence.sqlite.SqliteEvidence`, what this needs."""

    def get(self, version: str, document_id: str = "") -> Document: ...

    def latest(self, document_id: str) -> Document | None: ...

    def catalogue(self) -> list[CatalogueEntry]: ...


class Judging(Protocol):
    """Of the verifier, what this needs."""

    def verify(self, claim_text: str, evidence_texts: Sequence[str], *, context: str = "") -> Verdict: ...


class Revisiting:
    """Resolves citations against the documents as they are now; each document is read once."""

    def __init__(self, evidence: Evidence, verifier: Judging) -> None:
        self._evidence, self._verifier = evidence, verifier
        self._listed = {entry.document_id: entry for entry in evidence.catalogue()}
        self._latest: dict[str, Document | EvidenceError] = {}

    def recheck(self, record: AuditRecord, *, without: str = "") -> Recheck:
        """``without`` is a document that must not be leaned on any more, whatever it says today."""
        claims = tuple(self._claim(record, claim, without) for claim in record.claims)
        found = [today.resolution.value for claim in claims for today in claim.citations]
        return Recheck(
            request_id=record.request_id,
            timestamp=record.timestamp,
            holds=all(claim.holds is not False for claim in claims if claim.then is Status.VERIFIED),
            counts={name: found.count(name) for name in dict.fromkeys(found)},
            claims=claims,
        )

    def today(self, citation: Citation) -> Today:
        """Where the words of one located citation stand now; nothing is judged anew."""
        return self._today(citation, "")

    def _claim(self, record: AuditRecord, claim: Claim, without: str) -> ClaimToday:
        cited = tuple(self._today(c, without) for c in claim.citations if c.start >= 0)
        told = ClaimToday(text=claim.text, then=claim.verdict.status, holds=None, citations=cited)
        if not cited or _erased(claim.text):
            return told
        if all(today.resolution in {Resolution.SAME, Resolution.MOVED} for today in cited):
            return msgspec.structs.replace(told, holds=claim.verdict.status is Status.VERIFIED)
        texts = [today.text for today in cited if today.resolution is not Resolution.GONE]
        verdict = self._verifier.verify(claim.text, list(dict.fromkeys(texts)), context=record.user_query)
        return msgspec.structs.replace(told, now=verdict, holds=verdict.status is Status.VERIFIED)

    def _today(self, citation: Citation, without: str) -> Today:
        told = Today(
            document_id=citation.document_id,
            cited_version=citation.document_version,
            quote=citation.quote,
            resolution=Resolution.GONE,
        )
        listed = self._listed.get(citation.document_id)
        if without and citation.document_id == without:
            return msgspec.structs.replace(told, reason="the document is not to be leaned on any more")
        if listed is not None and listed.state == "withdrawn":
            return msgspec.structs.replace(told, reason=f"withdrawn: {listed.reason}".rstrip(": "))
        document = self._document(citation)
        if isinstance(document, EvidenceError):
            return msgspec.structs.replace(told, reason=str(document))
        return self._placed(citation, document, told)

    def _placed(self, citation: Citation, document: Document, told: Today) -> Today:
        start, end = citation.start, citation.end
        if document.text[start:end] == citation.quote:
            line = _line(document.text, start, end)
            return msgspec.structs.replace(
                told, resolution=Resolution.SAME, version=document.version, start=start, end=end, text=line
            )
        old = self._line_then(citation)
        at = _find(document.text, citation.quote, old, start)
        if at >= 0:
            end = at + len(citation.quote)
            line = _line(document.text, at, end)
            return msgspec.structs.replace(
                told, resolution=Resolution.MOVED, version=document.version, start=at, end=end, text=line
            )
        line, at = _likest(document.text, old or citation.quote)
        if not line:
            return msgspec.structs.replace(told, version=document.version, reason="no line of it is left")
        return msgspec.structs.replace(
            told,
            resolution=Resolution.CHANGED,
            version=document.version,
            start=at,
            end=at + len(line),
            text=line,
        )

    def _document(self, citation: Citation) -> Document | EvidenceError:
        """Today's version; a text that a caller handed in has one version for ever."""
        key = citation.document_id
        if key not in self._latest:
            try:
                found = self._evidence.latest(key) if key in self._listed else None
                self._latest[key] = found or self._evidence.get(citation.document_version, key)
            except EvidenceError as error:
                self._latest[key] = error
        return self._latest[key]

    def _line_then(self, citation: Citation) -> str:
        """The line of the cited version around the quote, "" when that version cannot be read."""
        try:
            text = self._evidence.get(citation.document_version, citation.document_id).text
        except EvidenceError:
            return ""
        return _line(text, citation.start, citation.end)


def _erased(text: str) -> bool:
    from citewell.audit.bodies import ERASED

    return text == ERASED


def _line(text: str, start: int, end: int) -> str:
    """The paragraphs or table rows that a span stands in: whole lines of canonical text."""
    begins = text.rfind("\n", 0, start) + 1
    ends = text.find("\n", end)
    return text[begins : ends if ends >= 0 else len(text)]


def _find(text: str, quote: str, line: str, near: int) -> int:
    """Where the quote stands now: in its own line, else alone when it is long; -1 when it does not."""
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
    """As many lines as ``words`` has that are most like it, and where they begin; ("", -1) when none are."""
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


# --- replay -----------------------------------------------------------------------------------------


class Replay(Record, frozen=True, kw_only=True):
    """``same`` says whether retrieval, claims, verdicts, confidence and decision came out with the same bits.

    ``elsewhere`` names what is not as it was when the record was made: the reasons why ``same`` may be False.
    ``compared`` are the parts of the record that were looked at.
    """

    request_id: str
    index_version: str
    same: bool
    compared: tuple[str, ...]
    differences: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


RETRIEVED = ("index_version", "retrieval_results")
JUDGED = ("claims",)
WHOLE = (
    *RETRIEVED,
    *JUDGED,
    "conflicts",
    "missing",
    "confidence_report",
    "response_decision",
    "shown_response",
)
"""What a writer that says the same again lets be compared."""


def _not_held(record: AuditRecord) -> list[str]:
    """Searches that the record does not hold, so that nobody can repeat them."""
    reasons = []
    if HYPOTHESISED in record.latency_ms and f"{HYPOTHESISED}: {WITHOUT}" not in record.notes:
        reasons.append("it was searched with words of a language model, which no record holds")
    if MORE in record.latency_ms and SEARCHED_ALSO not in record.parameters:
        reasons.append("it was searched for missing aspects, which this record does not hold")
    return reasons


def replay(
    record: AuditRecord,
    again: Callable[[AuditRecord], AuditRecord],
    *,
    compared: Sequence[str],
    config: Config,
    environment: Mapping[str, str],
) -> Replay:
    """``again`` makes the record anew on its index version. Raises UsageError when that is no longer kept."""
    other = again(record)
    differences = [
        difference
        for part in compared
        for difference in _differences(part, plain(getattr(record, part)), plain(getattr(other, part)))
    ]
    elsewhere = [
        f"{name} was {record.environment.get(name, 'not recorded')}, is {value}"
        for name, value in environment.items()
        if record.environment.get(name) != value
    ]
    if record.config_hash != config.hash:
        elsewhere.append(f"the configuration was {record.config_hash}, is {config.hash}")
    elsewhere += [
        f"{maker.name} {maker.hash} is not among today's makers"
        for maker in record.makers
        if maker not in other.makers
    ]
    elsewhere += _not_held(record)
    return Replay(
        request_id=record.request_id,
        index_version=record.index_version,
        same=not differences,
        compared=tuple(compared),
        differences=tuple(differences),
        elsewhere=tuple(elsewhere),
    )


def drafted(record: AuditRecord) -> Draft:
    """What was written, as far as the record tells: each claim with the quotes it gave, not those found
    for it afterwards."""
    end = max((claim.answer_end for claim in record.claims), default=0)
    text = [" "] * end
    for claim in record.claims:
        length = claim.answer_end - claim.answer_start
        text[claim.answer_start : claim.answer_end] = claim.text[:length].ljust(length)
    claims = tuple(
        DraftClaim(
            text=claim.text,
            start=claim.answer_start,
            end=claim.answer_end,
            quotes=tuple(_quoted(citation) for citation in claim.citations if citation.mode == "generated"),
            kind=claim.kind,
            aspect=claim.aspect,
            answers=claim.answers,
        )
        for claim in record.claims
    )
    maker = Maker(name=record.generation_model, prompt_hash=record.generation_prompt_hash)
    return Draft(text="".join(text), raw=record.generated_response, claims=claims, maker=maker)


def _quoted(citation: Citation) -> Quote:
    located = citation.start >= 0
    return Quote(
        source=citation.chunk_id,
        text=citation.quote,
        start=citation.start if located else None,
        end=citation.end if located else None,
    )


def result_of(passage: Passage, *, used: bool) -> RetrievalResult:
    """A passage as a record has it."""
    return RetrievalResult(
        chunk_id=passage.chunk.chunk_id,
        document_id=passage.chunk.document_id,
        document_version=passage.chunk.document_version,
        similarity_score=passage.similarity,
        reranker_score=passage.relevance,
        was_used_in_generation=used,
    )


def _differences(where: str, then: Any, now: Any) -> list[str]:
    """Each place at which two values part, in words."""
    if isinstance(then, dict) and isinstance(now, dict) and then.keys() == now.keys():
        return [d for key in then for d in _differences(f"{where}.{key}", then[key], now[key])]
    if isinstance(then, list | tuple) and isinstance(now, list | tuple):
        told = [f"{where}: {len(then)} then, {len(now)} now"] if len(then) != len(now) else []
        pairs = enumerate(zip(then, now, strict=False), 1)
        return told + [d for place, pair in pairs for d in _differences(f"{where} {place}", *pair)]
    return [] if then == now and type(then) is type(now) else [f"{where} was {then!r}, is {now!r}"]

"""The domain's frozen value types, in pipeline order. Field names are also those of the public JSON.

Offsets are Unicode code points into a document version's canonical text, half open ``[start, end)``.
Pages are physical and start at 1. Probabilities lie in [0, 1]; ``None`` means not measured. One file despite
its length: every name in the JSON can be looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every value: immutable, compared by content, convertible by ``identity.plain``."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How a notebook without HTML shows it: as ``print`` does."""
        printer.text(str(self))


class Maker(Record, frozen=True, kw_only=True):
    """What produced a number: a model with its file hash, or exact code with its version."""

    name: str
    hash: str = ""
    prompt_hash: str = ""
    threshold: float | None = None
    card: str = ""


class Measure(Record, frozen=True, kw_only=True):
    """A value and the number of items it was computed from; ``value`` is None if nothing was measured.
    ``maker`` is "" if nothing was measured, ``note`` if nothing is missing."""

    value: float | None
    n: int
    maker: str = ""
    note: str = ""


# --- documents ----------------------------------------------------------------------------------


class Section(Record, frozen=True, kw_only=True):
    """``path`` from the outermost heading inwards; the range covers the heading and its body."""

    path: tuple[str, ...]
    start: int
    end: int


class Page(Record, frozen=True, kw_only=True):
    """Width and height in PDF points (1/72 inch)."""

    number: int
    start: int
    end: int
    width: float
    height: float


class Box(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A text range and the rectangle that it occupies: PDF points, origin at the bottom left. ``confidence``
    is that of the OCR engine that read it, in [0, 1]; None for text of the file itself."""

    start: int
    end: int
    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    confidence: float | None = None


def read_by_ocr(confidences: Iterable[float | None]) -> str:
    """What must be said of words in boxes of these confidences: "read by OCR (confidence .93)", with the
    lowest; "" where all is text of the file itself."""
    read = [one for one in confidences if one is not None]
    return f"read by OCR (confidence {min(read):.2f})".replace(" 0.", " .") if read else ""


class Cell(Record, frozen=True, kw_only=True):
    """One value of a table row and the head of its column ("" if the table has none)."""

    start: int
    end: int
    head: str


class Row(Record, frozen=True, kw_only=True):
    """One line of a table; ``label`` is its first cell's text, ``cells`` are the others.

    A first cell that extends down from a row above is also the label of this one: it is written once, at
    ``label_start`` in the document's text, outside ``[start, end)``; -1 if the row has its own label.
    ``group`` names the label rows above it ("Current assets"), outermost first, joined by " › ".
    """

    start: int
    end: int
    label: str
    cells: tuple[Cell, ...]
    group: str = ""
    label_start: int = -1


class Table(Record, frozen=True, kw_only=True):
    """Rows in reading order. ``units`` as printed: "In millions, except per share data"."""

    start: int
    end: int
    title: str
    units: str
    rows: tuple[Row, ...]


class TableExtent(Record, frozen=True, kw_only=True):
    """A table, of which a chunk may hold a part: ``rows`` counts all its rows. ``whole``: it has no other
    lines, and no other table of the document looks like a part of it."""

    start: int
    end: int
    rows: int
    title: str = ""
    whole: bool = True


class Found(Record, frozen=True, kw_only=True):
    """A metadata value and its origin: ``metadata``, ``metadata: modified`` (the day it was saved),
    ``front matter``, ``first page``, ``first page: period end`` (of a filing)... A ``guess`` was read from
    running text: it is shown, but not used for ordering or filtering."""

    value: str
    origin: str
    guess: bool = False


class Document(Record, frozen=True, kw_only=True):
    """One version of one source. ``text`` is NFC; ``version`` hashes the bytes it came from.

    Paragraphs are one line each, separated by newlines; the cells of a table row are separated by
    tabs, one line per row. ``incomplete`` lists the pages whose print is not all in the text; ``headers``
    are a mail's header fields, as (name, value), in order. ``expires_at`` is the last day on which it is in
    force; ``replaces`` are ids or titles of other documents, as named in its front matter;
    ``supersedes`` is the version before this one.
    """

    document_id: str
    version: str
    text: str
    text_hash: str
    reader: str
    media_type: str
    uri: str = ""
    title: Found | None = None
    author: Found | None = None
    language: Found | None = None
    published_at: Found | None = None
    effective_at: Found | None = None
    expires_at: Found | None = None
    signed_at: Found | None = None
    edition: Found | None = None
    replaces: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    pages: tuple[Page, ...] = ()
    boxes: tuple[Box, ...] = ()
    tables: tuple[Table, ...] = ()
    acl: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    ingested_at: str = ""
    supersedes: str = ""
    caller_supplied: bool = False
    incomplete: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()

    def boxes_in(self, start: int, end: int) -> tuple[Box, ...]:
        """The rectangles that overlap ``text[start:end]``."""
        return tuple(box for box in self.boxes if box.start < end and start < box.end)

    @property
    def dated(self) -> str:
        """The date it is ordered by: published, else effective, else signed; "" if only guessed."""
        known = (self.published_at, self.effective_at, self.signed_at)
        return next((found.value for found in known if found is not None and not found.guess), "")


class Standing(StrEnum):
    """Why part of a document is not in force: DELETED or REPLACED by a statement in another document, an
    older EDITION, EXPIRED, or not yet in force (EARLY)."""

    DELETED = "deleted"
    REPLACED = "replaced"
    EDITION = "edition"
    EXPIRED = "expired"
    EARLY = "early"


class Supersession(Record, frozen=True, kw_only=True):
    """``what[start:end]`` is not in force from ``from_date`` until before ``until``, "" for an open end; ISO
    dates. ``section`` is its name in the statement, () for the whole document. The statement, with the new
    wording if any, is ``by[source_start:source_end]``; ``by`` is "" if only a date ends it."""

    standing: Standing
    what: str
    what_version: str
    start: int
    end: int
    section: tuple[str, ...] = ()
    from_date: str = ""
    until: str = ""
    by: str = ""
    by_version: str = ""
    source_start: int = 0
    source_end: int = 0

    def holds(self, day: str) -> bool:
        """Whether the place is out of force on this ISO date."""
        return self.from_date <= day and not (self.until and day >= self.until)


# --- chunks and passages ------------------------------------------------------------------------


class Chunk(Record, frozen=True, kw_only=True):
    """A stretch of a document: ``content == document.text[start_offset:end_offset]``, always.

    ``context`` (document title, section, table title, units, column heads) is embedded and shown,
    never part of ``content``. ``parent_start`` and ``parent_end`` bound the section it belongs to. ``tables``
    are those it touches.
    """

    chunk_id: str
    document_id: str
    document_version: str
    start_offset: int
    end_offset: int
    content: str
    context: str = ""
    section_path: tuple[str, ...] = ()
    parent_id: str = ""
    parent_start: int = 0
    parent_end: int = 0
    previous_id: str = ""
    next_id: str = ""
    page: int | None = None
    rows: tuple[Row, ...] = ()
    tables: tuple[TableExtent, ...] = ()
    title: str = ""
    author: str = ""
    published_at: str = ""
    acl: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    ingested_at: str = ""

    @property
    def in_context(self) -> str:
        """What is embedded, indexed and shown to a ranker: the content under its context."""
        return f"{self.context}\n{self.content}" if self.context else self.content


class Likeliest(Record, frozen=True, kw_only=True):
    """The stretch of a passage most likely to answer, ``[start, end)`` in the document, and the answer
    check's probability that it does: below the threshold, it only says where to look."""

    start: int
    end: int
    answers: float


class Passage(Record, frozen=True, kw_only=True):
    """A retrieved chunk. ``similarity`` is the best dense cosine, ``fused`` the RRF sum,
    ``relevance`` the ranker's calibrated probability that it answers the question, ``answers`` the answer
    check's probability for its likeliest sentence, if that is above the threshold."""

    chunk: Chunk
    similarity: float | None = None
    fused: float | None = None
    relevance: float | None = None
    answers: float | None = None
    likeliest: Likeliest | None = None
    relevant: bool = False
    used: bool = False
    set_aside: str = ""


# --- drafts, claims, verdicts -------------------------------------------------------------------


class Quote(Record, frozen=True, kw_only=True):
    """What a writer says it read: the text and, if known, its offsets in the document."""

    source: str
    text: str = ""
    start: int | None = None
    end: int | None = None


class Cited(Record, frozen=True, kw_only=True):
    """A quote that supports ``[answer_start, answer_end)`` of an answer written elsewhere."""

    answer_start: int
    answer_end: int
    quote: Quote


class Kind(StrEnum):
    """The basis of a claim: a source, a conclusion from sources, or nothing."""

    CITED = "cited"
    INFERENCE = "inference"
    UNSUPPORTED = "unsupported"


class DraftClaim(Record, frozen=True, kw_only=True):
    """One statement of a draft and the evidence committed to before it.

    ``reasoning`` is set for an inference; a ``fragment`` has no verb and answers only with its question.
    ``antecedent`` is what the statement refers back to in the answer ("Its founders ..."); it is not
    evidence. ``answers`` is the extractor's probability that it answers ``aspect``; None if it was chosen by
    exact code or by a language model that gives no probability.
    """

    text: str
    start: int
    end: int
    quotes: tuple[Quote, ...] = ()
    kind: Kind = Kind.CITED
    aspect: str = ""
    answers: float | None = None
    reasoning: str = ""
    fragment: bool = False
    antecedent: str = ""


class TokenUsage(Record, frozen=True, kw_only=True):
    """Tokens that a language model used; 0 if none wrote."""

    prompt: int = 0
    completion: int = 0
    total: int = 0


class Draft(Record, frozen=True, kw_only=True):
    """What a generator wrote. ``text`` is what would be shown; claims are offsets into it. ``sources``: the
    passages it was shown, None for all passages of the request."""

    text: str
    raw: str
    claims: tuple[DraftClaim, ...]
    maker: Maker
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    deterministic: bool = False
    usage: TokenUsage = TokenUsage()
    cost: float | None = None
    sources: tuple[Passage, ...] | None = None


class Status(StrEnum):
    """The status of a claim or citation; only VERIFIED passes."""

    VERIFIED = "VERIFIED"
    UNSUPPORTED = "UNSUPPORTED"
    CONTRADICTED = "CONTRADICTED"
    BROKEN = "BROKEN"
    UNCHECKED = "UNCHECKED"


class Label(StrEnum):
    """The most probable of the entailer's three classes."""

    ENTAILMENT = "ENTAILMENT"
    NEUTRAL = "NEUTRAL"
    CONTRADICTION = "CONTRADICTION"


class Proof(StrEnum):
    """How a claim was verified: exact code (verbatim, numeric, computed: arithmetic over cited cells,
    done again), the entailer, or a person."""

    VERBATIM = "verbatim"
    NUMERIC = "numeric"
    COMPUTED = "computed"
    ENTAILED = "entailed"
    HUMAN = "human"


class Failure(StrEnum):
    """How a citation fails: in no source, stitched together, in another source, or combined without basis."""

    FABRICATED = "fabricated"
    SPLICED = "spliced"
    MISATTRIBUTED = "misattributed"
    SYNTHESISED = "synthesised"


class Entailment(Record, frozen=True, kw_only=True):
    """Three probabilities that sum to 1; ``unchecked`` is the reason when there are none. ``read`` of the
    text's ``units`` (sentences or rows) were read; both are 0 for a model that reads all of it. ``voices``:
    the members of a panel behind these probabilities; ``weighed``: they are combined by fitted weights."""

    entailment: float | None
    neutral: float | None
    contradiction: float | None
    unchecked: str = ""
    read: int = 0
    units: int = 0
    voices: tuple[Voice, ...] = ()
    weighed: bool = False

    @staticmethod
    def without(reason: str) -> Entailment:
        """An entailment that could not be judged, for this reason."""
        return Entailment(entailment=None, neutral=None, contradiction=None, unchecked=reason)


class Voice(Record, frozen=True, kw_only=True):
    """The verdict of one member of a panel."""

    maker: Maker
    said: Entailment


class Verdict(Record, frozen=True, kw_only=True):
    """``support`` is the calibrated probability, at equal priors, that the evidence supports the
    claim: 0.5 is its threshold. ``entailment`` and ``contradiction`` are the entailer's own."""

    status: Status
    reason: str
    maker: Maker
    label: Label | None = None
    proof: Proof | None = None
    support: float | None = None
    entailment: float | None = None
    contradiction: float | None = None
    failure: Failure | None = None


class Citation(Record, frozen=True, kw_only=True):
    """Two-ended: ``[start, end)`` in the document version, ``[answer_start, answer_end)`` in the
    answer. ``document.text[start:end] == quote`` unless the verdict is BROKEN (then -1, -1)."""

    chunk_id: str
    document_id: str
    document_version: str
    start: int
    end: int
    quote: str
    answer_start: int
    answer_end: int
    mode: str = "generated"
    section_path: tuple[str, ...] = ()
    page: int | None = None
    boxes: tuple[Box, ...] = ()
    verdict: Verdict | None = None
    resolution: str = ""

    @property
    def ocr(self) -> str:
        """As :func:`read_by_ocr` says it of the rectangles that the quote touches."""
        return read_by_ocr(box.confidence for box in self.boxes)


class Claim(Record, frozen=True, kw_only=True):
    """An atomic statement of the answer; its verdict rolls up its citations'. ``answers`` is as drafted;
    ``antecedent`` is what it refers back to in the answer ("Its founders ...")."""

    text: str
    kind: Kind
    answer_start: int
    answer_end: int
    verdict: Verdict
    citations: tuple[Citation, ...] = ()
    shown: bool = True
    aspect: str = ""
    answers: float | None = None
    reasoning: str = ""
    antecedent: str = ""


# --- confidence, answer, trace, record ----------------------------------------------------------


class Decision(StrEnum):
    """What the asker gets: all of it, what is supported, or a refusal with its reason."""

    ANSWER = "ANSWER"
    PARTIAL = "PARTIAL"
    ABSTAIN = "ABSTAIN"


class ConfidenceReport(Record, frozen=True, kw_only=True):
    """Four components, each with its n; ``overall`` is their mean with ``weights`` renormalised over
    what was measured (None if nothing was). ``card_note`` says why the calibration ``card`` in use is
    stale, "" if it is not."""

    retrieval_score: Measure
    coverage_score: Measure
    entailment_score: Measure
    consistency_score: Measure
    weights: dict[str, float]
    overall: float | None
    hallucination_gap: Measure
    decision: Decision
    reasons: tuple[str, ...] = ()
    card: str = ""
    card_note: str = ""


class Conflict(Record, frozen=True, kw_only=True):
    """Sources that disagree: on what, and each side's citation with its date, version and rank, the one the
    owner trusts most first. ``ranks`` is empty if all are equal. With a ``supersession``, the first side is
    not in force, and the second, if any, is in force instead."""

    about: str
    sides: tuple[Citation, ...]
    dates: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    supersession: Supersession | None = None


class Stage(Record, frozen=True, kw_only=True):
    """One step of a pass: its time, what the embedded models read for it (a read is 256 tokens through the
    small encoder) and its notes (fallbacks, skips, retries, counts)."""

    name: str
    latency_ms: float
    notes: tuple[str, ...] = ()
    reads: float = 0.0


class Trace(Record, frozen=True, kw_only=True):
    """What happened in one request. ``eval_grounded``: every claim is verified; ``eval_complete``: nothing is
    missing; None if there was no check. ``failure_reason`` is "" or a code like ``relevance_gate_failed``."""

    session_id: str
    request_id: str
    timestamp: str
    query: str
    retrieved_chunks: tuple[str, ...] = ()
    retrieval_scores: tuple[float | None, ...] = ()
    relevance_gate_passed: bool | None = None
    generated_response: str = ""
    eval_grounded: bool | None = None
    eval_complete: bool | None = None
    final_returned: str = ""
    failure_reason: str = ""
    stages: tuple[Stage, ...] = ()
    flags: tuple[str, ...] = ()


class _Issued:
    """What issues an answer's receipt. A slot, not a field: part of neither its JSON nor its equality."""

    __slots__ = ("_issue",)
    _issue: Callable[..., Any]


class Answer(_Issued, Record, frozen=True, kw_only=True):
    """What the asker gets; one from a knowledge base can issue its receipt. ``asked_as`` is a follow-up
    question rewritten to be self-contained; empty if it was not. An abstention lists the places that came
    ``nearest``, which are not verified as answers."""

    request_id: str
    session_id: str
    question: str
    text: str
    claims: tuple[Claim, ...]
    passages: tuple[Passage, ...]
    confidence: ConfidenceReport
    decision: Decision
    missing: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    trace: Trace | None = None
    record_hash: str = ""
    asked_as: str = ""
    nearest: tuple[Citation, ...] = ()

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from citewell.core.display import answer_html

        return answer_html(self)

    def __str__(self) -> str:
        from citewell.core.display import answer_text

        return answer_text(self)

    def issued_by(self, issue: Callable[..., Any]) -> Answer:
        """The same answer, with its receipts issued by ``issue``."""
        answer = msgspec.structs.replace(self)
        _Issued.__dict__["_issue"].__set__(answer, issue)
        return answer

    def receipt(self, **options: Any) -> Any:
        """The :class:`citewell.audit.receipts.Receipt` of this answer; see ``issue`` for the options.

        Raises ValueError for an answer that was read from JSON: ask the knowledge base for it by id.
        """
        issue = getattr(self, "_issue", None)
        if issue is None:
            raise ValueError(
                "this answer was read from JSON and does not know its log;"
                " use KnowledgeBase.audit.receipt(request_id)"
            )
        return issue(self.request_id, **options)


EXTERNAL = "external"
"""The record parameter of an answer that another system wrote; its value says how it was passed on."""


class RetrievalResult(Record, frozen=True, kw_only=True):
    """One passage as kept in a record: cosine, the ranker's probability in [0, 1], and where an answer is
    likeliest."""

    chunk_id: str
    document_id: str
    document_version: str
    similarity_score: float | None
    reranker_score: float | None
    was_used_in_generation: bool
    likeliest: Likeliest | None = None

    @staticmethod
    def of(passage: Passage) -> RetrievalResult:
        return RetrievalResult(
            chunk_id=passage.chunk.chunk_id,
            document_id=passage.chunk.document_id,
            document_version=passage.chunk.document_version,
            similarity_score=passage.similarity,
            reranker_score=passage.relevance,
            was_used_in_generation=passage.used,
            likeliest=passage.likeliest,
        )


class Streamed(Record, frozen=True, kw_only=True):
    """A claim as it was shown before its verdict was final, with its number in the stream; ``withdrawn`` is
    why it was taken back, "" if it was not."""

    number: int
    text: str
    status: Status
    withdrawn: str = ""


class AuditRecord(Record, frozen=True, kw_only=True):
    """The full record of one question, abstentions and errors included; ``makers`` names each model and its
    hash. ``parameters`` are those of the question (filters, top_k, pool, runs), for a replay; ``looked_into``
    among them lists the documents that retrieval and its notes name. ``latency_ms`` and ``reads`` are by
    stage, with their ``total``; what was read for an earlier question is not counted again.
    """

    request_id: str
    timestamp: str
    user: str
    session_id: str
    user_query: str
    query_embedding_model: str
    index_version: str
    config_hash: str
    retrieval_results: tuple[RetrievalResult, ...]
    generation_model: str
    generation_prompt_hash: str
    generated_response: str
    shown_response: str
    claims: tuple[Claim, ...]
    confidence_report: ConfidenceReport | None
    response_decision: str
    missing: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    failure_reason: str = ""
    error: str = ""
    makers: tuple[Maker, ...] = ()
    parameters: dict[str, Any] = {}
    environment: dict[str, str] = {}
    latency_ms: dict[str, float] = {}
    reads: dict[str, float] = {}
    token_usage: TokenUsage = TokenUsage()
    cost: float | None = None
    notes: tuple[str, ...] = ()
    streamed: tuple[Streamed, ...] = ()


# --- cases ----------------------------------------------------------------------------------------


class CaseSpan(Record, frozen=True, kw_only=True):
    """Words that a correct answer rests on, exactly as in the document's canonical text."""

    document: str
    quote: str


class Case(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a case file: a question and its correct outcome.

    ``abstain`` is why the documents cannot answer ("" if they can); ``groups`` are the asker's groups;
    ``reviewed`` is the reviewer ("" if not yet reviewed).
    """

    id: str
    question: str
    expected: str = ""
    spans: tuple[CaseSpan, ...] = ()
    abstain: str = ""
    tags: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    reviewed: str = ""


def to_json(value: Any) -> bytes:
    """Compact JSON of a record for output; for hashing use ``identity.canonical_json``."""
    return msgspec.json.encode(value)

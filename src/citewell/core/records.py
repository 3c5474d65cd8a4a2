"""The domain's values, frozen, in the order of the flow. Field names are the public JSON too.

Offsets are Unicode code points into a document version's canonical text, half open ``[start, end)``.
Pages are physical and start at 1. Probabilities lie in [0, 1]; ``None`` means not measured. One file, long as
it is: whoever reads the JSON looks up every name here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every value: immutable, compared by content, convertible by ``identity.plain``."""


class Maker(Record, frozen=True, kw_only=True):
    """What produced a number: a model with its file hash, or exact code with its version."""

    name: str
    hash: str = ""
    prompt_hash: str = ""
    threshold: float | None = None
    card: str = ""


class Measure(Record, frozen=True, kw_only=True):
    """A value with how many it was made from; ``value`` is None when nothing was measured. ``maker`` is ""
    when nobody measured, ``note`` when nothing is missing."""

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
    """A text range and the rectangle it stands in: PDF points, origin at the bottom left. ``confidence`` is
    that of the OCR engine that read it off a picture, its own number from 0 to 1; None for text of the file
    itself."""

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
    """One value of a table row and the head of its column ("" when the table has none)."""

    start: int
    end: int
    head: str


class Row(Record, frozen=True, kw_only=True):
    """One line of a table; ``label`` is its first cell's text, ``cells`` are the others.

    A first cell that reaches down from a row above is the label of this one too: it is written once, at
    ``label_start`` of the document's text, outside ``[start, end)``; -1 where the label is the row's own.
    ``group`` names the label rows it stands under ("Current assets", outermost first, by " › ").
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


class Found(Record, frozen=True, kw_only=True):
    """A metadata value and where it was read: ``metadata``, ``metadata: modified`` (the day it was saved),
    ``front matter``, ``first page``, ``first page: period end`` (of a filing)... A ``guess`` was read out of
    running text: it is shown, and nothing is ordered or filtered by it."""

    value: str
    origin: str
    guess: bool = False


class Document(Record, frozen=True, kw_only=True):
    """One version of one source. ``text`` is NFC; ``version`` hashes the bytes it came from.

    Paragraphs are one line each, separated by newlines; the cells of a table row are separated by
    tabs, one line per row. ``incomplete`` names the pages on which more is printed than the text holds;
    ``headers`` are a mail's own fields, as (name, value), in their order. ``expires_at`` is the last day on
    which it holds; ``replaces`` are ids or titles of other documents, as its front matter names them;
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

    @property
    def dated(self) -> str:
        """The day that orders it among others: published, else in effect, else signed; "" for a guess."""
        known = (self.published_at, self.effective_at, self.signed_at)
        return next((found.value for found in known if found is not None and not found.guess), "")


class Standing(StrEnum):
    """Why a place of a document is not in force: DELETED or REPLACED by a statement of another document, an
    older EDITION, EXPIRED, or not in force yet (EARLY)."""

    DELETED = "deleted"
    REPLACED = "replaced"
    EDITION = "edition"
    EXPIRED = "expired"
    EARLY = "early"


class Supersession(Record, frozen=True, kw_only=True):
    """``what[start:end]`` is not in force from ``from_date`` on and before ``until``, "" for an open end; ISO
    dates. ``section`` is what it is called in the statement, () for the whole document. The statement stands
    in ``by[source_start:source_end]`` with the new words, if any; ``by`` is "" where a date alone ends it."""

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
    never part of ``content``. ``parent_start`` and ``parent_end`` bound the section it belongs to.
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
    """The stretch of a passage that most probably answers, ``[start, end)`` in the document, and the answer
    check's probability that it does: under its border it only says where to look."""

    start: int
    end: int
    answers: float


class Passage(Record, frozen=True, kw_only=True):
    """A retrieved chunk. ``similarity`` is the best dense cosine, ``fused`` the RRF sum,
    ``relevance`` the ranker's calibrated probability that it answers the question, ``answers`` that of the
    answer check for the likeliest of its sentences, where one is over its border."""

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
    """A quote that stands behind ``[answer_start, answer_end)`` of somebody else's answer."""

    answer_start: int
    answer_end: int
    quote: Quote


class Kind(StrEnum):
    """How a claim came to be: from a source, by a conclusion, or with nothing behind it."""

    CITED = "cited"
    INFERENCE = "inference"
    UNSUPPORTED = "unsupported"


class DraftClaim(Record, frozen=True, kw_only=True):
    """One statement of a draft and the evidence committed to before it.

    ``reasoning`` is an inference's own; a ``fragment`` has no verb and answers only with its question.
    ``antecedent`` is what the statement leans on in the answer ("Its founders ..."): no evidence for it.
    ``answers`` is the extractor's probability that it answers ``aspect``; None where none was given: exact
    code chose it, or a language model that gives none.
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
    """What a generator wrote. ``text`` is what would be shown; claims lie inside it by offsets. ``sources``:
    the passages it was shown, None for all that the request had."""

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
    """How a citation fails: in no source, stitched together, in another source, or joined by nothing."""

    FABRICATED = "fabricated"
    SPLICED = "spliced"
    MISATTRIBUTED = "misattributed"
    SYNTHESISED = "synthesised"


class Entailment(Record, frozen=True, kw_only=True):
    """Three probabilities that sum to 1; ``unchecked`` is the reason when there are none. Of the
    text's ``units``, sentences or rows, ``read`` were read; both are 0 from a model that reads all of it.
    ``voices``: of a panel, whose words these are; ``weighed``: they count together, by what was fitted to
    them."""

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
    claim: 0.5 is its border. ``entailment`` and ``contradiction`` are the entailer's own."""

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
    """An atomic statement of the answer; its verdict rolls up its citations'. ``answers`` as drafted;
    ``antecedent`` is what it leans on ("Its founders ..."), as it stood in the answer."""

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
    """Four components, each with its n; ``overall`` is their mean by ``weights`` renormalised over
    what was measured (None when nothing was). ``card_note`` says why the calibration ``card`` in use is
    stale, "" when it is not."""

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
    """Sources that disagree: what about, and each side's citation with its date, version and rank: what the
    keeper trusts most comes first. ``ranks`` are empty where all are the same. With a
    ``supersession`` the first side is not in force, and the second, if any, is what holds instead."""

    about: str
    sides: tuple[Citation, ...]
    dates: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    supersession: Supersession | None = None


class Stage(Record, frozen=True, kw_only=True):
    """One step of a pass: its time, what the embedded models read for it (a read is 256 tokens through the
    small encoder) and what it has to say (fallbacks, skips, retries, counts)."""

    name: str
    latency_ms: float
    notes: tuple[str, ...] = ()
    reads: float = 0.0


class Trace(Record, frozen=True, kw_only=True):
    """What happened in one request. ``eval_grounded``: every claim is verified; ``eval_complete``: nothing is
    missing; None where it came to no check. ``failure_reason`` is "" or as ``relevance_gate_failed``."""

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
    """Whoever gives an answer's receipt. A slot and no field: no part of its JSON or of its equality."""

    __slots__ = ("_issue",)
    _issue: Callable[..., Any]


class Answer(_Issued, Record, frozen=True, kw_only=True):
    """What the asker gets; one that came of a knowledge base can give its receipt. ``asked_as`` is a
    follow-up as it was rewritten to stand alone; empty when it was not. An abstention names the places that
    came ``nearest``, which nobody verified to answer."""

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

    def issued_by(self, issue: Callable[..., Any]) -> Answer:
        """The same answer, whose receipt comes from ``issue``."""
        answer = msgspec.structs.replace(self)
        _Issued.__dict__["_issue"].__set__(answer, issue)
        return answer

    def receipt(self, **options: Any) -> Any:
        """The :class:`citewell.audit.receipts.Receipt` of this answer; see ``issue`` for the options.

        Raises ValueError for an answer that was read from JSON: then ask the knowledge base by its id.
        """
        issue = getattr(self, "_issue", None)
        if issue is None:
            raise ValueError(
                "this answer was read from JSON and does not know its log;"
                " use KnowledgeBase.audit.receipt(request_id)"
            )
        return issue(self.request_id, **options)


EXTERNAL = "external"
"""In a record's parameters: another system wrote the answer; how it was passed on."""


class RetrievalResult(Record, frozen=True, kw_only=True):
    """One passage as a record keeps it: cosine, the ranker's probability in [0, 1], and where an answer is
    likeliest."""

    chunk_id: str
    document_id: str
    document_version: str
    similarity_score: float | None
    reranker_score: float | None
    was_used_in_generation: bool
    likeliest: Likeliest | None = None


class Streamed(Record, frozen=True, kw_only=True):
    """A claim as it was shown before its verdict was final, under its number in the stream; ``withdrawn`` is
    why it was taken back, "" where it stands."""

    number: int
    text: str
    status: Status
    withdrawn: str = ""


class AuditRecord(Record, frozen=True, kw_only=True):
    """The chain of one ask, abstentions and errors too; ``makers`` names each model and its hash.

    ``parameters`` are what the question was asked with (filters, top_k, pool, runs), for a replay;
    ``looked_into`` in them are the documents that retrieval and its notes name. ``latency_ms`` and ``reads``
    are by stage, with their ``total``; what was read for an earlier question costs no read again.
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
    """Words of a document that a right answer rests on, exactly as its canonical text has them."""

    document: str
    quote: str


class Case(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a case file: a question and its right outcome.

    ``abstain`` is the reason why the documents cannot answer ("" if they can); ``groups`` are the groups of
    the asker; ``reviewed`` is the reviewer ("" if not yet reviewed).
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

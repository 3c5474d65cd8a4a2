"""Values of what is written and checked: drafts, claims, citations, verdicts."""

from __future__ import annotations

from enum import StrEnum

from citewell.core.records.documents import Box, Maker, Passage, Record, read_by_ocr


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

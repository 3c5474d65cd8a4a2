"""The few Protocols through which stages use models and stores. One method each where possible.

Implementations are chosen only in :mod:`citewell.knowledge.assembly`. Every model names its ``maker``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from citewell.core.records import (
    Chunk,
    Document,
    Draft,
    Entailment,
    Maker,
    Passage,
    Quote,
    Record,
    TokenUsage,
    Trace,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"
"""Only named here: importing a port loads no library."""


class Embedder(Protocol):
    """Texts -> vectors whose dot product is their cosine."""

    maker: Maker
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape (len(texts), dimension), in the order of ``texts``."""
        ...


class Ranker(Protocol):
    """Which passages answer the question, not which are about its topic."""

    maker: Maker

    def rank(self, question: str, passages: Sequence[str]) -> list[float]:
        """Calibrated probability, in [0, 1], that each passage answers ``question``."""
        ...


class Extraction(Record, frozen=True, kw_only=True):
    """A candidate answer: offsets into the given passage, and its probability."""

    start: int
    end: int
    probability: float


class Reading(Record, frozen=True, kw_only=True):
    """Candidates best first, and the probability that the passage holds no answer."""

    candidates: tuple[Extraction, ...]
    no_answer: float


class Extractor(Protocol):
    """Where in a passage the answer is, if it is there."""

    maker: Maker

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """One reading per passage, in order; probabilities in [0, 1], offsets in code points."""
        ...


class Requote(Record, frozen=True, kw_only=True):
    """A claim that the sources support although none contains its quote, and words that one does contain."""

    claim: str
    quote: Quote


class GenerationRequest(Record, frozen=True, kw_only=True):
    """What a writer may see. On the single retry, ``strict`` lists claims that failed and must stay out,
    ``requote`` those that failed only because of their quote."""

    question: str
    aspects: tuple[str, ...]
    passages: tuple[Passage, ...]
    strict: tuple[str, ...] = ()
    requote: tuple[Requote, ...] = ()
    seed: int = 0


class Generator(Protocol):
    """Passages -> a draft: what would be shown, with the evidence that each claim was written from."""

    maker: Maker

    def generate(self, request: GenerationRequest) -> Draft:
        """Raises :class:`citewell.core.errors.GeneratorError`."""
        ...


class Form(StrEnum):
    """How a language model is made to state evidence before claims, strongest first."""

    GRAMMAR = "grammar"
    NATIVE = "native"
    SCHEMA = "schema"
    INLINE = "inline"


class SourceText(Record, frozen=True, kw_only=True):
    """A source passed as a separate document, for providers that produce citations themselves."""

    title: str
    context: str
    text: str


class Prompted(Record, frozen=True, kw_only=True):
    """One request to a language model. ``schema`` is JSON schema; ``grammar`` is in ``dialect``, "lark" as
    llguidance reads it or "gbnf"."""

    system: str
    user: str
    schema: dict[str, Any] | None = None
    grammar: str = ""
    dialect: str = "lark"
    sources: tuple[SourceText, ...] = ()
    temperature: float = 0.1
    seed: int = 0
    max_tokens: int = 2048


class Pointer(Record, frozen=True, kw_only=True):
    """A provider's own citation: characters ``[start, end)`` of the ``source``-th text, counted from 0."""

    source: int
    start: int
    end: int
    text: str


class Segment(Record, frozen=True, kw_only=True):
    """A stretch of a completion and what its provider cites for it."""

    text: str
    pointers: tuple[Pointer, ...] = ()


class Completion(Record, frozen=True, kw_only=True):
    """A language model's response. ``segments`` join to ``text``; ``whole`` is False when it was cut off;
    ``refused`` is True when the provider declined. ``cost`` is in the currency of the configured prices.
    ``served`` is the model name that the server reports, "" if it reports none."""

    text: str
    segments: tuple[Segment, ...] = ()
    usage: TokenUsage = TokenUsage()
    cost: float | None = None
    whole: bool = True
    refused: bool = False
    calls: int = 1
    served: str = ""
    notes: tuple[str, ...] = ()


class LanguageModel(Protocol):
    """One model of one provider; ``forms`` are those it can be constrained to, strongest first."""

    maker: Maker
    forms: tuple[Form, ...]

    def complete(self, prompted: Prompted, emit: Callable[[Completion], None] | None = None) -> Completion:
        """``emit`` is called repeatedly with the text so far; after a retry, that text is shorter again.

        Raises :class:`citewell.core.errors.GeneratorError`; FormRefusedError for a schema or grammar that the
        server rejects."""
        ...


class Entailer(Protocol):
    """Does a claim follow from a text? It shares no weights with whatever wrote the claim."""

    maker: Maker

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """One result per (premise, claim); a premise may have any length. ``read`` and ``units`` say how much
        of it was read."""
        ...


class Candidate(Record, frozen=True, kw_only=True):
    """A possible answer to a question: ``text`` under its title and headings, the ``reader``'s probability
    that it answers, and the ``ranker``'s that its passage does."""

    text: str
    reader: float
    ranker: float


class AnswerCheck(Protocol):
    """Does a text answer a question, true quotes or not? By :meth:`answers` it does from ``border`` up, which
    ``maker.threshold`` repeats for the record; by :meth:`weigh` from ``least`` up."""

    maker: Maker
    border: float
    least: float

    def answers(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (text, question), the probability in [0, 1] that the text answers the question."""
        ...

    def weigh(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """For each candidate, the probability in [0, 1] that it answers, from all three probabilities."""
        ...

    def says(self, question: str, text: str) -> str:
        """Which of "Yes." and "No." the text surely gives as the answer to the question; "" for neither."""
        ...


class Sufficiency(StrEnum):
    """Do the passages hold an answer? UNCHECKED does not pass."""

    SUFFICIENT = "SUFFICIENT"
    INSUFFICIENT = "INSUFFICIENT"
    UNCHECKED = "UNCHECKED"


class GateVerdict(Record, frozen=True, kw_only=True):
    """A judge's verdict on the passages, and the reason. ``usage``, ``cost`` and ``notes`` describe the call
    to its model; a ``cost`` of None is unknown."""

    verdict: Sufficiency
    reason: str
    maker: Maker
    usage: TokenUsage = TokenUsage()
    cost: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Only SUFFICIENT passes."""
        return self.verdict is Sufficiency.SUFFICIENT


class GateJudge(Protocol):
    """A model that judges, before anything is written, whether the passages suffice."""

    maker: Maker

    def sufficient(self, question: str, passages: Sequence[Passage]) -> GateVerdict:
        """Never raises for a model's failure: the verdict is then UNCHECKED, with the reason."""
        ...


class Evaluation(Record, frozen=True, kw_only=True):
    """A judge's verdict on an answer. ``unchecked`` is the reason if its reply could not be read;
    ``usage``, ``cost`` and ``notes`` as in :class:`GateVerdict`."""

    grounded: bool | None
    complete: bool | None
    reasoning: str
    maker: Maker
    unchecked: str = ""
    usage: TokenUsage = TokenUsage()
    cost: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the judge answered both questions with yes."""
        return self.grounded is True and self.complete is True


class AnswerJudge(Protocol):
    """A model that judges the answer as a whole, in addition to the verdicts on its claims."""

    maker: Maker

    def evaluate(self, question: str, answer: str, passages: Sequence[Passage]) -> Evaluation:
        """Never raises for a model's failure: ``unchecked`` then has the reason."""
        ...


class Hit(Record, frozen=True, kw_only=True):
    """A chunk and the cosine of each dense view and BM25 score that found it (absent = not found)."""

    chunk: Chunk
    scores: dict[str, float]


class ListedDocument(Record, frozen=True, kw_only=True):
    """A document as listed in the index."""

    document_id: str
    document_version: str
    title: str
    published_at: str


class EvidenceStore(Protocol):
    """Keeps document versions and caller-supplied text for ever."""

    def put(self, document: Document) -> None: ...

    def get(self, version: str, document_id: str = "") -> Document:
        """Raises :class:`citewell.core.errors.EvidenceError` if it is missing or its hash does not match."""
        ...


class TraceStore(Protocol):
    """What happened in each request, for inspection only: traces prove nothing, and a power cut may lose the
    last ones."""

    def put(self, trace: Trace) -> None:
        """Stores the trace of a request, replacing an earlier one."""
        ...

    def session(self, session_id: str) -> list[Trace]:
        """The traces of a session, oldest first; none for an unknown session."""
        ...

    def between(self, first: str, last: str) -> list[Trace]:
        """The newest 100 traces of the sessions from id ``first`` to id ``last``, inclusive, newest first."""
        ...

    def get(self, request_id: str) -> Trace | None:
        """The trace of one request."""
        ...

    def flag(self, request_id: str, flags: tuple[str, ...]) -> bool:
        """Sets the flags that a trace shows; False if the request has no trace."""
        ...


class Clock(Protocol):
    def now(self) -> datetime: ...

"""Ways to notice a claim that its sources do not support, measured on labelled claims.

In: claims with their sources and a label, and detectors. Out: for each detector how many unsupported claims
it catches and on how many supported ones it raises an alarm, with n and exact intervals; what it cannot judge
is unscored, never a pass. Thresholds are fixed before: nothing is fitted here. Knows nothing about pipelines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from citewell.core.config import Verification
from citewell.core.ports import Embedder, Entailer
from citewell.core.records import Record
from citewell.core.sentences import sentence_spans
from citewell.evaluation.intervals import rate
from citewell.evaluation.labelled import LabelledClaim
from citewell.evaluation.results import Result
from citewell.verification.evidence import ClaimEvidence, as_evidence
from citewell.verification.verifier import Verifier
from citewell.verification.words import overlap

OVERLAP, COSINE, SUPPORT = 0.3, 0.8, 0.5
"""Borders under which a claim is taken for unsupported; the first two as the field uses them."""
_WINDOW_CHARS, _WINDOW_STEP = 1_200, 1_000
"""A source longer than an embedder reads is embedded in pieces; the nearest one counts."""


class DetectorResult(Record, frozen=True, kw_only=True):
    """``caught`` of the unsupported claims, ``alarms`` on the supported ones."""

    detector: str
    border: float
    caught: Result
    alarms: Result


class DetectorReport(Record, frozen=True, kw_only=True):
    """One data set."""

    data: str
    n: int
    supported: int
    detectors: tuple[DetectorResult, ...]
    notes: tuple[str, ...] = ()


class Detector(Protocol):
    """``border``: under it a claim is taken for unsupported."""

    @property
    def name(self) -> str: ...

    @property
    def maker(self) -> str: ...

    @property
    def border(self) -> float: ...

    def support(self, rows: Sequence[LabelledClaim]) -> list[float | None]:
        """How far the sources hold each claim, by this detector's own measure; None where it cannot say."""
        ...


def measure(
    rows: Sequence[LabelledClaim], detectors: Iterable[Detector], *, data: str = "", notes: Sequence[str] = ()
) -> DetectorReport:
    """Every detector over the same rows."""
    results = []
    for detector in detectors:
        values = detector.support(rows)
        alarmed = [None if value is None else value < detector.border for value in values]
        unsupported = [a for a, row in zip(alarmed, rows, strict=True) if not row.supported]
        supported = [a for a, row in zip(alarmed, rows, strict=True) if row.supported]
        results.append(
            DetectorResult(
                detector=detector.name,
                border=detector.border,
                caught=rate("caught", unsupported, detector.maker),
                alarms=rate("false_alarms", supported, detector.maker),
            )
        )
    return DetectorReport(
        data=data,
        n=len(rows),
        supported=sum(row.supported for row in rows),
        detectors=tuple(results),
        notes=tuple(notes),
    )


# --- detectors ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WordOverlap:
    """Share of the claim's content words that the sources hold."""

    border: float = OVERLAP
    name: str = "word overlap"
    maker: str = "exact words"

    def support(self, rows: Sequence[LabelledClaim]) -> list[float | None]:
        return [
            overlap(row.claim, "\n".join(row.sources)) if row.claim.strip() and any(row.sources) else None
            for row in rows
        ]


@dataclass(frozen=True)
class Cosine:
    """Cosine of the claim with the nearest piece of a source."""

    embedder: Embedder
    border: float = COSINE
    name: str = "embedding cosine"

    @property
    def maker(self) -> str:
        return self.embedder.maker.name

    def support(self, rows: Sequence[LabelledClaim]) -> list[float | None]:
        return [self._one(row) for row in rows]

    def _one(self, row: LabelledClaim) -> float | None:
        pieces = [piece for source in row.sources for piece in _pieces(source)]
        if not row.claim.strip() or not pieces:
            return None
        vectors = self.embedder.embed([row.claim, *pieces])
        return float((vectors[1:] @ vectors[0]).max())


@dataclass(frozen=True)
class Verified:
    """The whole verifier, as ``citewell verify`` runs it: the probability that the claim, sentence by
    sentence, is supported."""

    entailer: Entailer
    border: float = SUPPORT
    name: str = "verifier"
    settings: Verification | None = None

    @property
    def maker(self) -> str:
        return self.entailer.maker.name

    def support(self, rows: Sequence[LabelledClaim]) -> list[float | None]:
        verifier = Verifier(self.entailer, self.settings or Verification())
        judged = (verifier.verify_many(_sentences(row)) for row in rows)
        return [_least([verdict.support for verdict in verdicts]) for verdicts in judged]


@dataclass(frozen=True)
class JudgedBy:
    """A model behind the entailer's port, asked the whole claim at once: a hosted judge."""

    judge: Entailer
    border: float = SUPPORT
    name: str = "judge"

    @property
    def maker(self) -> str:
        return self.judge.maker.name

    def support(self, rows: Sequence[LabelledClaim]) -> list[float | None]:
        found = self.judge.entail([("\n\n".join(row.sources), row.claim) for row in rows])
        return [one.entailment for one in found]


def _sentences(row: LabelledClaim) -> list[ClaimEvidence]:
    """Each sentence of the claim under all of its sources."""
    evidence = tuple(as_evidence(source) for source in row.sources)
    return [
        ClaimEvidence(claim=row.claim[start:end], evidence=evidence, context=row.question)
        for start, end in sentence_spans(row.claim)
    ]


def _least(values: Sequence[float | None]) -> float | None:
    """A claim of several sentences is supported as much as its least supported one."""
    known = [value for value in values if value is not None]
    return min(known) if known and len(known) == len(values) else None


def _pieces(text: str) -> list[str]:
    if not text.strip():
        return []
    return [text[at : at + _WINDOW_CHARS] for at in range(0, max(1, len(text) - 200), _WINDOW_STEP)]

"""Detectors of unsupported claims, measured on labelled claims.

In: claims with their sources and a label, and detectors. Out: for each detector, the share of unsupported
claims caught and of false alarms on supported ones, with n and exact intervals; what it cannot judge is
unscored, never a pass. Thresholds are preset: nothing is fitted here. Knows nothing about pipelines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from citewell.core.config import Verification
from citewell.core.display import InTables, Row
from citewell.core.ports import Embedder, Entailer
from citewell.core.records import Record
from citewell.core.sentences import sentence_spans
from citewell.evaluation.cases import LabelledClaim
from citewell.evaluation.intervals import rate
from citewell.evaluation.results import MeasureResult
from citewell.verification.evidence import ClaimEvidence, as_evidence
from citewell.verification.verifier import Verifier
from citewell.verification.words import overlap

OVERLAP, COSINE, SUPPORT = 0.3, 0.8, 0.5
"""Thresholds below which a claim counts as unsupported; the first two as commonly used."""
_WINDOW_CHARS, _WINDOW_STEP = 1_200, 1_000
"""A source too long for the embedder is embedded in pieces; the nearest one counts."""


class Detector(NamedTuple):
    """``support``: the detector's own score of a claim's support, None where it cannot judge. Below
    ``border``, a claim counts as unsupported."""

    name: str
    maker: str
    border: float
    support: Callable[[LabelledClaim], float | None]


class DetectorResult(Record, frozen=True, kw_only=True):
    """``caught``: share of unsupported claims flagged; ``alarms``: of supported ones."""

    detector: str
    border: float
    caught: MeasureResult
    alarms: MeasureResult


class DetectorReport(InTables, Record, frozen=True, kw_only=True):
    """Results on one data set."""

    data: str
    n: int
    supported: int
    detectors: tuple[DetectorResult, ...]

    def _tables(self) -> tuple[str, Sequence[Sequence[Row]]]:
        rows = [
            (
                f"{one.detector} < {one.border:g}",
                *one.caught.cells,
                *one.alarms.cells,
                str(one.caught.unscored + one.alarms.unscored or ""),
            )
            for one in self.detectors
        ]
        head = ("Detector", "Caught", "95 % interval", "False alarms", "95 % interval", "Unscored")
        return f"{self.n} claims, {self.supported} supported", ([head, *rows],)


def measure(
    rows: Sequence[LabelledClaim], detectors: Iterable[Detector], *, data: str = ""
) -> DetectorReport:
    """Runs every detector over the same rows."""
    results = []
    for detector in detectors:
        alarmed: dict[bool, list[bool | None]] = {True: [], False: []}
        for row in rows:
            value = detector.support(row)
            alarmed[row.supported].append(None if value is None else value < detector.border)
        results.append(
            DetectorResult(
                detector=detector.name,
                border=detector.border,
                caught=rate("caught", alarmed[False], detector.maker),
                alarms=rate("false_alarms", alarmed[True], detector.maker),
            )
        )
    supported = sum(row.supported for row in rows)
    return DetectorReport(data=data, n=len(rows), supported=supported, detectors=tuple(results))


def word_overlap() -> Detector:
    """Share of the claim's content words found in the sources."""

    def support(row: LabelledClaim) -> float | None:
        told = row.claim.strip() and any(row.sources)
        return overlap(row.claim, "\n".join(row.sources)) if told else None

    return Detector("word overlap", "exact words", OVERLAP, support)


def cosine(embedder: Embedder) -> Detector:
    """Cosine similarity of the claim and the nearest piece of a source."""

    def support(row: LabelledClaim) -> float | None:
        pieces = [
            source[at : at + _WINDOW_CHARS]
            for source in row.sources
            if source.strip()
            for at in range(0, max(1, len(source) - 200), _WINDOW_STEP)
        ]
        if not row.claim.strip() or not pieces:
            return None
        vectors = embedder.embed([row.claim, *pieces])
        return float((vectors[1:] @ vectors[0]).max())

    return Detector("embedding cosine", embedder.maker.name, COSINE, support)


def verified(entailer: Entailer, settings: Verification = Verification()) -> Detector:
    """The whole verifier, as ``citewell verify`` runs it: the support of the claim's least supported
    sentence."""
    verifier = Verifier(entailer, settings)

    def support(row: LabelledClaim) -> float | None:
        evidence = tuple(as_evidence(source) for source in row.sources)
        sentences = [
            ClaimEvidence(claim=row.claim[start:end], evidence=evidence, context=row.question)
            for start, end in sentence_spans(row.claim)
        ]
        values = [verdict.support for verdict in verifier.verify_many(sentences)]
        known = [value for value in values if value is not None]
        return min(known) if known and len(known) == len(values) else None

    return Detector("verifier", entailer.maker.name, SUPPORT, support)


def judge_detector(judge: Entailer) -> Detector:
    """Any model behind the entailer's port, such as a hosted judge, asked about the whole claim at once."""

    def support(row: LabelledClaim) -> float | None:
        return judge.entail([("\n\n".join(row.sources), row.claim)])[0].entailment

    return Detector("judge", judge.maker.name, SUPPORT, support)

"""Ways to notice a claim that its sources do not support, measured on labelled claims.

In: claims with their sources and a label, and detectors. Out: for each detector how many unsupported claims
it catches and on how many supported ones it raises an alarm, with n and exact intervals; what it cannot judge
is unscored, never a pass. Thresholds are fixed before: nothing is fitted here. Knows nothing about pipelines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from citewell.core.config import Verification
from citewell.core.ports import Embedder, Entailer
from citewell.core.records import Record
from citewell.core.sentences import sentence_spans
from citewell.evaluation.cases import LabelledClaim
from citewell.evaluation.intervals import rate
from citewell.evaluation.results import Result
from citewell.verification.evidence import ClaimEvidence, as_evidence
from citewell.verification.verifier import Verifier
from citewell.verification.words import overlap

OVERLAP, COSINE, SUPPORT = 0.3, 0.8, 0.5
"""Borders under which a claim is taken for unsupported; the first two as the field uses them."""
_WINDOW_CHARS, _WINDOW_STEP = 1_200, 1_000
"""A source longer than an embedder reads is embedded in pieces; the nearest one counts."""


class Detector(NamedTuple):
    """``support``: how far the sources hold each claim, by its own measure; None where it cannot say. Under
    ``border`` a claim is taken for unsupported."""

    name: str
    maker: str
    border: float
    support: Callable[[Sequence[LabelledClaim]], Sequence[float | None]]


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


def measure(
    rows: Sequence[LabelledClaim], detectors: Iterable[Detector], *, data: str = ""
) -> DetectorReport:
    """Every detector over the same rows."""
    results = []
    for detector in detectors:
        alarmed: dict[bool, list[bool | None]] = {True: [], False: []}
        for row, value in zip(rows, detector.support(rows), strict=True):
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
    """Share of the claim's content words that the sources hold."""

    def support(row: LabelledClaim) -> float | None:
        told = row.claim.strip() and any(row.sources)
        return overlap(row.claim, "\n".join(row.sources)) if told else None

    return Detector("word overlap", "exact words", OVERLAP, lambda rows: [support(row) for row in rows])


def cosine(embedder: Embedder) -> Detector:
    """Cosine of the claim with the nearest piece of a source."""

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

    return Detector(
        "embedding cosine", embedder.maker.name, COSINE, lambda rows: [support(row) for row in rows]
    )


def verified(entailer: Entailer, settings: Verification = Verification()) -> Detector:
    """The whole verifier, as ``citewell verify`` runs it: the probability that the claim, sentence by
    sentence, is supported. It is supported as much as its least supported sentence."""
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

    return Detector("verifier", entailer.maker.name, SUPPORT, lambda rows: [support(row) for row in rows])


def judged_by(judge: Entailer) -> Detector:
    """A model behind the entailer's port, asked the whole claim at once: a hosted judge."""

    def support(rows: Sequence[LabelledClaim]) -> list[float | None]:
        found = judge.entail([("\n\n".join(row.sources), row.claim) for row in rows])
        return [one.entailment for one in found]

    return Detector("judge", judge.maker.name, SUPPORT, support)

"""Claims with a score and a label, and the units that a promise counts: one an answer, for each proof.

In: labelled claims, records of rehearsed cases, people's labels. Out: :class:`Scored` values, and units. What
stands on verbatim words is never counted with what stands on entailment: it would hide its errors. Knows
nothing about thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from citewell.answering.verifying import VerifyReport, verify
from citewell.core.config import Verification
from citewell.core.ports import Entailer
from citewell.core.records import Proof, Record, Status, Verdict
from citewell.evaluation.calibration.promises import GRID, Unit
from citewell.evaluation.labelled import LabelledClaim
from citewell.models.remembering import RememberingEntailer
from citewell.verification.evidence import ClaimEvidence, as_evidence
from citewell.verification.verifier import Verifier

_WEAKEST = (Proof.ENTAILED, Proof.NUMERIC, Proof.COMPUTED, Proof.VERBATIM)


class Scored(Record, frozen=True, kw_only=True):
    """``score`` is the support it is VERIFIED by; 0 when it never is. ``answer`` names what it is part of."""

    answer: str
    proof: Proof
    score: float
    right: bool


def units_of(scored: Iterable[Scored], proof: Proof) -> list[Unit]:
    """One unit an answer that has claims of this proof."""
    answers: dict[str, list[Scored]] = {}
    for claim in scored:
        if claim.proof is proof:
            answers.setdefault(claim.answer, []).append(claim)
    return [
        Unit(scores=tuple(c.score for c in claims), right=tuple(c.right for c in claims))
        for claims in answers.values()
    ]


# --- labelled claims -------------------------------------------------------------------------------


def distinct(rows: Sequence[LabelledClaim]) -> list[LabelledClaim]:
    """The rows of each unit once: a group, or a row without one, whose claims are those of a unit before it
    is the same unit again. A claim that two units share stays in both. It is supported where every row of it,
    with the same sources and question, says so in the units that repeat each other: labels that differ are
    an error."""
    units: dict[object, dict[tuple[object, ...], LabelledClaim]] = {}
    for place, row in enumerate(rows):
        name = (row.file, row.group) if row.group else place
        _agreed(units.setdefault(name, {}), {_said(row): row})
    found: dict[frozenset[tuple[object, ...]], dict[tuple[object, ...], LabelledClaim]] = {}
    for claims in units.values():
        _agreed(found.setdefault(frozenset(claims), {}), claims)
    return [row for claims in found.values() for row in claims.values()]


def _said(row: LabelledClaim) -> tuple[object, ...]:
    texts = (row.claim, row.question, *row.sources)
    return (row.whole, *(" ".join(text.split()) for text in texts))


def _agreed(
    known: dict[tuple[object, ...], LabelledClaim], more: dict[tuple[object, ...], LabelledClaim]
) -> None:
    """Adds ``more``; of a claim that is known, only that it is not supported."""
    for said, row in more.items():
        first = known.setdefault(said, row)
        if first.supported and not row.supported:
            known[said] = msgspec.structs.replace(first, supported=False)


def scored_claims(
    rows: Sequence[LabelledClaim], entailer: Entailer, settings: Verification
) -> tuple[list[Scored], int]:
    """Each row by its support, and how many could not be checked. A whole answer is one claim here: it is
    shown as VERIFIED when all of it is, so it has the score and the proof of its weakest claim."""
    asked = RememberingEntailer(entailer)
    strict, loose = (msgspec.structs.replace(settings, support_threshold=t) for t in (GRID[0], GRID[-1]))
    single = [(place, row) for place, row in enumerate(rows) if not row.whole]
    questions = [_question(row) for _, row in single]
    # At the strictest threshold every way to support a claim is tried; at the loosest its proof is known.
    judged = zip(
        single,
        Verifier(asked, strict).verify_many(questions),
        Verifier(asked, loose).verify_many(questions),
        strict=True,
    )
    found = {place: [(high, low)] for (place, _), high, low in judged}
    for place, row in enumerate(rows):
        if row.whole:
            first, second = (_checked(row, asked, each) for each in (strict, loose))
            found[place] = [(a.verdict, b.verdict) for a, b in zip(first.claims, second.claims, strict=True)]
    scored = [_scored(row, place, found[place]) for place, row in enumerate(rows)]
    known = [claim for claim in scored if claim is not None]
    return known, len(scored) - len(known)


def _question(row: LabelledClaim) -> ClaimEvidence:
    return ClaimEvidence(
        claim=row.claim, evidence=tuple(as_evidence(text) for text in row.sources), context=row.question
    )


def _checked(row: LabelledClaim, entailer: Entailer, settings: Verification) -> VerifyReport:
    return verify(row.claim, row.sources, row.question, entailer=entailer, settings=settings)


def _scored(row: LabelledClaim, place: int, verdicts: Sequence[tuple[Verdict, Verdict]]) -> Scored | None:
    """None where a claim could not be checked, or there is none."""
    if not verdicts or any(low.status is Status.UNCHECKED for _, low in verdicts):
        return None
    claims = [
        (high.support or 0.0, low.proof) if low.proof is not None else (0.0, None) for high, low in verdicts
    ]
    proofs = {proof or Proof.ENTAILED for _, proof in claims}
    return Scored(
        answer=f"group {(row.file, row.group)}" if row.group else f"row {place}",
        proof=next(proof for proof in _WEAKEST if proof in proofs),
        score=min(score for score, _ in claims),
        right=row.supported,
    )


def scored_verdict(answer: str, verdict: Verdict, right: bool) -> Scored | None:
    """Of a claim as it stands in a record; None when it was not checked. What was under the threshold then
    may be over another."""
    if verdict.status is Status.UNCHECKED or verdict.support is None:
        return None
    broken = verdict.status is Status.BROKEN
    score = 0.0 if broken else verdict.support
    return Scored(answer=answer, proof=verdict.proof or Proof.ENTAILED, score=score, right=right)

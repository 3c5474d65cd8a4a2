"""Claims with a score and a label, and the units that a promise counts: one an answer, for each proof.

In: labelled pairs, records of rehearsed cases, people's labels. Out: :class:`Scored` values, and units. What
stands on verbatim words is never counted with what stands on entailment: it would hide its errors. Knows
nothing about thresholds.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from citewell.config import Verification
from citewell.errors import UsageError
from citewell.evaluation.calibration.promises import GRID, Unit
from citewell.models.remembering import RememberingEntailer
from citewell.ports import Entailer
from citewell.records import Proof, Record, Status, Verdict
from citewell.verification.evidence import as_evidence
from citewell.verification.verifier import Question, Verifier
from citewell.verifying import VerifyReport, verify

LABELS: Mapping[str, bool] = {
    **dict.fromkeys(("supported", "entailment", "faithful", "true", "yes"), True),
    **dict.fromkeys(("unsupported", "not supported", "neutral", "contradiction", "not_entailment"), False),
    **dict.fromkeys(("hallucinated", "unfaithful", "partly", "not", "false", "no"), False),
}
"""Words for a label; ``true`` and ``false`` of JSON too."""
_SHAPE = '{"claim" or "answer", "sources": [text, ...], "label"} a line'
_WEAKEST = (Proof.ENTAILED, Proof.NUMERIC, Proof.VERBATIM)


class Pair(Record, frozen=True, kw_only=True):
    """A statement, or a whole answer, with its sources and what people said of it."""

    text: str
    sources: tuple[str, ...]
    supported: bool
    whole: bool = False
    question: str = ""
    group: str = ""


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


# --- labelled pairs -------------------------------------------------------------------------------


def load_pairs(path: Path) -> tuple[Pair, ...]:
    """JSON lines, also gzipped; natural-language-inference sets (premise, hypothesis, label) as they are.

    Raises UsageError with the line's number.
    """
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        lines = data.decode("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="JSON lines in UTF-8") from error
    return tuple(_pair(line, f"{path}, line {n}") for n, line in enumerate(lines, 1) if line.strip())


def looks_labelled(path: Path) -> bool:
    """Whether the first line is a labelled pair rather than a case."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"")
        found = msgspec.json.decode(first)
    except (OSError, msgspec.DecodeError):
        return False
    return isinstance(found, dict) and "label" in found


def _pair(line: str, where: str) -> Pair:
    try:
        given = msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        raise UsageError(f"{where} is not JSON ({error})", hint=_SHAPE) from error
    if not isinstance(given, dict):
        raise UsageError(f"{where} is no object", hint=_SHAPE)
    if "hypothesis" in given:
        given = {**given, "claim": given["hypothesis"], "sources": [given.get("premise")]}
    texts = [given[key] for key in ("claim", "answer") if key in given]
    sources = given.get("sources")
    listed = [_source(source) for source in sources] if isinstance(sources, list) else []
    if len(texts) != 1 or not isinstance(texts[0], str) or not listed or None in listed:
        raise UsageError(f"{where} is no labelled statement with its sources", hint=_SHAPE)
    return Pair(
        text=texts[0],
        sources=tuple(source for source in listed if source is not None),
        supported=_label(given.get("label"), where),
        whole="answer" in given,
        question=given.get("question") or "",
        group=str(given.get("group") or ""),
    )


def _source(source: Any) -> str | None:
    text = source.get("text") if isinstance(source, dict) else source
    return text if isinstance(text, str) else None


def _label(label: Any, where: str) -> bool:
    if isinstance(label, bool):
        return label
    if isinstance(label, str) and label.lower() in LABELS:
        return LABELS[label.lower()]
    raise UsageError(f"{where}: unknown label {label!r}", hint=f"true, false, or one of {', '.join(LABELS)}")


def scored_pairs(
    pairs: Sequence[Pair], entailer: Entailer, settings: Verification
) -> tuple[list[Scored], int]:
    """Each pair by its support, and how many could not be checked. A whole answer is one claim here: it is
    shown as VERIFIED when all of it is, so it has the score and the proof of its weakest claim."""
    asked = RememberingEntailer(entailer)
    strict, loose = (msgspec.structs.replace(settings, support_threshold=t) for t in (GRID[0], GRID[-1]))
    single = [(place, pair) for place, pair in enumerate(pairs) if not pair.whole]
    questions = [_question(pair) for _, pair in single]
    # At the strictest threshold every way to support a claim is tried; at the loosest its proof is known.
    judged = zip(
        single,
        Verifier(asked, strict).verify_many(questions),
        Verifier(asked, loose).verify_many(questions),
        strict=True,
    )
    found = {place: [(high, low)] for (place, _), high, low in judged}
    for place, pair in enumerate(pairs):
        if pair.whole:
            first, second = (_checked(pair, asked, each) for each in (strict, loose))
            found[place] = [(a.verdict, b.verdict) for a, b in zip(first.claims, second.claims, strict=True)]
    scored = [_scored(pair, place, found[place]) for place, pair in enumerate(pairs)]
    known = [claim for claim in scored if claim is not None]
    return known, len(scored) - len(known)


def _question(pair: Pair) -> Question:
    return Question(
        claim=pair.text, evidence=tuple(as_evidence(text) for text in pair.sources), context=pair.question
    )


def _checked(pair: Pair, entailer: Entailer, settings: Verification) -> VerifyReport:
    return verify(pair.text, pair.sources, pair.question, entailer=entailer, settings=settings)


def _scored(pair: Pair, place: int, verdicts: Sequence[tuple[Verdict, Verdict]]) -> Scored | None:
    """None where a claim could not be checked, or there is none."""
    if not verdicts or any(low.status is Status.UNCHECKED for _, low in verdicts):
        return None
    claims = [
        (high.support or 0.0, low.proof) if low.proof is not None else (0.0, None) for high, low in verdicts
    ]
    proofs = {proof or Proof.ENTAILED for _, proof in claims}
    return Scored(
        answer=pair.group or str(place),
        proof=next(proof for proof in _WEAKEST if proof in proofs),
        score=min(score for score, _ in claims),
        right=pair.supported,
    )


def scored_verdict(answer: str, verdict: Verdict, right: bool) -> Scored | None:
    """Of a claim as it stands in a record; None when it was not checked. What was under the threshold then
    may be over another."""
    if verdict.status is Status.UNCHECKED or verdict.support is None:
        return None
    broken = verdict.status is Status.BROKEN
    score = 0.0 if broken else verdict.support
    return Scored(answer=answer, proof=verdict.proof or Proof.ENTAILED, score=score, right=right)

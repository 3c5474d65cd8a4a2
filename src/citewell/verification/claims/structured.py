"""Structured answers: one JSON object whose claims carry their evidence.

In: an answer. Out: its claims with their quotes and their offsets in the original answer, or None if it is
not one complete object of this form; it is then read as prose, so that nothing goes unchecked. Independent
of sources and of completions still being streamed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from citewell.core.records import DraftClaim, Kind, Quote, Record
from citewell.verification.claims.answers import AnswerPiece, ParsedClaim, PieceKind, parse_answer

_OBJECT = re.compile(r"\A\s*(?:```\w*\s*)?\{")
_ENDS = re.compile(r"[.!?][\"\u201d')\]]*$")
# One character of a JSON string as written: a surrogate pair, an escape, or the character itself.
_LETTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)


class StructuredEvidence(msgspec.Struct):
    source: str
    quote: str


class StructuredClaim(msgspec.Struct):
    """Unknown keys are ignored, since models add some; known keys must have the right type."""

    claim: str
    evidence: list[StructuredEvidence] = []
    kind: str = "cited"
    reasoning: str = ""
    part: int = 0

    @property
    def inference(self) -> bool:
        return self.kind.lower().startswith("infer")


class Structured(Record, frozen=True, kw_only=True):
    """``claims`` with the labels of their quotes as written; ``labels`` repeats each for every citation."""

    claims: tuple[DraftClaim, ...]
    labels: tuple[str, ...]


def parse_claim(member: str) -> StructuredClaim:
    """One claim of the object. Accepts evidence without its array or null, and a number as a label, since
    models write these. Raises msgspec.DecodeError for anything else that is not a claim."""
    read = msgspec.json.decode(member)
    if isinstance(read, dict) and "evidence" in read:
        given = read["evidence"]
        pieces = given if isinstance(given, list) else [] if given is None else [given]
        read["evidence"] = [_labelled(one) for one in pieces]
    return msgspec.convert(read, type=StructuredClaim)


def _labelled(evidence: object) -> object:
    if isinstance(evidence, dict) and type(evidence.get("source")) is int:
        return evidence | {"source": str(evidence["source"])}
    return evidence


class _Object(msgspec.Struct):
    claims: list[msgspec.Raw]
    missing: list[str] = []


class _Literal(msgspec.Struct):
    claim: msgspec.Raw


class _Place(Record, frozen=True, kw_only=True):
    """The claim stated at ``[start, end)`` of the prose."""

    start: int
    end: int
    stated: StructuredClaim


def is_structured(text: str) -> bool:
    """Whether the text begins as a JSON object, possibly in a code fence."""
    return bool(_OBJECT.match(text))


def claim_separator(text: str) -> str:
    """The separator between ``text`` and the next claim."""
    return "" if not text else " " if _ENDS.search(text) else "\n"


def parse_structured(answer: str, known: Sequence[str] = ()) -> Structured | None:
    """The object's claims, parsed like prose by :func:`parse_answer`; None if it is not a complete object."""
    if not is_structured(answer):
        return None
    begin = answer.index("{")
    text = answer[begin:].rstrip().removesuffix("```").rstrip()
    try:
        members = [bytes(raw).decode() for raw in msgspec.json.decode(text, type=_Object).claims]
        stated = [parse_claim(member) for member in members]
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    prose, places = "", list[_Place]()
    letters: list[tuple[int, int]] = []
    for member, one in zip(members, stated, strict=True):
        at = answer.index(member, begin)
        begin = at + len(member)
        gap = claim_separator(prose)
        letters += [(at, at)] * len(gap)
        start = len(prose) + len(gap)
        prose += gap + one.claim
        letters += _written(member, at)
        places.append(_Place(start=start, end=len(prose), stated=one))
    parsed = parse_answer(prose, known)
    found = list(parsed.claims)
    read: list[ParsedClaim | AnswerPiece] = [
        *parsed.claims,
        *(piece for piece in parsed.pieces if piece.kind is PieceKind.ABSTENTION),
    ]
    for place in places:
        # Every stated claim counts, even one that looks like a bare value or a heading.
        text = place.stated.claim.strip()
        if text and not any(_meet(place, other) for other in read):
            found.append(ParsedClaim(text=text, start=place.start, end=place.end))
    claims = [
        _drafted(claim, [p.stated for p in places if _meet(p, claim)], letters)
        for claim in sorted(found, key=lambda claim: claim.start)
    ]
    quoted = [evidence.source for one in stated for evidence in one.evidence]
    return Structured(claims=tuple(claims), labels=(*quoted, *parsed.cited))


def _written(member: str, at: int) -> list[tuple[int, int]]:
    """Offsets in the answer of each character of the member's claim."""
    literal = bytes(msgspec.json.decode(member, type=_Literal).claim).decode()
    keyed = list(re.finditer(r'"claim"\s*:\s*(?=' + re.escape(literal) + ")", member))
    start = at + (keyed[-1].end() if keyed else member.rfind(literal)) + 1
    return [(start + m.start(), start + m.end()) for m in _LETTER.finditer(literal[1:-1])]


def _drafted(
    claim: ParsedClaim, stated: Sequence[StructuredClaim], letters: Sequence[tuple[int, int]]
) -> DraftClaim:
    quotes = [Quote(source=e.source, text=e.quote) for one in stated for e in one.evidence]
    held = {quote.source for quote in quotes}
    quotes += [Quote(source=label) for label in claim.labels if label not in held]
    inference = claim.inference or any(one.inference for one in stated)
    return DraftClaim(
        text=claim.text,
        start=letters[claim.start][0],
        end=letters[claim.end - 1][1],
        quotes=tuple(dict.fromkeys(quotes)),
        kind=Kind.INFERENCE if inference else Kind.CITED,
        reasoning=next((one.reasoning for one in stated if inference), ""),
        antecedent=claim.antecedent,
    )


def _meet(place: _Place, other: ParsedClaim | AnswerPiece) -> bool:
    return place.start < other.end and other.start < place.end

"""Text with evidence for its ranges -> a draft's text and claims. Shared by all forms of writing.

In: text as a model wrote it, and ranges of it with the quotes, kind and reasoning that support them. Out:
text for the reader, without markers or labels, and its claims with their offsets. Whatever states something
becomes a claim; code and lists of sources are dropped, with a note. Independent of models.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from msgspec.structs import replace

from citewell.core.ports import Pointer, Segment
from citewell.core.records import DraftClaim, Kind, Quote, Record
from citewell.generation.sources import LabelledSources
from citewell.verification.claims import ParsedAnswer, ParsedClaim, PieceKind, parse_answer, read_markers

_HALF = re.compile(r"[\[\u3010\uff3b][^\]\u3011\uff3d\n]{0,600}$")
_MISSING = re.compile(r"(?:(?<![ \t])[ \t]+)?\[\s*missing\s*:\s*([^\[\]\n]+)\]", re.IGNORECASE)
_STRAY = re.compile(
    r"(?:(?<![ \t])[ \t]+)?[\[\u3010\uff3b]\s*/?\s*SOURCES?[\s_#-]*\d*\s*"
    r"(?:[\]\u3011\uff3d]|[:|,]?\s*[\"\u201c]?)",
    re.IGNORECASE,
)
_LEFT_OUT = {PieceKind.CODE: "code", PieceKind.REFERENCES: "a list of sources"}


class EvidenceRange(Record, frozen=True, kw_only=True):
    """The evidence given for ``[start, end)``. ``stated``: the range is a claim whatever it looks like."""

    start: int
    end: int
    quotes: tuple[Quote, ...] = ()
    kind: Kind = Kind.CITED
    reasoning: str = ""
    aspect: str = ""
    stated: bool = False


class MarkedDraft(Record, frozen=True, kw_only=True):
    """``claims`` lie in ``text``; ``abstains``: a sentence says that the sources do not answer."""

    text: str
    claims: tuple[DraftClaim, ...]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    abstains: bool = False


def read_marked(
    text: str, ranges: Sequence[EvidenceRange], sources: LabelledSources, *, missing: Sequence[str] = ()
) -> MarkedDraft:
    """The claims of ``text``, each with the quotes of the ranges it overlaps and of its own markers."""
    notes: list[str] = []
    found = [match[1].strip() for match in _MISSING.finditer(text)]
    text, ranges = _cut(text, ranges, [(m.start(), m.end()) for m in _MISSING.finditer(text)])
    half = _HALF.search(text)
    if half and _marks(half.group()):
        notes.append(f"a half-written marker was left out: {half.group()[:40]!r}")
        text, ranges = _cut(text, ranges, [(half.start(), len(text))])
    if strays := _strays(text, sources):
        notes.append(f"{len(strays)} markers that name no evidence were left out")
        text, ranges = _cut(text, ranges, strays)
    parsed = parse_answer(text, _ids(sources))
    dropped = [piece for piece in parsed.pieces if piece.kind in _LEFT_OUT]
    if dropped:
        kinds = dict.fromkeys(_LEFT_OUT[piece.kind] for piece in dropped)
        notes.append(f"left out of the answer: {', '.join(kinds)}")
        code = [(piece.start, piece.end) for piece in dropped if piece.kind is PieceKind.CODE]
        text, ranges = _cut(text, ranges, [*code, *_listed(text, parsed)])
        parsed = parse_answer(text, _ids(sources))
    claims = _claims(parsed, ranges, sources)
    return _without_markers(text, parsed, claims, (*missing, *found), notes, sources)


def _listed(text: str, parsed: ParsedAnswer) -> list[tuple[int, int]]:
    """Lists of sources, with their markers, up to the line of what follows: they support no claim."""
    found: list[tuple[int, int]] = []
    start = -1
    for piece in parsed.pieces:
        if piece.kind is PieceKind.REFERENCES:
            start = text.rfind("\n", 0, piece.start) + 1 if start < 0 else start
        elif start >= 0 and piece.kind not in {PieceKind.MARKER, PieceKind.SPACE, PieceKind.MARK}:
            found.append((start, text.rfind("\n", 0, piece.start) + 1))
            start = -1
    return [*found, (start, len(text))] if start >= 0 else found


def _claims(
    parsed: ParsedAnswer, ranges: Sequence[EvidenceRange], sources: LabelledSources
) -> list[DraftClaim]:
    claims = [_claim(claim, ranges, sources) for claim in parsed.claims]
    silent = [piece for piece in parsed.pieces if piece.kind is PieceKind.ABSTENTION]
    for own in ranges:
        covered = any(claim.start < own.end and own.start < claim.end for claim in claims)
        abstains = any(piece.start < own.end and own.start < piece.end for piece in silent)
        if own.stated and not covered and not abstains and (text := parsed.raw[own.start : own.end].strip()):
            claims.append(
                DraftClaim(
                    text=text, start=own.start, end=own.end, quotes=own.quotes, kind=own.kind,
                    aspect=own.aspect, reasoning=own.reasoning, fragment=True,
                )
            )  # fmt: skip
    return sorted(claims, key=lambda claim: (claim.start, claim.end))


def _claim(claim: ParsedClaim, ranges: Sequence[EvidenceRange], sources: LabelledSources) -> DraftClaim:
    mine = [own for own in ranges if own.start < claim.end and claim.start < own.end]
    labelled = tuple(Quote(source=sources.resolve(label)) for label in claim.labels)
    quotes = tuple(dict.fromkeys(quote for own in mine for quote in own.quotes))
    # A label next to a quote of the same source adds nothing; one of another source is a second citation.
    held = {quote.source for quote in quotes}
    quotes += tuple(quote for quote in dict.fromkeys(labelled) if quote.source not in held)
    inference = claim.inference or any(own.kind is Kind.INFERENCE for own in mine)
    reasoning = claim.note or next((own.reasoning for own in mine if own.reasoning), "")
    return DraftClaim(
        text=claim.text,
        start=claim.start,
        end=claim.end,
        quotes=quotes,
        kind=Kind.INFERENCE if inference else Kind.CITED,
        aspect=next((own.aspect for own in mine if own.aspect), ""),
        reasoning=sources.named(reasoning) if inference else "",
        fragment=claim.fragment,
        antecedent=claim.antecedent,
    )


def _without_markers(
    text: str,
    parsed: ParsedAnswer,
    claims: Sequence[DraftClaim],
    missing: Sequence[str],
    notes: list[str],
    sources: LabelledSources,
) -> MarkedDraft:
    """Removes markers and maps offsets from the text as written to the text as shown."""
    marked = read_markers(text, _ids(sources))
    offsets = marked.offsets
    moved = []
    for claim in claims:
        start, end = bisect_left(offsets, claim.start), bisect_left(offsets, claim.end)
        moved.append((claim, start, max(start, min(end, len(marked.text)))))
    clean = marked.text
    said = tuple(
        parsed.raw[piece.start : piece.end].strip()
        for piece in parsed.pieces
        if piece.kind is PieceKind.ABSTENTION
    )
    if not claims:
        clean, moved = "", []
    lead = len(clean) - len(clean.lstrip())
    final = clean.strip()
    placed = tuple(
        replace(claim, start=max(0, a - lead), end=min(len(final), max(0, b - lead))) for claim, a, b in moved
    )
    partly = said if claims else ()
    return MarkedDraft(
        text=final,
        claims=placed,
        missing=tuple(dict.fromkeys((*(sources.named(m) for m in missing), *partly))),
        notes=tuple(notes),
        abstains=bool(said),
    )


def _strays(text: str, sources: LabelledSources) -> list[tuple[int, int]]:
    """Fragments of source markers that form no complete marker."""
    read = [(marker.start, marker.end) for marker in read_markers(text, _ids(sources)).markers]
    return [
        (match.start(), match.end())
        for match in _STRAY.finditer(text)
        if not any(start < match.end() and match.start() < end for start, end in read)
    ]


def _cut(
    text: str, ranges: Sequence[EvidenceRange], cuts: Sequence[tuple[int, int]]
) -> tuple[str, list[EvidenceRange]]:
    """``text`` without ``cuts``, with the ranges adjusted."""
    kept = list(ranges)
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
        kept = [
            replace(own, start=_less(own.start, start, end), end=_less(own.end, start, end)) for own in kept
        ]
    return text, kept


def _less(place: int, start: int, end: int) -> int:
    """The offset of ``place`` once ``[start, end)`` is removed."""
    return place if place <= start else start if place < end else place - (end - start)


def _marks(text: str) -> bool:
    """Whether an open bracket at the end could be the start of one of our markers."""
    inner = text[1:].lstrip().lower()
    return not inner or any(
        inner.startswith(word) or word.startswith(inner)
        for word in ("source", "src", "inference", "missing", "/source")
    ) or inner[0].isdigit()  # fmt: skip


def _ids(sources: LabelledSources) -> list[str]:
    ids = [passage.chunk.document_id for passage in sources.passages]
    return list(dict.fromkeys([*ids, *(passage.chunk.chunk_id for passage in sources.passages)]))


# --- a provider's own citations -------------------------------------------------------------------


def read_native(segments: Sequence[Segment], sources: LabelledSources) -> MarkedDraft:
    """Each segment's pointers become offsets into document versions and support its words. A pointer whose
    words are not at its offsets becomes a quote to search for: it is verified like any other citation."""
    text, ranges = "", []
    for segment in segments:
        start = len(text)
        text += sources.named(segment.text)
        quotes = tuple(_quote(pointer, sources) for pointer in segment.pointers)
        words = text[start:]
        lead, tail = len(words) - len(words.lstrip()), len(words) - len(words.rstrip())
        if quotes and words.strip():
            ranges.append(EvidenceRange(start=start + lead, end=len(text) - tail, quotes=quotes))
    return read_marked(text, ranges, sources)


def _quote(pointer: Pointer, sources: LabelledSources) -> Quote:
    if not 0 <= pointer.source < len(sources.passages):
        return Quote(source=sources.resolve(f"document index {pointer.source} (from 0)"), text=pointer.text)
    lead = len(pointer.text) - len(pointer.text.lstrip())
    return sources.pointed(pointer.source, pointer.start + lead, pointer.text.strip())

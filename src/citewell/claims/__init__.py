"""An answer -> its markers, its claims with their spans, and what is no claim."""

from citewell.claims.answers import Parsed, ParsedClaim, Piece, PieceKind, parse_answer
from citewell.claims.markers import Marked, Marker, read_markers, resolve_label
from citewell.claims.splitting import Part, split_sentence
from citewell.claims.structured import Structured, parse_structured

__all__ = [
    "Marked",
    "Marker",
    "Parsed",
    "ParsedClaim",
    "Part",
    "Piece",
    "PieceKind",
    "Structured",
    "parse_answer",
    "parse_structured",
    "read_markers",
    "resolve_label",
    "split_sentence",
]

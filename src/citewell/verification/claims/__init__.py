"""An answer -> its markers, its claims with their spans, and the parts that are not claims."""

from citewell.verification.claims.answers import (
    AnswerPiece,
    ParsedAnswer,
    ParsedClaim,
    PieceKind,
    parse_answer,
)
from citewell.verification.claims.markers import Marked, Marker, read_markers, resolve_label
from citewell.verification.claims.structured import Structured, parse_structured

__all__ = [
    "AnswerPiece",
    "Marked",
    "Marker",
    "ParsedAnswer",
    "ParsedClaim",
    "PieceKind",
    "Structured",
    "parse_answer",
    "parse_structured",
    "read_markers",
    "resolve_label",
]

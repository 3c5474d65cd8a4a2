"""An answer -> its markers, its claims with their spans, and the parts that are not claims."""

from citewell.verification.claims.answers import ParsedAnswer, ParsedClaim, PieceKind, parse_answer
from citewell.verification.claims.markers import read_markers, resolve_label
from citewell.verification.claims.structured import parse_structured

__all__ = [
    "ParsedAnswer",
    "ParsedClaim",
    "PieceKind",
    "parse_answer",
    "parse_structured",
    "read_markers",
    "resolve_label",
]

"""Sentences that state nothing about the world: abstentions, questions, talk about the answer itself.

In: one sentence. Out: its kind, or None when it may be a claim. Patterns only; a sentence with content of
its own behind a polite opening stays a claim. Knows nothing about markers.
"""

from __future__ import annotations

import re
from enum import StrEnum


class PieceKind(StrEnum):
    """What a stretch of an answer is; only CLAIM is checked."""

    CLAIM = "claim"
    MARKER = "marker"
    SPACE = "space"
    MARK = "list or emphasis mark"
    HEADING = "heading"
    QUESTION = "question"
    META = "talk about the answer"
    ABSTENTION = "abstention"
    LEAD_IN = "lead-in of a list"
    CODE = "code"
    REFERENCES = "list of sources"


ABSTENTIONS = (
    "The available sources do not contain enough information to answer this question reliably.",
    "I cannot answer this based on the provided sources.",
    "The provided sources do not contain information to answer this question.",
    "No supporting passage found.",
)

_SOURCES = (
    r"(?:the|these|this|those|any|my|your)?\s*(?:provided|available|given|supplied|retrieved|cited|above|following|"
    r"search|current)?\s*(?:sources?|documents?|passages?|context|texts?|excerpts?|materials?|articles?|information|results?|"
    r"evidence|data|filings?|reports?)(?:\s+(?:provided|available|given|supplied|above))?"
)
_ABSTENTION = re.compile(
    rf"^(?:(?:unfortunately|sorry|however|but|i(?:'|\u2019)?m sorry|i am sorry|i apologi[sz]e)[,;:]?\s*(?:but\s+)?)?(?:"
    rf"{_SOURCES}\s+(?:do(?:es)?\s*(?:not|n't)|don\u2019t|doesn\u2019t|did not|lacks?|contains? no|provides? no|offers? no|"
    r"(?:is|are) (?:not sufficient|insufficient))\b.{0,200}"
    r"|(?:i|we)\s+(?:can(?:not|'t|\u2019t| not)|could\s*(?:not|n't)|am unable to|are unable to|was unable to|do(?:n't|n\u2019t| not))\s+"
    r"(?:answer|find|determine|know|provide|have|say|tell|confirm|verify|locate)\b.{0,200}"
    r"|there (?:is|was) (?:no|not enough|insufficient|not sufficient) (?:information|evidence|mention|data|details?|supporting).{0,200}"
    r"|(?:it is|it's) not (?:possible|clear from|stated|specified|mentioned).{0,160}"
    r"|(?:not enough|insufficient|no) (?:information|evidence|data|supporting passages?)\b.{0,120}"
    rf"|(?:no|none of) {_SOURCES}\s+(?:mentions?|states?|contains?|addresses|address|answers?|discuss(?:es)?)\b.{{0,160}}"
    r"|no answer(?: found)?|unknown|n/?a|unanswerable|not (?:mentioned|stated|specified|available|found|provided)"
    r"|.{0,160}\b(?:is|are|was|were) not (?:mentioned|stated|specified|provided|given|disclosed|discussed|addressed|found|included|available) "
    rf"(?:in|by|within) {_SOURCES}"
    r")[.!]?$",
    re.IGNORECASE | re.DOTALL,
)
_META = re.compile(
    r"^(?:(?:sure|certainly|of course|absolutely|great question|good question|thanks?(?: you)?|thank you.{0,40}|hello|hi|hey|ok(?:ay)?|"
    r"yes, (?:of course|sure)|i (?:hope|trust) (?:this|that).{0,80}|(?:please )?let me know.{0,120}|feel free to.{0,120}|"
    r"(?:please )?note:?|in (?:summary|conclusion|short|brief)[:,]?|to summari[sz]e[:,]?|overall[:,]?|(?:the )?answer:?|"
    r"(?:here(?:'s|\u2019s| is| are)|below (?:is|are)|the following (?:is|are|list|table|points?)|see below|as follows|these are).{0,160}|"
    r"as an ai.{0,160}|i(?:'m|\u2019m| am) (?:happy|glad).{0,100}|if you (?:have|need|want|would like).{0,160}|"
    r"(?:i|let me|let's|we) (?:will|'ll|can|shall)? ?(?:now )?(?:explain|summari[sz]e|list|break|walk|start|look|go)\b.{0,120}|"
    r"(?:based on|according to|from) (?:the )?(?:provided |available |given )?(?:sources?|documents?|context|passages?|information|text)s?[:,.]?)"
    r"[.!:]?)$",
    re.IGNORECASE | re.DOTALL,
)
_FRAME = re.compile(
    r"^(?:(?:based on|according to|from|in|as (?:stated|described|mentioned|noted|reported) in) (?:the )?"
    r"(?:provided |available |given |supplied |retrieved )?(?:sources?|documents?|context|passages?|texts?|excerpts?)"
    r"(?: (?:provided|above|given))?, |(?:the )?answer(?: is)?: |in (?:summary|conclusion|short), |to summari[sz]e, |overall, )",
    re.IGNORECASE,
)  # fmt: skip
_REFERENCE_HEAD = re.compile(
    r"^\W*(?:sources?|references?|citations?|bibliography|works cited|footnotes)\W*$", re.IGNORECASE
)


def kind_of(sentence: str) -> PieceKind | None:
    """QUESTION, ABSTENTION or META; None when it may state something."""
    bare = sentence.strip().strip("*_`\"'").strip()
    if not any(letter.isalnum() for letter in bare):
        return PieceKind.MARK
    if _ABSTENTION.match(bare):
        return PieceKind.ABSTENTION
    if bare.endswith("?"):
        return PieceKind.QUESTION
    if _META.match(bare):
        return PieceKind.META
    return None


def frame_length(sentence: str) -> int:
    """How many characters of the opening only point at the sources ("According to the documents, ")."""
    match = _FRAME.match(sentence)
    return match.end() if match else 0


def heads_references(line: str) -> bool:
    """The line announces a list of sources that runs to the end of the answer."""
    return bool(_REFERENCE_HEAD.match(line))

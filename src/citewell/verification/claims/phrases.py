"""Kinds of sentence that state nothing about the world: an abstention, a question, talk about the answer.

In: one sentence. Out: its kind, or None if it may state something: a sentence with content after a polite
opening stays a claim. Patterns only.
"""

from __future__ import annotations

import re
from enum import StrEnum

from citewell.verification.claims.statements import has_amount, has_verb

_FRAME = re.compile(
    r"(?:(?:based on|according to|from|in|as (?:stated|described|mentioned|noted|reported) in) (?:the )?"
    r"(?:provided |available |given |supplied |retrieved )?(?:sources?|documents?|context|passages?|texts?|"
    r"excerpts?)\b(?: (?:provided|above|given))?, |(?:the )?answer(?: is)?: |in (?:summary|conclusion|short), |"
    r"to summari[sz]e, |overall, |did you know,? that )",
    re.IGNORECASE,
)


def frame_length(sentence: str) -> int:
    """Length in characters of an opening without content ("According to the documents, ", "Overall, ")."""
    match = _FRAME.match(sentence)
    return match.end() if match else 0


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
    "No passage was found that answers this question reliably.",
)
"""What Citewell's own writers say when they decline, matched word for word."""

_BARE = r"(?:sources?|documents?|passages?|context|texts?|excerpts?)"
_GIVEN = r"(?:provided|available|given|supplied|retrieved|cited|above|search|current)"
# A filing or report counts as a source only if described as provided, available and so on.
_SOURCES = (
    rf"(?:(?:the|these|this|those|any|my|your|of)\s+){{0,3}}(?:{_BARE}|(?:{_GIVEN}\s+){{1,3}}(?:{_BARE}|"
    rf"materials?|articles?|information|results?|evidence|data|filings?|reports?))(?:\s+{_GIVEN})?\b"
)
_FIND = r"(?:answer|find|determine|know|say|tell|confirm|verify|locate)"
_ABOUT = rf"\s+(?:(?:about|on|regarding|concerning|of|as to|whether|for|to {_FIND})\b|(?:in|within|from) {_SOURCES})"
_UNABLE = r"(?:cannot|can't|could not|couldn't|(?:am|are|was|were) unable to)"
# The groups capture what was asked for; they must state nothing (:func:`_only_named`).
_ABSTENTION = re.compile(
    r"(?:(?:unfortunately|sorry|however|but|i(?:'m| am) sorry|i apologi[sz]e)[,;:]?\s*+(?:but\s++)?)?(?:"
    rf"{_SOURCES}\s+(?:(?:do(?:es)?|did)(?: not|n't) (?:contain|mention|say|state|answer|provide|specify|cover|tell|give|"
    r"include|indicate|address|discuss|disclose|explain|have (?:any |enough |sufficient )?information)|lacks?|"
    r"(?:contains?|provides?|offers?|gives?|has|have) no|makes? no mention|(?:is|are) (?:not sufficient|insufficient))"
    r"\b(?P<lacking>.*)"
    rf"|(?:no|none of) {_SOURCES}\s+(?:mentions?|states?|contains?|addresse?s?|answers?|discuss(?:es)?)\b(?P<untold>.*)"
    r"|(?:there (?:is|was) )?(?:no|not enough|insufficient|not sufficient) (?P<what>information|evidence|mention|data|"
    rf"details?|supporting passages?)(?: (?:is|are|was|were) (?:available|found))?(?P<none>$|{_ABOUT}.*)"
    rf"|(?P<absent>.*) (?:is|are|was|were) not (?:mentioned|stated|specified|provided|given|disclosed|discussed|addressed|"
    rf"found|included|available) (?:in|by|within) {_SOURCES}"
    rf"|(?:(?:(?:i|we) {_UNABLE}|i (?:do not|don't)) (?:{_FIND}|provide|give)|we (?:do not|don't) know|"
    rf"(?:it is|it's) not (?:possible to {_FIND}|clear|stated|specified|mentioned))\b(?P<unanswered>.*)"
    r")",
    re.IGNORECASE | re.DOTALL,
)
_UNKNOWN = re.compile(
    rf"(?:(?:i|we) (?:{_UNABLE}|do not|don't) {_FIND}(?: (?:this|that|it))?|no supporting passages? found|"
    r"no answer(?: found)?|unknown|n/?a|unanswerable|(?:not (?:enough|sufficient)|insufficient) (?:evidence|data)|"
    r"not (?:mentioned|stated|specified|available|found|provided))",
    re.IGNORECASE,
)
_ASKED = re.compile(rf"\b(?:{_SOURCES}|information|answers?|questions?)\b", re.IGNORECASE)
_POINTED = re.compile(
    r"(?:\b(?:is|was) (?:found|available|given|provided)\s+)?(?:\b(?:based on|according to|from|in|within|by|with)\s+)?"
    rf"\b{_SOURCES}|\b(?:needed|required) to\b|\bwhether\b.*",
    re.IGNORECASE | re.DOTALL,
)
_TURNS = re.compile(r"[;:()\u2013\u2014]|\b(?:but|however|although|though|yet|except|which)\b", re.IGNORECASE)
_AMOUNT = re.compile(r"\d|[$\u20ac\u00a3%]|\b(?:million|billion|percent)\b", re.IGNORECASE)
# Participles that no table lists ("... opened in").
_ENDED = re.compile(
    r"\b(?!requested|needed|required)[a-z]+[^\We]ed\b(?=\s+(?:in|at|on|from|to|by|with|into|during|after|before)\b|\s*$)"
)
_PERIOD = re.compile(r"\b(?:(?:19|20)\d\d|Q[1-4])\b")
_JOINED = re.compile(
    r"[,;]\s+(?:(?:and|but|because|as|since|so)\s+)?|(?<!\s)\s+(?:because|since|as)\s+", re.IGNORECASE
)
_MADE = (
    r"(?:answer|summary|overview|list|table|breakdown|explanation|response|comparison|points?|details|steps|results|"
    r"information|facts|figures|findings)"
)
_OFFER = (
    r"(?:please )?(?:let me know|feel free to (?:ask|reach out)|(?:just )?ask|do(?:n't| not) hesitate to ask)"
)
_NEED = (
    r"if (?:you(?: have| need| want|'d like| would like)|there(?:'s| is)) "
    r"(?:any|anything|more|other|further|additional|another|help|clarification)\b(?: [a-z]+){0,4}"
)
_META = re.compile(
    r"(?:sure|certainly|of course|absolutely|great question|good question|thanks|thank you(?: for (?:your|the|this) \w+)?|"
    r"hello|hi|hey|ok(?:ay)?|yes, (?:of course|sure)|(?:please )?note|in (?:summary|conclusion|short|brief)[:,]?|"
    r"to summari[sz]e[:,]?|overall[:,]?|(?:the )?answer|see below|as follows|"
    rf"(?:based on|according to|from) {_SOURCES}[:,]?|{_OFFER}(?: {_NEED}| for (?:more|further) \w+)?|{_NEED}, {_OFFER}"
    r"|i (?:hope|trust) (?:this|that) (?:helps?|answers?|clarifies|is (?:helpful|useful|clear))\b(?P<hoped>.*)"
    rf"|(?:here's|here is|here are|below is|below are) (?:(?:a|an|the|my|your|some) )?(?:[a-z]+ ){{0,2}}{_MADE}\b(?P<announced>.*)"
    r"|the following (?:list|table|points?|summary)(?: (?:shows?|lists?|summari[sz]es?|gives?|contains?|compares?))?\b(?P<shown>.*)"
    rf"|as an ai(?: language)?(?: model| assistant)?, i (?:{_UNABLE}|do not|don't)\b(?P<denied>.*)"
    r"|i(?:'m| am|'d be| would be) (?:happy|glad) to (?:help|assist|answer|clarify|explain)\b(?P<offered>.*)"
    r"|(?:i will|i'll|i can|i shall|let me|let's|let us) (?:now )?(?:explain|summari[sz]e|outline|list|break (?:it|this|that|them) down|"
    r"walk (?:you )?through|start (?:with|by)|look at|go (?:through|over))\b(?P<begun>.*)"
    r")",
    re.IGNORECASE | re.DOTALL,
)
_NAMING = re.compile(r"[A-Z]|,|:|\s-+\s")
_ASIDE = re.compile(r"[,:]\s+(?:[A-Z]|(?:a|an|the)\b)|:|\s-+\s")
# Questions that state something: "Did you know that ...?", "..., didn't it?".
_TOLD = re.compile(
    r"(?:(?:but|and|so|well),? )?(?:did(?:n't| not)? you know\b(?!,? (?:what|which|who|when|where|whether|if|how to|the)\b)|"
    r"(?:is(?:n't| not) it true|have(?:n't| not)? you heard|are(?:n't| not)? you aware|do(?:n't| not)? you know|"
    r"who (?:knew|would have thought)),? that\b)",
    re.IGNORECASE,
)
_TAG = re.compile(
    r",\s*(?:(?:is|are|was|were|has|have|had|do|does|did|will|would|can|could|should|ai)(?:n['\u2019]?t|not| not)?"
    r" (?:it|they|he|she|we|you|i|there|that|this)(?: not)?|(?:am|is|are) i (?:right|wrong)|(?:is ?n['\u2019]t that |that['\u2019]s )?"
    r"(?:right|correct|true|yes|no|eh|ok(?:ay)?|agreed|innit|huh|surely|so))\s*\?$",
    re.IGNORECASE,
)
_REFERENCE_HEAD = re.compile(
    r"^\W*(?:sources?|references?|citations?|bibliography|works cited|footnotes)\W*$", re.IGNORECASE
)


def piece_kind(sentence: str) -> PieceKind | None:
    """QUESTION, ABSTENTION, META or MARK; None if it may state something, as some questions do."""
    bare = " ".join(sentence.split()).strip("*_`\"'").strip()
    if not any(letter.isalnum() for letter in bare):
        return PieceKind.MARK
    plain = bare.replace("\u2019", "'").rstrip(" .!")
    if (
        f"{plain}." in ABSTENTIONS
        or _abstains(plain)
        or all(_abstains(piece) for piece in _JOINED.split(plain))
    ):
        return PieceKind.ABSTENTION
    if bare.endswith("?"):
        return None if _TOLD.match(plain) or _TAG.search(bare) or has_amount(bare) else PieceKind.QUESTION
    match = _META.fullmatch(plain.removesuffix(":"))
    if not match or not _only_named(_rest(match)):
        return None
    # "Here is the answer: Paris" contains the answer it announces.
    names_it = _NAMING if match["announced"] or match["shown"] else _ASIDE
    return None if names_it.search(_rest(match)) and not match["denied"] else PieceKind.META


def _abstains(text: str) -> bool:
    match = _ABSTENTION.fullmatch(text)
    if not match:
        return bool(_UNKNOWN.fullmatch(text))
    # These patterns concern the sources only if they mention them, the question or the answer.
    open_ended = match["unanswered"] is not None or (match["what"] or "information").lower() != "information"
    return bool(_UNKNOWN.fullmatch(text)) or (
        (not open_ended or bool(_ASKED.search(_rest(match)))) and _only_named(_rest(match))
    )


def _rest(match: re.Match[str]) -> str:
    return next((text for name, text in match.groupdict().items() if text and name != "what"), "")


def _only_named(rest: str) -> bool:
    """Whether the rest only names what was asked for: no clause, contrast or amount. Years and names are
    allowed; what a noun presupposes ("the fraud") is not detected."""
    left = _PERIOD.sub("", _POINTED.sub("", rest))
    return (
        not _TURNS.search(rest)
        and not _AMOUNT.search(_PERIOD.sub("", rest))
        and not _ENDED.search(left)
        and not has_verb(f"x {left}")
    )


def heads_references(line: str) -> bool:
    """Whether the line is the heading of a list of sources."""
    return bool(_REFERENCE_HEAD.match(line))

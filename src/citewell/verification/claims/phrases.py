"""Sentences that state nothing about the world: abstentions, questions, talk about the answer itself.

In: one sentence. Out: its kind, or None when it may be a claim. Patterns only; a sentence with content of
its own behind a polite opening stays a claim. Knows nothing about markers.
"""

from __future__ import annotations

import re
from enum import StrEnum

from citewell.verification.claims.clauses import is_clause
from citewell.verification.claims.stating import has_amount, tells


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
"""What Citewell's own writers say where they decline, recognised word for word."""

# What may be meant by a bare noun, and what only when it is called the one given: a filing is part of the world.
_SOURCES = (
    r"(?:(?:the|these|this|those|any|my|your|of)\s+){0,3}(?:"
    r"(?:(?:provided|available|given|supplied|retrieved|cited|above|search|current)\s+){1,3}(?:sources?|documents?|"
    r"passages?|context|texts?|excerpts?|materials?|articles?|information|results?|evidence|data|filings?|reports?)"
    r"|(?:sources?|documents?|passages?|context|texts?|excerpts?)"
    r"|(?:information|materials?|articles?|results?|evidence|data|filings?|reports?)(?=\s+(?:provided|supplied|above)\b)"
    r")(?:\s+(?:provided|available|given|supplied|above))?\b"
)
_NOT = r"(?:do(?:es)? not|don't|doesn't|did not|didn't)"
_TELL = (
    r"(?:contain|mention|say|state|answer|provide|specify|cover|tell|give|include|indicate|address|discuss|disclose|"
    r"explain|offer|have (?:any |enough |sufficient )?information|describe|show|list|name|identify|reveal|support)"
)
_FIND = r"(?:answer|find|determine|know|say|tell|confirm|verify|locate)"
_OF = rf"\s+(?:(?:about|on|regarding|concerning|of|as to|whether|for|to {_FIND})\b|(?:in|within|from) {_SOURCES})"
# "rest" is what the sentence asks for; it may state nothing (:func:`_only_named`).
_ABSTENTION = re.compile(
    r"(?:(?:unfortunately|sorry|however|but|i(?:'m| am) sorry|i apologi[sz]e)[,;:]?\s*+(?:but\s++)?)?(?:"
    rf"{_SOURCES}\s+(?:{_NOT} {_TELL}|lacks?|(?:contains?|provides?|offers?|gives?|has|have) no|makes? no mention|"
    r"(?:is|are) (?:not sufficient|insufficient))\b(?P<rest>.*)"
    rf"|(?:no|none of) {_SOURCES}\s+(?:mentions?|states?|contains?|addresses|address|answers?|discuss(?:es)?)\b(?P<rest2>.*)"
    r"|(?:there (?:is|was) )?(?:no|not enough|insufficient|not sufficient) information"
    rf"(?: (?:is|was) (?:available|found))?(?P<rest3>$|{_OF}.*)"
    rf"|(?P<rest4>.*) (?:is|are|was|were) not (?:mentioned|stated|specified|provided|given|disclosed|discussed|addressed|found|"
    rf"included|available) (?:in|by|within) {_SOURCES}"
    r")",
    re.IGNORECASE | re.DOTALL,
)
# These speak of the sources only when they name them, or the answer.
_UNANSWERED = re.compile(
    r"(?:(?:unfortunately|sorry|however|but|i(?:'m| am) sorry|i apologi[sz]e)[,;:]?\s*+(?:but\s++)?)?(?:"
    rf"(?:(?:i|we) (?:cannot|can't|can not|could not|couldn't|am unable to|are unable to|was unable to|were unable to|"
    rf"(?<=i )(?:do not|don't)) {_FIND}|(?:i|we) (?:do not|don't) know|i (?:cannot|can't|can not|do not|don't|am unable to) (?:provide|give|have))\b"
    r"|there (?:is|was) (?:no|not enough|insufficient|not sufficient) (?:evidence|mention|data|details?|supporting passages?)"
    rf"(?={_OF})"
    r"|(?:not enough|insufficient|no) (?:evidence|data|supporting passages?)(?: (?:is|are|was|were) (?:available|found))?"
    rf"(?={_OF})"
    rf"|(?:it is|it's) not (?:possible to {_FIND}|clear|stated|specified|mentioned)\b"
    r")(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_UNKNOWN = re.compile(
    rf"(?:(?:i|we) (?:cannot|can't|can not|could not|couldn't|do not|don't) {_FIND}(?: (?:this|that|it))?|no supporting passages? found|"
    r"no answer(?: found)?|unknown|n/?a|unanswerable|not (?:enough|sufficient) (?:evidence|data)|"
    r"insufficient (?:evidence|data)|not (?:mentioned|stated|specified|available|found|provided))",
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
# Verbs that no table knows, where a noun stands before them.
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
_META = re.compile(
    r"(?:sure|certainly|of course|absolutely|great question|good question|thanks|thank you(?: for (?:your|the|this) \w+)?|"
    r"hello|hi|hey|ok(?:ay)?|yes, (?:of course|sure)|(?:please )?note|in (?:summary|conclusion|short|brief)[:,]?|"
    r"to summari[sz]e[:,]?|overall[:,]?|(?:the )?answer|see below|as follows|"
    rf"(?:based on|according to|from) {_SOURCES}[:,]?"
    r"|i (?:hope|trust) (?:this|that) (?:helps?|answers?|clarifies|is (?:helpful|useful|clear))\b(?P<rest>.*)"
    rf"|(?:here's|here is|here are|below is|below are) (?:(?:a|an|the|my|your|some) )?(?:[a-z]+ ){{0,2}}{_MADE}\b(?P<rest2>.*)"
    r"|the following (?:list|table|points?|summary)(?: (?:shows?|lists?|summari[sz]es?|gives?|contains?|compares?))?\b(?P<rest3>.*)"
    r"|as an ai(?: language)?(?: model| assistant)?, i (?:cannot|can't|can not|do not|don't|am unable to|am not able to)\b(?P<denied>.*)"
    r"|i(?:'m| am|'d be| would be) (?:happy|glad) to (?:help|assist|answer|clarify|explain)\b(?P<rest5>.*)"
    r"|(?:i will|i'll|i can|i shall|let me|let's|let us) (?:now )?(?:explain|summari[sz]e|outline|list|break (?:it|this|that|them) down|"
    r"walk (?:you )?through|start (?:with|by)|look at|go (?:through|over))\b(?P<rest6>.*)"
    r")",
    re.IGNORECASE | re.DOTALL,
)
_NAMING = re.compile(r"[A-Z]|,|:|\s-+\s")
_ASIDE = re.compile(r"[,:]\s+(?:[A-Z]|(?:a|an|the)\b)|:|\s-+\s")
# What an announcement may be of; another name is what it announces ("The following list shows Paris and Rome").
_ANNOUNCED = re.compile(
    r"|\s(?:[a-z]+ by|of|about|on|for|to|from|in|with|between|based|regarding|you|your|the|these|this|each|all|some|any|key|main|"
    r"more|further|how|what|why|it)\b(?:(?!,|\s-+\s).)*",
    re.IGNORECASE,
)
_ASK = (
    r"(?:let me know|feel free to ask|feel free to reach out|(?:just|please) ask|do(?:n't| not) hesitate to ask|"
    r"i(?:'m| am|'d be| would be) (?:happy|glad) to (?:help|assist|answer|clarify))"
)
_NEED = (
    r"if (?:you(?: have| need| want|'d like| would like)|there(?:'s| is)) "
    r"(?:any|anything|more|other|further|additional|another|help|clarification)\b(?: [a-z]+){0,4}"
)
_OFFER = re.compile(
    rf"(?:please )?{_ASK}(?: {_NEED}| for (?:more|further) (?:details|information|help))?|{_NEED}, (?:please )?{_ASK}",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"^(?:(?:based on|according to|from|in|as (?:stated|described|mentioned|noted|reported) in) (?:the )?"
    r"(?:provided |available |given |supplied |retrieved )?(?:sources?|documents?|context|passages?|texts?|excerpts?)"
    r"(?: (?:provided|above|given))?, |(?:the )?answer(?: is)?: |in (?:summary|conclusion|short), |to summari[sz]e, |overall, |did you know,? that )",
    re.IGNORECASE,
)  # fmt: skip
# Questions that tell: "Did you know that ...?", "..., didn't it?".
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


def kind_of(sentence: str) -> PieceKind | None:
    """QUESTION, ABSTENTION or META; None when it may state something, as a question that tells does."""
    bare = " ".join(sentence.split()).strip("*_`\"'").strip()
    if not any(letter.isalnum() for letter in bare):
        return PieceKind.MARK
    plain = bare.replace("\u2019", "'").rstrip(" .!")
    if f"{plain}." in ABSTENTIONS or _abstains(plain) or all(_abstains(piece) for piece in _JOINED.split(plain)):
        return PieceKind.ABSTENTION
    if bare.endswith("?"):
        return None if _TOLD.match(plain) or _TAG.search(bare) or has_amount(bare) else PieceKind.QUESTION
    plain = plain.removesuffix(":")
    if _OFFER.fullmatch(plain):
        return PieceKind.META
    if (match := _META.fullmatch(plain)) and _only_named(match):
        announced = match["rest2"] or match["rest3"]
        telling = (_NAMING if announced else _ASIDE).search(_rest(match)) and not match["denied"]
        return PieceKind.META if not telling or _ANNOUNCED.fullmatch(_rest(match)) else None
    return None


def _abstains(text: str) -> bool:
    if _UNKNOWN.fullmatch(text) or ((match := _ABSTENTION.fullmatch(text)) and _only_named(match)):
        return True
    match = _UNANSWERED.fullmatch(text)
    return bool(match and _ASKED.search(match["rest"]) and _only_named(match))


def _rest(match: re.Match[str]) -> str:
    return next((text for text in match.groups() if text), "")


def _only_named(match: re.Match[str]) -> bool:
    """The rest names what was asked for: no clause, no turn, no amount. A year or a name tells nothing there;
    what a noun presupposes ("the fraud") is not seen."""
    rest = _rest(match)
    left = _PERIOD.sub("", _POINTED.sub("", rest))
    return (
        not _TURNS.search(rest)
        and not tells(rest)
        and not _AMOUNT.search(_PERIOD.sub("", rest))
        and not _ENDED.search(left)
        and not is_clause(f"x {left}".lower())
    )


def frame_length(sentence: str) -> int:
    """How many characters of the opening only point at the sources ("According to the documents, ")."""
    match = _FRAME.match(sentence)
    return match.end() if match else 0


def heads_references(line: str) -> bool:
    """The line announces a list of sources that runs to the end of the answer."""
    return bool(_REFERENCE_HEAD.match(line))

"""Does a line that is not a sentence state something? A heading, a table cell, a list's lead-in.

In: a line. Out: whether it states something about the world, by an amount, a clause or "Name: value"; for a
lead-in, the part that does. Verbs are recognised by word lists or by their ending; no tagger is used.
"""

from __future__ import annotations

import re

from citewell.questions.quantity import QuantityForm
from citewell.verification.entities import EVERYDAY, names
from citewell.verification.quantities import extract_values
from citewell.verification.words import (
    AUXILIARIES,
    PAST,
    PLAIN_BASES,
    THIRD,
    is_doubtful,
    is_finite,
)

_MEASURED = frozenset({QuantityForm.MONEY, QuantityForm.PERCENT, QuantityForm.POINTS})
_WORD = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
_DETERMINERS = frozenset(
    "the a an its their his her our this these those my your no all some any every".split()
)
_SMALL = _DETERMINERS | frozenset(
    "in on at to from by for with of about over under into as per via and or but & vs versus than that which who".split()
)
_LONGEST = 500
"""Maximum characters of a heading: a longer line is taken to state something."""
# Openings of a section title that state nothing: "Overview: Nike".
_PART = re.compile(
    r"(?:(?:key|main|final|executive|brief)\s+)?(?:overview|summary|conclusions?|introduction|background|context|analysis|"
    r"discussion|notes?|points?|takeaways?|findings|details|topics?|agenda|contents)\s*:",
    re.IGNORECASE,
)
_NOUNS_GO_ON = frozenset({"of", "and", "or"})
_NOUN = re.compile(r"(?:[aeo]rs|ings|tions|sions|ments|[ai]n?ces|ies|ics|als|isms|ists|ss|us|is)$")
# Heading numbers: "Step 1: ", "2.1. ", "IV. ".
_LABEL = re.compile(
    r"^(?:(?:step|part|chapter|section|option|phase|item|note|appendix|example|question|table|figure)\s+"
    r"(?:\d+[.\d]*|[a-z]|[ivx]+)\b[:.)]*\s*|\(?(?:\d+(?:\.\d+)*|[a-z]|[ivx]+)[.)]\s+)",
    re.IGNORECASE,
)
# A question as a title, or a condition without its consequence.
_ASKS = re.compile(
    r"(?:(?:how|why|what|when|where|which|who|whom|whose|whether)\b|(?:if|unless)\b(?!.*,))", re.IGNORECASE
)
_VALUE = re.compile(r"\w[^:]*:\s+(?!(?:how|why|what|when|where|which|who)\b)\S", re.IGNORECASE)
# The part of a lead-in that only refers to its list.
_TAIL = re.compile(
    r"(?P<aside>[,;]?\s{0,9}\b(?:(?:for|in|by|of|to|on|with|through|because of|due to) (?:the following|these)(?: [a-z]+){0,2}|"
    r"as follows|including|such as|namely|below))$|\s{0,9}\b(?:the following|these)(?: [a-z]+){0,2}$",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"(?:.*, )?(?:here(?:'s| is| are)|below (?:is|are)|the following|there (?:is|are|were)(?: [a-z]+){0,3} "
    r"(?:reasons?|factors?|ways?|points?|steps?|things?|options?|differences|findings))\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(r"\b(?:how|why)\b(?! (?:to|much|many|long|often|old|far)\b)", re.IGNORECASE)


def has_amount(text: str) -> bool:
    """Whether the text contains a sum, a percentage or a measurement; not a year or a count ("Top 5
    risks")."""
    return len(text) > _LONGEST or any(
        found.form in _MEASURED or found.unit or found.scaled or abs(found.value) >= 1_000
        for found in extract_values(text)
        if found.value
    )


def makes_statement(text: str) -> bool:
    """Whether a line that is not a sentence states something: a clause, an amount, "Name: value", a stop."""
    bare = _LABEL.sub("", text.strip(" \t\n*_#`|>"))
    if has_amount(bare):
        return True
    if _ASKS.match(bare):
        return explains_cause(bare) and any(name.certain for name in names(bare))
    closed = bare.endswith((".", "!")) and len(bare.split()) >= 3
    return closed or (bool(_VALUE.match(bare)) and not _PART.match(bare)) or has_verb(bare)


def has_verb(text: str) -> bool:
    """Whether the text has a verb, listed or recognised by its ending, with a subject. A question used as a
    title does not count ("What is insulin")."""
    words = [] if _ASKS.match(text) else _WORD.findall(text)
    for before, word, behind in zip(words, words[1:], [*words[2:], ""], strict=False):
        form, after = word.lower(), behind.lower()
        if form in AUXILIARIES and word != "May":
            return True
        article = after in _DETERMINERS
        named = before[:1].isupper() and not EVERYDAY.search(before.lower()) and before.lower() not in _SMALL
        third = form in THIRD
        if is_doubtful(form):
            if article:
                return True
            continue
        if third and (article or (named and after and after not in _NOUNS_GO_ON)):
            return True
        if form in PAST or re.fullmatch(r"[a-z]{3,}ed", form):
            if named or article:
                return True
        elif word.islower() and after[:1].isalpha() and before.lower() not in _SMALL and after not in _SMALL:
            plural = before.lower().endswith("s")
            ends = (third or re.fullmatch(r"[a-z]{3,}s", form)) and not _NOUN.search(form)
            if (plural and form in PLAIN_BASES) or (ends and not plural):
                return True
    return False


def explains_cause(text: str) -> bool:
    """Whether the text says how or why something happened, and hence that it did."""
    cause = _CAUSE.search(text)
    return bool(cause and has_verb(text[cause.end() :]))


def lead_statement(lead: str) -> str:
    """What a list's lead-in states by itself; "" if it only announces the list ("The main risks are")."""
    bare = lead.rstrip(" :")
    tail = _TAIL.search(bare, max(0, len(bare) - 80))
    said = bare[: tail.start()] if tail else bare
    whole = said if tail and tail["aside"] else bare
    if has_amount(said) or explains_cause(said):
        return whole
    words = _WORD.findall(said)
    if _ANNOUNCES.match(bare) or not words:
        return ""
    # A verb at the end needs the list to complete it.
    if is_finite(words[-1].lower()) or words[-1].lower() == "include":
        return whole if has_verb(" ".join(words[:-1])) else ""
    return whole if has_verb(said) else ""
